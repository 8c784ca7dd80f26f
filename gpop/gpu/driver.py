"""The GPU target from Python's side: layout and fields to the device, then slices of the device's loop."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gpop.common.errors import UsageError
from gpop.common.parallel import worker_count
from gpop.cpu.scatter import MASK_NONE, MASK_SENT, MASK_VALUE
from gpop.execution.run import Run
from gpop.gpu import calibrate
from gpop.gpu.device import cupy, current_device, free_bytes, require_device_memory
from gpop.gpu.emit import Emitted, emit
from gpop.gpu.job import Job
from gpop.gpu.kernel import BLOCK_THREADS, MOST_LANE_IDS, OWNER, Traits, combine_of, push_of, queues
from gpop.gpu.layout import HUBS, arrays_of, device_graph
from gpop.gpu.strategies import strategies_of
from gpop.gpu.workspace import Workspace, queue_shapes, workspace_shapes
from gpop.graph.exclusive import exclusive
from gpop.layout.partition import SMALL_ID_BITS, partition_bits
from gpop.program.compile import inactive_of
from gpop.program.lowering import Lowered, lower
from gpop.program.program import HARMLESS, Program

_emitted_programs: dict[tuple[str, Any], Emitted] = {}


def _emitted(cls: type[Program], lowered: Lowered, weight_dtype: Any) -> Emitted:
    """The CUDA functions of a program, kept by its content."""
    key = (lowered.key, weight_dtype)
    if key not in _emitted_programs:
        _emitted_programs[key] = emit(cls, lowered, weight_dtype)
    return _emitted_programs[key]


def _bits(program: Program, cell: int, partition_size: int | None) -> int:
    """Local bits: the cells of a partition fit the shared memory of a block, and ids fit 15 bits."""
    room = (current_device().shared_bytes - 2048 - MOST_LANE_IDS * BLOCK_THREADS * cell) * 8 // (8 * cell + 1)
    most = min(SMALL_ID_BITS, room.bit_length() - 1)
    bits = partition_bits(
        program.graph.n, 1, cache_bytes=cell << most, vertex_bytes=cell, partition_size=partition_size
    )
    if bits > most:
        raise UsageError(
            f"partition size {partition_size} on the GPU: expected at most {1 << most} "
            f"({cell} bytes per vertex in the shared memory of a block)"
        )
    return bits


def _traits(
    program: Program,
    lowered: Lowered,
    emitted: Emitted,
    weight_dtype: Any,
    push: int | None,
    mode: str,
    interleave: bool,
) -> Traits:
    cls = type(program)
    fields = cls.vertex_fields()
    combine = combine_of(
        cls.combine, emitted.gathered_dtype, [fields[name].dtype for name in emitted.written]
    )
    inactive = cls.inactive_message
    if cls.all_active or inactive is HARMLESS:
        mask, inactive = MASK_NONE, None
    else:
        mask = MASK_SENT if inactive is None else MASK_VALUE
    if mask == MASK_VALUE:
        inactive = inactive_of(lowered, inactive, emitted.message_dtype)
    way = push_of(emitted, combine) if push is None else push
    has_init = "initFunc" in emitted.defined
    live = (lowered.steady or interleave) and not (has_init or cls.all_active) and way != OWNER
    # An owner gathers one by one whatever is declared, but for sums (fold.cuh).
    combine = combine if push is None or (mode == "pull" and combine == "add") else None
    return Traits(
        bits=0,
        weight_dtype=weight_dtype,
        bin_weight_dtype=None,
        all_active=cls.all_active,
        mask=mask,
        inactive=inactive,
        combine=combine,
        push=way,
        track=cls.track_touched,
        live=live,
        strategies=strategies_of(mode, way == OWNER, combine is not None),
    )


def run_on_gpu(
    program: Program,
    sources: np.ndarray | None,
    *,
    limit: int,
    mode: str,
    ratio: float | None,
    partition_size: int | None,
    progress: bool,
    callback: Any,
    interleave: bool = False,
    push: int | None = None,
) -> Run:
    """See `gpop.execution.run.run`; arguments are checked there.

    ``push`` (`gpop.gpu.kernel`) gathers without the program's ``combine``, by compare-and-swap or by one
    owner per vertex: for comparing the ways.
    """
    cupy()
    lowered = lower(type(program))
    graph = program.graph
    weighted = type(program).applyWeight is not Program.applyWeight
    if weighted and graph.weights is None:
        raise UsageError(f"{lowered.name} needs edge weights (it defines applyWeight); {graph!r} has none")
    weight_dtype = graph.weights.dtype if weighted else None
    emitted = _emitted(type(program), lowered, weight_dtype)
    if mode == "pull":
        push = OWNER
    if program.all_active and mode == "auto":
        mode = "pc"  # everything is active, and eq. (1) with E_a = E says so
    traits = _traits(program, lowered, emitted, weight_dtype, push, mode, interleave)
    cell = max(emitted.message_dtype.itemsize, emitted.gathered_dtype.itemsize, 4)
    traits = traits._replace(bits=_bits(program, cell, partition_size))
    with exclusive(graph):
        turned = traits.combine is not None and traits.push != OWNER
        layout, prepare_seconds = device_graph(graph, traits.bits, turned, worker_count())
        if weighted:
            traits = traits._replace(bin_weight_dtype=layout.bins.id_weights.dtype)
        parts = _parts(lowered, emitted, traits)
        shapes = workspace_shapes(layout, emitted, traits)
        own = sum(length * dtype.itemsize for length, dtype in shapes.values())
        own += sum(program._fields[name].nbytes for name in lowered.fields)
        require_device_memory(layout.missing_bytes(parts) + own, f"{lowered.name} on {graph!r}")
        before = time.perf_counter()
        layout.load(parts)
        prepare_seconds += time.perf_counter() - before
        shapes |= queue_shapes(layout, emitted, traits, (free_bytes() - own) // 2)
        space = Workspace(graph, shapes, traits)
        job = Job(program, lowered, emitted, traits, layout, space, mode, interleave)
        if ratio is None:
            ratio = calibrate.device_ratio() if mode == "auto" else 1.0
        return job.run(sources, limit, ratio, callback, progress, prepare_seconds)


def _parts(lowered: Lowered, emitted: Emitted, traits: Traits) -> tuple[str, ...]:
    """Arrays that a run needs on the device."""
    weighted = traits.weight_dtype is not None
    parts = ["indptr"]
    for strategy in traits.strategies:
        parts += arrays_of(strategy.layouts, weighted)
    if queues(emitted, traits):
        parts += HUBS
    if traits.all_active and traits.combine:
        parts.append("has_in")
    if "out_degree" in lowered.built_in:
        parts.append("out_degree")
    return tuple(parts)
