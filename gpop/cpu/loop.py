"""The compiled iteration loop: scatter, barrier, gather, barrier, until the frontier is empty.

Entered by the main thread of a team (team.py), it decides who does what in each phase, which the others
follow (follow.py); what that does to a partition is compiled for each program, and called by its address
(work.py). So it is compiled once for all layouts, and all programs of a kind (loops.py): what it looks at
always has the same types (control.py).

When few edges are active the main thread does a phase alone, because waking the others costs more than the
work. An iteration that pulls has two other phases, over all partitions (pull.py). The loop returns to Python
when the run is over, when its trace buffer is full or when its time slice has passed, so that progress,
callbacks and Ctrl-C work.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import clock_ns
from gpop.cpu import active, alone, priority, sharing, team, tournament, tree
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
    READ,
    RETURNS,
    SIZE,
    STAGE,
    WHOLE,
    is_over,
)
from gpop.cpu.filling import BYTES, ENTRY, FILL, STEPS, VERTICES, pieces_of
from gpop.cpu.loop_state import (
    ALONE_UNTIL,
    CALL,
    EDGES,
    FRESH,
    FRONTIER,
    HALF,
    ITEMS,
    ITERATION,
    LEAST_ALONE,
    MAY_CALL,
    NEEDY,
    NEEDY_EDGES,
    NO_IN_EDGES,
    RESTED,
    ROWS,
    SCATTER_SIZE,
    TEAM,
    VISITED,
)
from gpop.cpu.shares import is_divided, order_by_weight, share_by_edges, share_evenly
from gpop.cpu.work import ADMIT, DEFER, EXCHANGE, GATHER, HEAVIEST, PREPARE, PULL, SCATTER, SETTLE
from gpop.plan.trace import BYTES_AT, EDGES_AT, FRONTIER_AT, GATHER_AT, SCATTER_AT


def make_loop(open_control, work, fill, all_active, prioritised, ranked):
    """The iteration loop of the team's main thread, which is number 0.

    It returns when the run is over or Python is due; True when it is over. With ``stepping`` Python is due in
    the middle of an iteration, too: the next call goes on with its second half, in the same row of ``trace``.
    A row holds `gpop.plan.trace.COLUMNS` from ``frontier`` on. Between two buckets of priorities ``size`` is
    0 and ``progress[FRONTIER]`` counts the vertices that wait. ``finds``: whether the in-edges are there.

    Where there are other ranks (exchange.py), all return after the same iteration: when nothing is active on
    any, the trace buffer is full, or the time slice of some rank has passed, which it tells the others.

    ``state`` is the table of the program's state, and ``schedule`` says which of its slots (row 0) hold what
    in each iteration (row 1 on, the last from then on): parameters that were given so.

    ``work`` is called with what is to be done and ``job``, ``open_control`` and ``fill`` (filling.py) with
    ``control``: addresses, or what else they take (the cache simulator compiles a loop of its own).
    ``all_active`` and ``prioritised`` say for which programs the loop is, ``ranked`` whether there are other
    ranks.
    """

    def loop(
        threads, workers, spins, ticket, limit, row_limit, slice_ns, stepping,
        forced, ratio, finds, progress, trace, state, schedule, control, *job,
    ):  # fmt: skip
        c = open_control(control)
        interleaved, pulls, counting = c.interleaved, c.pulls, c.counting
        w = np.int64(0)  # the number of this thread
        started = clock_ns()
        now = started
        size = progress[SCATTER_SIZE]
        rows = 0
        phase, items, load, iteration = np.int64(ADMIT), np.int64(0), np.int64(0), np.int64(0)
        sharers, chunk, done = np.int64(threads), np.int64(1), np.int64(0)
        edge_bytes = sharing.bytes_of_edge(c.n)
        predicted = 0.0
        least = np.int64(tournament.HIGHEST)
        divided = all_there = False
        crew, until = np.int64(1), np.int64(0)  # see alone.py
        begins = True  # an iteration, or a bucket of priorities
        prepared = False  # this iteration, by the one before; Python may have changed fields in between
        if progress[HALF] > 0:
            begins = False
            phase, items = progress[HALF], progress[ITEMS]
            load, iteration, predicted = progress[EDGES], progress[ITERATION], trace[0, BYTES_AT]
            progress[HALF] = 0
        if c.filling[STEPS] > 0:
            sharers = np.int64(threads if workers > 0 and c.filling[BYTES] >= sharing.FILL_BYTES else 1)
            if sharers > 1:
                items = pieces_of(c.filling[VERTICES])
                share_evenly(items, threads, c)
                done = c.team[team.DONE] + workers
                team.start_phase(c.team, FILL, items, iteration, np.int64(1))
            fill(c.filling[ENTRY], w, sharers, control)
            if sharers > 1:
                team.await_workers(c.team, done, spins)
            c.filling[STEPS] = 0
            now = clock_ns()
        if prioritised:
            if begins and progress[FRESH] > 0 and limit > 0:
                progress[FRESH] = 0
                work(DEFER, iteration, w, threads, size, np.int64(1), np.int64(0), *job)
                priority.note_changes(c.scatter_list, size, counting, c, c)
                size = np.int64(0)
        while True:
            if begins:
                if progress[ITERATION] >= limit or rows >= row_limit:
                    break
                if ranked and rows > 0 and c.exchanged[RETURNS] != 0:
                    break
                iteration = progress[ITERATION]
                for j in range(schedule.shape[1]):
                    state[schedule[0, j]] = schedule[min(iteration + 1, schedule.shape[0] - 1), j]
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
                        if told[LOAD] >= sharing.EXCHANGE_LOAD and workers > 0:
                            if told[NEXT] != MARK or c.bits >= active.WORD_BITS:
                                all_there = all_there or team.all_there(c.claim, workers, ticket)
                                if all_there or told[LOAD] >= sharing.WAIT_EDGES:
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
                rests = load < sharing.ALONE_EDGES and now < progress[ALONE_UNTIL]
                may_call = progress[TEAM] == MAY_CALL and not rests
                long = now - started > sharing.WAKE_NS
                alike = min(limit - iteration, row_limit - rows) if all_active else np.int64(1)
                calls = may_call and sharing.pays_to_call(load, edge_bytes, alike, long)
                calls = calls and (all_active or is_divided(size, load, c))
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
                        phase = np.int64(PULL if prepared else PREPARE)
                        predicted = c.pulled_bytes
                        prepared = not ranked and schedule.shape[1] == 0
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
                        calls = may_call and (long or predicted >= sharing.WAKE_BYTES)
                    if calls or (pulled and not finds):
                        progress[NEEDY] += progress[FRONTIER]
                        progress[NEEDY_EDGES] += progress[EDGES]
                        progress[NO_IN_EDGES] = pulled and not finds
                        if calls:
                            progress[TEAM] = CALL
                        break
            pushing = phase in (SCATTER, GATHER)
            light = load < items * sharing.LIGHT_EDGES and phase not in (PREPARE, PULL)
            serial = sharing.LIGHT_BUCKET if prioritised and interleaved else sharing.SERIAL_EDGES
            together = workers > 0 and (not pushing or (load >= serial and items > 1))  # one has a partition
            if together and not all_there:
                all_there = team.all_there(c.claim, workers, ticket)
                together = all_there or load >= sharing.WAIT_EDGES or load * edge_bytes >= sharing.WAKE_BYTES
            if load < sharing.ALONE_EDGES:
                untried = all_active and progress[LEAST_ALONE] == 0 and not ranked
                if now < progress[ALONE_UNTIL] or (untried and iteration >= sharing.TRIED_ALONE):
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
                    elif all_active and phase == PULL and c.heaviest.size > 0:
                        chunk = np.int64(HEAVIEST)
                done = c.team[team.DONE] + workers
                team.start_phase(c.team, phase, items, iteration, chunk)
            work(phase, iteration, w, threads, items, sharers, chunk, *job)
            if sharers > 1:
                worked = clock_ns()
                team.await_workers(c.team, done, spins)
                until = max(
                    until, alone.rest_after(progress, threads, worked - now, clock_ns() - worked, worked)
                )
            if phase != ADMIT:
                before, now = now, clock_ns()
                trace[rows, SCATTER_AT if phase in (SCATTER, PREPARE) else GATHER_AT] = (now - before) * 1e-9
            begins = phase not in (SCATTER, PREPARE)
            if all_active and begins:
                alone.compare(progress, sharers, now - before, now)
            crew = max(crew, sharers)
            if begins:
                if phase != ADMIT:
                    took = np.int64((trace[rows, SCATTER_AT] + trace[rows, GATHER_AT]) * 1e9)
                    alone.end_iteration(progress, phase == GATHER and not all_active, crew, load, took, until)
                    crew, until = np.int64(1), np.int64(0)
                progress[RESTED] = progress[RESTED] + 1 if sharers == 1 else 0
            if phase == SCATTER:
                write_trace(trace, rows, items, all_active, c)
                if prioritised and interleaved:  # vertices have been activated, and put aside
                    priority.note_changes(c.scatter_list, size, counting, c, c)
                if not all_active:
                    items = active.list_messages(size, interleaved, c, c)
            if not begins:
                if all_active:
                    if ranked:
                        c.exchanged[STAGE] = READ
                        work(EXCHANGE, iteration, w, threads, size, np.int64(1), np.int64(0), *job)
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
                size, progress[FRONTIER], progress[EDGES] = active.list_active(items, c)
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
        over = progress[ITERATION] >= limit or progress[FRONTIER] == 0
        if all_active and over:
            c.frontier_size[: c.k] = 0  # as the workspace is between runs
        return over

    return loop
