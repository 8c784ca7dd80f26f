"""Which way a run's next iterations take, where auto goes by their times (trial.py).

A way has a layout, a workspace and a loop of its own, all kept with the graph. To change it in the middle of
a run is to end the loop of one after an iteration and to begin that of the other with the next: between them
all that there is are the program's fields.
"""

from __future__ import annotations

import time

from gpop.common.alike import is_shipped
from gpop.common.errors import NotEnoughMemory
from gpop.common.memory import available_bytes
from gpop.cpu import loop_state
from gpop.cpu.preparation import Preparation
from gpop.cpu.specialise import is_kept, is_loaded
from gpop.cpu.traits import Traits, traits_of
from gpop.cpu.trial import Trial, trial_of
from gpop.graph.kept import Kind
from gpop.layout.edge_blocks import BINS_BUILD, BLOCKS_BUILD, is_small, plan_of

SHARE = 0.04
"""What a first trial costs, over the time of all iterations that are done before."""

PREPARE_S, LOAD_S, COMPILE_S = 4e-3, 15e-3, 1.6
"""What it costs: runs that take turns are prepared each by itself; and where the kernel of the other way is
not loaded, it is, or is compiled before: in some seconds, but once for all later processes."""

BUILD_NS, BUILD_S = {"pull": BLOCKS_BUILD, "pc": BINS_BUILD}, 10e-3
"""And to build the layout of a way, by edge and core, and at least."""

MOST_BYTES, SPARE, EDGE_BYTES = 1 << 29, 8, 16
"""That takes so many bytes at most, and one in so many of those that are free; of an edge so many, at most,
beside its weight."""

MOST = 64
"""Programs whose times are known of a graph; with more, all are forgotten and tried again."""


class Trying(Preparation):
    """The part of `gpop.cpu.engine.CpuEngine` that takes a way by its times.

    An engine that ``rests`` between runs has no plan to prepare another way by: it goes on in its own.
    """

    trial: Trial | None = None
    rests = False
    unheard, unheard_seconds, quiet = 0, 0.0, 0.0
    """Iterations while it rests, and their seconds, of which the trial has not heard, and how many of these
    it need not: to tell it takes as long as many edges."""

    def _find_way(self) -> None:
        """That of the trial, where there is one; else the model's, and perhaps a trial of it."""
        trials = self.graph.store.get(Kind.TIMES) or {}
        self.trial = trials.get(self.plan.alike)
        if self.trial is not None:
            self._take_way()
            if self._is_there():
                self.trial.hurry(PREPARE_S / SHARE)
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
            self.way = self.trial.end_without(self.way)
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
        """One that begins with the way of the model; None where it would not pay, or hubs go first: what is
        added up comes to PC in another order."""
        plan = plan_of(self.graph, self.threads, *self._block_sizes(self.traits.sums))
        if plan is None or self._makes() > MOST_BYTES:
            return None
        price = PREPARE_S
        if self._makes():
            price += BUILD_S + BUILD_NS[self._other()] * self.graph.m / self.threads * 1e-9
        if not is_loaded(self.lowered, self._traits_of_other()):
            price += LOAD_S
        return trial_of(self.mode, plan.expected(self.threads, self.constants.costs), price / SHARE)

    def _other(self) -> str:
        return "pc" if self.blocked else "pull"

    def _traits_of_other(self) -> Traits:
        return traits_of(self.plan, self._other(), self.traits.sums)

    def _makes(self) -> int:
        """Bytes of the other way's layout, at most; 0 where it is there."""
        if self.graph.store.has(Kind.BINS if self.blocked else Kind.BLOCKS):
            return 0
        weight = self.plan.types.weight
        return self.graph.m * (EDGE_BYTES + (0 if weight is None else weight.itemsize))

    def _is_there(self) -> bool:
        """Whether a run in the other way would find all that it needs."""
        return self._makes() == 0 and is_loaded(self.lowered, self._traits_of_other())

    def _afford(self) -> None:
        """A first trial begins: is there room for it, and a kernel, or time to compile one?

        To find that out takes most of a millisecond, which no first call should wait for.
        """
        trial, traits = self.trial, self._traits_of_other()
        if self._makes() > available_bytes() // SPARE:
            trial.end_without(self._other())
        elif is_loaded(self.lowered, traits) or is_kept(self.lowered, traits):
            trial.affords = True
        else:
            trial.put_off(COMPILE_S / SHARE)

    def _is_near(self, limit: int) -> bool:
        """Whether a run of so many iterations may have a part in a trial, of which it hears what was done."""
        self.trial.spend(self.unheard, self.unheard_seconds)
        self.unheard, self.unheard_seconds, self.quiet = 0, 0.0, self.trial.quiet()
        return self.trial.is_near(limit)

    def _limit_of_turn(self) -> int:
        """Up to which iteration the loop may go in the way that is taken from here on."""
        trial = self.trial
        if trial.trying and not trial.affords:
            self._afford()
        if trial.way != self.way:
            self._change_way()
        return min(self.limit, self.iteration + trial.left)

    def _change_way(self) -> None:
        """Go on in the trial's way; no second of it is one of the run's."""
        begin, before = time.perf_counter(), self.prepare_seconds
        self._dismiss()
        self.told_alone[:] = self.progress[loop_state.LEAST_ALONE :]
        iteration, active = self.iteration, self.active
        self._take_way()
        self.stated = False
        self._begin((int(self.layout.k), active, self.edges), self.receivers, self.edges, iteration)
        self.prepare_seconds = before
        self.incoming_seconds += time.perf_counter() - begin
