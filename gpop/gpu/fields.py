"""Where a run on a GPU has the fields of its program, on their way there and back.

Small ones are in the block that is exchanged (`gpop.gpu.exchange`); arrays of a device stay what they are; a
field that nobody may write is sent once for all runs. What nobody has looked at is made where it is wanted,
and a result waits on the device until somebody does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.gpu import staging
from gpop.gpu.beginning import begin
from gpop.gpu.device import cupy, of_cupy
from gpop.gpu.device_graph import DeviceGraph
from gpop.gpu.exchange import ROOM, Exchange
from gpop.gpu.left import OnDevice
from gpop.graph.kept import Kind
from gpop.program.program import Program
from gpop.program.recipes import Declared, Recipe
from gpop.program.values import Fields


class DeviceFields(dict[str, Any]):
    """Device arrays by name, of the fields with these ``names``.

    ``lent``: all that the device has must be given back when the run is over, so that nothing waits there.
    """

    def __init__(
        self, program: Program, names: tuple[str, ...], exchange: Exchange, layout: DeviceGraph, lent: bool
    ) -> None:
        super().__init__(exchange.fields)
        self.program: Program | None = program  # of the run that goes on
        self.names = names
        self.exchange, self.layout, self.lent = exchange, layout, lent

    def send(self) -> None:
        """Fields to the device, as they are now: small ones with the next `Exchange.send`."""
        small = self.exchange.host_fields
        self.exchange.take(self.program._fields)
        if len(small) == len(self.names):
            return
        fields = self.program._fields
        recipes = fields.recipes
        large = [name for name in self.names if name not in small]
        unmade = [name for name in large if name in recipes]
        for name in large:  # what is made first: others may be made of it
            if name not in unmade:
                self._take(name, fields)
        for name in unmade:
            recipe = recipes.get(name)
            if recipe is None:  # somebody has looked at it meanwhile
                self._take(name, fields)
            elif name not in self:
                self._make(name, recipe)

    def _take(self, name: str, fields: Fields) -> None:
        array = fields[name]
        if name in fields.away:
            self[name] = of_cupy(array, name, cupy().cuda.Device().id)
        elif self._is_constant(name):
            self[name] = self._copy_of(array)
        else:
            if name not in self:
                self[name] = self._room(len(array), array.dtype)
            staging.send(array, self[name])

    def _make(self, name: str, recipe: Recipe) -> None:
        """A field that nobody has looked at, unless it is there already."""
        left = recipe.here() if isinstance(recipe, OnDevice) else None
        if left is not None:
            self[name] = left
            return
        self[name] = self._room(recipe.length, recipe.dtype)
        if isinstance(recipe, Declared):
            begin(self[name], recipe)
        else:
            recipe.fill(self[name], self)

    def _room(self, length: int, dtype: np.dtype) -> Any:
        """For a field that is filled next, and some behind it: compare-and-swap of small types takes the word
        around them, and leaves what else is in it as it is."""
        with self.layout.allocating():
            return cupy().empty(length + ROOM, dtype)[:length]

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
            kept = field, self._room(len(field), field.dtype)
            staging.send(*kept)
            store.put(Kind.DEVICE, kept, key, about="field")
        return kept[1]

    def forget(self) -> None:
        """The run is over: its program, whose graph may keep this, and arrays that have no place here."""
        self.program = None
        if len(self) > len(self.exchange.fields):
            for name in self.keys() - self.exchange.fields.keys():
                del self[name]

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
                fields.recipes[name] = OnDevice(self[name])
                if self.lent:
                    fields[name]
            elif name not in fields.away:
                staging.fetch(self[name], array)
