"""The CPU target from Python's side: threads, layout, workspace, then slices of the compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.common.errors import NotEnoughMemory, UsageError
from gpop.common.parallel import worker_count
from gpop.cpu import engine, specialise
from gpop.cpu.job import MOST_THREADS, Job
from gpop.cpu.scatter import MASK_NONE, MASK_SENT, MASK_VALUE
from gpop.cpu.sums import has_hub, sums_in_double
from gpop.cpu.workspace import COUNTERS, Needs, forget_workspaces, unit_workspace, workspace_of
from gpop.execution.run import Run
from gpop.graph.arguments import as_count
from gpop.graph.exclusive import exclusive
from gpop.graph.graph import Graph
from gpop.layout.bins import bins_of, narrow_weights
from gpop.layout.edge_blocks import Blocks, blocks_of, note_without
from gpop.layout.in_edges import NO_WEIGHTS
from gpop.layout.partition import partition_bits
from gpop.model.choosers import DEFAULT_RATIO, Model
from gpop.model.strategies import code_of
from gpop.plan.trace import Trace
from gpop.program.compile import inactive_of, message_dtype
from gpop.program.lowering import Lowered, lower
from gpop.program.program import HARMLESS, Program


def use_threads(threads: int | None) -> int:
    """Check the number of threads; all cores of the process when not given.

    Raises
    ------
    UsageError
        If it is not from 1 to `MOST_THREADS`.
    """
    threads = as_count("threads", threads)
    if threads is None:
        return worker_count()
    if not 1 <= threads <= MOST_THREADS:
        raise UsageError(f"threads = {threads}: expected 1 to {MOST_THREADS}")
    return threads


def _weight_dtype(program: Program) -> str | None:
    """Type of the weights that the program uses; None where it uses none."""
    name = type(program).__name__
    if type(program).applyWeight is Program.applyWeight:
        return None
    if program.graph.weights is None:
        raise UsageError(f"{name} needs edge weights (it defines applyWeight); {program.graph!r} has none")
    return program.graph.weights.dtype.str


def _traits(
    program: Program, weight_dtype: str | None, mode: str, interleave: bool, counting: bool, sums: bool
) -> specialise.Traits:
    cls = type(program)
    inactive = cls.inactive_message
    if cls.all_active or inactive is HARMLESS:
        mask, inactive = MASK_NONE, None
    else:
        mask = MASK_SENT if inactive is None else MASK_VALUE
    # Kernels that cannot be chosen are not compiled.
    pull = specialise.ALWAYS if mode == "pull" else specialise.NEVER
    if mode == "auto" and cls.needsFunc is not Program.needsFunc and not (interleave or cls.all_active):
        pull = specialise.MAYBE
    return specialise.Traits(
        weight_dtype, cls.all_active, mask, inactive, interleave, pull, cls.track_touched, counting, sums
    )


def run_on_cpu(
    program: Program,
    sources: np.ndarray | None,
    *,
    limit: int,
    mode: str,
    interleave: bool,
    threads: int | None,
    ratio: float | None,
    model: Model,
    partition_size: int | None,
    progress: bool,
    callback: Any,
    counting: bool,
) -> Run:
    """See `gpop.execution.run.run`; arguments are checked there."""
    lowered = lower(type(program))
    interleave = interleave and mode != "pull"  # no bins are scattered that could be gathered early
    graph = program.graph
    threads, weight_dtype = use_threads(threads), _weight_dtype(program)
    message = message_dtype(program, lowered)
    sums = sums_in_double(type(program), lowered, message) and has_hub(graph)
    vertex_bytes = _vertex_bytes(program, lowered)
    with exclusive(graph):
        blocks, asked = None, mode
        if program.all_active and (mode == "pull" or (mode == "auto" and model.pulls)):
            sizes = (vertex_bytes, message.itemsize, partition_size)
            weighted = weight_dtype is not None
            blocks, prepare_seconds = _find_blocks(graph, mode, threads, *sizes, weighted, limit)
            mode = "pc" if blocks is None else "pull"  # with everything active eq. (1) says pc, not sc
        traits = _traits(program, weight_dtype, mode, interleave, counting, sums)
        if traits.mask == MASK_VALUE:
            traits = traits._replace(inactive=inactive_of(lowered, traits.inactive, message))
        try:
            if blocks is not None:
                layout, space = blocks, unit_workspace(graph.cache, blocks, message, threads, sums)
            else:
                bits = partition_bits(
                    graph.n, threads, edges=graph.m, vertex_bytes=vertex_bytes, partition_size=partition_size
                )
                layout, prepare_seconds = bins_of(graph, bits, threads)
                if weight_dtype is None:  # kernels are compiled per type: without weights one is enough
                    layout = layout._replace(weights=NO_WEIGHTS, id_weights=NO_WEIGHTS)
                else:
                    weights, seconds = narrow_weights(graph, layout.id_weights.dtype)
                    layout, prepare_seconds = layout._replace(weights=weights), prepare_seconds + seconds
                needs = _needs(lowered, traits, mode, interleave)
                space = workspace_of(graph.cache, layout, needs, message, threads)
            job = Job(
                program, lowered, traits, layout, space, threads,
                code_of(mode), DEFAULT_RATIO if ratio is None else ratio, model,
            )  # fmt: skip
            trace = Trace(
                {
                    "program": lowered.name,
                    "graph": graph.name,
                    "mode": mode,
                    "model": model.name,
                    "interleave": interleave,
                    "threads": threads,
                }
            )
            seconds, state = job.run(sources, limit, trace, callback, progress)
            frontier = job.take_frontier(state)
            touched = job.take_touched() if traits.track else None
            if program.all_active and asked == "auto" and model.pulls and blocks is None:
                note_without(graph, int(state[engine.ITERATION]))
        except BaseException:
            forget_workspaces(graph.cache)  # one was left in the middle of an iteration
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
        partition_size=1 << int(layout.bits),
        partitions=int(layout.k),
        prepare_seconds=prepare_seconds + job.incoming_seconds,
    )


def _needs(lowered: Lowered, traits: specialise.Traits, mode: str, interleave: bool) -> Needs:
    """The large arrays of a run over bins."""
    return Needs(
        sent=traits.mask == MASK_SENT and mode in ("auto", "pc"),
        sc=mode in ("auto", "sc"),
        frontier=not traits.all_active,
        interleave=interleave,
        touched=traits.track,
        pull=traits.pull != specialise.NEVER,
        priorities="priorityFunc" in lowered.functions,
        receivers=specialise.activates_receivers(lowered, traits),
        sums=traits.sums,
        own_values=not (lowered.steady or traits.all_active or interleave or mode == "pull"),
    )


def _find_blocks(
    graph: Graph, mode: str, threads: int, vertex_bytes: int, value_bytes: int, partition_size: int | None,
    weighted: bool, limit: int,
) -> tuple[Blocks | None, float]:  # fmt: skip
    """In-edges in blocks, and the seconds to build them; None where messages are expected to be faster."""
    sizes = (vertex_bytes, value_bytes, partition_size)
    try:
        return blocks_of(graph, threads, *sizes, weighted=weighted, forced=mode == "pull", iterations=limit)
    except NotEnoughMemory:
        if mode == "pull":
            raise
        return None, 0.0


def _vertex_bytes(program: Program, lowered: Lowered) -> int:
    """Bytes of a vertex that a partition keeps in the cache: the fields in use and the frontier flag."""
    return 1 + sum(program._fields[name].itemsize for name in lowered.fields)
