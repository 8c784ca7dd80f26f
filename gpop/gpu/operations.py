"""Operators of the typed form as C++ expressions, by the signature that Numba chose.

Every entry takes the operands' texts, already converted to the types of the signature, and follows the
implementation that Numba compiles for that signature (numba/cpython/numbers.py).
"""

from __future__ import annotations

import operator
from typing import Any

from numba import types

from gpop.gpu.c_types import Unknown, c_type, cast, plain, truth

WRAPPING = {operator.add: "add", operator.sub: "sub", operator.mul: "mul"}
FLOAT = {operator.add: "+", operator.sub: "-", operator.mul: "*"}
BITWISE = {operator.and_: "&", operator.or_: "|", operator.xor: "^"}
SHIFTS = {operator.lshift: "shift_left", operator.rshift: "shift_right"}
FLOOR = {operator.floordiv: "floor_div", operator.mod: "floor_mod"}
FLOAT_FLOOR = {operator.floordiv: "float_floor_div", operator.mod: "float_mod"}
COMPARISONS = {
    operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=",
    operator.eq: "==", operator.ne: "!=",
}  # fmt: skip
IN_PLACE = {
    operator.iadd: operator.add, operator.isub: operator.sub, operator.imul: operator.mul,
    operator.itruediv: operator.truediv, operator.ifloordiv: operator.floordiv, operator.imod: operator.mod,
    operator.ipow: operator.pow, operator.iand: operator.and_, operator.ior: operator.or_,
    operator.ixor: operator.xor, operator.ilshift: operator.lshift, operator.irshift: operator.rshift,
}  # fmt: skip


def is_integer(kind: Any) -> bool:
    """Whether a Numba type is an integer (bool is none)."""
    return isinstance(plain(kind), types.Integer)


def is_float(kind: Any) -> bool:
    """Whether a Numba type is float32 or float64."""
    return isinstance(plain(kind), types.Float)


def is_bool(kind: Any) -> bool:
    """Whether a Numba type is bool."""
    return isinstance(plain(kind), types.Boolean)


def binary(op: Any, signature: Any, a: str, b: str) -> str:
    """``a op b``; the texts have the types of the signature's arguments."""
    op = IN_PLACE.get(op, op)
    left, right, result = (plain(kind) for kind in (*signature.args, signature.return_type))
    text = None
    if op in COMPARISONS:
        text = _comparison(op, left, right, a, b)
    elif op in (operator.is_, operator.is_not):
        text = _identity(op, left, right, a, b)
    elif op is operator.pow:
        text = _power(left, right, result, a, b)
    elif is_float(result):
        text = _of_floats(op, left, right, result, a, b)
    elif is_integer(result) or (is_bool(result) and op in BITWISE):
        text = _of_integers(op, result, cast(a, left, result), cast(b, right, result))
    if text is None:
        raise Unknown(f"{op.__name__}({left}, {right})")
    return text


def _comparison(op: Any, left: Any, right: Any, a: str, b: str) -> str | None:
    if left == right and (is_integer(left) or is_float(left) or is_bool(left)):
        return f"({a} {COMPARISONS[op]} {b})"
    return None


def _identity(op: Any, left: Any, right: Any, a: str, b: str) -> str | None:
    """``is``: with None known from the types; numbers of one type are compared, as in Numba."""
    if isinstance(left, types.Optional) or isinstance(right, types.Optional):
        return None
    if left != right or isinstance(left, types.NoneType):
        return "true" if (left == right) == (op is operator.is_) else "false"
    return _comparison(operator.eq if op is operator.is_ else operator.ne, left, right, a, b)


def _power(left: Any, right: Any, result: Any, a: str, b: str) -> str | None:
    if is_float(left) and left == right == result:
        return f"::pow{'f' if result == types.float32 else ''}({a}, {b})"
    if is_integer(right) and (is_integer(left) or left == result):
        whole = cast(b, right, types.int64 if right.signed else types.uint64)
        return f"::gpop::{'float' if is_float(result) else 'integer'}_power({cast(a, left, result)}, {whole})"
    return None


def _of_floats(op: Any, left: Any, right: Any, result: Any, a: str, b: str) -> str | None:
    if op is operator.truediv:
        return f"({cast(a, left, result)} / {cast(b, right, result)})"
    if left == right == result:
        if op in FLOAT:
            return f"({a} {FLOAT[op]} {b})"
        if op in FLOAT_FLOOR:
            return f"::gpop::{FLOAT_FLOOR[op]}({a}, {b})"
    return None


def _of_integers(op: Any, result: Any, a: str, b: str) -> str | None:
    if op in WRAPPING and result.signed:
        return f"::gpop::{WRAPPING[op]}({a}, {b})"
    if op in FLOAT:
        return f"({a} {FLOAT[op]} {b})"
    if op in BITWISE:
        return f"({c_type(result)})({a} {BITWISE[op]} {b})"
    name = SHIFTS.get(op) or FLOOR.get(op)
    return f"::gpop::{name}({a}, {b})" if name else None


def unary(op: Any, signature: Any, a: str) -> str:
    """``op a``; negation and inversion come before the conversion to the wider result, as in Numba."""
    kind, result = plain(signature.args[0]), plain(signature.return_type)
    if op is operator.not_:
        return f"(!{truth(a, kind)})"
    if op is operator.pos or (op is operator.invert and is_bool(kind) and is_bool(result)):
        return cast(a, kind, result) if op is operator.pos else f"(!{a})"
    if op is operator.neg and is_float(kind):
        return f"(-{a})"
    if op is operator.neg and is_bool(kind):
        a, kind = cast(a, kind, result), result
    if op is operator.neg and is_integer(kind):
        return cast(f"::gpop::sub<{c_type(kind)}>(0, {a})", kind, result)
    if op is operator.invert and is_integer(kind):
        return cast(f"({c_type(kind)})(~{a})", kind, result)
    raise Unknown(f"{op.__name__}({kind})")
