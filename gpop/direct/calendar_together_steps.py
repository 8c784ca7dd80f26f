"""Steps of shortest paths that threads share: what each does with a chunk of one (see calendar_together.py).

Steps: FILL enters those that are not settled. WORK is part of a day.

A distance is lowered by compare-and-swap. Who has lowered it enters the vertex, unless it had been lowered to
the same later day before: then somebody else has entered it. Distances are the same for any number of
threads; how many edges were walked is not.
Encoding: ``calendars`` are addresses. ``work`` are the blocks of a step: whose it is, its number, and how
many are in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.atomics import compare_and_swap, fetch_add
from gpop.common.inlined import inline
from gpop.direct.calendar_steps import (
    BEYOND,
    DAYS,
    FILLING,
    LEFT,
    LOST,
    ROOM,
    YEAR,
    day_of,
    empty,
    enter,
    free_block,
    lay_out,
    leave_day,
    note,
    open_calendar,
    take_block,
    walk,
)
from gpop.model.light_first import FARTHEST

FILL, WORK, OVER = range(3)
SHIFT, THE_YEAR, AT, FROM, THE_FILLING, SIZE, PER, PARTS, DONE_DAYS, DONE_EDGES, BELOW = range(11)
LEAST, FUSE, LONE, PART = range(11, 15)
WALKED, SLOTS = 24, 32
"""Slots of ``now``: width of a day, first day of the year, day of the year; what is farther is not settled;
number of the filling; blocks of a step, how many a chunk has, and into how many parts each is cut; days since
the width was chosen, and edges that had been walked then; no distance is beyond; `DAY_EDGES`, `FUSED`,
`ALONE` and `PART_VERTICES`. A line further on, edges walked."""

FILLED_EACH = 1 << 9
"""Vertices of a chunk when calendars are filled."""

_HALF, _ID, _NONE = (np.uint64(number) for number in (32, 0xFFFFFFFF, 0))


class TogetherSearch(NamedTuple):
    """What threads share."""

    threads: np.int64
    blocks: np.int64
    starts: np.ndarray
    lines: np.ndarray
    distance: np.ndarray
    calendars: np.ndarray
    work: np.ndarray
    crew: np.ndarray
    now: np.ndarray


@inline
def _mine(worker, job):
    """The calendar of a thread, which is emptied before it is filled anew."""
    mine, now = open_calendar(job.calendars[worker]), job.now
    if mine.now[FILLING] != now[THE_FILLING]:
        empty(job.blocks, mine)
        mine.now[FILLING], mine.now[YEAR], mine.now[LOST] = now[THE_FILLING], now[THE_YEAR], 0
    return mine


@inline
def fill_chunk(worker, k, job):
    """Part of the vertices: those that are not settled are entered, or are beyond the year."""
    now, mine, distance = job.now, _mine(worker, job), job.distance
    first = np.uint64(k) * np.uint64(FILLED_EACH)
    year, shift = now[THE_YEAR], np.uint64(now[SHIFT])
    for v in range(first, min(first + np.uint64(FILLED_EACH), np.uint64(len(distance)))):
        length = np.uint64(distance[v])
        if length < np.uint64(FARTHEST) and np.int64(length) >= now[FROM]:
            day = np.int64(day_of(length, shift))
            if day >= year + DAYS:
                mine.now[BEYOND] = 1
            else:
                enter(v, np.uint64(day - year), mine)


@inline
def _improve(count, today, job, mine):
    """Look at finds again: what is still nearer is so now."""
    distance, shift = job.distance, np.uint64(job.now[SHIFT])
    lost = mine.now[LEFT] < ROOM
    for i in range(count):
        find = mine.finds[i]
        v, length = find & _ID, find >> _HALF
        before, lowered = distance[v], False
        while length < np.uint64(before) and not lowered:
            lowered = compare_and_swap(distance, v, before, np.uint32(length))
            if not lowered:
                before = distance[v]
        if lowered:
            if lost:
                mine.now[LOST] = 1
            else:
                note(v, np.uint64(before), length, today, shift, mine)


@inline
def _send(block, first, count, members, today, job, mine):
    """The vertices of a block from the first of these on send along their edges; how many those were."""
    i, part, walked = first, _NONE, _NONE
    while i < count:
        pairs, i, part = lay_out(
            i, part, count, block, members, today, np.uint64(job.now[SHIFT]), job.starts, job.lines,
            job.distance, mine,
        )  # fmt: skip
        walked += pairs + pairs
        _improve(walk(pairs, job.lines, job.distance, mine), today, job, mine)
    return np.int64(walked)


@inline
def work_chunk(worker, k, job):
    """Some blocks of a day, or part of one, and what that brings into the own bucket, up to `FUSED`."""
    now, work, mine = job.now, job.work, _mine(worker, job)
    at, walked = np.uint64(now[AT]), np.int64(0)
    today = np.uint64(now[THE_YEAR]) + at
    parts = now[PARTS]
    begin, part = k // parts * now[PER], k % parts
    for item in range(begin, min(now[SIZE], begin + now[PER])):
        theirs, count = open_calendar(job.calendars[work[item, 0]]), work[item, 2]
        first, last = np.uint64(count * part // parts), np.uint64(count * (part + 1) // parts)
        walked += _send(np.uint64(work[item, 1]), first, last, theirs.members, today, job, mine)
    while mine.filled[at] > 0 and mine.filled[at] < np.uint32(now[FUSE]):
        block, count = take_block(at, mine)
        walked += _send(block, _NONE, count, mine.members, today, job, mine)
        free_block(block, mine)
        if mine.filled[at] == 0:
            leave_day(at, mine)
    fetch_add(now, WALKED, walked)
