"""The compiled iteration loop: scatter, barrier, gather, barrier, until the frontier is empty.

One loop per program and set of traits (specialise.py), compiled once and cached on disk, entered by a
team of threads (team.py). In each phase every thread claims the next partition with one atomic add; when
few edges are active the main thread does the phase alone, because waking the others costs more than the
work. An iteration that pulls has two other phases, over all partitions (pull.py). The loop returns to
Python when the run is over, when its trace buffer is full or when its time slice has passed, so that
progress, callbacks and Ctrl-C work.
"""

from __future__ import annotations

import numpy as np

from gpop.atomics import clock_ns, fetch_add
from gpop.cpu import active, priority, pull, team
from gpop.cpu.choice import choose_pull, pull_all_bytes, write_pull_trace, write_trace
from gpop.cpu.workspace import SERIAL_EDGES

LIGHT_EDGES = 1024
"""Below so many active edges per partition, several partitions are claimed at once."""

LIGHT_BUCKET = 64
"""What `SERIAL_EDGES` is for a bucket: inside the partitions many times the active edges are followed."""

SCATTER, GATHER, PREPARE, PULL, ADMIT = range(5)
"""Phases of an iteration: the first two, or the next two when it pulls; `ADMIT` before one that begins a
bucket of priorities."""

NEXT, CHUNK = 0, 8
"""Slots of ``claim``: next item of the phase, items per claim."""

ITERATION, SCATTER_SIZE, FRONTIER, EDGES, ROWS, NEEDY, NEEDY_EDGES, NO_IN_EDGES = range(8)
PROGRESS_SIZE = 8
"""Slots of ``progress``, the loop's state between calls (int64). The vertices that want messages, and
their in-edges, are estimated: all that were never in the frontier; after a pull they are known.
``NO_IN_EDGES``: the loop has returned because it wants to pull."""


def make_work(scatter_partition, gather_partition, prepare, pull_partition, admit, advance, all_active):
    """Kernel: one thread's share of a phase: claim partitions until none is left."""
    pushes = scatter_partition is not None
    pulls = pull_partition is not None
    prioritised = admit is not None

    def work(phase, iteration, w, threads, size, forced, ratio, sizes, layout, incoming, space, state):
        state = advance(state, iteration)
        chunk = space.claim[CHUNK]
        first = fetch_add(space.claim, NEXT, chunk)
        while first < size:
            for i in range(first, min(first + chunk, size)):
                if pushes:
                    if phase == SCATTER:
                        p = i if all_active else space.scatter_list[i]
                        scatter_partition(p, w, threads, forced, ratio, sizes, layout, space, state)
                    elif phase == GATHER:
                        d = i if all_active else space.gather_list[i]
                        gather_partition(d, w, threads, layout, space, state)
                if pulls:
                    if phase == PREPARE:
                        prepare(i, layout, space, state)
                    elif phase == PULL:
                        pull_partition(i, w, layout, incoming, space, state)
                if prioritised:
                    if phase == ADMIT:
                        admit(space.gather_list[i], layout, space, state)
            first = fetch_add(space.claim, NEXT, chunk)

    return work


