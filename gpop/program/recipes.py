"""What the array of a field is made by when somebody wants it, on the host or on a device.

One value everywhere but for a few vertices (`Declared`), another field's values times a number (`Scaled`), or
anything (`Unset`); where a run has left it is `gpop.gpu.left.OnDevice`. On the host it is filled by
steps of a few numbers, which the threads of a run take (`gpop.cpu.filling`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from gpop.common.arrays import filled, unset

EVERYWHERE, ONE, TIMES = range(3)
"""What a step does that fills an array: one value for all vertices, for one of them, or the values of another
array of the type (a floating point one) times a number."""

WIDTH = 5
"""Numbers of a step: what it does, bytes of an element, the array's address; the vertex, or the other array's
address; the value, its bytes repeated until they are 8, or the number, a float64."""


class Recipe(Protocol):
    """What a field's array is made by, on the host or on a device."""

    dtype: np.dtype
    length: int

    def on_host(self) -> np.ndarray:
        """The array in the host's memory."""

    def fill(self, array: Any, others: Mapping[str, Any]) -> None:
        """The same values into an array of the host or a device, where ``others`` of the fields are, too."""

    def assign(self, vertex: int, value: Any) -> bool:
        """Have this value for a vertex; False where it has to be done in the array."""

    def steps(self, address: int) -> list[int] | None:
        """Steps that fill the array of the host at this address; None where they cannot."""


class Declared:
    """One value everywhere, but for a few vertices.

    Examples
    --------
    >>> recipe = Declared(4, np.dtype(np.int32), -1)
    >>> recipe.assign(2, 0), recipe.on_host()
    (True, array([-1, -1,  0, -1], dtype=int32))
    """

    def __init__(
        self, length: int, dtype: np.dtype, value: Any, others: dict[int, Any] | None = None,
        pattern: int | None = None,
    ) -> None:  # fmt: skip
        self.length, self.dtype, self.value, self._pattern = length, dtype, value, pattern
        self.others: dict[int, Any] = {} if others is None else others

    def but_for(self, others: dict[int, Any]) -> Declared:
        """The same but for a few vertices, in place of those that this one has."""
        return Declared(self.length, self.dtype, self.value, others, self.pattern)

    @property
    def pattern(self) -> int:
        """The value as a step has it: worked out once."""
        if self._pattern is None:
            self._pattern = pattern_of(self.value, self.dtype)
        return self._pattern

    def on_host(self) -> np.ndarray:
        array = filled(self.length, self.dtype, self.value)
        if self.others:
            self._set_others(array)
        return array

    def fill(self, array: Any, others: Mapping[str, Any]) -> None:
        array.fill(self.value)
        self._set_others(array)

    def _set_others(self, array: Any) -> None:
        for vertex, value in self.others.items():
            array[vertex] = value

    def assign(self, vertex: int, value: Any) -> bool:
        self.others[vertex] = value
        return True

    def steps(self, address: int) -> list[int] | None:
        size = self.dtype.itemsize
        steps = [EVERYWHERE, size, address, 0, self.pattern]
        for vertex, value in self.others.items():
            steps += (ONE, size, address, vertex, pattern_of(value, self.dtype))
        return steps


_REPEATED = {1: 0x0101010101010101, 2: 0x0001000100010001, 4: 0x0000000100000001, 8: 1}


def pattern_of(value: Any, dtype: np.dtype) -> int:
    """Bytes of a value, repeated until they are those of an int64.

    Examples
    --------
    >>> [pattern_of(value, np.dtype(np.int32)) for value in (1, -1, np.int32(1))]
    [4294967297, -1, 4294967297]
    """
    if type(value) is int and dtype.kind in "iu":  # in most calls: what NumPy is asked takes 4 us
        size = dtype.itemsize
        pattern = (value & (1 << 8 * size) - 1) * _REPEATED[size]
        return pattern - (pattern >> 63 << 64)
    return int.from_bytes(np.full(1, value, dtype).tobytes() * (8 // dtype.itemsize), "little", signed=True)


class Scaled:
    """Another's values of the fields (`gpop.program.values.Fields`), in floating point, times a number."""

    def __init__(self, fields: Any, name: str, factor: float) -> None:
        self.fields, self.name = fields, name
        self.length, self.dtype = fields.kind(name)
        self.factor = self.dtype.type(factor)

    def on_host(self) -> np.ndarray:
        of = self.fields[self.name]
        return np.multiply(of, self.factor, out=unset(self.length, self.dtype))

    def fill(self, array: Any, others: Mapping[str, Any]) -> None:
        array[:] = others[self.name]
        array *= self.factor

    def assign(self, vertex: int, value: Any) -> bool:
        return False

    def steps(self, address: int) -> list[int] | None:
        of = self.fields[self.name].__array_interface__["data"][0]
        return [TIMES, self.dtype.itemsize, address, of, pattern_of(self.factor, np.dtype(np.float64))]


class Unset:
    """Anything, of a field that every vertex sets before anybody reads it."""

    def __init__(self, length: int, dtype: np.dtype) -> None:
        self.length, self.dtype = length, dtype

    def on_host(self) -> np.ndarray:
        return unset(self.length, self.dtype)

    def fill(self, array: Any, others: Mapping[str, Any]) -> None:
        """Leaves it as it is."""

    def assign(self, vertex: int, value: Any) -> bool:
        return False

    def steps(self, address: int) -> list[int] | None:
        return []
