"""Which way a run's next iterations take, where auto goes by their times (trial.py).

A way has a layout, a workspace and a loop of its own, all kept with the graph. To change it in the middle of
a run is to end the loop of one after an iteration and to begin that of the other with the next: between them
all that there is are the program's fields.
"""

from __future__ import annotations

import time

from gpop.common.errors import NotEnoughMemory
from gpop.cpu import loop_state
from gpop.cpu.constants import is_shipped
from gpop.cpu.preparation import Preparation
from gpop.cpu.specialise import is_kept, is_loaded
from gpop.cpu.traits import Traits, traits_of
from gpop.cpu.trial import BUILD_NS, BUILD_S, COMPILE_S, EDGE_BYTES, LOAD_S, PREPARE_S, Trial, trial_of
from gpop.graph.kept import Kind
from gpop.layout.edge_blocks import is_small, plan_of
from gpop.program.lowering import Lowered

MOST = 64
"""Programs whose times are known of a graph; with more, all are forgotten and tried again."""


class Trying(Preparation):
    """The part of `gpop.cpu.engine.CpuEngine` that takes a way by its times.

    An engine that ``rests`` between runs has no plan to prepare another way by: it goes on in its own.
    """

    trial: Trial | None = None
    rests = False

    def _find_way(self) -> None:
        """That of the trial, where there is one; else the model's, and perhaps a trial of it."""
        trials = self.graph.store.get(Kind.TIMES) or {}
        self.trial = trials.get(self.plan.alike)
        if self.trial is not None:
            self._take_way()
            if self._may_try() and (again := self._new_trial()) is not None:
                self.trial.hurry(again.wait)
            return
        self.way = None
        super()._find_way()
        self.trial = self._new_trial() if self._may_try() else None
        if self.trial is not None:
            kept = {} if len(trials) >= MOST else trials
            self.graph.store.put(Kind.TIMES, {**kept, self.plan.alike: self.trial}, holds=())
            self.way = self.trial.way
            self._note()

    def _take_way(self) -> None:
        """What the trial's way needs; where memory does not allow it, the other one from now on."""
        self.way = self.trial.way
        try:
            super()._find_way()
        except NotEnoughMemory:
            self.trial.give_up()
            self.way = self.trial.way
            super()._find_way()

    def _may_try(self) -> bool:
        """Whether times may say which way is taken: of runs alone, in memory, that choose by the model."""
        plan = self.plan
        return (
            self.tries_blocks
            and self.stays
            and self.alone
            and plan.alike is not None
            and plan.tree is None
            and not plan.counting
            and not is_small(self.graph)
            and not is_shipped()
        )

    def _new_trial(self) -> Trial | None:
        """One that begins with the way of the model; None where it would not pay."""
        graph, threads, types, sums = self.graph, self.threads, self.plan.types, self.traits.sums
        plan = plan_of(graph, threads, *self._block_sizes(sums))
        if plan is None:
            return None
        other, layout = ("pc", Kind.BINS) if self.blocked else ("pull", Kind.BLOCKS)
        weight = 0 if types.weight is None else types.weight.itemsize
        makes, builds = graph.m * (EDGE_BYTES + weight), BUILD_S + BUILD_NS[other] * graph.m / threads * 1e-9
        if graph.store.has(layout):
            makes, builds = 0, 0.0
        prepares = _price(self.lowered, traits_of(self.plan, other, sums))
        return trial_of(self.mode, plan.expected(threads, self.constants.costs), makes, builds, prepares)

    def _limit_of_turn(self) -> int:
        """Up to which iteration the loop may go in the way that is taken from here on."""
        trial = self.trial
        if trial.way != self.way:
            self._change_way()
        return min(self.limit, self.iteration + trial.left)

    def _change_way(self) -> None:
        """Go on in the trial's way; no second of it is one of the run's."""
        begin, before = time.perf_counter(), self.prepare_seconds
        self._dismiss()
        self.least_alone[0] = self.progress[loop_state.LEAST_ALONE]
        iteration, active = self.iteration, self.active
        self._take_way()
        self.stated = False
        self._begin((int(self.layout.k), active, self.edges), self.receivers, self.edges, iteration)
        self.prepare_seconds = before
        self.incoming_seconds += time.perf_counter() - begin


def _price(lowered: Lowered, traits: Traits) -> float:
    """Seconds that a trial costs beside the other way's layout."""
    if is_loaded(lowered, traits):
        return PREPARE_S
    return PREPARE_S + (LOAD_S if is_kept(lowered, traits) else COMPILE_S)
