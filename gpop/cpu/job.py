"""One run on the CPU: the compiled loop, the arrays it works in and the threads that enter it."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from gpop.bins import Bins
from gpop.cpu import engine, team
from gpop.cpu.active import clear_frontier, drain_touched, load_all, load_frontier
from gpop.cpu.compile import compiled
from gpop.cpu.scatter import MASK_SENT
from gpop.cpu.state import make_state
from gpop.cpu.workspace import Workspace
from gpop.launch import UNLIMITED
from gpop.lowering import Lowered
from gpop.mode import Sizes
from gpop.parallel import worker_count
from gpop.program import Program
from gpop.trace import COLUMNS, Trace

TRACE_ROWS = 512
SLICE_NS = 100_000_000
"""The loop returns to Python after so many iterations or nanoseconds, for progress and Ctrl-C."""

NO_WEIGHTS = np.empty(0, np.uint32)


class Job:
    """One run: the compiled loop, what it is called with, and the threads that enter it."""

    def __init__(
        self, program: Program, lowered: Lowered, traits, bins: Bins, space: Workspace, threads, forced, ratio
    ) -> None:
        self.program, self.lowered, self.traits = program, lowered, traits
        self.bins, self.space, self.threads = bins, space, threads
        # The kernels that load and clear the frontier need not be compiled for every message type.
        self.lists = (
            bins._replace(weights=NO_WEIGHTS, id_weights=NO_WEIGHTS),
            space._replace(values=NO_WEIGHTS, sc_weights=NO_WEIGHTS),
        )
        self.forced, self.ratio = forced, float(ratio)
        self.loop = engine.compile_loop(lowered, traits)
        # A run that never has enough active edges for two threads starts none.
        self.workers = threads - 1 if int(bins.indptr[-1]) >= engine.SERIAL_EDGES else 0
        self.spins = team.SPINS if threads <= worker_count() else 0
        weighted = traits.weight_dtype is not None
        self.sizes = Sizes(
            offset=8,
            edge=bins.indices.itemsize + (bins.weights.itemsize if weighted else 0),
            id=bins.ids.itemsize,
            source=bins.sources.itemsize,
            value=space.values.itemsize,
            weight=bins.id_weights.itemsize if weighted else 0,
            mark=space.sent.itemsize if traits.mask == MASK_SENT else 0,
        )

    def start(self, sources: np.ndarray | None) -> np.ndarray:
        """Load the frontier; return the loop's ``progress`` array."""
        state = np.zeros(engine.PROGRESS_SIZE, np.int64)
        if self.traits.all_active:
            started = (int(self.bins.k), int(self.bins.n), int(self.bins.indptr[-1]))
        elif sources is None:
            started = load_all(*self.lists)
        else:
            started = load_frontier(sources, *self.lists)
        state[engine.SCATTER_SIZE], state[engine.FRONTIER], state[engine.EDGES] = started
        return state

    def run(
        self, sources, limit: int, trace: Trace, callback: Any, progress: bool
    ) -> tuple[float, np.ndarray]:
        """Iterate; returns the seconds it took (without compiling) and the final ``progress``."""
        with ThreadPoolExecutor(max(1, self.workers), "gpop") as pool, _Bar(progress, limit) as bar:
            # Compile, or load from the cache, before the clock starts.
            self.slice(pool, np.zeros(engine.PROGRESS_SIZE, np.int64), 0, 1)
            if not self.traits.all_active:
                bins, space = self.lists
                load_frontier(np.empty(0, np.uint32), bins, space)
                load_all(bins._replace(n=np.int64(0), k=np.int64(0)), space)
            begin = time.perf_counter()
            state = self.start(sources)
            rows = 1 if callback else TRACE_ROWS
            done = state[engine.FRONTIER] == 0 or limit == 0
            while not done:
                done, records = self.slice(pool, state, limit, rows)
                trace.extend(records)
                bar.show(state)
                if callback and callback(trace[-1]):
                    break
            return time.perf_counter() - begin, state

    def slice(
        self, pool: ThreadPoolExecutor, state: np.ndarray, limit: int, rows: int
    ) -> tuple[bool, np.ndarray]:
        """Let the team iterate until Python is due; returns whether the run is over, and trace records."""
        records = np.zeros((rows, len(COLUMNS) - 1))
        values = make_state(self.program, self.lowered, int(state[engine.ITERATION]))
        self.space.team[:] = 0

        def enter(w: int) -> bool:
            return self.loop(
                w, self.threads, self.workers, self.spins, limit, rows, SLICE_NS,
                self.forced, self.ratio, self.sizes, state, records, self.bins, self.space, values,
            )  # fmt: skip

        try:
            followers = [pool.submit(enter, w) for w in range(1, self.workers + 1)] if limit else []
            done = compiled(self.lowered, values, enter, 0)
        except BaseException:  # such as Ctrl-C just now: nobody may be left waiting for a phase
            self.space.team[team.STOP] = 1
            self.space.team[team.GENERATION] += 1
            raise
        for follower in followers:
            follower.result()
        return done, records[: state[engine.ROWS]]

    def take_touched(self) -> np.ndarray:
        """Every vertex that was ever active in this run; the record of them is cleared."""
        return drain_touched(*self.lists)

    def take_frontier(self, state: np.ndarray) -> np.ndarray:
        """Copy the final frontier out and leave the workspace clean."""
        if self.traits.all_active:
            self.space.frontier_size[:] = 0
            return np.empty(0, np.uint32)
        size, bits = int(state[engine.SCATTER_SIZE]), int(self.bins.bits)
        lists = [
            self.space.frontier[p << bits : (p << bits) + self.space.frontier_size[p]] + np.uint32(p << bits)
            for p in self.space.scatter_list[:size].tolist()
        ]
        frontier = np.concatenate(lists) if lists else np.empty(0, np.uint32)
        clear_frontier(size, *self.lists)
        return frontier


class _Bar:
    """A progress bar on the terminal, or nothing."""

    def __init__(self, wanted: bool, limit: int) -> None:
        self.bar = None
        if wanted:
            from tqdm import tqdm

            total = None if limit == UNLIMITED else limit
            self.bar = tqdm(total=total, unit="iteration", file=sys.stderr, leave=False)

    def __enter__(self) -> _Bar:
        return self

    def show(self, progress: np.ndarray) -> None:
        if self.bar is not None:
            self.bar.set_postfix(frontier=int(progress[engine.FRONTIER]), refresh=False)
            self.bar.update(int(progress[engine.ITERATION]) - self.bar.n)

    def __exit__(self, *exception: object) -> None:
        if self.bar is not None:
            self.bar.close()
