"""Shortest paths from a vertex by one thread: a calendar of narrow buckets, whose edges are one long walk.

Delta-stepping with a bucket for each *day*, ``2**shift`` distances wide, in a *year* of `DAYS`. What such a
search takes is not the edges but branches that nobody can foresee and lists that are not in the cache. So
the vertices of a block of today's bucket are looked at first, without walking: where their lists begin is
asked for, and laid out as a walk. The walk has no branch: from the end of one list it turns into the next by
adding what was laid out, 0 within a list. It leaves those edges that may improve something, about one in
ten, and these are looked at again, one by one.

Nothing is taken out of a bucket when a vertex moves to a nearer day: it is left out when its old day comes. A
distance beyond the year is noted nowhere: who has one is found when the year is over, and the next begins
with the least of them. Where the blocks run out, the buckets are filled anew in the same way, every vertex
once. Most days of a long path are empty: a bit for each says which are not.

The buckets are kept for the next search: to get and to give back so many pages takes as long as a search of
a small graph.

Bytes per edge: 8 in order, and an access to a distance. Encoding: the vertices of bucket ``at`` are in blocks
of ``members``, from ``oldest[at]`` to ``newest[at]``; ``links[block]`` is the next one, as in the list of
free blocks. ``filled[at]`` counts them: all blocks but the newest are full. Edges are in pairs
(`gpop.layout.edge_pairs`); ``turns`` has what is added before a pair, to its number and to the distance from
which it leads. A distance that is added is in the upper half, and so it is in a *find*, above the id.
Papers: R. Brown, "Calendar queues", 1988; U. Meyer, P. Sanders, "Delta-stepping", 2003.
"""

from __future__ import annotations

import time
from functools import cache
from typing import NamedTuple

import numpy as np

from gpop.common.atomics import popcount, prefetch
from gpop.common.by_reference import Reference
from gpop.common.inlined import inline
from gpop.common.memory import require_memory
from gpop.direct.phases import kernel
from gpop.direct.shortest_paths import Distances
from gpop.graph.graph import Graph
from gpop.layout.edge_pairs import edge_pairs
from gpop.model.light_first import FARTHEST

DAYS = 1 << 10
BLOCK = 1 << 8
FINDS = 1 << 10
MOST_KEPT = 1 << 23
"""Bytes of the blocks that stay for the next search."""
VERTEX_BYTES = 8
"""Of the arrays of a search: a distance, and a place in a block."""

_ROOM = DAYS + FINDS // BLOCK + 1  # blocks that so many finds may take: every bucket begins one
_FREE, _LEFT, _YEAR, _BEYOND, _LATEST, _LOOKED = range(6)
"""Slots of ``now``: the first free block, and how many are; the first day of the year; whether distances
are beyond it; the last day so far; edges that were walked."""

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


class _CalendarRoom(NamedTuple):
    """A calendar, and its table in memory."""

    calendar: Calendar
    table: Reference


PHASES = ("search",)


def search(graph: Graph, source: int, width: float) -> Distances:
    """Distances from a vertex of a graph with whole-number weights; days are ``width`` or up to half as wide.

    An odd list counts as one edge more.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 0, 1], [1, 2, 2], np.array([2, 9, 3]))
    >>> search(graph, 0, 4.0).distance.tolist()
    [0, 2, 5]
    """
    begin = time.perf_counter()
    shift = min(max(1, int(width)).bit_length() - 1, 31)
    starts, lines = edge_pairs(graph, FARTHEST)
    _compile()
    start = time.perf_counter()
    room = _borrowed(graph)
    distance = np.empty(graph.n, np.uint32)
    _search(source, shift, _blocks(graph.n), starts, lines, distance, room.table)
    latest, looked = room.calendar.now[_LATEST:].tolist()
    if room.calendar.members.nbytes <= MOST_KEPT:
        _spare[:] = [room]
    below, seconds = min(FARTHEST, (latest + 1 << shift) - 1), time.perf_counter() - start
    return Distances(distance, below, np.array([looked]), np.array([seconds]), seconds, start - begin)