def make_loop(work, defer_frontier, all_active, interleaved, pulls):
    """The iteration loop, entered by every thread of the team (``w`` = 0 is the main thread).

    The main thread returns when the run is over or Python is due; True when it is over. A row of
    ``trace`` holds `gpop.trace.COLUMNS` from ``frontier`` on. Between two buckets of priorities ``size`` is 0
    and ``progress[FRONTIER]`` counts the vertices that wait.
    """

    prioritised = defer_frontier is not None

    def loop(
        w, threads, workers, spins, limit, row_limit, slice_ns,
        forced, ratio, sizes, progress, trace, layout, incoming, space, state,
    ):  # fmt: skip
        if w > 0:
            generation = np.int64(0)
            while True:
                generation = team.await_phase(space.team, generation, spins)
                if space.team[team.STOP]:
                    return True
                work(
                    space.team[team.PHASE], space.team[team.ITERATION], w, threads,
                    space.team[team.ITEMS], forced, ratio, sizes, layout, incoming, space, state,
                )  # fmt: skip
                fetch_add(space.team, team.DONE, 1)
        started = clock_ns()
        now = started
        size = progress[SCATTER_SIZE]
        rows = 0
        if prioritised:
            if progress[ITERATION] == 0 and limit > 0:
                for i in range(size):
                    defer_frontier(space.scatter_list[i], layout, space, state)
                size = 0
        while progress[ITERATION] < limit and progress[FRONTIER] > 0 and rows < row_limit:
            if now - started > slice_ns:
                break
            iteration = progress[ITERATION]
            admitting = prioritised and size == 0
            pulled = False
            if pulls and all_active:
                pulled, predicted = (
                    True,
                    pull_all_bytes(layout.n, layout.refs.size, layout.pieces, layout.values_read, sizes),
                )
            if pulls and not all_active and not admitting:
                progress[NEEDY] = max(0, progress[NEEDY] - progress[FRONTIER])
                progress[NEEDY_EDGES] = max(0, progress[NEEDY_EDGES] - progress[EDGES])
                pulled, predicted = choose_pull(
                    forced, ratio, size, progress[FRONTIER], progress[EDGES],
                    progress[NEEDY], progress[NEEDY_EDGES], sizes, layout, space,
                )  # fmt: skip
                if pulled and incoming.indptr.size == 0:
                    progress[NEEDY] += progress[FRONTIER]
                    progress[NEEDY_EDGES] += progress[EDGES]
                    progress[NO_IN_EDGES] = 1
                    break
            trace[rows, 0] = progress[FRONTIER]
            trace[rows, 1] = progress[EDGES]
            items = layout.k if all_active or pulled else size
            load = progress[EDGES]
            if prioritised:
                if admitting:
                    items, load = priority.list_next_bucket(layout, space)
            for gathering in range(1 if admitting else 2):
                phase = ADMIT if admitting else gathering + (PREPARE if pulled else SCATTER)
                space.claim[NEXT] = 0
                # Where partitions have little to do, neighbours are claimed together: their entries in
                # the lists lie in one cache line, which would otherwise travel between cores.
                light = load < items * LIGHT_EDGES and not pulled
                space.claim[CHUNK] = max(1, min(8, items // (4 * threads))) if light else 1
                serial = LIGHT_BUCKET if prioritised and interleaved else SERIAL_EDGES
                together = workers > 0 and (load >= serial or pulled)
                if phase == PREPARE and layout.bits < pull.WORD_BITS:
                    together = False  # partitions share words of the bitmap
                if together:
                    team.start_phase(space.team, phase, items, iteration)
                work(
                    phase, iteration, 0, threads, items, forced, ratio, sizes, layout, incoming, space, state
                )
                if together:
                    team.await_workers(space.team, workers, spins)
                if phase == SCATTER:
                    write_trace(trace, rows, items, all_active, layout, space)
                    if not all_active:
                        items = active.list_messages(size, interleaved, layout, space)
                if not admitting:
                    before, now = now, clock_ns()
                    trace[rows, 7 + gathering] = (now - before) * 1e-9
            if pulls and pulled:
                progress[NEEDY], progress[NEEDY_EDGES] = write_pull_trace(
                    trace, rows, predicted, layout, space
                )
                if not all_active:
                    items = active.list_all(layout, space)
            if all_active:
                unsettled = np.int64(0)
                for p in range(layout.k):
                    unsettled += space.frontier_size[p]
                progress[FRONTIER] = unsettled
            else:
                size, progress[FRONTIER], progress[EDGES] = active.list_active(items, layout, space)
            if prioritised:
                if size == 0:
                    progress[FRONTIER] = priority.count_pending(layout, space)
                if admitting:
                    continue
            if pulled:  # the new frontier will be taken off them
                progress[NEEDY] += progress[FRONTIER]
                progress[NEEDY_EDGES] += progress[EDGES]
            progress[ITERATION] += 1
            rows += 1
        progress[SCATTER_SIZE] = size
        progress[ROWS] = rows
        team.dismiss(space.team)
        return progress[ITERATION] >= limit or progress[FRONTIER] == 0

    return loop
