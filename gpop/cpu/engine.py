"""The CPU as a target: the threads that enter the compiled loop of a run, and the run's end.

The loop (loop.py) is entered by all threads and comes back to Python a few times a second, after each
iteration if a callback wants to see it, or between the halves of one when it is stepped. What comes before is
in preparation.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from gpop.common.cached import entry_of
from gpop.common.kinds import INT64
from gpop.common.on_demand import looked_at
from gpop.common.standby import Crew, borrow, give_back
from gpop.cpu import follow, loop_state, sharing, team
from gpop.cpu.active import LIST_GAP, SOURCES, drain_frontier, drain_touched, load_all, load_frontier
from gpop.cpu.counters import COUNTERS
from gpop.cpu.filling import BYTES, STEPS
from gpop.cpu.follow import ANYWHERE, Places, following_of
from gpop.cpu.kept_workspace import forget_workspaces
from gpop.cpu.marks import MANY, Marked
from gpop.cpu.priority import PENDING, drain_waiting, pending_in
from gpop.cpu.specialise import Loop
from gpop.cpu.trying import Trying
from gpop.layout.edge_blocks import note_without
from gpop.layout.in_edges import receivers
from gpop.model.choosers import AUTO_PUSH
from gpop.plan.engine import NOBODY, Finished
from gpop.plan.plan import Plan
from gpop.plan.trace import COLUMNS

SLICE_NS = 250_000_000
"""The loop returns to Python after so many nanoseconds, for progress and Ctrl-C."""

CALLED_LATER = True
"""Whether workers are called only when the loop asks for them: small runs are over before they would come."""


class CpuEngine(Trying):
    """One run on the CPU; see `gpop.plan.engine.Engine`."""

    most_rows = 4096
    settles = schedules = True
    fill: Callable[..., tuple[int, int, int]] | None = None  # what makes the frontier, of whole graphs or not
    places: Places = ANYWHERE
    """Where the threads of a run are kept; the system chooses."""

    def __init__(self, plan: Plan, residency: str = "auto") -> None:
        super().__init__(plan, residency)
        self.limit = plan.limit
        self.called, self.ticket = False, 0  # whether the workers are in the loop, and since when
        self.crew: Crew | None = None  # those that follow it
        self.led: tuple[Loop | None, Places] | None = None  # what the last ones followed, and where

    # --- the run -------------------------------------------------------------------------------

    @property
    def iteration(self) -> int:
        return int(self.progress[loop_state.ITERATION])

    @property
    def active(self) -> int:
        return int(self.progress[loop_state.FRONTIER])

    @property
    def range(self) -> tuple[int, int]:
        return 0, self.graph.n

    def load(self, sources: np.ndarray | None, rows: int, iteration: int = 0) -> None:
        """Make these vertices the frontier; all of them when None."""
        self.rows = rows
        fill, whole = None, sources is None
        if whole and not self.traits.all_active:
            fill = self._loader(whole)  # first: another process may still be at the loop
        if self.graph.n:
            self._ready_loop()
        if not (whole or self.traits.all_active):
            fill = self._loader(whole)  # last: the other may have been asked for it (`_ask_ahead`)
        self.fill = fill
        self.begin = self.end = time.perf_counter()
        self.found = self.incoming_seconds
        vertices = self.graph.n
        if fill is None:
            started = (int(self.layout.k), vertices, self.edges)
        else:
            started = fill(self.lists) if whole else fill(sources, self.lists)
        self._begin(started, self.receivers, self.edges, iteration)

    def _begin(self, started: tuple[int, int, int], vertices: int, edges: int, iteration: int) -> None:
        """The loop's state before the first iteration."""
        items, active, active_edges = started
        known = self.progress[: loop_state.LEAST_ALONE]
        known[:] = iteration, items, active, active_edges, 0, vertices, edges, 0, 0, 0, 1, 0, 0, 2
        if self.traits.all_active:  # else the loop would come back at once
            alike, edge_bytes = min(self.limit - iteration, self.rows), sharing.bytes_of_edge(self.layout.n)
            if sharing.pays_to_call(active_edges, edge_bytes, alike, False):
                self.progress[loop_state.TEAM] = loop_state.CALL
        elif self.space.filling[BYTES] >= sharing.WAKE_BYTES and self.space.filling[STEPS]:
            self.progress[loop_state.TEAM] = loop_state.CALL
        self.progress[loop_state.LEAST_ALONE :] = self.told_alone
        self.space.team[team.WAY] = AUTO_PUSH

    def _loader(self, whole: bool) -> Callable[..., tuple[int, int, int]]:
        """What makes given vertices (or all) the frontier, compiled or loaded before the clock starts."""
        if whole:
            return entry_of(load_all, self.lists.kind)
        return entry_of(load_frontier, SOURCES, self.lists.kind)

    def iterate(self) -> np.ndarray:
        """Let the team iterate until Python is due; the records of the trace."""
        if self.disk is not None and self.disk.stays:
            self.disk.expect(int(self.progress[loop_state.EDGES]))
            self.scatter()
            if not self.progress[loop_state.HALF]:  # it is over
                return self.row[:0]
            row = self.gather()
            self.disk.passed()
            return row
        records = np.empty((self.rows, len(COLUMNS) - 1))
        limit = self.limit if self.trial is None or self.rests else self._limit_of_turn()
        begin = time.perf_counter()
        over = self._enter(limit, records, later=CALLED_LATER)
        self.end = time.perf_counter()
        if over and self.called:
            self._dismiss()
        if self.progress[loop_state.NO_IN_EDGES]:
            self._pull_if_wanted()
        records = records[: self.progress[loop_state.ROWS]]
        if self.trial is None:
            return records
        if self.rests:
            self.unheard += len(records)
            self.unheard_seconds += self.end - begin
        else:
            self.trial.note(self.way, records, self.end - begin)
        return records

    def scatter(self) -> None:
        """The first half of an iteration."""
        self.row = np.empty((1, len(COLUMNS) - 1))
        self._enter(self.limit, self.row, stepping=1)
        if self._pull_if_wanted():
            self._enter(self.limit, self.row, stepping=1)

    def gather(self) -> np.ndarray:
        """The second half; the record of the iteration."""
        self._enter(self.limit, self.row, stepping=1)
        self.end = time.perf_counter()
        return self.row

    def _pull_if_wanted(self) -> bool:
        """Find the in-edges if the loop has come back for them."""
        if not self.progress[loop_state.NO_IN_EDGES]:
            return False
        self._dismiss()
        self.progress[loop_state.NO_IN_EDGES] = 0
        self._find_in_edges()
        self._make_loop(self._state())
        if self.incoming.indptr.size:
            self.progress[loop_state.NEEDY] -= self.receivers
            self.receivers = receivers(self.graph, self.incoming)
            self.progress[loop_state.NEEDY] += self.receivers
            self._note()
        return True

    def _enter(self, limit: int, records: np.ndarray, stepping: int = 0, *, later: bool = False) -> bool:
        """Call the loop on this thread and, where they are not in it, on the others; True when it is over.

        ``later``: on the others only when the loop has asked for them.
        """
        run_loop, progress = self.enter_loop if self.stated else self._ready_loop(), self.progress
        calls = self.workers > 0 and not self.called and limit > 0
        if calls and later and (progress[loop_state.TEAM] != loop_state.CALL or self._rests()):
            calls, progress[loop_state.TEAM] = False, loop_state.MAY_CALL
        if calls:
            self.called, self.ticket = True, int(self.space.team[team.GENERATION])
            progress[loop_state.TEAM] = 0
        # As it is now: a worker that comes late must not be taken for one of a later call.
        ticket = self.ticket
        workers, spins = (self.workers, self.spins) if self.called else (0, 0)
        if calls:
            led = run_loop, self.places
            if self.led != led:  # they are told the same in all runs with a loop
                self.led, self.told = led, following_of(*led, self.space, self.workers + 1, self.spins)
            self.crew = crew = borrow(self.workers)
            crew.call(follow.entry(), ticket, self.told.address, self.workers + 1)
        return run_loop(
            self.workers + 1, workers, spins, ticket, limit, len(records), SLICE_NS, stepping,
            self.forced, self.ratio, self.incoming.indptr.size > 0, progress, records,
        )  # fmt: skip

    def _rests(self) -> bool:
        """Whether the main thread goes on alone for a while, as it has found out."""
        until = self.progress[loop_state.ALONE_UNTIL]
        few = self.progress[loop_state.EDGES] < sharing.ALONE_EDGES
        return bool(few and until and time.monotonic_ns() < until)

    def publish(self) -> None:
        """Fields are in place; workers were given parameters by value, which a callback may set."""
        self._dismiss()

    def refresh(self) -> None:
        """The next entry of the loop takes the program as it is then."""
        self.stated = False

    def _dismiss(self) -> None:
        """Workers leave the loop; a second time does no harm."""
        if self.called:
            team.dismiss(self.space.team)
            if self.crew is not None:
                self.crew.close()
                crew, self.crew = self.crew, None
                give_back(crew)
            self.called = False

    # --- the end -------------------------------------------------------------------------------

    def finish(self) -> Finished:
        """The final frontier and what else is asked for; the workspace is left clean."""
        plan = self.plan
        self._dismiss()
        if self.disk is not None:
            self.disk.end()
        if self.program.all_active and plan.mode == "auto" and plan.model.pulls and not self.blocked:
            note_without(self.graph, self.iteration)
        self.told_alone[:] = self.progress[loop_state.LEAST_ALONE :]
        if self.trial is not None:
            self.trial.end_turn()
        counters = None
        if self.plan.counting:
            counters = dict(zip(COUNTERS, self.space.counters.sum(axis=0).tolist(), strict=True))
        return Finished(
            seconds=self.end - self.begin - (self.incoming_seconds - self.found),
            prepare_seconds=self.prepare_seconds + self.incoming_seconds,
            frontier=looked_at(self._take_frontier()),
            touched=looked_at(self._take_touched()) if self.traits.track else None,
            counters=counters,
            mode=self.mode,
            threads=self.threads,
            partition_size=1 << int(self.layout.bits),
            partitions=int(self.layout.k),
            choice=None if self.trial is None else self.trial.told(),
        )

    def active_now(self) -> np.ndarray:
        """The frontier in the order of its lists, then what waits."""
        space, width = self.space, 1 << int(self.layout.bits)
        found = [np.empty(0, np.uint32)]
        for p in space.scatter_list[: self.progress[loop_state.SCATTER_SIZE]].tolist():
            start = p * (width + LIST_GAP)
            found.append(space.frontier[start : start + space.frontier_size[p]] + np.uint32(p * width))
        if "priorityFunc" in self.lowered.functions:
            found.append(np.flatnonzero(space.waiting & PENDING).astype(np.uint32))
        return np.concatenate(found)

    def abandon(self) -> None:
        """The run has failed: workers leave, and a workspace in the middle of an iteration is forgotten."""
        try:
            self._dismiss()
            if self.disk is not None:
                self.disk.end()
        finally:
            forget_workspaces(self.graph.store)

    def _take_touched(self) -> np.ndarray | Marked:
        """Every vertex that was ever active in this run, ascending; the record of them is cleared."""
        if self.traits.all_active:
            return np.arange(self.layout.n, dtype=np.uint32)
        sizes = self.space.touched_size[: int(self.layout.k)]
        count = int(sizes.sum())
        if self.alone and count * MANY > self.layout.n:
            sizes[:] = 0
            return Marked(self.space.ever, count)
        room = np.empty(count + 1, np.uint32)
        touched = room[:count]
        if count and not entry_of(drain_touched, SOURCES, self.lists.kind)(room, self.lists):
            touched.sort()
        return touched

    def _take_frontier(self) -> np.ndarray | Marked:
        """The vertices that are active now, in the order of their lists; ascending where they are many."""
        space, progress = self.space, self.progress
        if self.traits.all_active:
            if progress[loop_state.FRONTIER] and progress[loop_state.ITERATION] < self.limit:
                space.frontier_size[: int(self.layout.k)] = 0  # a loop that is over has left it clean
            return NOBODY
        if progress[loop_state.FRONTIER] == 0:
            return NOBODY
        sizes = space.frontier_size[: int(self.layout.k)]
        active = int(progress[loop_state.SCATTER_SIZE])
        count = int(sizes[space.scatter_list[:active]].sum())
        if self.alone and count * MANY > self.layout.n and "priorityFunc" not in self.lowered.functions:
            sizes[:] = 0
            return Marked(space.in_frontier, count)
        frontier = np.empty(count, np.uint32)
        if active:  # the kernel need not be compiled for a run that converges
            entry_of(drain_frontier, SOURCES, INT64, self.lists.kind)(frontier, active, self.lists)
        if "priorityFunc" in self.lowered.functions:
            waiting = np.empty(pending_in(space.buckets), np.uint32)
            drain_waiting(waiting, self.lists, space.later, space.waiting, space.buckets, space.tournament)
            frontier = np.union1d(frontier, waiting)
        return frontier
