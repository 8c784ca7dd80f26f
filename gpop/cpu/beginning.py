"""How runs of programs that begin alike begin: new arrays, whose addresses are all that is not as it was.

Programs that a prototype of an app makes differ from each other in nothing: the loop's table of state and the
list of steps that fill fields (filling.py) are those of the last run, but for where new arrays lie. Fields
that are no part of a result (`Fields.scratch`) even have the arrays of the last run, where these are small:
such arrays stay with the process anyway. To find all of that out again takes as long as a few iterations on a
small graph.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

import numpy as np

from gpop.common.arrays import unset
from gpop.common.used_pages import LEAST
from gpop.cpu.filling import FIRST, head_of
from gpop.cpu.schedule import NO_SCHEDULE
from gpop.program.program import Program
from gpop.program.values import WIDTH, Recipe

TO = 2
"""Place of an array's address in a step."""


class Beginning:
    """Of programs like one whose fields have just been made by these ``steps``, for one loop.

    ``steps``, ``taken``: see `gpop.program.values.Fields.unfilled`.
    """

    def __init__(self, program: Program, loop: Any, steps: list[int], taken: dict[str, Recipe]) -> None:
        self.like, self.parameters, self.loop = program._fields.like, program._parameters.copy(), loop
        self.state = loop.state.copy()  # runs of other kinds use the loop as well
        self.numbers = [*head_of(steps, program.graph.n), *steps]
        self.pack = Struct(f"{len(self.numbers)}q").pack_into
        self.count, self.arrays, self.again = len(taken), [], dict[str, np.ndarray]()
        made = program._fields.made
        for name, recipe in taken.items():
            small = made[name].nbytes < LEAST
            if small and name in self.like.scratch:
                self.again[name] = made[name]
                continue
            address = made[name].__array_interface__["data"][0]
            to = range(FIRST + TO, len(self.numbers), WIDTH)
            slots = [slot for slot in to if self.numbers[slot] == address]
            make = np.empty if small else unset
            self.arrays.append((name, make, recipe.length, recipe.dtype, loop.places[name], slots))

    def fits(self, program: Program, loop: Any) -> bool:
        """Whether a program begins so: nobody has looked at its fields, or set anything."""
        fields = program._fields
        return (
            fields.like is self.like
            and self.loop is loop
            and len(fields.recipes) == self.count
            and program._parameters == self.parameters
            and not program._series
        )

    def begin(self, program: Program, filling: np.ndarray) -> dict[str, Recipe]:
        """Have it begin; the recipes of its fields, which are not filled."""
        made, state, numbers = program._fields.made, self.state, self.numbers
        for name, make, length, dtype, place, slots in self.arrays:
            array = made[name] = make(length, dtype)
            state[place] = address = array.__array_interface__["data"][0]
            for slot in slots:
                numbers[slot] = address
        made.update(self.again)
        self.loop.state[:], self.loop.schedule = state, NO_SCHEDULE
        taken, program._fields.recipes = program._fields.recipes, {}
        self.pack(filling, 0, *numbers)
        return taken
