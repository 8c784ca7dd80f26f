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
from functools import partial
from operator import itemgetter
from struct import pack_into
from typing import Any

import numpy as np

from gpop.cpu import loop_state, specialise
from gpop.cpu.beginning import Beginning
from gpop.cpu.engine import CpuEngine
from gpop.cpu.filling import FIRST, STEPS, head_of
from gpop.cpu.kept_workspace import forget_workspaces
from gpop.layout.edge_blocks import asked_for, is_small, note_without
from gpop.plan.engine import NOBODY, Left
from gpop.program.recipes import Recipe
from gpop.program.start import Start
from gpop.program.values import Fields

MANY = 1 << 13
"""Vertices from which fields are filled in the loop also where programs do not begin alike: to have fewer
filled takes less than to say so."""

OF_A_RUN = "program", "late", "graph", "plan"
"""Attributes of an engine that does not rest."""

_left = partial(tuple.__new__, Left)  # without a function of Python

_told = itemgetter(
    loop_state.ITERATION, loop_state.FRONTIER, slice(loop_state.LEAST_ALONE, loop_state.PROGRESS_SIZE)
)


class RestingEngine(CpuEngine):
    """An engine of one run or, between them, of many."""

    late: tuple[Start, dict[str, np.ndarray]] | None = None  # of a run of which nobody has the program
    begun: Beginning | None = None  # how the last run began, where others may begin so
    liked: tuple[Fields, dict[str, Any]] | None = None  # what fields and parameters of the last run were like
    lasted = 0  # iterations of the last run

    def rest(self) -> bool:
        """Let go of the graph and the program; False where the next run may have to prepare something."""
        if self.plan.counting or not self.graph.n or self.graph.facts.mapped is not None:
            return False
        if not (self.settled or self.blocks_from > 0):
            return False
        self.rests, self.decided, self.lasted = True, self.plan.alike, self.iteration
        self.counts = self.tries_blocks and not self.blocked and not is_small(self.graph)
        self.made_by = specialise.compile_loop  # measurements put others in its place
        del self.graph, self.program, self.plan
        return True

    def again(
        self,
        start: Start,
        limit: int,
        stands: Callable[[type], bool],
        meanwhile: Callable[..., Any],
    ) -> Left | None:
        """A run of another program of the class on the same graph, which the caller holds.

        None, and nothing done, where it would have to prepare something.
        """
        trial = self.trial
        if self.made_by is not specialise.compile_loop or not stands(start.cls):
            return None
        if not self.settled and asked_for(start.graph, limit) >= self.blocks_from:
            return None
        if trial is not None and (
            trial.trying
            or trial.way != self.way
            or (self.unheard_seconds >= self.quiet and self._is_near(self._expected(limit)))
        ):
            return None
        self.limit, self.rows, begun = limit, self.most_rows, self.begun
        if begun is not None and begun.fits(start, limit, self.enter_loop):
            return self._alike(begun, start, meanwhile)
        return self._another(start)

    def _alike(self, begun: Beginning, start: Start, meanwhile: Callable[..., Any]) -> Left:
        """A run that begins as the last one did.

        What is made of it is made before: nobody knows what a run that fails has begun with.
        """
        progress, records, iterations, active = self.progress, [], 0, 1
        try:
            arrays = begun.begin(start, self.space.filling)
            self.late = start, arrays
            meanwhile(arrays)
            self.stated = True
            self.begin = time.perf_counter()
            if self.fill is None:
                progress[:] = begun.progress
                progress[loop_state.LEAST_ALONE :] = self.told_alone
            else:
                self._begin(self._started(start), self.receivers, self.edges, 0)
            while active and iterations < begun.limit:
                records.append(self.iterate())
                iterations, active, self.told_alone[:] = _told(progress.tolist())
            self.lasted = iterations
            if self.counts:
                note_without(start.graph, iterations)
            over = active == 0 or self.fill is None
            frontier = NOBODY if over else self._take_frontier()
            touched = self._take_touched() if self.traits.track else None
            return _left((records, self.end - self.begin, iterations, active, frontier, touched))
        except BaseException:
            self._fail(start)
            raise
        finally:
            self.late = None
            if "graph" in vars(self):
                self._forget()

    def _another(self, start: Start) -> Left | None:
        """A run with fields of its own."""
        self.program = program = start.program
        limit, progress, fields, filling = self.limit, self.progress, program._fields, self.space.filling
        taken: dict[str, Recipe] = {}
        entered = False
        try:
            if fields.away:
                return None
            new, many = self._is_new(start), program.graph.n >= MANY
            steps = fields.unfilled(self.lowered.fields, taken) if new or many else []
            if len(steps) > len(filling) - FIRST or not self._renewed():
                fields.undo(taken)
                return None
            if taken:
                pack_into(f"{FIRST + len(steps)}q", filling, 0, *head_of(steps, program.graph.n), *steps)
            self._have_stated()
            self.begin = self.end = time.perf_counter()
            self._begin(self._started(start), self.receivers, self.edges, 0)
            if new and limit > 0 and not fields.recipes:
                self.begun = Beginning(start, limit, self.enter_loop, steps, taken, progress)
            records, entered = [], True
            while progress[loop_state.FRONTIER] and progress[loop_state.ITERATION] < limit:
                records.append(self.iterate())
            if taken and filling[STEPS]:  # no iteration was done
                filling[STEPS] = 0
                fields.undo(taken)
            iterations, active, self.told_alone[:] = _told(progress.tolist())
            self.lasted = iterations
            if self.counts:
                note_without(program.graph, iterations)
            frontier, touched = self._take_frontier(), self._take_touched() if self.traits.track else None
            return Left(records, self.end - self.begin, iterations, active, frontier, touched)
        except BaseException:
            if not entered or filling[STEPS]:
                fields.undo(taken)
            self._fail(start)
            raise
        finally:
            self._forget()

    def _started(self, start: Start) -> tuple[int, int, int]:
        """The lists of the frontier are filled: how many partitions, vertices and edges are active."""
        if self.fill is None:
            return int(self.layout.k), int(self.layout.n), self.edges
        if start.vertices is None:
            return self.fill(self.lists)
        return self.fill(start.sources, self.lists)

    def _forget(self) -> None:
        """Let go of what leads to the graph."""
        mine = vars(self)
        for name in OF_A_RUN:
            mine.pop(name, None)

    def _fail(self, start: Start) -> None:
        """Workers leave, and what may not be clean is forgotten."""
        try:
            self._dismiss()
        finally:
            forget_workspaces(start.graph.store)

    def _expected(self, limit: int) -> int:
        """Iterations of a run that may have so many: one that ends when it has settled is like the last."""
        return limit if self.traits.settles is None else min(limit, self.lasted)

    def _is_new(self, start: Start) -> bool:
        """Whether it is the first of those that may begin alike. The loop's table will be another's."""
        last, may = self.liked, start.shared and all(len(each) == 1 for each in start.first.values())
        self.begun, self.liked = None, (start.fields, start.parameters) if may else None
        return may and not (last and last[0] is start.fields and last[1] is start.parameters)

    def abandon(self) -> None:
        """As of any run. One that is interrupted while it lets go of its graph is over, nothing half done."""
        if "graph" in vars(self):
            super().abandon()

    def _pull_if_wanted(self) -> bool:
        """As in any run; what is found then has all be prepared anew for the next one."""
        if self.rests and self.progress[loop_state.NO_IN_EDGES]:
            if self.late is not None:
                start, arrays = self.late
                parameters = start.parameters.copy()
                fields = Fields(arrays, {})
                self.program = start.cls._beginning(start.graph, fields, parameters, start.series)
            self.graph, self.plan = self.program.graph, self.decided.plan(self.program, self.limit)
        return super()._pull_if_wanted()
