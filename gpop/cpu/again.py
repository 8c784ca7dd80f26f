"""An engine that rests with its graph between runs, for runs that are asked for like the one it was made for.

The next one finds layouts, workspace, loop and tables as they were left: it puts its own fields and
parameters into the loop's table, and enters the loop. An engine that rests knows no graph, which would never
be freed if something that is kept with it led back to it.

What a run asks Python for costs more than it looks: after a loop that has filled the caches, a function that
is called takes 3 us. So what is called here for each run is counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from struct import pack_into
from typing import Any

from gpop.common.by_reference import Reference
from gpop.cpu import loop_state, specialise
from gpop.cpu.beginning import Beginning
from gpop.cpu.engine import CpuEngine
from gpop.cpu.filling import FIRST, STEPS, head_of
from gpop.cpu.workspace import forget_workspaces
from gpop.layout.edge_blocks import is_small, note_without
from gpop.plan.engine import Left
from gpop.program.program import Program
from gpop.program.start import Start
from gpop.program.values import Fields, Recipe

MANY = 1 << 13
"""Vertices from which fields are filled in the loop also where programs do not begin alike: to have fewer
filled takes less than to say so."""


class RestingEngine(CpuEngine):
    """An engine of one run or, between them, of many."""

    led: Any = None  # the loop of the last workers that were called
    begun: Beginning | None = None  # how the last run began, where others may begin so
    liked: Fields | None = None  # what the fields of the last run were like

    def rest(self) -> bool:
        """Let go of the graph and the program; False where the next run may have to prepare something."""
        if self.plan.counting or self.traits.track or not (self.graph.n and self.stays):
            return False
        self.rests, self.decided = True, self.plan.alike
        self.counts = self.tries_blocks and not self.blocked and not is_small(self.graph)
        self.made_by = specialise.compile_loop  # measurements put others in its place
        self.fills = None if self.traits.all_active else (self._loader(False), self._loader(True))
        del self.graph, self.program, self.plan
        return True

    def again(
        self, start: Start, limit: int, stands: Callable[[], bool], meanwhile: Callable[[], Any]
    ) -> Left | None:
        """A run of another program of the class on the same graph, which the caller holds.

        None, and nothing done, where it would have to prepare something.
        """
        trial = self.trial
        if not stands():
            return None
        if trial is not None and (
            trial.trying
            or trial.way != self.way
            or (self.unheard_seconds >= self.quiet and self._is_near(limit))
        ):
            return None
        self.program = program = start.program
        self.limit, self.rows, progress = limit, self.most_rows, self.progress
        fields, filling = program._fields, self.space.filling
        taken: dict[str, Recipe] = {}
        entered = False
        try:
            if fields.away or self.made_by is not specialise.compile_loop:
                return None
            begun = self.begun
            if begun is not None and begun.fits(program, self.enter_loop):
                taken, self.stated = begun.begin(program, filling), True
            else:
                new, many = self._is_new(program), program.graph.n >= MANY
                steps = fields.unfilled(self.lowered.fields, taken) if new or many else []
                if len(steps) > len(filling) - FIRST or not self._renewed():
                    fields.undo(taken)
                    return None
                if taken:
                    pack_into(f"{FIRST + len(steps)}q", filling, 0, *head_of(steps, program.graph.n), *steps)
                self._have_stated()
                if new and not fields.recipes:
                    self.begun = Beginning(program, self.enter_loop, steps, taken)
            self.begin = self.end = time.perf_counter()
            if self.fills is None:
                started = int(self.layout.k), int(self.layout.n), self.edges
            elif start.vertices is None:
                started = self.fills[True](self.lists)
            else:
                started = self.fills[False](start.sources, self.lists)
            self._begin(started, self.receivers, self.edges, 0)
            records, entered = [], True
            while progress[loop_state.FRONTIER] and progress[loop_state.ITERATION] < limit:
                records.append(self.iterate())
            if taken and filling[STEPS]:  # no iteration was done
                filling[STEPS] = 0
                fields.undo(taken)
            self.least_alone[0] = progress[loop_state.LEAST_ALONE]
            iterations, active = int(progress[loop_state.ITERATION]), int(progress[loop_state.FRONTIER])
            if self.counts:
                note_without(program.graph, iterations)
            return Left(records, self.end - self.begin, iterations, active, self._take_frontier())
        except BaseException:
            if not entered or filling[STEPS]:
                fields.undo(taken)
            try:
                self._dismiss()
            finally:
                forget_workspaces(program.graph.store)
            raise
        finally:
            del self.program
            vars(self).pop("graph", None)
            vars(self).pop("plan", None)

    def _is_new(self, program: Program) -> bool:
        """Whether it is the first of programs that may begin alike. The loop's table will be another's."""
        fields, last = program._fields, self.liked
        self.begun, self.liked = None, fields.like
        may = fields.like is not None and len(fields.recipes) == len(fields.like.recipes)
        return may and fields.like is not last and not program._series

    def abandon(self) -> None:
        """As of any run. One that is interrupted while it lets go of its graph is over, nothing half done."""
        if "graph" in vars(self):
            super().abandon()

    def _following(self) -> Reference:
        """The same for all runs with this loop."""
        if self.led is not self.enter_loop:
            self.led, self.told = self.enter_loop, super()._following()
        return self.told

    def _pull_if_wanted(self) -> bool:
        """As in any run; what is found then has all be prepared anew for the next one."""
        if self.rests:
            self.graph, self.plan = self.program.graph, self.decided.plan(self.program, self.limit)
        return super()._pull_if_wanted()
