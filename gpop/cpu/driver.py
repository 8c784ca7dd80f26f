"""The CPU target from Python's side: threads, layout, workspace, then slices of the compiled loop."""

from __future__ import annotations

import sys
import threading
import time
import warnings
from typing import Any

import numba
import numpy as np
from numba import njit

from gpop.bins import Bins, bins_of
from gpop.cpu import engine
from gpop.cpu.active import clear_frontier, drain_touched, load_all, load_frontier
from gpop.cpu.registry import publish
from gpop.cpu.scatter import MASK_NONE, MASK_SENT, MASK_VALUE
from gpop.cpu.state import make_state
from gpop.cpu.workspace import COUNTERS, Needs, Workspace, workspace_of
from gpop.errors import ProgramError, UsageError
from gpop.lowering import Lowered, lower
from gpop.mode import Sizes
from gpop.partition import partition_bits
from gpop.program import HARMLESS, Program
from gpop.launch import UNLIMITED, Run
from gpop.trace import Trace

TRACE_ROWS = 512
SLICE_NS = 100_000_000
"""The loop returns to Python after so many iterations or nanoseconds, for progress and Ctrl-C."""

_engine_lock = threading.Lock()


def use_threads(threads: int | None) -> int:
    """Check the number of threads and tell Numba; warn once when launching them is slow.

    Raises
    ------
    UsageError
        If it is below 1 or above what Numba was started with.
    """
    most = numba.config.NUMBA_NUM_THREADS
    if threads is None:
        threads = numba.get_num_threads()
    if not 1 <= threads <= most:
        raise UsageError(
            f"threads = {threads}: expected 1 to {most} (set NUMBA_NUM_THREADS before start for more)"
        )
    numba.set_num_threads(threads)
    return threads


def warn_if_slow_layer() -> None:
    """Numba's fallback threading layer takes about 85 us per launch instead of 1.4 us."""
    if numba.threading_layer() == "workqueue":
        warnings.warn(
            "Numba found neither OpenMP nor TBB and starts threads slowly; installing libgomp (the "
            "GNU OpenMP runtime) makes runs of many short iterations several times faster",
            RuntimeWarning,
            stacklevel=2,
        )


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
    return engine.Traits(weighted, cls.all_active, mask, inactive, interleave, cls.track_touched, counting)


def _message_dtype(lowered: Lowered, state: tuple) -> np.dtype:
    """Type of the messages: what ``scatterFunc`` returns, asked of the compiler (cached on disk)."""
    scatterFunc = publish(lowered.functions["scatterFunc"], f"scatterFunc_{lowered.key}")  # noqa: N806

    def probe(state):
        return np.array([scatterFunc(state, np.uint32(0))])

    probe.__qualname__ = f"message_{lowered.key}"
    message = _compiled(lowered, njit(cache=True)(probe), state)
    if message.dtype.kind not in "biuf":
        raise ProgramError(f"{lowered.name}.scatterFunc returns {message.dtype}: expected a number")
    return message.dtype


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
    with _engine_lock:
        before = numba.get_num_threads()
        threads = use_threads(threads)
        try:
            bits = partition_bits(graph.n, threads, partition_size=partition_size)
            bins, prepare_seconds = bins_of(graph, bits, threads)
            state = make_state(program, lowered, 0)
            message = _message_dtype(lowered, state) if graph.n else np.dtype(np.uint32)
            if traits.mask == MASK_VALUE:
                traits = traits._replace(inactive=message.type(traits.inactive))
            needs = Needs(
                sent=traits.mask == MASK_SENT and mode != "sc",
                sc=mode == "sc" or (mode == "auto" and not traits.all_active),
                frontier=not traits.all_active,
                interleave=interleave,
                touched=traits.track,
            )
            space = workspace_of(graph.cache, bins, needs, message, threads)
            trace = Trace(
                {"program": lowered.name, "mode": mode, "interleave": interleave, "threads": threads}
            )
            job = _Job(program, lowered, traits, bins, space, threads, limit, trace, callback, progress)
            forced = "pc" if traits.all_active and mode == "auto" else mode
            try:
                seconds, state_now = job.run(sources, engine.MODES[forced], float(ratio))
                frontier = job.take_frontier(state_now)
                touched = drain_touched(bins, space) if traits.track else None
            except BaseException:
                graph.cache.pop(("workspace", bits), None)  # it was left in the middle of an iteration
                raise
        finally:
            numba.set_num_threads(before)
    totals = space.counters.sum(axis=0).tolist()
    return Run(
        iterations=int(state_now[engine.ITERATION]),
        trace=trace,
        seconds=seconds,
        frontier=frontier,
        touched=touched,
        counters=dict(zip(COUNTERS, totals, strict=True)) if counting else None,
        converged=int(state_now[engine.FRONTIER]) == 0,
        mode=mode,
        interleave=interleave,
        threads=threads,
        target="cpu",
        partition_size=1 << bits,
        partitions=int(bins.k),
        prepare_seconds=prepare_seconds,
    )


