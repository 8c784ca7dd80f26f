"""A calendar of buckets in which shortest paths are found: what a thread does in one (see calendar.py)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.atomics import popcount, prefetch
from gpop.common.by_reference import Reference, opener
from gpop.common.inlined import inline
from gpop.model.light_first import FARTHEST

DAYS = 1 << 10
BLOCK = 1 << 8
FINDS = 1 << 10

ROOM = DAYS + FINDS // BLOCK + 1  # blocks that so many finds may take: every bucket begins one
REST = 2  # blocks that the vertices of one may take
FREE, LEFT, YEAR, BEYOND, LATEST, LOOKED, FILLING, LOST, SHIFT, SINCE, SENT, SLOTS = range(12)
"""Slots of ``now``: the first free block, and how many are; the first day of the year; whether distances
are beyond it; the last day so far; edges that were walked. Where threads share a search, which filling it is
of, and whether it had no room for somebody; where each has vertices of its own, the width of a day, from
which distance on nobody is settled, and the first day of what was sent to others."""

_ONE, _TWO, _SIX, _HALF, _ID, _NONE = (np.uint64(number) for number in (1, 2, 6, 32, 0xFFFFFFFF, 0))
_BLOCK, _LAST, _LAST_BIT, _WORDS = (np.uint64(number) for number in (BLOCK, BLOCK - 1, 63, DAYS // 64))
_PAIRS, _FAR = np.uint64(FINDS // 2), np.uint64(FARTHEST)


class Calendar(NamedTuple):
    members: np.ndarray
    links: np.ndarray
    oldest: np.ndarray
    newest: np.ndarray
    filled: np.ndarray
    turns: np.ndarray
    finds: np.ndarray
    busy: np.ndarray
    now: np.ndarray


def blocks_for(n: int) -> int:
    """Room for every vertex once, whatever its day, for the finds of a walk and for the rest of a block."""
    return n // BLOCK + DAYS + ROOM + REST


def shift_of(width: float) -> int:
    """Of days of this width, or up to half as wide."""
    return min(max(1, int(width)).bit_length() - 1, 31)


def calendar_for(n: int) -> Calendar:
    """One for a graph of n vertices."""
    blocks = blocks_for(n)
    return Calendar(
        np.empty((blocks, BLOCK), np.uint32), np.empty(blocks, np.uint32), np.empty(DAYS, np.uint32),
        np.empty(DAYS, np.uint32), np.empty(DAYS, np.uint32), np.zeros(FINDS + 2, np.uint64),
        np.empty(FINDS, np.uint64), np.empty(DAYS // 64, np.uint64), np.zeros(SLOTS, np.int64),
    )  # fmt: skip


class Calendars:
    """Of so many threads, for graphs of n vertices; what points to them, and where that is."""

    def __init__(self, n: int, threads: int) -> None:
        self.n, self.calendars = n, [calendar_for(n) for _ in range(threads)]
        self.tables = [Reference(calendar) for calendar in self.calendars]
        self.addresses = np.array([table.address for table in self.tables])


open_calendar = opener(Reference(calendar_for(1)).kind)


@inline
def day_of(length, shift):
    """The day of a distance. Days end one before their width does, so that `FARTHEST` has one of its own."""
    return length + _ONE >> shift


@inline
def enter(v, at, calendar):
    """Put a vertex into a bucket."""
    newest, now = calendar.newest, calendar.now
    count = np.uint64(calendar.filled[at])
    if count & _LAST == 0:
        block = np.uint64(now[FREE])
        now[FREE] = calendar.links[block]
        now[LEFT] -= 1
        if count == 0:
            calendar.oldest[at] = block
            calendar.busy[at >> _SIX] |= _ONE << (at & _LAST_BIT)
        else:
            calendar.links[np.uint64(newest[at])] = block
        newest[at] = block
    calendar.members[np.uint64(newest[at]), count & _LAST] = v
    calendar.filled[at] += np.uint32(1)


@inline
def empty(blocks, calendar):
    """Have nothing in any bucket."""
    now = calendar.now
    calendar.filled[:] = 0
    calendar.busy[:] = 0
    for block in range(blocks):
        calendar.links[block] = block + 1
    now[FREE], now[LEFT], now[BEYOND] = 0, blocks, 0


@inline
def fill(first, last, today, shift, distance, calendar):
    """Enter those of ``[first, last)`` whose day is today or later this year."""
    now = calendar.now
    for v in range(np.uint64(first), np.uint64(last)):
        day = np.int64(day_of(np.uint64(distance[v]), shift))
        if day >= now[YEAR] + DAYS:
            now[BEYOND] |= distance[v] < FARTHEST
        elif day >= today and distance[v] < FARTHEST:
            enter(v, np.uint64(day - now[YEAR]), calendar)


@inline
def lay_out(i, part, count, block, members, today, shift, starts, lines, distance, calendar):
    """Lay out a walk along the lists of a block's vertices from ``i`` on, without ``part`` of the first list.

    It leaves out who is not due today, and ends where there is no room for all of a list. Returns how many
    pairs it has, which vertex is next, and how much of that one's list was in it.
    """
    turns = calendar.turns
    pairs = end = before = _NONE
    while i < count:
        v = np.uint64(members[block, i])
        length = np.uint64(distance[v])
        pair, stop = np.uint64(starts[v]) + part, np.uint64(starts[v + _ONE])
        prefetch(lines, pair + pair)
        prefetch(lines, stop + stop - _ONE)  # lists often lie in two lines of the cache
        turns[pairs + pairs], turns[pairs + pairs + _ONE] = pair - end, length - before << _HALF
        due = ~_NONE if day_of(length, shift) == today else _NONE
        size = stop - pair & due  # no branch: many are not due, and which ones nobody can foresee
        if pairs + size > _PAIRS:
            return _PAIRS, i, part + (_PAIRS - pairs)
        part = _NONE
        if size:
            end, before = stop, length
        pairs += size
        i += _ONE
    return pairs, i, part


@inline
def walk(pairs, lines, distance, calendar):
    """Walk as it is laid out, which is forgotten then; how many finds there are."""
    finds, turns = calendar.finds, calendar.turns
    found = pair = length = _NONE
    for step in range(pairs):
        pair += turns[step + step]
        length += turns[step + step + _ONE]
        for half in range(2):
            find = lines[pair + pair + np.uint64(half)] + length
            finds[found] = find
            found += np.uint64(find >> _HALF < np.uint64(distance[find & _ID]))
        pair += _ONE
    turns[: pairs + pairs + _TWO] = 0
    return found


@inline
def next_day(at, calendar):
    """The first day from this one on whose bucket is not empty; `DAYS` where there is none this year."""
    word, bits = at >> _SIX, calendar.busy[at >> _SIX]
    while bits == np.uint64(0):
        word += _ONE
        if word == _WORDS:
            return np.uint64(DAYS)
        bits = calendar.busy[word]
    return (word << _SIX) + popcount((bits & (~bits + _ONE)) - _ONE)


@inline
def next_year(shift, distance, calendar):
    """Begin the year of the least distance beyond this one; whether there is any."""
    now = calendar.now
    least, after = _FAR, np.uint64(now[YEAR] + DAYS)
    if now[BEYOND]:
        for v in range(np.uint64(len(distance))):
            length = np.uint64(distance[v])
            least = min(least, length if day_of(length, shift) >= after else _FAR)
    now[YEAR] = day_of(least, shift)
    return least < _FAR


@inline
def note(v, before, length, today, shift, calendar):
    """Enter who has become nearer than before, unless a bucket of that day has it."""
    now, day = calendar.now, day_of(length, shift)
    if np.int64(day) >= now[YEAR] + DAYS:
        now[BEYOND] = 1
    elif np.uint64(day == today) | np.uint64(day_of(before, shift) != day):  # one branch, not two
        enter(v, day - np.uint64(now[YEAR]), calendar)


@inline
def take_block(at, calendar):
    """Take the oldest block out of a bucket: the block, and how many are in it."""
    block = np.uint64(calendar.oldest[at])
    count = min(np.uint64(calendar.filled[at]), _BLOCK)
    calendar.filled[at] -= np.uint32(count)
    calendar.oldest[at] = calendar.links[block]
    return block, count


@inline
def leave_day(at, calendar):
    """Today's bucket is empty."""
    calendar.busy[at >> _SIX] &= ~(_ONE << (at & _LAST_BIT))


@inline
def free_block(block, calendar):
    """A block can be used again."""
    calendar.links[block] = calendar.now[FREE]
    calendar.now[FREE] = block
    calendar.now[LEFT] += 1
