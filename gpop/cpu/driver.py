"""The CPU target from Python's side: threads, layout, workspace, then slices of the compiled loop."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba import njit

from gpop.bins import Bins, bins_of
from gpop.cpu import engine, team
from gpop.cpu.active import clear_frontier, drain_touched, load_all, load_frontier
from gpop.cpu.registry import publish
from gpop.cpu.scatter import MASK_NONE, MASK_SENT, MASK_VALUE
from gpop.cpu.state import make_state
from gpop.cpu.workspace import COUNTERS, Needs, Workspace, workspace_of
from gpop.errors import ProgramError, UsageError
from gpop.graph import Graph
from gpop.lowering import Lowered, lower
from gpop.mode import Sizes
from gpop.parallel import worker_count
from gpop.partition import partition_bits
from gpop.program import HARMLESS, Program
from gpop.launch import UNLIMITED, Run
from gpop.trace import Trace

TRACE_ROWS = 512
SLICE_NS = 100_000_000
"""The loop returns to Python after so many iterations or nanoseconds, for progress and Ctrl-C."""

MOST_THREADS = 1024

_message_dtypes: dict[str, np.dtype] = {}
_guard = threading.Lock()


def use_threads(threads: int | None) -> int:
    """Check the number of threads; all cores of the process when not given.

    Raises
    ------
    UsageError
        If it is not from 1 to `MOST_THREADS`.
    """
    if threads is None:
        return worker_count()
    if not 1 <= threads <= MOST_THREADS:
        raise UsageError(f"threads = {threads}: expected 1 to {MOST_THREADS}")
    return threads


def _traits(program: Program, interleave: bool, counting: bool) -> engine.Traits:
    cls = type(program)
    weighted = cls.applyWeight is not Program.applyWeight
    if weighted and program.graph.weights is None:
        raise UsageError(
            f"{cls.__name__} needs edge weights (it defines applyWeight); {program.graph!r} has none"
        )
    inactive = cls.inactive_message
    if cls.all_active or inactive is HARMLESS:
        mask, inactive = MASK_NONE, None
    else:
        mask = MASK_SENT if inactive is None else MASK_VALUE
    weight_dtype = program.graph.weights.dtype.str if weighted else None
    return engine.Traits(weight_dtype, cls.all_active, mask, inactive, interleave, cls.track_touched, counting)


def _message_dtype(program: Program, lowered: Lowered) -> np.dtype:
    """Type of the messages: what ``scatterFunc`` returns, asked of the compiler (cached on disk)."""
    if program.graph.n == 0:
        return np.dtype(np.uint32)  # nothing will be sent
    if lowered.key not in _message_dtypes:
        scatterFunc = publish(lowered.functions["scatterFunc"], f"scatterFunc_{lowered.key}")

        def probe(state):
            return np.array([scatterFunc(state, np.uint32(0))])

        probe.__qualname__ = f"message_{lowered.key}"
        message = _compiled(lowered, njit(cache=True)(probe), make_state(program, lowered, 0))
        if message.dtype.kind not in "biuf":
            raise ProgramError(f"{lowered.name}.scatterFunc returns {message.dtype}: expected a number")
        _message_dtypes[lowered.key] = message.dtype
    return _message_dtypes[lowered.key]


def _compiled(lowered: Lowered, function: Any, *arguments: Any) -> Any:
    """Call a kernel; a compile error becomes one line that names the user's file and line."""
    from numba.core.errors import NumbaError

    try:
        return function(*arguments)
    except NumbaError as error:
        raise _program_error(lowered, error) from error


def _program_error(lowered: Lowered, error: Exception) -> ProgramError:
    """Numba's message, reduced to its reason and the place in the user's source."""
    text = str(error)
    files = {function.__code__.co_filename for function in lowered.functions.values()}
    place = next((line for line in text.splitlines() if any(f'"{name}"' in line for name in files)), "")
    reason = next(
        (line.strip() for line in text.splitlines() if line.strip() and "Failed in" not in line), ""
    )
    return ProgramError(f"{lowered.name} does not compile: {reason} {place.strip()}".strip())


