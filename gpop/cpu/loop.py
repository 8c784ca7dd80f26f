"""The compiled iteration loop: scatter, barrier, gather, barrier, until the frontier is empty.

One loop per program and set of traits (specialise.py), compiled once and cached on disk, entered by a
team of threads (team.py). In each phase every thread has a share of an ascending list of partitions: a
fixed one where the partitions have little to do, else one that it claims piece by piece and in which
others help. When few edges are active the main thread does the phase alone, because waking the others
costs more than the work. An iteration that pulls has two other phases, over all partitions (pull.py). The
loop returns to Python when the run is over, when its trace buffer is full or when its time slice has
passed, so that progress, callbacks and Ctrl-C work.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import clock_ns, fetch_add
from gpop.common.inlined import inline
from gpop.cpu import active, priority, pull, team, tournament
from gpop.cpu.choose_mode import choose_pull, write_pull_trace, write_trace
from gpop.cpu.exchange import is_over
from gpop.cpu.workspace import SERIAL_EDGES
from gpop.model.compiled import pull_all_bytes
from gpop.plan.trace import BYTES_AT, EDGES_AT, FRONTIER_AT, GATHER_AT, SCATTER_AT

LIGHT_EDGES = 1024
"""Below so many active edges per partition, several partitions are claimed at once."""

HEAVIEST = -1
"""In place of a number of partitions claimed at once: one by one, the heaviest first."""

LIGHT_BUCKET = 64
"""What `SERIAL_EDGES` is for a bucket: inside the partitions many times the active edges are followed."""

WAIT_EDGES = 1 << 17
"""From so many active edges on, a phase is begun before all workers have come: the last ones find work."""

SCATTER, GATHER, PREPARE, PULL, ADMIT = range(5)
"""Phases of an iteration: the first two, or the next two when it pulls; `ADMIT` before one that begins a
bucket of priorities."""

ITERATION, SCATTER_SIZE, FRONTIER, EDGES, ROWS, NEEDY, NEEDY_EDGES, NO_IN_EDGES, HALF, ITEMS, FRESH = range(
    11
)
PROGRESS_SIZE = 11
"""Slots of ``progress``, the loop's state between calls (int64). The vertices that want messages, and
their in-edges, are estimated: all that were never in the frontier; after a pull they are known.
``NO_IN_EDGES``: the loop has returned because it wants to pull. ``HALF``: it has returned in the middle of an
iteration, and this phase is next, over ``ITEMS``. ``FRESH``: nothing has been done yet."""


@inline
def order_by_weight(all_active, layout, space):
    """Fill ``gather_order``: the partitions to gather, the one with most in-edges first."""
    size = 0
    for i in range(layout.k):
        d = space.heaviest[i]
        if all_active or space.listed[d]:
            space.gather_order[size] = d
            size += 1


@inline
def share_by_edges(phase, items, load, threads, layout, space):
    """Divide the list of a light phase among the threads.

    Their parts of the scatter have about as many active edges each; the gather is divided at the same
    partitions.
    """
    shares = team.SHARES
    borders = shares + threads
    share = 1
    below = np.int64(0)
    for i in range(items):
        if phase == SCATTER:
            p = space.scatter_list[i]
            edges = space.active_edges[p]
            while share < threads and (2 * below + edges) * threads > 2 * load * share:
                space.team[shares + share] = i
                space.team[borders + share] = p
                share += 1
            below += edges
        else:
            while share < threads and space.gather_list[i] >= space.team[borders + share]:
                space.team[shares + share] = i
                share += 1
    for rest in range(share, threads):
        space.team[shares + rest] = items
        if phase == SCATTER:
            space.team[borders + rest] = layout.k


def make_work(scatter_partition, gather_partition, prepare, pull_partition, admit, advance, all_active):
    """Kernel: one thread's part of a phase: claim partitions of its own share, then of the others'.

    With ``chunk`` 0 the shares are fixed: an atomic claim waits until all earlier stores have reached the
    cache, which takes as long as dozens of edges. From iteration to iteration the shares move little, so
    most partitions come back to the core whose caches and address translations they are in; the second
    phase of an iteration goes the other way, so that it begins with what the first one has touched last.
    With ``chunk`` `HEAVIEST` there is one share for all, the heaviest partition first: nobody waits for one
    that was begun last.
    """
    pushes = scatter_partition is not None
    pulls = pull_partition is not None
    prioritised = admit is not None

    def work(
        phase, iteration, w, threads, size, sharers, chunk,
        forced, ratio, sizes, layout, incoming, space, state,
    ):  # fmt: skip
        state = advance(state, iteration)
        ordered = chunk == HEAVIEST
        if ordered:
            sharers, chunk = np.int64(1), np.int64(1)
        for turn in range(sharers if chunk > 0 else 1):
            owner = w + turn if not ordered else np.int64(0)
            if owner >= sharers:
                owner -= sharers
            begin = space.team[team.SHARES + owner] if owner > 0 else 0
            last = space.team[team.SHARES + owner + 1] if owner + 1 < sharers else size
            end = last
            first = begin
            if chunk > 0:
                first += fetch_add(space.claim, team.LINE_SLOTS * owner, chunk)
                end = min(first + chunk, last)
            while first < last:
                for j in range(first, end):
                    i = begin + last - 1 - j if phase in (GATHER, PULL) else j
                    if pushes:
                        if phase == SCATTER:
                            p = i if all_active else space.scatter_list[i]
                            scatter_partition(p, w, threads, forced, ratio, sizes, layout, space, state)
                        elif phase == GATHER:
                            d = i if all_active else space.gather_list[i]
                            if ordered:
                                d = space.gather_order[j]
                            gather_partition(d, w, threads, layout, space, state)
                    if pulls:
                        if phase == PREPARE:
                            prepare(i, layout, space, state)
                        elif phase == PULL:
                            pull_partition(i, w, layout, incoming, space, state)
                    if prioritised:
                        if phase == ADMIT:
                            admit(space.gather_list[i], layout, space, state)
                if chunk == 0:
                    break
                first = begin + fetch_add(space.claim, team.LINE_SLOTS * owner, chunk)
                end = min(first + chunk, last)

    return work


def make_loop(work, defer_frontier, exchange, advance, all_active, interleaved, pulls, counting):
    """The iteration loop, entered by every thread of the team (``w`` = 0 is the main thread).

    The main thread returns when the run is over or Python is due; True when it is over; the
    workers wait inside until they are dismissed. With ``stepping`` Python is due in the middle of an
    iteration, too: the next call goes on with its second half, in the same row of ``trace``. A row holds
    `gpop.plan.trace.COLUMNS` from ``frontier`` on. Between two buckets of priorities ``size`` is 0
    and ``progress[FRONTIER]`` counts the vertices that wait.

    With an ``exchange`` there are other ranks (exchange.py). All return after the same iteration: when
    nothing is active on any, or the trace buffer is full, never because of the time.

    ``work`` is called in one place, by all threads and for all phases, because it is compiled into every
    place that calls it.
    """

    prioritised = defer_frontier is not None
    exchanges = exchange is not None

    def loop(
        w, threads, workers, spins, ticket, limit, row_limit, slice_ns, stepping,
        forced, ratio, sizes, progress, trace, layout, incoming, space, wire, state,
    ):  # fmt: skip
        generation = np.int64(ticket)
        if w > 0:
            space.claim[team.LINE_SLOTS * w + team.TICKET] = ticket
        started = clock_ns()
        now = started
        size = progress[SCATTER_SIZE]
        rows = 0
        phase, items, load, iteration = np.int64(ADMIT), np.int64(0), np.int64(0), np.int64(0)
        sharers, chunk, done = np.int64(threads), np.int64(1), np.int64(0)
        predicted = 0.0
        least = np.int64(tournament.HIGHEST)
        divided = all_there = False
        begins = True  # an iteration, or a bucket of priorities
        if w == 0 and progress[HALF] > 0:
            begins = False
            phase, items = progress[HALF], progress[ITEMS]
            load, iteration, predicted = progress[EDGES], progress[ITERATION], trace[0, BYTES_AT]
            progress[HALF] = 0
        if prioritised:
            if begins and w == 0 and progress[FRESH] > 0 and limit > 0:
                progress[FRESH] = 0
                for i in range(size):
                    defer_frontier(space.scatter_list[i], layout, space, state)
                priority.note_changes(space.scatter_list, size, counting, layout, space)
                size = 0
        while True:
            if w > 0:
                generation = team.await_phase(space.team, generation, spins)
                if generation >> team.EPOCH_SHIFT != ticket >> team.EPOCH_SHIFT:
                    return True
                phase, items = space.team[team.PHASE], space.team[team.ITEMS]
                iteration, chunk = space.team[team.ITERATION], space.team[team.CHUNK]
            else:
                if begins:
                    if progress[ITERATION] >= limit or rows >= row_limit:
                        break
                    bucket_done = size == 0
                    if exchanges:
                        if prioritised:
                            least = priority.least_waiting(space)
                        size, progress[FRONTIER], progress[EDGES], whole, least = exchange(
                            size, progress[FRONTIER], progress[EDGES], least,
                            layout, space, wire, advance(state, progress[ITERATION]),
                        )  # fmt: skip
                        bucket_done = whole == 0
                        if is_over(whole, least):
                            break
                    else:
                        if progress[FRONTIER] <= 0 or now - started > slice_ns:
                            break
                        if prioritised:
                            least = priority.least_waiting(space)
                    iteration = progress[ITERATION]
                    trace[rows] = 0
                    trace[rows, FRONTIER_AT] = progress[FRONTIER]
                    trace[rows, EDGES_AT] = progress[EDGES]
                    phase, items, load = np.int64(SCATTER), size, progress[EDGES]
                    if all_active:
                        items = layout.k
                    if prioritised and bucket_done:
                        phase = np.int64(ADMIT)
                        items, load = priority.list_next_bucket(least, counting, layout, space)
                    elif pulls and all_active:
                        phase = np.int64(PREPARE)
                        predicted = pull_all_bytes(
                            layout.n, layout.refs.size, layout.pieces, layout.values_read, sizes
                        )
                    elif pulls:
                        progress[NEEDY] = max(0, progress[NEEDY] - progress[FRONTIER])
                        progress[NEEDY_EDGES] = max(0, progress[NEEDY_EDGES] - progress[EDGES])
                        pulled, predicted = choose_pull(
                            forced, ratio, size, progress[FRONTIER], progress[EDGES],
                            progress[NEEDY], progress[NEEDY_EDGES], sizes, layout, space,
                        )  # fmt: skip
                        if pulled:
                            phase, items = np.int64(PREPARE), layout.k
                            if incoming.indptr.size == 0:
                                progress[NEEDY] += progress[FRONTIER]
                                progress[NEEDY_EDGES] += progress[EDGES]
                                progress[NO_IN_EDGES] = 1
                                break
                pushing = phase in (SCATTER, GATHER)
                light = load < items * LIGHT_EDGES and phase not in (PREPARE, PULL)
                serial = LIGHT_BUCKET if prioritised and interleaved else SERIAL_EDGES
                together = workers > 0 and (load >= serial or not pushing)
                if together and not all_there:
                    all_there = team.all_there(space.claim, workers, ticket)
                    together = all_there or load >= WAIT_EDGES
                if phase == PREPARE and layout.bits < pull.WORD_BITS:
                    together = False  # partitions share words of the bitmap
                sharers = np.int64(threads if together else 1)
                chunk = np.int64(0)
                if together:
                    if phase != GATHER:
                        divided = light and phase == SCATTER and not (all_active or interleaved)
                    if divided:
                        share_by_edges(phase, items, load, threads, layout, space)
                    else:
                        # Where partitions have little to do, neighbours are claimed together: their entries
                        # in the lists lie in one cache line, which would otherwise travel between cores.
                        chunk = max(1, min(8, items // (4 * threads))) if light else np.int64(1)
                        for share in range(threads):
                            space.team[team.SHARES + share] = items * share // threads
                            space.claim[team.LINE_SLOTS * share] = 0
                        if phase == GATHER and not light:
                            chunk = np.int64(HEAVIEST)
                            order_by_weight(all_active, layout, space)
                    done = space.team[team.DONE] + workers
                    team.start_phase(space.team, phase, items, iteration, chunk)
            work(
                phase, iteration, w, threads, items, sharers, chunk,
                forced, ratio, sizes, layout, incoming, space, state,
            )  # fmt: skip
            if w > 0:
                fetch_add(space.team, team.DONE, 1)
                continue
            if sharers > 1:
                team.await_workers(space.team, done, spins)
            if phase != ADMIT:
                before, now = now, clock_ns()
                trace[rows, SCATTER_AT if phase in (SCATTER, PREPARE) else GATHER_AT] = (now - before) * 1e-9
            begins = phase not in (SCATTER, PREPARE)
            if phase == SCATTER:
                write_trace(trace, rows, items, all_active, layout, space)
                if prioritised and interleaved:  # vertices have been activated, and put aside
                    priority.note_changes(space.scatter_list, size, counting, layout, space)
                if not all_active:
                    items = active.list_messages(size, interleaved, layout, space)
            if not begins:
                phase += 1
                if stepping:
                    progress[HALF], progress[ITEMS] = phase, items
                    if phase == PULL:
                        trace[rows, BYTES_AT] = predicted
                    break
                continue
            if pulls:
                if phase == PULL:
                    progress[NEEDY], progress[NEEDY_EDGES] = write_pull_trace(
                        trace, rows, predicted, layout, space
                    )
                    if not all_active:
                        items = active.list_all(layout, space)
            if prioritised:
                priority.note_changes(space.gather_list, items, counting, layout, space)
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
                if phase == ADMIT:
                    continue
            if pulls:
                if phase == PULL:  # the new frontier will be taken off them
                    progress[NEEDY] += progress[FRONTIER]
                    progress[NEEDY_EDGES] += progress[EDGES]
            progress[ITERATION] += 1
            rows += 1
        progress[SCATTER_SIZE] = size
        progress[ROWS] = rows
        return progress[ITERATION] >= limit or progress[FRONTIER] == 0

    return loop
