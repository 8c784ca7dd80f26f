"""Shortest paths by a crew of threads, from a day on to which one thread has come with its calendar.

Every thread has a calendar of its own (`gpop.direct.calendar`), in which it enters what it has found, and all
have the same days. A step is part of a day: the blocks of its bucket in all calendars are shared among the
threads as chunks, a block in several parts where there are few; who is through with one goes on with what
that has brought into its own bucket of the day, while it is short. What is left is the next step. A bucket of
few vertices the leader does alone.

A day should have `DAY_EDGES` edges: days begin as wide as those of the one thread suggest; where the last
ones had fewer, they become twice as wide, and the calendars are filled anew with those that are not settled,
every vertex once. So they are where a year is over, and where a calendar has no room for somebody.

What threads do in a step is in calendar_together_steps.py.
Paper: Y. Zhang, A. Brahmakshatriya, X. Chen, L. Dhulipala, S. Kamil, S. Amarasinghe, J. Shun, "Optimizing
ordered graph algorithms with GraphIt", CGO 2020.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import prefetch
from gpop.common.by_reference import Reference
from gpop.common.inlined import inline
from gpop.direct.calendar_steps import (
    BEYOND,
    DAYS,
    FILLING,
    LOST,
    YEAR,
    Calendars,
    blocks_for,
    free_block,
    leave_day,
    next_day,
    next_year,
    open_calendar,
    take_block,
)
from gpop.direct.calendar_together_steps import (
    AT,
    BELOW,
    DONE_DAYS,
    DONE_EDGES,
    FILL,
    FILLED_EACH,
    FROM,
    FUSE,
    LEAST,
    LONE,
    OVER,
    PART,
    PARTS,
    PER,
    SHIFT,
    SIZE,
    SLOTS,
    THE_FILLING,
    THE_YEAR,
    WALKED,
    WORK,
    TogetherSearch,
    fill_chunk,
    work_chunk,
)
from gpop.direct.crew import KIND, THREADS, announce, apart, end, make_crew, next_chunk
from gpop.direct.shared_job import entry
from gpop.model.light_first import FARTHEST
from gpop.model.sharing import ALONE, DAY_EDGES, FUSED, PART_VERTICES, times_wider

LOOK_BACK = 4
"""Days after which the width is judged."""

CHUNKS_EACH = 4
"""For each thread, where blocks are cut into parts."""


class Shelf(Calendars):
    """The calendars of so many threads for graphs of n vertices."""

    def __init__(self, n: int, threads: int) -> None:
        super().__init__(n, threads)
        self.work = np.empty((threads * blocks_for(n), 3), np.int64)
        self.crew, self.now = make_crew(threads), apart(SLOTS)
        numbers, lists = (np.int64(threads), np.int64(blocks_for(n))), (_NOTHING, np.empty(0, np.uint64))
        job = TogetherSearch(*numbers, *lists, _NOTHING, self.addresses, self.work, self.crew, self.now)
        self.job = Reference(job)
        self.function = entry(go_on, self.job.kind)


_NOTHING = np.zeros(2, np.uint32)  # stays, as all must that a table points to

THREADS_AT, STARTS_AT, LINES_AT, DISTANCE_AT = 0, 2, 4, 6
"""Slots of the table of a `TogetherSearch`; of an array its length is in the next one."""


@inline
def begin_together(threads, shift, today, edges, shelf_crew, now):
    """All distances from this day on, whose width is ``2**shift``, are to be found by so many threads.

    ``edges`` were walked before.
    """
    shelf_crew[:], shelf_crew[THREADS] = 0, threads
    wider, filling = min(times_wider(today, edges), 31 - shift), now[THE_FILLING] + 1
    now[:] = 0
    now[SHIFT], now[FROM], now[THE_FILLING] = shift + wider, max((today << shift) - 1, 0), filling
    now[BELOW] = min(FARTHEST, now[FROM])
    now[THE_YEAR], now[LEAST], now[FUSE] = today >> wider, DAY_EDGES, FUSED
    now[LONE], now[PART] = ALONE, PART_VERTICES


@inline
def _fetch(job):
    """Have all lines come at once in which the others have written what is asked of them after a step."""
    at = np.uint64(job.now[AT])
    for w in range(1, job.threads):
        theirs = open_calendar(job.calendars[w])
        prefetch(theirs.now, LOST)
        prefetch(theirs.filled, at)
        prefetch(theirs.oldest, at)
        prefetch(theirs.busy, at >> np.uint64(6))


@inline
def _collect(job):
    """Take today's blocks out of all calendars; how many vertices are in them."""
    now, at, total, size = job.now, np.uint64(job.now[AT]), np.int64(0), 0
    for w in range(job.threads):
        theirs = open_calendar(job.calendars[w])
        if theirs.now[FILLING] == now[THE_FILLING] and theirs.filled[at] > 0:
            while theirs.filled[at] > 0:
                block, count = take_block(at, theirs)
                job.work[size, 0], job.work[size, 1], job.work[size, 2] = w, block, count
                total += np.int64(count)
                size += 1
            leave_day(at, theirs)
    now[SIZE] = size
    return total


