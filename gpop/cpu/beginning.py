"""How runs of programs that begin alike begin: arrays, whose addresses are all that is not as it was.

Programs that a prototype of an app makes differ from each other in nothing but the value that a vertex has
in a field, the source of a search: the loop's table of state, the list of steps that fill fields (filling.py)
and, where all vertices are active, the loop's own numbers are those of the last run, but for where arrays
lie. Fields that are no part of a result (`Fields.scratch`) have the arrays of the last run, where these are
small, and others those of a run whose results are gone. Such arrays stay with the process anyway; to make one
and to ask NumPy where it lies takes 30 to 40 us after a loop that has filled the caches. To find all of that
out again takes as long as a few iterations on a small graph, and so does to make a program, which nobody asks
for.
"""

from __future__ import annotations

from struct import Struct
from sys import getrefcount
from typing import Any, NamedTuple

import numpy as np

from gpop.common.arrays import unset
from gpop.common.used_pages import LEAST
from gpop.cpu.filling import FIRST, head_of
from gpop.program.recipes import WIDTH, Recipe, pattern_of
from gpop.program.start import Start

TO, OF, VALUE = 2, 3, 4
"""Places of an array's address, and of a vertex and its value, in a step."""

HELD = 2
"""Arrays of a field that are held, at most: a new result is mostly made while somebody has the last one."""

NOBODYS = 2
"""References to an array of which nobody has a view: the pair that it is held in, and the question itself.
What is handed out is a view; whatever refers to that, or to its memory, refers to the array."""


class _Field(NamedTuple):
    """One whose array is another for each run. Its address has these ``slots`` in the steps, and a ``place``
    in the state; ``held``: arrays that have been handed out, each with its address."""

    name: str
    length: int
    dtype: np.dtype
    place: int
    slots: list[int]
    held: list[tuple[np.ndarray, int]]


class Beginning:
    """Of runs whose ``start`` is like one whose fields have just been made by these ``steps``, for one loop.

    ``steps``, ``taken``: see `gpop.program.values.Fields.unfilled`. ``progress``: the numbers that the loop
    has begun with, to go on to ``limit``.
    """

    def __init__(
        self, start: Start, limit: int, loop: Any, steps: list[int], taken: dict[str, Recipe],
        progress: np.ndarray,
    ) -> None:  # fmt: skip
        self.like, self.parameters, self.limit, self.loop = start.fields, start.parameters, limit, loop
        # Runs of other kinds use the loop as well.
        self.state, self.schedule = loop.state.copy(), loop.schedule
        self.progress = progress.copy()
        self.numbers = [*head_of(steps, start.graph.n), *steps]
        self.pack = Struct(f"{len(self.numbers)}q").pack_into
        self.fields, made = [], start.program._fields.made
        self.same, self.ones = dict(start.fields.made), dict[str, tuple[int, np.dtype]]()
        for name, recipe in taken.items():
            address = made[name].__array_interface__["data"][0]
            steps_at = range(FIRST, len(self.numbers), WIDTH)
            own = [at for at in steps_at if self.numbers[at + TO] == address]
            if name in start.first:
                self.ones[name] = own[-1], recipe.dtype
            if name in self.like.scratch and made[name].nbytes < LEAST:
                self.same[name] = made[name]
                continue
            slots = [at + TO for at in own]
            self.fields.append(_Field(name, recipe.length, recipe.dtype, loop.places[name], slots, []))

    def fits(self, start: Start, limit: int, loop: Any) -> bool:
        """Whether a run begins so: fields and parameters are those of all runs like it.

        A prototype's runs have the same fields in ``first``. A step has room for the value of one vertex.
        """
        return (
            start.fields is self.like
            and start.parameters is self.parameters
            and self.loop is loop
            and self.limit == limit
            and {1}.issuperset(map(len, start.first.values()))
        )

    def begin(self, start: Start, filling: np.ndarray) -> dict[str, np.ndarray]:
        """Have one begin; the arrays of its fields, which are not filled."""
        made, state, numbers = self.same.copy(), self.state, self.numbers
        for name, length, dtype, place, slots, held in self.fields:
            for pair in held:
                if getrefcount(pair[0]) == NOBODYS:
                    break
            else:
                array = unset(length, dtype)
                pair = array, array.__array_interface__["data"][0]
                if array.nbytes < LEAST:
                    held[:] = [pair, *held[: HELD - 1]]
            made[name], state[place] = pair[0][:], pair[1]
            for slot in slots:
                numbers[slot] = pair[1]
        for name, others in start.first.items():
            at, dtype = self.ones[name]
            for vertex, value in others.items():
                numbers[at + OF], numbers[at + VALUE] = vertex, pattern_of(value, dtype)
        self.loop.state[:], self.loop.schedule = state, self.schedule
        self.pack(filling, 0, *numbers)
        return made
