"""Types, constants, casts and names of the emitted CUDA C++.

Types are spelled with built-in words of fixed width on every CUDA host (``unsigned``, ``long long``),
since NVRTC compiles without headers.
"""

from __future__ import annotations

import math
import re
import struct
from typing import Any

import numpy as np
from numba import types

C_NAMES = {
    "bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short",
    "uint16": "unsigned short", "int32": "int", "uint32": "unsigned", "int64": "long long",
    "uint64": "unsigned long long", "float32": "float", "float64": "double",
}  # fmt: skip

RESERVED = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t
    class compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield
    decltype default delete do double dynamic_cast else enum explicit export extern false float for friend
    goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public register reinterpret_cast requires restrict return short signed sizeof static
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename
    union unsigned using virtual void volatile wchar_t while xor xor_eq
    State Copy Owned Self cell gpop NULL INFINITY NAN HUGE_VAL EOF assert errno linux unix
    threadIdx blockIdx blockDim gridDim warpSize scatterFunc initFunc gatherFunc filterFunc applyWeight
    needsFunc""".split()  # noqa: SIM905 - a list of so many words is hard to read
)


def c_name(dtype: np.dtype) -> str:
    """C++ type of a NumPy scalar type.

    Examples
    --------
    >>> c_name(np.dtype(np.uint32)), c_name(np.dtype(bool))
    ('unsigned', 'bool')
    """
    return C_NAMES[dtype.name]


class Unknown(Exception):
    """Something that has no counterpart; the caller knows the user's line."""


def plain(kind: Any) -> Any:
    """The type without the knowledge that the value is a constant."""
    return types.unliteral(kind)


def c_type(kind: Any) -> str:
    """C spelling of a Numba scalar type."""
    name = str(plain(kind))
    if name not in C_NAMES:
        raise Unknown(f"a value of type {kind}")
    return C_NAMES[name]


def dtype_of(kind: Any) -> np.dtype:
    """NumPy dtype of a Numba scalar type."""
    c_type(kind)
    return np.dtype(str(plain(kind)))


def constant(value: Any, kind: Any) -> str:
    """A value in the type that inference gave it."""
    name = c_type(kind)
    if isinstance(plain(kind), types.Boolean):
        return "true" if value else "false"
    if isinstance(plain(kind), types.Float):
        return _float_constant(float(value), name)
    bits, number = plain(kind).bitwidth, int(value)
    if plain(kind).signed and number == -(1 << (bits - 1)):
        return f"({name})(-{-(number + 1)}{'ll' if bits == 64 else ''} - 1)"
    suffix = {"int": "", "unsigned": "u", "long long": "ll", "unsigned long long": "ull"}.get(name)
    if suffix is None:
        return f"(({name}){number})"
    return f"{number}{suffix}" if number >= 0 else f"({number}{suffix})"


def _float_constant(value: float, name: str) -> str:
    if not math.isfinite(value):
        if name == "float":
            return f"::__int_as_float({struct.unpack('<i', struct.pack('<f', value))[0]})"
        return f"::__longlong_as_double({struct.unpack('<q', struct.pack('<d', value))[0]}ll)"
    if name == "float":
        return f"{float(np.float32(value))!r}f" if value >= 0 else f"({float(np.float32(value))!r}f)"
    return repr(value) if value >= 0 else f"({value!r})"


def cast(text: str, source: Any, target: Any) -> str:
    """Numba's conversion between scalar types, as C does it where C defines it."""
    source, target = plain(source), plain(target)
    if isinstance(target, types.Boolean):
        return truth(text, source)
    if source == target:
        return text
    c_type(source)
    if isinstance(source, types.Float) and isinstance(target, types.Integer):
        return f"::gpop::to_integer<{c_type(target)}>({text})"
    return f"({c_type(target)})({text})"


def truth(text: str, kind: Any) -> str:
    """Numba's truth value of a scalar (NaN is true)."""
    kind = plain(kind)
    if isinstance(kind, types.Boolean):
        return text
    if isinstance(kind, types.NoneType):
        return "false"
    c_type(kind)
    return f"({text} != 0)"


class Names:
    """C identifiers for Python names, each distinct and none a word of the language."""

    def __init__(self) -> None:
        self.taken, self.given = set(RESERVED), {}

    def __call__(self, name: str) -> str:
        if name not in self.given:
            word = re.sub(r"^\$", "t", name)
            word = re.sub(r"[^0-9A-Za-z_]", lambda m: "_" if ord(m[0]) < 128 else f"u{ord(m[0]):x}", word)
            word = re.sub(r"__+", "_", word)
            if word[:1].isdigit() or word.startswith(("_", "helper_")):
                word = f"v{word}"
            while word in self.taken:
                word += "_"
            self.taken.add(word)
            self.given[name] = word
        return self.given[name]
