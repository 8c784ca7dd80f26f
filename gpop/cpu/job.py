"""One run on the CPU: the compiled loop, the arrays it works in and the threads that enter it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gpop.common.errors import NotEnoughMemory
from gpop.common.parallel import beside, worker_count
from gpop.common.progress import IterationBar
from gpop.cpu import choice, engine, specialise, team
from gpop.cpu.active import drain_frontier, drain_touched, lists_of, load_all, load_frontier
from gpop.cpu.priority import drain_waiting, pending_in
from gpop.cpu.scatter import MASK_SENT
from gpop.cpu.workspace import SERIAL_EDGES
from gpop.execution.run import UNLIMITED
from gpop.layout.bins import Bins
from gpop.layout.edge_blocks import Blocks
from gpop.layout.in_edges import in_edges, kept_in_edges
from gpop.model.bytes import CURSOR_BYTES, PROBE_BYTES, Sizes
from gpop.model.strategies import PULL
from gpop.plan.trace import COLUMNS, Trace
from gpop.program.compile import compiled
from gpop.program.lowering import Lowered
from gpop.program.program import Program
from gpop.program.state import make_state

MOST_THREADS = 1024
TRACE_ROWS = 4096
SLICE_NS = 250_000_000
"""The loop returns to Python after so many iterations or nanoseconds, for progress and Ctrl-C."""


class Job:
    """One run: the compiled loop, what it is called with, and the threads that enter it."""

    def __init__(
        self, program: Program, lowered: Lowered, traits, layout: Bins | Blocks, space, threads, forced, ratio
    ) -> None:
        self.program, self.lowered, self.traits = program, lowered, traits
        self.layout, self.space, self.threads = layout, space, threads
        self.forced, self.ratio = forced, float(ratio)
        self.incoming_seconds = 0.0
        self.loop = specialise.compile_loop(lowered, traits)
        # A run that never has enough active edges for two threads starts none.
        self.workers = threads - 1 if int(layout.indptr[-1]) >= SERIAL_EDGES else 0
        self.called, self.ticket = False, 0  # whether the workers are in the loop, and since when
        self.spins = team.SPINS if threads <= worker_count() else 0
        weighted = traits.weight_dtype is not None
        value = space.values.itemsize
        if isinstance(layout, Blocks):
            id, weight = layout.refs.itemsize, layout.weights.itemsize if weighted else 0
            self.sizes = Sizes(offset=8, edge=0, id=id, source=id, value=value, weight=weight)
            self.incoming = layout
            return
        self.lists = lists_of(layout, space)
        self.incoming = kept_in_edges(program.graph, weighted)
        self.sizes = Sizes(
            offset=8,
            edge=layout.indices.itemsize + (layout.weights.itemsize if weighted else 0),
            id=layout.ids.itemsize,
            source=layout.sources.itemsize,
            value=value,
            weight=layout.id_weights.itemsize if weighted else 0,
            mark=space.sent.itemsize if traits.mask == MASK_SENT else 0,
            probe=PROBE_BYTES,
            cursor=CURSOR_BYTES,
        )

    def find_in_edges(self) -> None:
        """Have the in-edges ready; where memory does not allow it, a run that may choose does not pull."""
        begin = time.perf_counter()
        try:
            self.incoming = in_edges(self.program.graph, self.traits.weight_dtype is not None)
        except NotEnoughMemory:
            if self.forced == PULL:
                raise
            self.forced = choice.AUTO_PUSH
        self.incoming_seconds += time.perf_counter() - begin

    def start(self, sources: np.ndarray | None) -> np.ndarray:
        """Load the frontier; return the loop's ``progress`` array."""
        state = np.zeros(engine.PROGRESS_SIZE, np.int64)
        if self.traits.all_active:
            started = (int(self.layout.k), int(self.layout.n), int(self.layout.indptr[-1]))
        elif sources is None:
            started = load_all(self.lists)
        else:
            started = load_frontier(sources, self.lists)
        state[engine.NEEDY], state[engine.NEEDY_EDGES] = int(self.layout.n), int(self.layout.indptr[-1])
        state[engine.SCATTER_SIZE], state[engine.FRONTIER], state[engine.EDGES] = started
        return state

    def run(
        self, sources, limit: int, trace: Trace, callback: Any, progress: bool
    ) -> tuple[float, np.ndarray]:
        """Iterate; returns the seconds (without compiling and in-edges) and the final ``progress``."""
        if self.forced == PULL and not self.traits.all_active:
            self.find_in_edges()
        with IterationBar(progress, None if limit == UNLIMITED else limit) as bar:
            # Compile, or load from the cache, before the clock starts; without vertices nothing is run.
            if int(self.layout.n):
                self.slice(np.zeros(engine.PROGRESS_SIZE, np.int64), 0, 1)
            if sources is not None:
                load_frontier(sources[:0], self.lists)
            elif not self.traits.all_active:
                load_all(self.lists._replace(n=np.int64(0), k=np.int64(0)))
            begin, found = time.perf_counter(), self.incoming_seconds
            state = self.start(sources)
            rows = 1 if callback else TRACE_ROWS
            end = begin
            done = state[engine.FRONTIER] == 0 or limit == 0
            try:
                while not done:
                    done, records = self.slice(state, limit, rows)
                    end = time.perf_counter()
                    if done or callback or state[engine.NO_IN_EDGES]:
                        self.dismiss()  # a callback may set parameters, which workers were given by value
                    if state[engine.NO_IN_EDGES]:
                        state[engine.NO_IN_EDGES] = 0
                        self.find_in_edges()
                    trace.extend(records)
                    bar.show(int(state[engine.ITERATION]), int(state[engine.FRONTIER]))
                    if callback and len(records) and callback(trace[-1]):
                        break
                return end - begin - (self.incoming_seconds - found), state
            finally:
                self.dismiss()  # after Ctrl-C, too; even where that cut the same call above short

    def dismiss(self) -> None:
        """Workers leave the loop; a second time does no harm."""
        if self.called:
            team.dismiss(self.space.team)
            self.called = False

    def slice(self, state: np.ndarray, limit: int, rows: int) -> tuple[bool, np.ndarray]:
        """Let the team iterate until Python is due; returns whether the run is over, and trace records."""
        records = np.empty((rows, len(COLUMNS) - 1))
        values = make_state(self.program, self.lowered, int(state[engine.ITERATION]))

        calls = bool(limit) and self.workers > 0 and not self.called
        if calls:
            self.called, self.ticket = True, int(self.space.team[team.GENERATION])
        # As it is now: a worker that comes late must not be taken for one of a later call.
        ticket = self.ticket

        def enter(w: int) -> bool:
            return self.loop(
                w, self.threads, self.workers, self.spins, ticket, limit, rows, SLICE_NS,
                self.forced, self.ratio, self.sizes, state, records,
                self.layout, self.incoming, self.space, values,
            )  # fmt: skip

        for w in range(1, self.workers + 1 if calls else 1):
            beside(enter, w)
        done = compiled(self.lowered, values, enter, 0)
        return done, records[: state[engine.ROWS]]

    def take_touched(self) -> np.ndarray:
        """Every vertex that was ever active in this run, ascending; the record of them is cleared."""
        if self.traits.all_active:
            return np.arange(self.layout.n, dtype=np.uint32)
        touched = np.empty(int(self.space.touched_size[: int(self.layout.k)].sum()), np.uint32)
        if touched.size and not drain_touched(touched, self.lists):
            touched.sort()
        return touched

    def take_frontier(self, state: np.ndarray) -> np.ndarray:
        """The final frontier; the workspace is left clean."""
        sizes = self.space.frontier_size[: int(self.layout.k)]
        if self.traits.all_active:
            sizes[:] = 0
            return np.empty(0, np.uint32)
        active = int(state[engine.SCATTER_SIZE])
        frontier = np.empty(int(sizes[self.space.scatter_list[:active]].sum()), np.uint32)
        if active:  # the kernel need not be compiled for a run that converges
            drain_frontier(frontier, active, self.lists)
        if "priorityFunc" in self.lowered.functions:
            space = self.space
            waiting = np.empty(pending_in(space.buckets), np.uint32)
            drain_waiting(waiting, self.lists, space.later, space.waiting, space.buckets, space.tournament)
            frontier = np.union1d(frontier, waiting)
        return frontier
