"""What kernels are given, in words that need no Numba: the key under which machine code is kept.

An argument's kind is at least as fine as Numba's type of it: what has one kind has one type. Of the common
ones only; who asks for another's kind gets None, and Numba is asked.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gpop.common.deferred import Later

_numba = Later("numba")


class NumberKind(NamedTuple):
    """A number, by the name of its NumPy type."""

    name: str

    def numba_type(self) -> Any:
        """Numba's type of it."""
        return _numba.from_dtype(np.dtype(self.name))


class ArrayKind(NamedTuple):
    """An array. ``layout``: "C", "F" or "A", as Numba has it."""

    element: str
    ndim: int = 1
    layout: str = "C"
    writable: bool = True
    aligned: bool = True

    def numba_type(self) -> Any:
        """Numba's type of it."""
        element = _numba.from_dtype(np.dtype(self.element))
        return _numba.types.Array(
            element, self.ndim, self.layout, readonly=not self.writable, aligned=self.aligned
        )


class StarKind(NamedTuple):
    """So many numbers for a parameter ``*rest``."""

    name: str
    count: int

    def numba_type(self) -> Any:
        """Numba's type of it."""
        return _numba.types.StarArgUniTuple(NumberKind(self.name).numba_type(), self.count)


class TupleKind(NamedTuple):
    """A tuple of arguments."""

    of: tuple[Any, ...]


class NamedTupleKind(NamedTuple):
    """A named tuple of arguments, which has the type of its class."""

    cls: str
    of: tuple[Any, ...]


class NoneKind(NamedTuple):
    """None."""


class BytesKind(NamedTuple):
    """Bytes, of any number."""


Kind: TypeAlias = Any
"""One of these, or that of a `gpop.common.by_reference.Reference`."""

INT64, FLOAT64, BOOL = NumberKind("int64"), NumberKind("float64"), NumberKind("bool")
NONE = NoneKind()
_PLAIN = {bool: BOOL, float: FLOAT64, type(None): NONE, bytes: BytesKind()}
_ARRAYS = (np.ndarray, np.memmap)


def kind_of(value: Any) -> Kind | None:
    """The kind of an argument, or None.

    Examples
    --------
    >>> kind_of(np.zeros((2, 3), np.float32)).layout, kind_of(7), kind_of("text")
    ('C', NumberKind(name='int64'), None)
    """
    cls = type(value)
    if cls in _ARRAYS:
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return _array_kind(value.dtype, value.ndim, layout, flags.writeable, flags.aligned)
    if cls is int:
        return INT64 if -(2**63) <= value < 2**63 else None
    if cls in _PLAIN:
        return _PLAIN[cls]
    if isinstance(value, np.generic):
        return _number_kind(value.dtype)
    if isinstance(value, tuple):
        of = tuple(map(kind_of, value))
        if None in of:
            return None
        return TupleKind(of) if cls is tuple else NamedTupleKind(f"{cls.__module__}.{cls.__qualname__}", of)
    return getattr(value, "kind_of_reference", None)


@cache
def _array_kind(dtype: np.dtype, ndim: int, layout: str, writable: bool, aligned: bool) -> ArrayKind | None:
    if _number_kind(dtype) is None:
        return None
    return ArrayKind(dtype.name, ndim, layout, writable, aligned)


@cache
def _number_kind(dtype: np.dtype) -> NumberKind | None:
    return NumberKind(dtype.name) if dtype.kind in "biuf" and dtype.isnative and dtype.itemsize <= 8 else None
