"""Functions of Python, ``math`` and NumPy that the user's functions may call, as C++ expressions.

Arguments come as texts in the types of Numba's signature. A NumPy function (ufunc) computes in the types
of the loop that NumPy itself would take for them. Exponentials, logarithms and the like are those of the
target's own library: on a GPU their last bit may differ from the CPU's.
"""

from __future__ import annotations

import math
import operator
from functools import reduce
from typing import Any

import numpy as np
from numba import types

from gpop.common.numba_private import cpu_target, ufunc_find_matching_loop
from gpop.gpu import operations
from gpop.gpu.c_types import Unknown, c_type, cast, constant, plain
from gpop.gpu.operations import is_bool, is_float, is_integer

SAME_NAME = (
    "sqrt", "exp", "exp2", "log", "log10", "log2", "log1p", "expm1", "sin", "cos", "tan", "sinh", "cosh",
    "tanh", "fabs", "floor", "ceil", "trunc", "copysign", "hypot", "nextafter",
)  # fmt: skip
"""C functions (with an f behind for float32) of this name in ``math`` and in NumPy."""

MATH = {getattr(math, name): name for name in SAME_NAME if hasattr(math, name)} | {
    math.asin: "asin", math.acos: "acos", math.atan: "atan", math.atan2: "atan2", math.asinh: "asinh",
    math.acosh: "acosh", math.atanh: "atanh", math.erf: "erf", math.erfc: "erfc", math.lgamma: "lgamma",
}  # fmt: skip
UFUNCS = {getattr(np, name): name for name in SAME_NAME} | {
    np.arcsin: "asin", np.arccos: "acos", np.arctan: "atan", np.arctan2: "atan2", np.arcsinh: "asinh",
    np.arccosh: "acosh", np.arctanh: "atanh", np.absolute: "fabs", np.rint: "rint", np.fmod: "fmod",
}  # fmt: skip
OWN_UFUNCS = {
    np.minimum: "minimum", np.maximum: "maximum", np.fmin: "number_minimum", np.fmax: "number_maximum",
    np.sign: "sign_of", np.square: "square",
}  # fmt: skip
"""Those of `semantics.cuh`, for floats and integers."""

CLASSES = {
    math.isnan: "is_nan", math.isinf: "is_infinite", math.isfinite: "is_finite",
    np.isnan: "is_nan", np.isinf: "is_infinite", np.isfinite: "is_finite",
}  # fmt: skip
ANGLES = {
    math.radians: math.pi / 180, math.degrees: 180 / math.pi,
    np.deg2rad: math.pi / 180, np.radians: math.pi / 180,
    np.rad2deg: 180 / math.pi, np.degrees: 180 / math.pi,
}  # fmt: skip
WHOLE_UFUNCS = (np.floor, np.ceil, np.trunc)


def call(function: Any, signature: Any, texts: list[str]) -> str:
    """One scalar from a call of a known function."""
    kinds, result = [plain(kind) for kind in signature.args], plain(signature.return_type)
    text = None
    if function in (min, max) and len(texts) > 1:
        text = _smallest(function, kinds, result, texts)
    elif function in (int, float, bool) and len(texts) == 1:
        text = cast(texts[0], kinds[0], result)
    elif function is abs:
        text = _absolute(kinds[0], result, texts[0])
    elif function is round:
        text = _round(kinds, result, texts)
    elif function in (pow, math.pow) and len(texts) == 2:
        text = operations.binary(operator.pow, signature, *texts)
    elif isinstance(function, np.ufunc):
        text = _ufunc(function, kinds, result, texts)
    elif function in CLASSES:
        text = _class(CLASSES[function], kinds[0], texts[0])
    elif function in MATH or function in ANGLES:
        text = _math(function, kinds, result, texts)
    if text is None:
        raise Unknown(f"{getattr(function, '__name__', function)}({', '.join(map(str, kinds))})")
    return text


def _c_math(name: str, kind: Any) -> str:
    return f"::{name}{'f' if plain(kind) == types.float32 else ''}"


def _smallest(function: Any, kinds: list, result: Any, texts: list[str]) -> str | None:
    """Python's own order of comparisons, so NaN comes out as on the CPU."""
    name = "smaller" if function is min else "larger"

    def fold(found: tuple[Any, str], candidate: tuple[Any, str]) -> tuple[Any, str]:
        kind = cpu_target.typing_context.unify_types(found[0], candidate[0])
        if kind is None:
            raise Unknown(f"{function.__name__}({', '.join(map(str, kinds))})")
        sides = f"{cast(found[1], found[0], kind)}, {cast(candidate[1], candidate[0], kind)}"
        return kind, f"::gpop::{name}<{c_type(kind)}>({sides})"

    kind, text = reduce(fold, zip(kinds, texts, strict=True))
    return cast(text, kind, result)


def _absolute(kind: Any, result: Any, text: str) -> str | None:
    if is_float(kind):
        return f"{_c_math('fabs', kind)}({text})"
    if is_integer(kind):
        return cast(f"::gpop::absolute<{c_type(kind)}>({text})" if kind.signed else text, kind, result)
    return text if is_bool(kind) else None


def _round(kinds: list, result: Any, texts: list[str]) -> str | None:
    if not is_float(kinds[0]):
        return None
    if len(texts) == 1:
        return cast(f"::gpop::nearest_even({texts[0]})", kinds[0], result)
    return f"::gpop::round_digits<{c_type(result)}>({texts[0]}, {cast(texts[1], kinds[1], types.int64)})"


def _class(name: str, kind: Any, text: str) -> str:
    """isnan, isinf, isfinite; every integer is finite."""
    if is_float(kind):
        return f"::gpop::{name}({text})"
    return "true" if name == "is_finite" else "false"


def _math(function: Any, kinds: list, result: Any, texts: list[str]) -> str | None:
    """A function of ``math``: in the type of a float argument, in float64 for integers."""
    kind = kinds[0] if is_float(kinds[0]) else types.float64
    given = [cast(text, k, kind) for text, k in zip(texts, kinds, strict=True)]
    if function in ANGLES:
        return f"({given[0]} * {constant(ANGLES[function], kind)})"
    return cast(f"{_c_math(MATH[function], kind)}({', '.join(given)})", kind, result)


def _ufunc(function: Any, kinds: list, result: Any, texts: list[str]) -> str | None:
    loop = ufunc_find_matching_loop(function, kinds)
    if loop is None or len(loop.outputs) != 1:
        return None
    inputs, output = [plain(kind) for kind in loop.inputs], plain(loop.outputs[0])
    given = [cast(text, *pair) for text, *pair in zip(texts, kinds, inputs, strict=True)]
    kind, text = inputs[0], None
    if function in CLASSES:
        text = _class(CLASSES[function], kind, given[0])
    elif function is np.absolute:
        text = _absolute(kind, output, given[0])
    elif function in OWN_UFUNCS and not is_bool(kind):
        text = f"::gpop::{OWN_UFUNCS[function]}<{c_type(kind)}>({', '.join(given)})"
    elif function in WHOLE_UFUNCS and not is_float(kind):
        text = given[0]
    elif function in ANGLES and is_float(kind):
        text = f"({given[0]} * {constant(ANGLES[function], kind)})"
    elif function in UFUNCS and is_float(kind):
        text = f"{_c_math(UFUNCS[function], kind)}({', '.join(given)})"
    elif function is np.power and is_float(kind):
        text = operations.binary(operator.pow, output(*inputs), *given)
    return None if text is None else cast(text, output, result)
