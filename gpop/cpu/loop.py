"""The compiled iteration loop: scatter, barrier, gather, barrier, until the frontier is empty.

Entered by a team of threads (team.py), it decides who does what in each phase; what that does to a
partition is compiled for each program, and called by its address (work.py). So it is compiled once for all
layouts, and all programs of a kind (loops.py): what it looks at always has the same types (control.py).

When few edges are active the main thread does a phase alone, because waking the others costs more than the
work. An iteration that pulls has two other phases, over all partitions (pull.py). The loop returns to Python
when the run is over, when its trace buffer is full or when its time slice has passed, so that progress,
callbacks and Ctrl-C work.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import clock_ns, fetch_add
from gpop.cpu import active, priority, team, tournament, tree
from gpop.cpu.choose_mode import BY_TREE, choose_pull, write_pull_trace, write_trace
from gpop.cpu.exchange import (
    ACTIVE_HERE,
    EDGES_HERE,
    EDGES_TOLD,
    LEAST_ANYWHERE,
    LOAD,
    MARK,
    NEXT,
    OWN,
    PIECES,
    RETURNS,
    SIZE,
    STAGE,
    WHOLE,
    is_over,
)
from gpop.cpu.shares import order_by_weight, share_by_edges, share_evenly
from gpop.cpu.work import ADMIT, DEFER, EXCHANGE, GATHER, HEAVIEST, PREPARE, PULL, SCATTER, SETTLE
from gpop.cpu.workspace import SERIAL_EDGES
from gpop.plan.trace import BYTES_AT, EDGES_AT, FRONTIER_AT, GATHER_AT, SCATTER_AT

LIGHT_EDGES = 1024
"""Below so many active edges per partition, several partitions are claimed at once."""

LIGHT_BUCKET = 64
"""What `SERIAL_EDGES` is for a bucket: inside the partitions many times the active edges are followed."""

WAIT_EDGES = 1 << 17
"""From so many active edges on, or `WAKE_BYTES`, a phase is begun before all workers have come: the last ones
find work. So is a part of an exchange, from so many vertices or words on."""

LATE_NS, LATE_RESTED_NS, ALONE, ALONE_EDGES = 100_000, 500_000, 16, 1 << 20
"""Where the main thread has waited so long for others that it would have been faster alone, somebody else
wants the cores: for so many times what it has waited it does phases of fewer edges alone. So it does, for so
many times the phase, where one that delivers all messages took all together longer than it alone before. An
iteration after one in which the workers had nothing to do, or had not yet come, says so only by the larger
delay: a sleeper takes .1 ms, a call .2, and one that must wait for a core milliseconds. A mail graph, .14 ms
an iteration, was else followed alone from start to end in some processes."""

ITERATION, SCATTER_SIZE, FRONTIER, EDGES, ROWS, NEEDY, NEEDY_EDGES = range(7)
NO_IN_EDGES, HALF, ITEMS, FRESH, TEAM, VISITED, LEAST_ALONE = range(7, 14)
PROGRESS_SIZE = 14
"""Slots of ``progress``, the loop's state between calls (int64). The vertices that want messages, and
their in-edges, are estimated: all that were never in the frontier; after a pull they are known.
``NO_IN_EDGES``: the loop has returned because it wants to pull. ``HALF``: it has returned in the middle of an
iteration, and this phase is next, over ``ITEMS``. ``FRESH``: nothing has been done yet. ``TEAM``: `MAY_CALL`
when there are workers who were not called, and `CALL` when the loop has returned because it wants them.
``VISITED``: vertices of all earlier frontiers. ``LEAST_ALONE``: where all are active, the least nanoseconds
in which the main thread alone has delivered all messages; 0 where it has not."""

MAY_CALL, CALL = 1, 2

WAKE_NS = 1_000_000
"""Workers are called when the main thread has worked for so long, and there is work to share: a run that is
over before is as fast as on one thread. To call threads of Python takes 0.1 to 0.2 ms when it is quiet; where
others want its cores, too, a phase of microseconds may wait for a worker for milliseconds."""

WAKE_BYTES = 1 << 22
"""They are called at once for an iteration in which the model expects so many bytes to move."""

ROUNDS = 8
"""Where all are active, every iteration is like the first, and so many are expected at least, unless the
limit is lower: these bytes are those of all of them. On 100,000 edges, 17 iterations, the loop took .83 and
.93 of its time with a second thread that was called at once, in two runs in turns."""

EXCHANGE_LOAD = 1 << 13
"""From so many vertices or words on threads share what there is to do for an exchange between ranks."""

EDGE_BYTES, LINE_BYTES, FAR = 8, 64, 1 << 20
"""Of an active edge, in that estimate: what is read of it, and what is sent along it; and a cache line at its
other end on a graph of so many vertices, which are in no private cache. On 16 cores a search of RMAT 23 spent
a quarter of its time in its first iteration, of 244,000 edges, alone."""


def make_loop(open_control, work, all_active, prioritised):
    """The iteration loop, entered by every thread of the team (``w`` = 0 is the main thread).

    The main thread returns when the run is over or Python is due; True when it is over; the
    workers wait inside until they are dismissed. With ``stepping`` Python is due in the middle of an
    iteration, too: the next call goes on with its second half, in the same row of ``trace``. A row holds
    `gpop.plan.trace.COLUMNS` from ``frontier`` on. Between two buckets of priorities ``size`` is 0
    and ``progress[FRONTIER]`` counts the vertices that wait. ``finds``: whether the in-edges are there.

    Where there are other ranks (exchange.py), all return after the same iteration: when nothing is active on
    any, the trace buffer is full, or the time slice of some rank has passed, which it tells the others.

    ``work`` is called with what is to be done and ``job``, ``open_control`` with ``control``: addresses, or
    what else the two take (the cache simulator compiles a loop of its own). ``all_active`` and
    ``prioritised`` say for which programs the loop is.
    """

    def loop(
        w, threads, workers, spins, ticket, limit, row_limit, slice_ns, stepping,
        forced, ratio, finds, progress, trace, control, *job,
    ):  # fmt: skip
        c = open_control(control)
        interleaved, pulls, counting, ranked = c.interleaved, c.pulls, c.counting, c.ranked
        generation = np.int64(ticket)
        if w > 0:
            c.claim[team.LINE_SLOTS * w + team.TICKET] = ticket
        started = clock_ns()
        now = started
        size = progress[SCATTER_SIZE]
        rows = 0
        phase, items, load, iteration = np.int64(ADMIT), np.int64(0), np.int64(0), np.int64(0)
        sharers, chunk, done = np.int64(threads), np.int64(1), np.int64(0)
        edge_bytes = EDGE_BYTES + (LINE_BYTES if c.n >= FAR else 0)
        predicted = 0.0
        least = np.int64(tournament.HIGHEST)
        alone_until = np.int64(0)
        divided = all_there = False
        rested = True  # the workers, in the iteration before
        begins = True  # an iteration, or a bucket of priorities
        if w == 0 and progress[HALF] > 0:
            begins = False
            phase, items = progress[HALF], progress[ITEMS]
            load, iteration, predicted = progress[EDGES], progress[ITERATION], trace[0, BYTES_AT]
            progress[HALF] = 0
        if prioritised:
            if begins and w == 0 and progress[FRESH] > 0 and limit > 0:
                progress[FRESH] = 0
                work(DEFER, iteration, w, threads, size, np.int64(1), np.int64(0), *job)
                priority.note_changes(c.scatter_list, size, counting, c, c)
                size = np.int64(0)
        while True:
            if w > 0:
                generation = team.await_phase(c.team, generation, spins)
                if generation >> team.EPOCH_SHIFT != ticket >> team.EPOCH_SHIFT:
                    return True
                phase, items = c.team[team.PHASE], c.team[team.ITEMS]
                iteration, chunk = c.team[team.ITERATION], c.team[team.CHUNK]
            else:
                if begins:
                    if progress[ITERATION] >= limit or rows >= row_limit:
                        break
                    if ranked and rows > 0 and c.exchanged[RETURNS] != 0:
                        break
                    iteration = progress[ITERATION]
                    if prioritised:
                        least = priority.least_waiting(c)
                    bucket_done = size == 0
                    if ranked:
                        told = c.exchanged
                        told[SIZE], told[ACTIVE_HERE], told[EDGES_HERE] = (
                            size,
                            progress[FRONTIER],
                            progress[EDGES],
                        )
                        told[LEAST_ANYWHERE], told[STAGE] = least, 0
                        told[RETURNS] = now - started > slice_ns
                        while True:
                            work(EXCHANGE, iteration, w, threads, size, np.int64(1), np.int64(0), *job)
                            items = told[PIECES]
                            if items == 0:
                                break
                            sharers, chunk = np.int64(1), np.int64(0)
                            if told[LOAD] >= EXCHANGE_LOAD and workers > 0:
                                if told[NEXT] != MARK or c.bits >= active.WORD_BITS:
                                    all_there = all_there or team.all_there(c.claim, workers, ticket)
                                    if all_there or told[LOAD] >= WAIT_EDGES:
                                        sharers, chunk = np.int64(threads), np.int64(1)
                            if sharers > 1:
                                share_evenly(items, threads, c)
                                done = c.team[team.DONE] + workers
                                team.start_phase(c.team, told[NEXT], items, iteration, chunk)
                            work(told[NEXT], iteration, w, threads, items, sharers, chunk, *job)
                            if sharers > 1:
                                team.await_workers(c.team, done, spins)
                        size, progress[FRONTIER], progress[EDGES] = (
                            told[SIZE],
                            told[ACTIVE_HERE],
                            told[EDGES_HERE],
                        )
                        least = told[LEAST_ANYWHERE]
                        bucket_done = told[WHOLE] == 0
                        if is_over(told[WHOLE], least):
                            break
                    elif progress[FRONTIER] <= 0 or now - started > slice_ns:
                        break
                    trace[rows] = 0
                    trace[rows, FRONTIER_AT] = progress[FRONTIER]
                    trace[rows, EDGES_AT] = c.exchanged[EDGES_TOLD] if ranked else progress[EDGES]
                    phase, items, load = np.int64(SCATTER), size, progress[EDGES]
                    if all_active:
                        items = c.k
                    may_call, long = progress[TEAM] == MAY_CALL, now - started > WAKE_NS
                    expected = load * edge_bytes
                    if all_active:
                        expected *= min(ROUNDS, limit - iteration)
                    calls = may_call and load >= SERIAL_EDGES and (long or expected >= WAKE_BYTES)
                    if calls and not ((pulls and not all_active) or (prioritised and bucket_done)):
                        progress[TEAM] = CALL
                        break
                    if not all_active:
                        way = np.int64(forced)
                        if forced == BY_TREE:
                            way = tree.choose(c, progress[FRONTIER], progress[EDGES], progress[VISITED])
                    admits = False
                    if prioritised:
                        admits = bucket_done
                        if admits:
                            phase = np.int64(ADMIT)
                            items, load = priority.list_next_bucket(least, counting, c, c)
                    if all_active:
                        if pulls:
                            phase = np.int64(PREPARE)
                            predicted = c.pulled_bytes
                    elif pulls and not admits:
                        progress[NEEDY] = max(0, progress[NEEDY] - progress[FRONTIER])
                        progress[NEEDY_EDGES] = max(0, progress[NEEDY_EDGES] - progress[EDGES])
                        pulled, predicted = choose_pull(
                            way, ratio, size, c.exchanged[OWN] if ranked else c.n,
                            progress[FRONTIER], progress[EDGES],
                            progress[NEEDY], progress[NEEDY_EDGES], c.sizes, c, c,
                        )  # fmt: skip
                        if pulled:
                            phase, items = np.int64(PREPARE), c.k
                            calls = may_call and (long or predicted >= WAKE_BYTES)
                        if calls or (pulled and not finds):
                            progress[NEEDY] += progress[FRONTIER]
                            progress[NEEDY_EDGES] += progress[EDGES]
                            progress[NO_IN_EDGES] = pulled and not finds
                            if calls:
                                progress[TEAM] = CALL
                            break
                pushing = phase in (SCATTER, GATHER)
                light = load < items * LIGHT_EDGES and phase not in (PREPARE, PULL)
                serial = LIGHT_BUCKET if prioritised and interleaved else SERIAL_EDGES
                together = workers > 0 and (load >= serial or not pushing)
                if together and not all_there:
                    all_there = team.all_there(c.claim, workers, ticket)
                    together = all_there or load >= WAIT_EDGES or load * edge_bytes >= WAKE_BYTES
                if now < alone_until and load < ALONE_EDGES:
                    together = False
                if phase == PREPARE and c.bits < active.WORD_BITS:
                    together = False  # partitions share words of the bitmap
                sharers = np.int64(threads if together else 1)
                chunk = np.int64(0)
                if together:
                    if not all_active:
                        if phase != GATHER:
                            divided = light and phase == SCATTER and not interleaved and not ranked
                    if divided:
                        share_by_edges(phase, items, load, threads, c)
                    else:
                        # Where partitions have little to do, neighbours are claimed together: their entries
                        # in the lists lie in one cache line, which would otherwise travel between cores.
                        chunk = max(1, min(8, items // (4 * threads))) if light else np.int64(1)
                        share_evenly(items, threads, c)
                        if phase == GATHER and not light:
                            chunk = np.int64(HEAVIEST)
                            order_by_weight(c, all_active)
                    done = c.team[team.DONE] + workers
                    team.start_phase(c.team, phase, items, iteration, chunk)
            work(phase, iteration, w, threads, items, sharers, chunk, *job)
            if w > 0:
                fetch_add(c.team, team.DONE, 1)
                continue
            if sharers > 1:
                worked = clock_ns()
                team.await_workers(c.team, done, spins)
                waited = clock_ns() - worked
                if waited > (LATE_RESTED_NS if rested else LATE_NS) + threads * (worked - now):
                    alone_until = worked + ALONE * waited
            if phase != ADMIT:
                before, now = now, clock_ns()
                trace[rows, SCATTER_AT if phase in (SCATTER, PREPARE) else GATHER_AT] = (now - before) * 1e-9
            begins = phase not in (SCATTER, PREPARE)
            if all_active and begins:
                took, least_alone = now - before, progress[LEAST_ALONE]
                if sharers == 1:
                    progress[LEAST_ALONE] = min(least_alone, took) if least_alone > 0 else took
                elif took > least_alone > 0 and not rested:
                    alone_until = now + ALONE * took
            if begins:
                rested = sharers == 1
            if phase == SCATTER:
                write_trace(trace, rows, items, all_active, c, c)
                if prioritised and interleaved:  # vertices have been activated, and put aside
                    priority.note_changes(c.scatter_list, size, counting, c, c)
                if not all_active:
                    items = active.list_messages(size, interleaved, c, c)
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
                    progress[NEEDY], progress[NEEDY_EDGES] = write_pull_trace(trace, rows, predicted, c, c)
                    if not all_active:
                        items = active.list_all(c, c)
            if prioritised:
                priority.note_changes(c.gather_list, items, counting, c, c)
            progress[VISITED] += np.int64(trace[rows, FRONTIER_AT]) if phase != ADMIT else np.int64(0)
            if c.settles:
                work(SETTLE, iteration, w, threads, items, np.int64(1), np.int64(0), *job)
            if all_active:
                unsettled = np.int64(0)
                for p in range(c.k):
                    unsettled += c.frontier_size[p]
                progress[FRONTIER] = unsettled
            else:
                size, progress[FRONTIER], progress[EDGES] = active.list_active(items, c, c)
            if prioritised:
                if size == 0:
                    progress[FRONTIER] = priority.count_pending(c, c)
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
