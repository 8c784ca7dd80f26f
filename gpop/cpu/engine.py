"""The compiled iteration loop: scatter, barrier, gather, barrier, until the frontier is empty.

One loop per program and set of traits, compiled once and cached on disk, entered by a team of threads
(team.py). In each phase every thread claims the next partition with one atomic add; when few edges
are active the main thread does the phase alone, because waking the others costs more than the work.
The loop returns to Python when the run is over, when its trace buffer is full or when its time slice
has passed, so that progress, callbacks and Ctrl-C work.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
from numba import njit
from numba.np.numpy_support import from_dtype

from gpop.atomics import clock_ns, fetch_add
from gpop.cpu import active, gather, interleave, scatter, team
from gpop.cpu.registry import KERNEL, inline, library_key, publish, publish_user
from gpop.cpu.state import make_advance
from gpop.lowering import Lowered
from gpop.mode import PC, pc_bytes, prefers_pc, sc_bytes

SERIAL_EDGES = 16384
"""Below so many active edges a phase runs on the calling thread."""

LIGHT_EDGES = 1024
"""Below so many active edges per partition, several partitions are claimed at once."""

NEXT, CHUNK = 0, 8
"""Slots of ``claim``: next item of the phase, items per claim."""

AUTO, FORCE_SC, FORCE_PC = 0, 1, 2
MODES = {"auto": AUTO, "sc": FORCE_SC, "pc": FORCE_PC}

ITERATION, SCATTER_SIZE, FRONTIER, EDGES, ROWS = range(5)
PROGRESS_SIZE = 5
"""Slots of ``progress``, the loop's state between calls (int64)."""

for _function in (sc_bytes, pc_bytes, prefers_pc):
    inline(_function)


class Traits(NamedTuple):
    """What is compiled into a loop beside the user's functions."""

    weight_dtype: str | None
    all_active: bool
    mask: int
    inactive: object
    interleave: bool
    track: bool
    counting: bool


@inline
def choose_mode(p, forced, ratio, all_active, sizes, layout, space):
    """Whether ``p`` scatters partition-centric, by eq. (1); notes the bytes the model predicts."""
    k = layout.k
    first = np.int64(np.uint64(p) << np.uint64(layout.bits))
    last = min(layout.n, first + (np.int64(1) << np.int64(layout.bits)))
    edges = layout.indptr[last] - layout.indptr[first]
    messages = layout.slots[(p + 1) * k] - layout.slots[p * k]
    if all_active:
        vertices, active_edges = last - first, edges
    else:
        vertices, active_edges = space.frontier_size[p], space.active_edges[p]
    dense = forced == FORCE_PC
    if forced == AUTO:
        dense = prefers_pc(vertices, active_edges, edges, messages, k, sizes, ratio)
    if dense:
        space.predicted[p] = pc_bytes(edges, messages, k, sizes)
    else:
        active_messages = active_edges * messages / max(edges, 1)
        space.predicted[p] = sc_bytes(vertices, active_edges, active_messages, sizes)
    return dense


def make_scatter_phase(scatter_sc, scatter_pc, after_scatter, all_active, step):
    """Kernel: scatter one partition; ``step`` is the interleaved step or None."""
    interleaved = step is not None

    def scatter_partition(p, w, threads, forced, ratio, sizes, layout, space, state):
        own_done = False
        if interleaved:
            own_done = step(p, w, threads, layout, space, state)
        if choose_mode(p, forced, ratio, all_active, sizes, layout, space):
            scatter_pc(p, w, layout, space, state)
        else:
            scatter_sc(p, w, own_done, layout, space, state)
        after_scatter(p, layout, space, state)
        if interleaved:
            active.publish_row(p, w, own_done, layout, space)

    return scatter_partition


def make_interleaved_step(gather_published, filter_frontier, apply_own_edges, track):
    """Kernel: what happens to ``p`` before it scatters in an interleaved run."""

    def step(p, w, threads, layout, space, state):
        before = space.frontier_size[p]
        size = gather_published(p, w, threads, layout, space, state)
        filter_frontier(p, before, size, layout, space, state)
        done = False
        if interleave.is_local(p, layout):
            done = apply_own_edges(p, w, layout, space, state)
        if track:
            base = np.uint64(p) << np.uint64(layout.bits)
            for i in range(np.uint64(space.frontier_size[p])):
                active.note_touched(base + np.uint64(space.frontier[base + i]), p, base, space)
        return done

    return step


def make_work(scatter_partition, gather_partition, advance, all_active):
    """Kernel: one thread's share of a phase: claim partitions until none is left."""

    def work(gathering, iteration, w, threads, size, forced, ratio, sizes, layout, space, state):
        state = advance(state, iteration)
        chunk = space.claim[CHUNK]
        first = fetch_add(space.claim, NEXT, chunk)
        while first < size:
            for i in range(first, min(first + chunk, size)):
                if gathering:
                    d = i if all_active else space.gather_list[i]
                    gather_partition(d, w, threads, layout, space, state)
                else:
                    p = i if all_active else space.scatter_list[i]
                    scatter_partition(p, w, threads, forced, ratio, sizes, layout, space, state)
            first = fetch_add(space.claim, NEXT, chunk)

    return work


