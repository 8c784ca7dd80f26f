"""Where a run on a GPU has the fields of its program, on their way there and back.

Small ones are in the block that is exchanged (`gpop.gpu.exchange`); arrays of a device stay what they are; a
field that nobody may write is sent once for all runs. What nobody has looked at is made where it is wanted,
and a result waits on the device until somebody does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.gpu import staging
from gpop.gpu.device import cupy, of_cupy
from gpop.gpu.exchange import Exchange
from gpop.gpu.left import OnDevice
from gpop.gpu.prepared import Prepared
from gpop.gpu.rooms import new_room
from gpop.graph.kept import Kind
from gpop.program.program import Program
from gpop.program.recipes import Declared, Recipe
from gpop.program.values import Fields


class DeviceFields(dict[str, Any]):
    """Device arrays by name, of the fields with these ``names``.

    ``lent``: all that the device has must be given back when the run is over, so that nothing waits there.
    """

    def __init__(
        self, program: Program, names: tuple[str, ...], exchange: Exchange, ready: Prepared, lent: bool
    ) -> None:
        super().__init__(exchange.fields)
        self.program: Program | None = program  # of the run that goes on
        self.names = names
        self.expected: dict[str, OnDevice] = {}
        """What fields will be left as."""
        self.there: dict[str, Recipe] = {}
        """What arrays have begun with, or are left as: a callback may give the program another recipe."""
        self.exchange, self.ready, self.lent = exchange, ready, lent

    def send(self) -> None:
        """Fields to the device, as they are now: small ones with the next `Exchange.send`."""
        small = self.exchange.host_fields
        self.exchange.take(self.program._fields)
        if len(small) == len(self.names):
            return
        fields = self.program._fields
        recipes = fields.recipes
        made_of_others, steps, length = [], [], 0
        for name in self.names:
            if name in small:
                continue
            recipe = recipes.get(name)
            if recipe is None:
                self._take(name, fields)
            elif recipe is self.there.get(name):
                continue
            elif type(recipe) is Declared:
                length, self.there[name] = recipe.length, recipe
                if name not in self:
                    self[name] = self._room(name, recipe.length, recipe.dtype)
                steps += recipe.steps(self[name].data.ptr)
            else:
                made_of_others.append((name, recipe))
        if steps:
            self.ready.beginning(steps, length)
        for name, recipe in made_of_others:
            self._make(name, recipe)

    def _take(self, name: str, fields: Fields) -> None:
        array = fields[name]
        if name in fields.away:
            self[name] = of_cupy(array, name, cupy().cuda.Device().id)
        elif self._is_constant(name):
            self[name] = self._copy_of(array)
        else:
            if name not in self:
                self[name] = self._room(name, len(array), array.dtype)
            staging.send(array, self[name])

    def _make(self, name: str, recipe: Recipe) -> None:
        """A field that a run has left, or that is made of another."""
        self.there[name] = recipe
        left = recipe.here() if isinstance(recipe, OnDevice) else None
        if left is not None:
            self[name] = left
            return
        self[name] = self._room(name, recipe.length, recipe.dtype)
        recipe.fill(self[name], self)

    def _room(self, name: str, length: int, dtype: np.dtype) -> Any:
        """For a field that is filled next."""
        if not self.lent and self.ready.keeps_bytes(length * dtype.itemsize):
            return self.ready.rooms.room(name, length, dtype)
        with self.ready.layout.allocating():
            return new_room(length, dtype)

    def keep_constants(self) -> None:
        """Have those there that nobody may write."""
        for name in filter(self._is_constant, self.names):
            self._copy_of(self.program._fields[name])

    def _is_constant(self, name: str) -> bool:
        """Whether nobody may write a field, and it travels alone. One that somebody has made read-only may be
        made writable again; what is kept with the graph stays as it is."""
        fields = self.program._fields
        field = fields.made.get(name)
        if field is None or name in fields.away or name in self.exchange.fields or self.lent:
            return False
        return not field.flags.writeable and self.program.graph.store.has(Kind.SHARES, field)

    def _copy_of(self, field: np.ndarray) -> Any:
        """A field that nobody may write is sent once, and kept with the graph."""
        store, key = self.program.graph.store, ("field", id(field), cupy().cuda.Device().id)
        kept = store.get(Kind.DEVICE, key)
        if kept is None:
            kept = field, new_room(len(field), field.dtype)
            staging.send(*kept)
            store.put(Kind.DEVICE, kept, key, about="field")
        return kept[1]

    def forget(self) -> None:
        """The run is over: its program, whose graph may keep this, and arrays that have no place here."""
        self.program, self.expected, self.there = None, {}, {}
        if len(self) > len(self.exchange.fields):
            for name in self.keys() - self.exchange.fields.keys():
                del self[name]

    def expect(self, written: tuple[str, ...]) -> None:
        """Be ready for `fetch`, while the device is at work."""
        made, small = self.program._fields.made, self.exchange.host_fields
        self.expected = {
            name: OnDevice(self[name], False) for name in written if name not in small and name not in made
        }

    def fetch(self, written: tuple[str, ...]) -> None:
        """Fields that the program writes back to where it has them; what nobody has looked at stays."""
        fields, small = self.program._fields, self.exchange.host_fields
        self.exchange.give(fields, written)
        if len(small) == len(self.names):
            return
        for name in written:
            array = fields.made.get(name)
            if name in small:
                continue
            if array is None:
                left = self.expected.get(name) or OnDevice(self[name])
                left.array, self.there[name] = self[name], left
                fields.leave(name, left)
                if self.lent:
                    fields[name]
            elif name not in fields.away:
                staging.fetch(self[name], array)
