"""Shortest paths with a calendar, by one thread (see calendar.py)."""

from __future__ import annotations

import numpy as np

from gpop.common.inlined import inline
from gpop.direct.calendar_steps import (
    DAYS,
    LATEST,
    LEFT,
    LOOKED,
    ROOM,
    YEAR,
    empty,
    fill,
    free_block,
    lay_out,
    leave_day,
    next_day,
    next_year,
    note,
    take_block,
    walk,
)
from gpop.model.light_first import FARTHEST

_ONE, _HALF, _ID, _NONE = (np.uint64(number) for number in (1, 32, 0xFFFFFFFF, 0))


@inline
def _improve(count, today, shift, distance, calendar):
    """Look at finds again: what is still nearer is so now."""
    for i in range(count):
        find = calendar.finds[i]
        v, length = find & _ID, find >> _HALF
        before = np.uint64(distance[v])
        if length < before:
            distance[v] = length
            note(v, before, length, today, shift, calendar)


@inline
def finish_day(at, shift, blocks, starts, lines, distance, calendar):
    """Take blocks out of today's bucket, and walk, until it is empty."""
    now, members = calendar.now, calendar.members
    today = np.uint64(now[YEAR]) + at
    now[LATEST] = today
    while calendar.filled[at] > 0:
        block, count = take_block(at, calendar)
        i = part = _NONE
        while i < count:
            pairs, i, part = lay_out(
                i, part, count, block, members, today, shift, starts, lines, distance, calendar
            )
            now[LOOKED] += np.int64(pairs + pairs)
            found = walk(pairs, lines, distance, calendar)
            if now[LEFT] < ROOM:
                empty(blocks, calendar)
                fill(0, len(distance), np.int64(today), shift, distance, calendar)
                i = count + _ONE  # the buckets have the rest of the block, and nobody the block
            _improve(found, today, shift, distance, calendar)
        if i == count:
            free_block(block, calendar)
    leave_day(at, calendar)


@inline
def begin(source, shift, blocks, starts, lines, distance, calendar, enough):
    """All distances from ``source``; or, when so many edges were walked, those before the next day.

    Returns whether there is such a day.
    """
    now, shift = calendar.now, np.uint64(shift)
    distance[:] = FARTHEST
    now[YEAR], now[LOOKED], distance[source] = 0, 0, 0
    empty(blocks, calendar)
    fill(source, source + 1, 0, shift, distance, calendar)
    more = True
    while more:
        at = next_day(_NONE, calendar)
        while at < np.uint64(DAYS):
            if now[LOOKED] >= enough:
                now[LATEST] = now[YEAR] + np.int64(at)
                return True
            finish_day(at, shift, blocks, starts, lines, distance, calendar)
            at = next_day(at, calendar)
        more = next_year(shift, distance, calendar)
        if more:
            empty(blocks, calendar)
            fill(0, len(distance), now[YEAR], shift, distance, calendar)
    return False