class _Job:
    """One run: the compiled loop and what it is called with."""

    def __init__(
        self, program, lowered, traits, bins: Bins, space: Workspace, threads, limit, trace, callback, bar
    ):
        self.program, self.lowered, self.traits = program, lowered, traits
        self.bins, self.space, self.threads, self.limit = bins, space, threads, limit
        self.trace, self.callback, self.bar = trace, callback, bar
        self.loop = engine.compile_loop(lowered, traits)

    def start(self, sources: np.ndarray | None) -> np.ndarray:
        """Load the frontier; return the loop's ``progress`` array."""
        progress = np.zeros(8, np.int64)
        if self.traits.all_active:
            started = (int(self.bins.k), int(self.bins.n), int(self.bins.indptr[-1]))
        elif sources is None:
            started = load_all(self.bins, self.space)
        else:
            started = load_frontier(sources, self.bins, self.space)
        progress[engine.SCATTER_SIZE], progress[engine.FRONTIER], progress[engine.EDGES] = started
        return progress

    def run(self, sources: np.ndarray | None, forced: int, ratio: float) -> tuple[float, np.ndarray]:
        """Iterate; returns the seconds it took (without compiling) and the final ``progress``."""
        self._call(np.zeros(8, np.int64), forced, ratio, limit=0, rows=1)  # compiles or loads the loop
        if self.threads > 1:
            warn_if_slow_layer()
        begin = time.perf_counter()
        progress = self.start(sources)
        rows = 1 if self.callback else TRACE_ROWS
        done = progress[engine.FRONTIER] == 0 or self.limit == 0
        with _Bar(self.bar, self.limit) as bar:
            while not done:
                done = self._call(progress, forced, ratio, self.limit, rows)
                bar.show(progress)
                if self.callback and self.callback(self.trace[-1]):
                    done = True
        return time.perf_counter() - begin, progress

    def _call(self, progress, forced: int, ratio: float, limit: int, rows: int) -> bool:
        bins, space = self.bins, self.space
        sizes = Sizes(
            offset=8,
            edge=bins.indices.itemsize,
            id=bins.ids.itemsize,
            source=bins.sources.itemsize,
            value=space.values.itemsize,
            weight=bins.id_weights.itemsize if self.traits.weighted else 0,
        )
        trace = np.zeros((rows, len(engine.TRACE_COLUMNS)))
        state = make_state(self.program, self.lowered, int(progress[engine.ITERATION]))
        done = _compiled(
            self.lowered, self.loop,
            self.threads, limit, rows, SLICE_NS, forced, ratio, sizes, progress, trace, bins, space, state,
        )  # fmt: skip
        self.trace.extend(trace[: progress[engine.ROWS]])
        return bool(done)

    def take_frontier(self, progress: np.ndarray) -> np.ndarray:
        """Copy the final frontier out and leave the workspace clean."""
        if self.traits.all_active:
            self.space.frontier_size[:] = 0
            return np.empty(0, np.uint32)
        size, bits = int(progress[engine.SCATTER_SIZE]), int(self.bins.bits)
        lists = [
            self.space.frontier[p << bits : (p << bits) + self.space.frontier_size[p]]
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