def make_loop(work, all_active, interleaved):
    """The iteration loop, entered by every thread of the team (``w`` = 0 is the main thread).

    The main thread returns when the run is over or Python is due; True when it is over. A row of
    ``trace`` holds `gpop.trace.COLUMNS` from ``frontier`` on.
    """

    def loop(
        w, threads, workers, spins, limit, row_limit, slice_ns,
        forced, ratio, sizes, progress, trace, layout, space, state,
    ):  # fmt: skip
        if w > 0:
            generation = np.int64(0)
            while True:
                generation = team.await_phase(space.team, generation, spins)
                if space.team[team.STOP]:
                    return True
                work(
                    space.team[team.GATHERING], space.team[team.ITERATION], w, threads,
                    space.team[team.ITEMS], forced, ratio, sizes, layout, space, state,
                )  # fmt: skip
                fetch_add(space.team, team.DONE, 1)
        started = clock_ns()
        now = started
        size = progress[SCATTER_SIZE]
        rows = 0
        while progress[ITERATION] < limit and progress[FRONTIER] > 0 and rows < row_limit:
            if now - started > slice_ns:
                break
            iteration = progress[ITERATION]
            trace[rows, 0] = progress[FRONTIER]
            trace[rows, 1] = progress[EDGES]
            items = layout.k if all_active else size
            together = workers > 0 and progress[EDGES] >= SERIAL_EDGES
            for gathering in range(2):
                space.claim[NEXT] = 0
                # Where partitions have little to do, neighbours are claimed together: their entries in
                # the lists lie in one cache line, which would otherwise travel between cores.
                light = progress[EDGES] < items * LIGHT_EDGES
                space.claim[CHUNK] = max(1, min(8, items // (4 * threads))) if light else 1
                if together:
                    team.start_phase(space.team, gathering, items, iteration)
                work(gathering, iteration, 0, threads, items, forced, ratio, sizes, layout, space, state)
                if together:
                    team.await_workers(space.team, workers, spins)
                if gathering == 0:
                    write_trace(trace, rows, items, all_active, layout, space)
                    if not all_active:
                        items = active.list_messages(size, interleaved, layout, space)
                before, now = now, clock_ns()
                trace[rows, 6 + gathering] = (now - before) * 1e-9
            if all_active:
                unsettled = np.int64(0)
                for p in range(layout.k):
                    unsettled += space.frontier_size[p]
                progress[FRONTIER] = unsettled
            else:
                size, progress[FRONTIER], progress[EDGES] = active.list_active(items, layout, space)
            progress[ITERATION] += 1
            rows += 1
        progress[SCATTER_SIZE] = size
        progress[ROWS] = rows
        team.dismiss(space.team)
        return progress[ITERATION] >= limit or progress[FRONTIER] == 0

    return loop


@inline
def write_trace(trace, row, scattered, all_active, layout, space):
    """Modes, messages and predicted bytes of the partitions that were scattered."""
    for i in range(scattered):
        p = i if all_active else space.scatter_list[i]
        if space.mode[p] == PC:
            trace[row, 3] += 1
        else:
            trace[row, 2] += 1
        trace[row, 4] += space.sent_messages[p]
        trace[row, 5] += space.predicted[p]


_loops: dict[str, object] = {}


def compile_loop(lowered: Lowered, traits: Traits):
    """Specialise every kernel for a program; the loop is compiled, or found on disk, when first called."""
    key = hashlib.sha256(f"{lowered.key} {traits!r} {library_key()}".encode()).hexdigest()[:20]
    if key not in _loops:
        _loops[key] = _specialise(lowered, traits, key)
    return _loops[key]


def _specialise(lowered: Lowered, traits: Traits, key: str):
    functions = {name: publish_user(function, name, key) for name, function in lowered.functions.items()}
    scatterFunc, gatherFunc = functions["scatterFunc"], functions["gatherFunc"]
    initFunc, filterFunc = functions.get("initFunc"), functions.get("filterFunc")
    applyWeight = functions.get("applyWeight")
    weight_dtype, all_active, mask, inactive, interleaved, track, counting = traits
    weighted = weight_dtype is not None
    weight_type = from_dtype(np.dtype(weight_dtype)) if weighted else None

    def kernel(name, function):
        return publish(function, f"{name}_{key}")

    def gather_bin(name, mask):
        return kernel(
            name, gather.make_gather_bin(gatherFunc, applyWeight, weight_type, all_active, mask, inactive)
        )

    dynamic_mask = scatter.MASK_NONE if mask == scatter.MASK_SENT else mask
    gather_one = kernel(
        "gather_one",
        gather.make_gather_one(gather_bin("static", mask), gather_bin("dynamic", dynamic_mask), counting),
    )
    if all_active:
        gather_partition = kernel("gather", gather.make_gather_all(gather_one, filterFunc))
    else:
        filter_frontier = kernel("filter", gather.make_filter(filterFunc, track))
        gather_partition = kernel("gather", gather.make_gather(gather_one, filter_frontier, interleaved))
    step = None
    if interleaved:
        step = kernel(
            "step",
            make_interleaved_step(
                kernel("gather_published", interleave.make_gather_published(gather_one, counting)),
                filter_frontier,
                kernel(
                    "apply_own_edges",
                    interleave.make_apply_own_edges(
                        scatterFunc, gatherFunc, applyWeight, filterFunc, weighted, counting
                    ),
                ),
                track,
            ),
        )
    scatter_partition = make_scatter_phase(
        kernel(
            "scatter_sc", scatter.make_scatter_sc(scatterFunc, weighted, all_active, interleaved, counting)
        ),
        kernel("scatter_pc", scatter.make_scatter_pc(scatterFunc, mask, inactive, counting)),
        kernel("after_scatter", scatter.make_after_scatter(initFunc, all_active)),
        all_active,
        step,
    )
    advance = make_advance(lowered, key)
    work = kernel(
        "work", make_work(kernel("scatter", scatter_partition), gather_partition, advance, all_active)
    )
    loop = make_loop(work, all_active, interleaved)
    loop.__qualname__ = f"{lowered.name}_{key}"
    return njit(cache=True, nogil=True, **KERNEL)(loop)
