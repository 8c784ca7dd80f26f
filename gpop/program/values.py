"""The arrays of a program's fields, each made when somebody looks at it.

Until then a field is a recipe (`gpop.program.recipes`): how it begins, or where a run has left it. So a run
on a GPU makes its fields there, and a result comes to the host when it is wanted. An array that somebody has
stays the field's: runs read and update it in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from sys import getrefcount
from types import MappingProxyType
from typing import Any

import numpy as np

from gpop.common import private_pages
from gpop.common.arrays import unset
from gpop.program.recipes import Declared, Recipe

NOTHING: Mapping[str, Any] = MappingProxyType({})

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


class LastRun:
    """Whether it was one on a device, where arrays that were made would have to be sent.

    Of an instance: Python forgets what it knows of a class when one of its attributes is set.
    """

    on_device = False


last_run = LastRun()


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
    private: Mapping[str, Declared] = NOTHING
    """What fields were made by whose arrays may lie in `gpop.common.private_pages`."""

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
            self._have_left(array, self.recipes.pop(name, None), recipe)
        return array

    def _have_left(self, array: Any, left: Recipe | None, made_by: Recipe) -> None:
        """What a run in another thread has left, where it has ended while this array was made."""
        if left is not None and left is not made_by:
            np.copyto(array, left.on_host())

    def shown(self, name: str) -> Any:
        """An array, which was not made yet, for somebody who may write some of it: see `as_declared`."""
        recipe = self.recipes.get(name)
        if last_run.on_device and type(recipe) is Declared:
            array = private_pages.in_private_pages(recipe.length, recipe.dtype, recipe.pattern)
            if array is not None:
                recipe._set_others(array)
                self.private = {**self.private, name: recipe}
                array = self.made.setdefault(name, array)
                self._have_left(array, self.recipes.pop(name, None), recipe)
                return array
        return self[name]

    def as_declared(self) -> None:
        """Have no arrays that nobody has any more, of which it is known that few vertices were set: a run
        makes them where it wants them."""
        private, self.private = self.private, {}  # a program may be pickled
        for name, recipe in private.items():
            alone = name in self.made and _references(self.made, name) == _ALONE
            others = private_pages.others(self.made[name]) if alone else None
            if others is not None and self.made[name].flags.writeable:
                self.recipes[name] = recipe.but_for(others)
                self.like = None
                array = self.made.pop(name)
                if _references({name: array}, name) == _ALONE + 1:  # of this
                    private_pages.wait(array, others)
                else:  # another thread has come for it meanwhile
                    self.made[name] = array
                    self.recipes.pop(name, None)

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

    def leave(self, name: str, left: Recipe) -> None:
        """Have what a run has left, in the array too that another thread may have made meanwhile."""
        self.recipes[name] = left
        array = self.made.get(name)
        if array is not None and self.recipes.pop(name, None) is left:
            np.copyto(array, left.on_host())

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
