"""The CPU target from Python's side: threads, layout, workspace, then slices of the compiled loop."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gpop.bins import bins_of
from gpop.cpu import engine
from gpop.cpu.compile import inactive_of, message_dtype
from gpop.cpu.job import NO_WEIGHTS, Job
from gpop.cpu.scatter import MASK_NONE, MASK_SENT, MASK_VALUE
from gpop.cpu.workspace import COUNTERS, Needs, workspace_of
from gpop.errors import UsageError
from gpop.graph import Graph
from gpop.launch import Run
from gpop.lowering import Lowered, lower
from gpop.parallel import worker_count
from gpop.partition import partition_bits
from gpop.program import HARMLESS, Program
from gpop.trace import Trace

MOST_THREADS = 1024

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
    return engine.Traits(
        weight_dtype, cls.all_active, mask, inactive, interleave, cls.track_touched, counting
    )


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
        message = message_dtype(program, lowered)
        if traits.mask == MASK_VALUE:
            traits = traits._replace(inactive=inactive_of(lowered, traits.inactive, message))
        needs = Needs(
            sent=traits.mask == MASK_SENT and mode != "sc",
            sc=mode != "pc",
            frontier=not traits.all_active,
            interleave=interleave,
            touched=traits.track,
        )
        try:
            if traits.weight_dtype is None:  # kernels are compiled per type: one is enough without weights
                bins = bins._replace(weights=NO_WEIGHTS, id_weights=NO_WEIGHTS)
            space = workspace_of(graph.cache, bins, needs, message, threads)
            job = Job(program, lowered, traits, bins, space, threads, engine.MODES[mode], ratio)
            trace = Trace(
                {"program": lowered.name, "mode": mode, "interleave": interleave, "threads": threads}
            )
            seconds, state = job.run(sources, limit, trace, callback, progress)
            frontier = job.take_frontier(state)
            touched = job.take_touched() if traits.track else None
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
            raise UsageError(
                f"{graph!r} is in the middle of a run: a callback may run programs on other graphs only"
            )
        graph.cache["running"] = True
        try:
            yield
        finally:
            graph.cache["running"] = False


def _vertex_bytes(program: Program, lowered: Lowered) -> int:
    """Bytes of a vertex that a partition keeps in the cache: the fields in use and the frontier flag."""
    return 1 + sum(program._fields[name].itemsize for name in lowered.fields)
