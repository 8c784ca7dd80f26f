"""Unsigned whole numbers that compute as compiled code does, for functions that run as plain Python.

Compiled code reads a whole number as one of 64 bits. Where both of two are unsigned, so is what becomes of
them: 3 - 5 is 2**64 - 2. Where one is signed, as literals are, 3 - 5 is -2. NumPy makes a float64 of a signed
and an unsigned number of 64 bits, and so loses the last digits of what is beyond 2**53. ``-x`` and ``~x`` are
taken in the type that the number was read in, before it is one of 64 bits: -5 of a uint8 is 251.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

ALL = (1 << 64) - 1
WRAPPED = ("add", "sub", "mul", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift")
COMPARED = ("lt", "le", "eq", "ne", "gt", "ge")


class Unsigned(np.uint64):
    """A whole number from 0 to ``2**64 - 1``.

    Examples
    --------
    >>> Unsigned(3) - Unsigned(5), Unsigned(3) - 5, np.int64(-1) + Unsigned(2**53 + 2)
    (Unsigned(18446744073709551614), np.int64(-2), np.int64(9007199254740993))
    """

    __array_priority__ = 1.0  # so that NumPy's numbers leave it to this one
    own = ALL
    """The largest number of the type that it was read in."""

    def __neg__(self) -> Unsigned:
        return Unsigned(-int(self) & self.own)

    def __invert__(self) -> Unsigned:
        return Unsigned(~int(self) & self.own)

    def __pos__(self) -> Unsigned:
        return Unsigned(self)

    def __abs__(self) -> Unsigned:
        return self

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __repr__(self) -> str:  # that of NumPy 2.0 ends the process where the type is not NumPy's own
        return f"Unsigned({int(self)})"


READ_IN = {size: type("Unsigned", (Unsigned,), {"own": (1 << 8 * size) - 1}) for size in (1, 2, 4)} | {
    8: Unsigned
}
"""By the bytes of the type that a number was read in."""


def as_read(value: np.unsignedinteger) -> Unsigned:
    """A number that was read from a field, or is a vertex.

    Examples
    --------
    >>> -as_read(np.uint8(5)), ~as_read(np.uint32(5)), -as_read(np.uint8(5)) + 100
    (Unsigned(251), Unsigned(4294967290), np.int64(351))
    """
    return READ_IN[value.dtype.itemsize](value)


def is_unsigned(value: Any) -> bool:
    """Whether it is an unsigned whole number."""
    return isinstance(value, np.unsignedinteger)


def whole(value: int, unsigned: bool) -> Unsigned | np.int64:
    """The number of 64 bits with the last bits of ``value``."""
    value &= ALL
    return Unsigned(value) if unsigned else np.int64(value - ((value >> 63) << 64))


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer, np.bool_))


def _wrapped(name: str, turned: bool) -> Callable[[Unsigned, Any], Any]:
    """Of two whole numbers one of 64 bits; anything else is NumPy's affair."""
    compute = getattr(operator, f"{name}_" if name in ("and", "or") else name)

    def method(self: Unsigned, other: Any) -> Any:
        if not _is_whole(other):
            return compute(other, np.uint64(self)) if turned else compute(np.uint64(self), other)
        first, second = (other, self) if turned else (self, other)
        unsigned = is_unsigned(first) and (name.endswith("shift") or is_unsigned(second))
        first, second = int(first), int(second)
        if name in ("floordiv", "mod"):  # of others the last bits are the same
            first, second = int(whole(first, unsigned)), int(whole(second, unsigned))
            if second == 0:
                return whole(0, unsigned)
        return whole(int(compute(first, second)), unsigned)

    return method


def _divided(turned: bool) -> Callable[[Unsigned, Any], Any]:
    """A float64, also by zero."""

    def method(self: Unsigned, other: Any) -> Any:
        other = np.float64(other) if _is_whole(other) else other
        return other / np.float64(self) if turned else np.float64(self) / other

    return method


def _compared(name: str) -> Callable[[Unsigned, Any], Any]:
    compute = getattr(operator, name)
    return lambda self, other: compute(np.uint64(self), other)


for _name in WRAPPED:
    setattr(Unsigned, f"__{_name}__", _wrapped(_name, turned=False))
    setattr(Unsigned, f"__r{_name}__", _wrapped(_name, turned=True))
Unsigned.__truediv__, Unsigned.__rtruediv__ = _divided(False), _divided(True)
for _name in COMPARED:
    setattr(Unsigned, f"__{_name}__", _compared(_name))
Unsigned.__hash__ = np.uint64.__hash__
