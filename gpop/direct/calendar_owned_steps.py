"""Parts of a round of shortest paths by threads that have vertices of their own (see calendar_owned.py).

Whatever is written here is the thread's own: its calendar, distances of its vertices, what it sends.
Encoding: ``owner`` says of each block of ``2**now[BLOCK_BITS]`` vertices whose it is: thread w has blocks w,
w + crew, and so on. ``sent[w, turn, u]`` are finds of w for u, as many as ``counts[w, turn, u]``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.inlined import inline
from gpop.direct.calendar_steps import (
    BEYOND,
    DAYS,
    FINDS,
    LATEST,
    LEFT,
    LOOKED,
    REST,
    ROOM,
    SENT,
    SHIFT,
    SINCE,
    YEAR,
    day_of,
    empty,
    enter,
    free_block,
    lay_out,
    leave_day,
    note,
    take_block,
    walk,
)
from gpop.model.light_first import FARTHEST

CAPACITY = 4 * FINDS
"""Finds that are sent to one other in a round, at most."""

NEVER = 1 << 40
"""Behind every day."""

BLOCK_BITS = 11
"""Slot of ``job.now``, which calendar_owned.py describes."""

_ONE, _HALF, _ID, _NONE = (np.uint64(number) for number in (1, 32, 0xFFFFFFFF, 0))
_FINDS = np.uint64(FINDS)


class OwnedSearch(NamedTuple):
    """What threads share."""

    blocks: np.int64
    starts: np.ndarray
    lines: np.ndarray
    distance: np.ndarray
    calendars: np.ndarray
    owner: np.ndarray
    sent: np.ndarray
    counts: np.ndarray
    now: np.ndarray


@inline
def fill_own(worker, crew, job, mine):
    """Enter those of one's own that are not settled, from the first day of the year on."""
    distance, n, its = job.distance, np.uint64(len(job.distance)), mine.now
    bits, block, shift = np.uint64(job.now[BLOCK_BITS]), np.uint64(worker), np.uint64(its[SHIFT])
    empty(job.blocks, mine)
    while block << bits < n:
        for v in range(block << bits, min(n, block + _ONE << bits)):
            length = np.uint64(distance[v])
            if length < np.uint64(FARTHEST) and np.int64(length) >= its[SINCE]:
                day = np.int64(day_of(length, shift)) - its[YEAR]
                if day >= DAYS:
                    its[BEYOND] = 1
                else:
                    enter(v, np.uint64(day), mine)
        block += np.uint64(crew)


@inline
def least_beyond(worker, crew, job, mine):
    """The first day behind this year on which one of one's own is due."""
    distance, n, its = job.distance, np.uint64(len(job.distance)), mine.now
    bits, block, shift = np.uint64(job.now[BLOCK_BITS]), np.uint64(worker), np.uint64(its[SHIFT])
    least = np.int64(NEVER)
    while block << bits < n:
        for v in range(block << bits, min(n, block + _ONE << bits)):
            day = np.int64(day_of(np.uint64(distance[v]), shift))
            if day >= its[YEAR] + DAYS and distance[v] < FARTHEST:
                least = min(least, day)
        block += np.uint64(crew)
    return least


@inline
def receive(worker, other, turn, crew, job, mine):
    """Have own vertices be as near as another has found."""
    distance, its, i = job.distance, mine.now, _NONE
    count = np.uint64(job.counts[other, turn, worker])
    today, shift = np.uint64(its[LATEST]), np.uint64(its[SHIFT])
    while i < count:
        if its[LEFT] < ROOM:
            fill_own(worker, crew, job, mine)
        end = min(count, i + _FINDS)
        while i < end:
            find = job.sent[other, turn, worker, i]
            v, length = find & _ID, find >> _HALF
            before = np.uint64(distance[v])
            if length < before:
                distance[v] = np.uint32(length)
                note(v, before, length, today, shift, mine)
            i += _ONE


@inline
def _improve(found, worker, turn, job, mine):
    """Look at finds again: one's own are nearer now, others' are sent. Whether there is room for as many."""
    distance, counts, its = job.distance, job.counts, mine.now
    today, shift, bits = np.uint64(its[LATEST]), np.uint64(its[SHIFT]), np.uint64(job.now[BLOCK_BITS])
    most = np.int64(0)
    for i in range(found):
        find = mine.finds[i]
        v, length = find & _ID, find >> _HALF
        before = np.uint64(distance[v])
        if length < before:
            whose = np.int64(job.owner[v >> bits])
            if whose == worker:
                distance[v] = np.uint32(length)
                note(v, before, length, today, shift, mine)
            else:
                at = counts[worker, turn, whose]
                job.sent[worker, turn, whose, at] = find
                counts[worker, turn, whose] = at + 1
                most = max(most, at + 1)
                its[SENT] = min(its[SENT], np.int64(day_of(length, shift)))
    return most <= CAPACITY - FINDS


@inline
def work(worker, turn, crew, job, mine):
    """Walk today's bucket until it is empty, or so much is to be sent that there may be no room for more."""
    its, room = mine.now, True
    at, today = np.uint64(its[LATEST] - its[YEAR]), np.uint64(its[LATEST])
    while mine.filled[at] > 0 and room:
        block, count = take_block(at, mine)
        i = part = _NONE
        while i < count:
            pairs, i, part = lay_out(
                i, part, count, block, mine.members, today, np.uint64(its[SHIFT]), job.starts, job.lines,
                job.distance, mine,
            )  # fmt: skip
            its[LOOKED] += np.int64(pairs + pairs)
            found = walk(pairs, job.lines, job.distance, mine)
            if its[LEFT] < ROOM + REST:
                fill_own(worker, crew, job, mine)
                i = count + _ONE  # the buckets have the rest of the block, and nobody the block
            room = _improve(found, worker, turn, job, mine)
            while i < count and not room:  # another time
                enter(np.uint64(mine.members[block, i]), at, mine)
                i += _ONE
        if i == count:
            free_block(block, mine)
    if mine.filled[at] == 0:
        leave_day(at, mine)