@inline
def _give_back(job):
    """Blocks of a step that is over are free; whether a calendar had no room for somebody."""
    now, lost = job.now, False
    for item in range(now[SIZE]):
        free_block(np.uint64(job.work[item, 1]), open_calendar(job.calendars[job.work[item, 0]]))
    for w in range(job.threads):
        theirs = open_calendar(job.calendars[w])
        lost |= theirs.now[FILLING] == now[THE_FILLING] and theirs.now[LOST] != 0
    return lost


@inline
def _refill(year, shift, job):
    """The calendars are to be filled anew, for days of this width from this one on."""
    now = job.now
    now[SHIFT], now[THE_YEAR] = shift, year
    now[THE_FILLING] += 1
    now[DONE_DAYS], now[DONE_EDGES] = 0, now[WALKED]
    return FILL


@inline
def _seek(job):
    """The next day on which there is something to do: what comes next."""
    now = job.now
    at, beyond = np.uint64(DAYS), False
    for w in range(job.threads):
        theirs = open_calendar(job.calendars[w])
        if theirs.now[FILLING] == now[THE_FILLING]:
            at = min(at, next_day(np.uint64(now[AT]), theirs))
            beyond |= theirs.now[BEYOND] != 0
    if at < np.uint64(DAYS):
        now[AT] = at
        return WORK
    if not beyond:
        return OVER
    first = open_calendar(job.calendars[0])
    first.now[YEAR], first.now[BEYOND] = now[THE_YEAR], 1
    if not next_year(np.uint64(now[SHIFT]), job.distance, first):
        return OVER
    now[FROM] = ((now[THE_YEAR] + DAYS) << now[SHIFT]) - 1
    return _refill(first.now[YEAR], now[SHIFT], job)


@inline
def _next(kind, job):
    """The step after one of this kind; blocks of a day are collected for it."""
    now = job.now
    if kind == FILL:
        now[AT] = 0
    _fetch(job)
    if kind != FILL:
        if _give_back(job):
            return _refill(now[THE_YEAR] + now[AT], now[SHIFT], job)
        if _collect(job) > 0:
            return WORK
        day = now[THE_YEAR] + now[AT] + 1
        now[FROM] = (day << now[SHIFT]) - 1
        now[BELOW] = min(FARTHEST, now[FROM])
        now[DONE_DAYS] += 1
        if now[DONE_DAYS] == LOOK_BACK:
            edges = now[WALKED] - now[DONE_EDGES]
            if edges < LOOK_BACK * now[LEAST] and now[SHIFT] < 31:
                return _refill(day >> 1, now[SHIFT] + 1, job)
            now[DONE_DAYS], now[DONE_EDGES] = 0, now[WALKED]
    kind = _seek(job)
    if kind == WORK:
        _collect(job)
    return kind


@inline
def _begin(kind, job):
    """Announce a step."""
    now, vertices = job.now, 0
    if kind == FILL:
        n = len(job.distance)
        announce(job.crew, kind, (n + FILLED_EACH - 1) // FILLED_EACH, job.threads == 1)
        return
    for item in range(now[SIZE]):
        vertices += job.work[item, 2]
    if vertices <= now[LONE]:
        now[PER], now[PARTS], chunks = now[SIZE], 1, 1
    else:
        parts = min(CHUNKS_EACH * job.threads, vertices // now[PART]) // now[SIZE]
        now[PER], now[PARTS] = 1, max(1, parts)
        chunks = now[SIZE] * now[PARTS]
    announce(job.crew, kind, chunks, job.threads == 1)


@inline
def go_on(worker, job):
    """What the leader does, worker 0, and who follows."""
    crew = job.crew
    if worker == 0:
        _begin(FILL, job)
    owed = 0
    while True:
        k, owed = next_chunk(crew, worker, owed)
        if k >= 0:
            if crew[KIND] == FILL:
                fill_chunk(worker, k, job)
            else:
                work_chunk(worker, k, job)
        elif worker > 0:
            return
        else:
            kind = _next(crew[KIND], job)
            if kind == OVER:
                end(crew)
                return
            _begin(kind, job)