def run_on_cpu(
    program: Program,
    sources: np.ndarray | None,
    *,
    limit: int,
    mode: str,
    interleave: bool,
    threads: int | None,
    ratio: float,
    partition_size: int | None,
    progress: bool,
    callback: Any,
    counting: bool,
) -> Run:
    """See `gpop.launch.run`; arguments are checked there."""
    lowered = lower(type(program))
    traits = _traits(program, interleave, counting)
    graph = program.graph
    threads = use_threads(threads)
    bits = partition_bits(
        graph.n,
        threads,
        edges=graph.m,
        vertex_bytes=_vertex_bytes(program, lowered),
        partition_size=partition_size,
    )
    if traits.all_active and mode == "auto":
        mode = "pc"  # everything is active, and eq. (1) with E_a = E says so
    with _exclusive(graph):
        bins, prepare_seconds = bins_of(graph, bits, threads)
        message = _message_dtype(program, lowered)
        if traits.mask == MASK_VALUE:
            traits = traits._replace(inactive=message.type(traits.inactive))
        needs = Needs(
            sent=traits.mask == MASK_SENT and mode != "sc",
            sc=mode != "pc",
            frontier=not traits.all_active,
            interleave=interleave,
            touched=traits.track,
        )
        try:
            space = workspace_of(graph.cache, bins, needs, message, threads)
            job = _Job(program, lowered, traits, bins, space, threads, engine.MODES[mode], ratio)
            trace = Trace(
                {"program": lowered.name, "mode": mode, "interleave": interleave, "threads": threads}
            )
            seconds, state = job.run(sources, limit, trace, callback, progress)
            frontier = job.take_frontier(state)
            touched = drain_touched(bins, space) if traits.track else None
        except BaseException:
            graph.cache.pop(("workspace", bits), None)  # it was left in the middle of an iteration
            raise
    totals = space.counters.sum(axis=0).tolist()
    return Run(
        iterations=int(state[engine.ITERATION]),
        trace=trace,
        seconds=seconds,
        frontier=frontier,
        touched=touched,
        counters=dict(zip(COUNTERS, totals, strict=True)) if counting else None,
        converged=int(state[engine.FRONTIER]) == 0,
        mode=mode,
        interleave=interleave,
        threads=threads,
        target="cpu",
        partition_size=1 << bits,
        partitions=int(bins.k),
        prepare_seconds=prepare_seconds,
    )


@contextmanager
def _exclusive(graph: Graph) -> Iterator[None]:
    """One run at a time on a graph: runs share the workspace that lies with it.

    Another thread waits; a run from inside a callback of a run on the same graph is refused.
    """
    with _guard:
        lock = graph.cache.setdefault("lock", threading.RLock())
    with lock:
        if graph.cache.get("running"):
            raise UsageError(f"{graph!r} is in the middle of a run: a callback may run programs on other graphs only")
        graph.cache["running"] = True
        try:
            yield
        finally:
            graph.cache["running"] = False


def _vertex_bytes(program: Program, lowered: Lowered) -> int:
    """Bytes of a vertex that a partition keeps in the cache: the fields in use and the frontier flag."""
    return 1 + sum(program._fields[name].itemsize for name in lowered.fields)


class _Job:
    """One run: the compiled loop, what it is called with, and the threads that enter it."""

    def __init__(
        self, program: Program, lowered: Lowered, traits, bins: Bins, space: Workspace, threads, forced, ratio
    ) -> None:
        self.program, self.lowered, self.traits = program, lowered, traits
        self.bins, self.space, self.threads = bins, space, threads
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
            value=space.values.itemsize + (space.sent.itemsize if traits.mask == MASK_SENT else 0),
            weight=bins.id_weights.itemsize if weighted else 0,
        )

    def start(self, sources: np.ndarray | None) -> np.ndarray:
        """Load the frontier; return the loop's ``progress`` array."""
        state = np.zeros(engine.PROGRESS_SIZE, np.int64)
        if self.traits.all_active:
            started = (int(self.bins.k), int(self.bins.n), int(self.bins.indptr[-1]))
        elif sources is None:
            started = load_all(self.bins, self.space)
        else:
            started = load_frontier(sources, self.bins, self.space)
        state[engine.SCATTER_SIZE], state[engine.FRONTIER], state[engine.EDGES] = started
        return state

    def run(self, sources, limit: int, trace: Trace, callback: Any, progress: bool) -> tuple[float, np.ndarray]:
        """Iterate; returns the seconds it took (without compiling) and the final ``progress``."""
        with ThreadPoolExecutor(max(1, self.workers), "gpop") as pool, _Bar(progress, limit) as bar:
            # Compile, or load from the cache, before the clock starts.
            self.slice(pool, np.zeros(engine.PROGRESS_SIZE, np.int64), 0, 1)
            if not self.traits.all_active:
                load_frontier(np.empty(0, np.uint32), self.bins, self.space)
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

    def slice(self, pool: ThreadPoolExecutor, state: np.ndarray, limit: int, rows: int) -> tuple[bool, np.ndarray]:
        """Let the team iterate until Python is due; returns whether the run is over, and trace records."""
        records = np.zeros((rows, len(engine.TRACE_COLUMNS)))
        values = make_state(self.program, self.lowered, int(state[engine.ITERATION]))
        self.space.team[:] = 0

        def enter(w: int) -> bool:
            return self.loop(
                w, self.threads, self.workers, self.spins, limit, rows, SLICE_NS,
                self.forced, self.ratio, self.sizes, state, records, self.bins, self.space, values,
            )  # fmt: skip

        followers = [pool.submit(enter, w) for w in range(1, self.workers + 1)] if limit else []
        done = _compiled(self.lowered, enter, 0)
        for follower in followers:
            follower.result()
        return done, records[: state[engine.ROWS]]

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
        clear_frontier(size, self.bins, self.space)
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
