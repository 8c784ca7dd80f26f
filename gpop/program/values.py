"""The arrays of a program's fields, each made when somebody looks at it.

Until then a field is a recipe: how it begins (`Declared`, `Scaled`), or where a run has left it
(`gpop.gpu.left.OnDevice`). So a run on a GPU makes its fields there, and a result comes to the host when it
is wanted. An array that has been handed out stays the field's: runs read and update it in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from sys import getrefcount
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from gpop.common import private_pages
from gpop.common.arrays import filled, unset

NOTHING: Mapping[str, Any] = MappingProxyType({})

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

    _pattern: int | None = None

    def __init__(
        self, length: int, dtype: np.dtype, value: Any, others: dict[int, Any] | None = None
    ) -> None:
        self.length, self.dtype, self.value = length, dtype, value
        self.others: dict[int, Any] = {} if others is None else others

    def but_for(self, others: dict[int, Any]) -> Declared:
        """The same but for a few vertices, in place of those that this one has."""
        new = Declared(self.length, self.dtype, self.value, others)
        new._pattern = self.pattern
        return new

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
    """Another field's values, in floating point, times a number."""

    def __init__(self, fields: Fields, name: str, factor: float) -> None:
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


_SAID = "__cuda_array_interface__"


def device_kind(array: Any) -> tuple[tuple[int, ...], np.dtype, bool] | None:
    """Shape and type of an array that lies on a device (CuPy's, Numba's, PyTorch's ...), and whether its
    elements lie in a row and may be written; None of anything else."""
    # To ask one of CuPy's what it says takes 2 us. A tensor of PyTorch says nothing where it is on the host.
    if not ((hasattr(type(array), _SAID) and hasattr(array, "flags")) or hasattr(array, _SAID)):
        return None
    if getattr(getattr(array, "flags", None), "c_contiguous", False):
        return array.shape, array.dtype, True
    said = array.__cuda_array_interface__
    dtype = np.dtype(said["typestr"])
    in_a_row = said.get("strides") in (None, (dtype.itemsize,))
    return tuple(said["shape"]), dtype, in_a_row and not said["data"][1]


def _references(arrays: dict[str, Any], name: str) -> int:
    """To an array: of the dictionary, this call, and whoever else has it or a view of it."""
    return getrefcount(arrays[name])


_ALONE = _references({"": np.empty(0)}, "")


class Fields(MutableMapping[str, Any]):
    """Arrays by name; `made` has those that somebody has looked at, `recipes` the others.

    `away` are the names of arrays of a device: to ask one what it is takes longer than a look-up. `scratch`
    are fields at which nobody looks when a run is over: of programs that are alike, one may have another's.
    """

    scratch: frozenset[str] = frozenset()
    sent = False
    """Whether the last run was one on a device, where arrays that were made would have to be sent."""

    def __init__(self, made: dict[str, Any], recipes: dict[str, Recipe]) -> None:
        self.made, self.recipes = made, recipes
        self.away = {name for name, array in made.items() if device_kind(array)} if made else set()
        self.like: Fields | None = None

    def alike(self, first: Mapping[str, dict[int, Any]] = NOTHING) -> Fields:
        """Others that begin with the same arrays and recipes, none of them on a device.

        ``first``: values that some vertices have in place of the declared ones. Fields that are made without
        say what they are ``like``: who has seen one has seen all, and whoever makes them sets none of them.
        """
        fields = object.__new__(Fields)
        fields.made, fields.recipes, fields.away = self.made.copy(), self.recipes.copy(), set()
        fields.like = None if first else self
        for name, others in first.items():
            fields.recipes[name] = self.recipes[name].but_for(others)
        return fields

    def __getitem__(self, name: str) -> Any:
        array = self.made.get(name)
        if array is None:
            recipe = self.recipes.get(name)
            if recipe is None:  # another thread has made it meanwhile
                return self.made[name]
            # Two threads may both make it: setdefault has one of them for all.
            array = self.made.setdefault(name, recipe.on_host())
            self.recipes.pop(name, None)
        return array

    def shown(self, name: str) -> Any:
        """An array for somebody who may write some of it: see `as_declared`."""
        recipe = self.recipes.get(name) if Fields.sent else None
        if type(recipe) is Declared:
            kind = recipe.length, recipe.dtype, recipe.value, recipe.pattern
            array = private_pages.in_private_pages(*kind)
            if array is not None:
                recipe._set_others(array)
                self.made.setdefault(name, array)
                self.recipes.pop(name, None)
        return self[name]

    def as_declared(self) -> None:
        """Have no arrays that nobody has any more, of which it is known that few vertices were set: a run
        makes them where it wants them."""
        for name in [name for name in self.made if _references(self.made, name) == _ALONE]:
            if name not in self.away and self.made[name].flags.writeable:
                begun = private_pages.others(self.made[name])
                if begun is not None:
                    self.recipes[name] = Declared(*self.kind(name), *begun)
                    self.like = None
                    private_pages.wait(self.made.pop(name), begun[1])

    def unfilled(self, names: Iterable[str], taken: dict[str, Recipe]) -> list[int]:
        """Have arrays of anything for those of the fields that are not made; the steps that fill them.

        ``taken`` gets the recipes of these, for `undo` where the steps are not done.
        """
        steps: list[int] = []
        made, recipes = self.made, self.recipes
        for name in names:
            recipe = recipes.get(name)
            if recipe is not None:
                array = unset(recipe.length, recipe.dtype)
                more = recipe.steps(array.__array_interface__["data"][0])
                if more is not None:
                    taken[name] = recipe
                    made[name] = array
                    del recipes[name]
                    steps += more
        return steps

    def undo(self, taken: dict[str, Recipe]) -> None:
        """Fields are not made, but by these recipes."""
        for name, recipe in taken.items():
            self.recipes[name] = recipe
            self.made.pop(name, None)

    def __setitem__(self, name: str, array: Any) -> None:
        self.made[name] = array
        self.recipes.pop(name, None)
        self.away.discard(name)

    def put_away(self, name: str, array: Any) -> None:
        """Have an array of a device."""
        self.made[name] = array
        self.recipes.pop(name, None)
        self.away.add(name)

    def __delitem__(self, name: str) -> None:
        del self.made[name]
        self.away.discard(name)

    def __iter__(self) -> Iterator[str]:
        return iter([*self.made, *self.recipes])

    def __len__(self) -> int:
        return len(self.made) + len(self.recipes)

    def kind(self, name: str) -> tuple[int, np.dtype]:
        """Length and type of a field, which is not made for that."""
        array = self.made.get(name)
        if array is None:
            recipe = self.recipes[name]
            return recipe.length, recipe.dtype
        return len(array), device_kind(array)[1] if name in self.away else array.dtype

    def nbytes(self, name: str) -> int:
        """Bytes of a field."""
        length, dtype = self.kind(name)
        return length * dtype.itemsize

    def assign_all(self, name: str, value: Any) -> None:
        """Set the value of all vertices."""
        if name in self.made:
            self.made[name][:] = value
        else:
            length, dtype = self.kind(name)
            self.recipes[name] = Declared(length, dtype, np.full(1, value, dtype)[0])

    def assign(self, name: str, vertex: int, value: Any) -> None:
        """Set the value of a vertex, without making the array if need be."""
        recipe = self.recipes.get(name)
        if recipe is None or not recipe.assign(vertex, value):
            self[name][vertex] = value