@cache
def _compile() -> None:
    """Search in nothing, before the clock starts."""
    room, no_edges = _room(1), (np.zeros(2, np.uint32), np.empty(0, np.uint64))
    _search(0, 0, _blocks(1), *no_edges, np.empty(1, np.uint32), room.table)


_spare: list[_CalendarRoom] = []
"""The buckets of the last search, while no other has them."""


def _borrowed(graph: Graph) -> _CalendarRoom:
    """A calendar with enough room: the spare one, or a new one."""
    try:
        room = _spare.pop()
    except IndexError:  # another search has it
        room = None
    if room is None or len(room.calendar.links) < _blocks(graph.n):
        require_memory(VERTEX_BYTES * graph.n, f"shortest paths of {graph!r}")
        room = _room(graph.n)
    return room


def _blocks(n: int) -> int:
    """Room for every vertex once, whatever its day, and for the finds of a walk besides."""
    return n // BLOCK + DAYS + _ROOM


def _room(n: int) -> _CalendarRoom:
    blocks = _blocks(n)
    calendar = Calendar(
        np.empty((blocks, BLOCK), np.uint32), np.empty(blocks, np.uint32), np.empty(DAYS, np.uint32),
        np.empty(DAYS, np.uint32), np.empty(DAYS, np.uint32), np.zeros(FINDS + 2, np.uint64),
        np.empty(FINDS, np.uint64), np.empty(DAYS // 64, np.uint64), np.empty(6, np.int64),
    )  # fmt: skip
    return _CalendarRoom(calendar, Reference(calendar))


@inline
def _day(length, shift):
    """The day of a distance. Days end one before their width does, so that `FARTHEST` has one of its own."""
    return length + _ONE >> shift


@inline
def _enter(v, at, calendar):
    """Put a vertex into a bucket."""
    newest, now = calendar.newest, calendar.now
    count = np.uint64(calendar.filled[at])
    if count & _LAST == 0:
        block = np.uint64(now[_FREE])
        now[_FREE] = calendar.links[block]
        now[_LEFT] -= 1
        if count == 0:
            calendar.oldest[at] = block
            calendar.busy[at >> _SIX] |= _ONE << (at & _LAST_BIT)
        else:
            calendar.links[np.uint64(newest[at])] = block
        newest[at] = block
    calendar.members[np.uint64(newest[at]), count & _LAST] = v
    calendar.filled[at] += np.uint32(1)


@inline
def _fill(first, last, today, shift, blocks, distance, calendar):
    """Begin the buckets anew with those of ``[first, last)`` whose day is today or later this year."""
    now = calendar.now
    calendar.filled[:] = 0
    calendar.busy[:] = 0
    for block in range(blocks):
        calendar.links[block] = block + 1
    now[_FREE], now[_LEFT], now[_BEYOND] = 0, blocks, 0
    for v in range(np.uint64(first), np.uint64(last)):
        day = np.int64(_day(np.uint64(distance[v]), shift))
        if day >= now[_YEAR] + DAYS:
            now[_BEYOND] |= distance[v] < FARTHEST
        elif day >= today and distance[v] < FARTHEST:
            _enter(v, np.uint64(day - now[_YEAR]), calendar)


@inline
def _lay_out(i, part, count, block, today, shift, starts, lines, distance, calendar):
    """Lay out a walk along the lists of a block's vertices from ``i`` on, without ``part`` of the first list.

    It leaves out who is not due today, and ends where there is no room for all of a list. Returns how many
    pairs it has, which vertex is next, and how much of that one's list was in it.
    """
    turns = calendar.turns
    pairs = end = before = _NONE
    while i < count:
        v = np.uint64(calendar.members[block, i])
        length = np.uint64(distance[v])
        pair, stop = np.uint64(starts[v]) + part, np.uint64(starts[v + _ONE])
        prefetch(lines, pair + pair)
        turns[pairs + pairs], turns[pairs + pairs + _ONE] = pair - end, length - before << _HALF
        due = ~_NONE if _day(length, shift) == today else _NONE
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
def _walk(pairs, lines, distance, calendar):
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
def _improve(count, today, shift, distance, calendar):
    """Look at finds again: what is still nearer is entered, unless the bucket of that day has it."""
    now = calendar.now
    for i in range(count):
        find = calendar.finds[i]
        v, length = find & _ID, find >> _HALF
        before = np.uint64(distance[v])
        if length < before:
            distance[v] = length
            day = _day(length, shift)
            if np.int64(day) >= now[_YEAR] + DAYS:
                now[_BEYOND] = 1
            elif np.uint64(day == today) | np.uint64(_day(before, shift) != day):  # one branch, not two
                _enter(v, day - np.uint64(now[_YEAR]), calendar)


@inline
def _finish_day(at, shift, blocks, starts, lines, distance, calendar):
    """Take blocks out of today's bucket, and walk, until it is empty."""
    now, links = calendar.now, calendar.links
    today = np.uint64(now[_YEAR]) + at
    now[_LATEST] = today
    while calendar.filled[at] > 0:
        block = np.uint64(calendar.oldest[at])
        count = min(np.uint64(calendar.filled[at]), _BLOCK)
        calendar.filled[at] -= np.uint32(count)
        calendar.oldest[at] = links[block]
        i = part = _NONE
        while i < count:
            pairs, i, part = _lay_out(i, part, count, block, today, shift, starts, lines, distance, calendar)
            now[_LOOKED] += np.int64(pairs + pairs)
            found = _walk(pairs, lines, distance, calendar)
            if now[_LEFT] < _ROOM:
                _fill(0, len(distance), np.int64(today), shift, blocks, distance, calendar)
                i = count + _ONE  # the buckets have the rest of the block, and nobody the block
            _improve(found, today, shift, distance, calendar)
        if i == count:
            links[block] = now[_FREE]
            now[_FREE] = block
            now[_LEFT] += 1
    calendar.busy[at >> _SIX] ^= _ONE << (at & _LAST_BIT)


@inline
def _next_day(at, calendar):
    """The first day from this one on whose bucket is not empty; `DAYS` where there is none this year."""
    word, bits = at >> _SIX, calendar.busy[at >> _SIX]
    while bits == np.uint64(0):
        word += _ONE
        if word == _WORDS:
            return np.uint64(DAYS)
        bits = calendar.busy[word]
    return (word << _SIX) + popcount((bits & (~bits + _ONE)) - _ONE)


@inline
def _next_year(shift, distance, calendar):
    """Begin the year of the least distance beyond this one; whether there is any."""
    now = calendar.now
    least, after = _FAR, np.uint64(now[_YEAR] + DAYS)
    if now[_BEYOND]:
        for v in range(np.uint64(len(distance))):
            length = np.uint64(distance[v])
            least = min(least, length if _day(length, shift) >= after else _FAR)
    now[_YEAR] = _day(least, shift)
    return least < _FAR


@kernel
def _search(source, shift, blocks, starts, lines, distance, calendar):
    """All distances from ``source``."""
    now, shift = calendar.now, np.uint64(shift)
    distance[:] = FARTHEST
    now[_YEAR], now[_LOOKED], distance[source] = 0, 0, 0
    _fill(source, source + 1, 0, shift, blocks, distance, calendar)
    more = True
    while more:
        at = _next_day(_NONE, calendar)
        while at < np.uint64(DAYS):
            _finish_day(at, shift, blocks, starts, lines, distance, calendar)
            at = _next_day(at, calendar)
        more = _next_year(shift, distance, calendar)
        if more:
            _fill(0, len(distance), now[_YEAR], shift, blocks, distance, calendar)
