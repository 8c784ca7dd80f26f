"""Shortest paths from a vertex by one thread, for small graphs: a calendar of narrow buckets, read ahead.

Delta-stepping with a bucket for each *day*, ``2**shift`` distances wide, in a *year* of `DAYS`. What such a
search takes is not the edges but branches that nobody can foresee and lists that are not in the cache. So a
block of `BLOCK` vertices of today's bucket is taken at once: first all their edges are walked without a
branch, which leaves those that may improve something, about one in ten; then these are looked at again, one
by one.

Nothing is taken out of a bucket when a vertex moves to a nearer day: it is left out when its old day comes. A
distance beyond the year is noted nowhere: who has one is found when the year is over, and the next begins
with the least of them. Where the blocks run out, the buckets are filled anew in the same way, every vertex
once. Most days of a long path are empty: a bit for each says which are not.

The buckets are kept for the next search: to get and to give back so many pages takes as long as a search of
a small graph.

Bytes per edge: 4 and the weight's, in order, and an access to a distance. Encoding: the vertices of bucket
``at`` are in blocks of ``members``, from ``oldest[at]`` to ``newest[at]``; ``links[block]`` is the next one,
as in the list of free blocks. ``filled[at]`` counts them: all blocks but the newest are full. A *find* is a
distance above the id.
Papers: R. Brown, "Calendar queues", 1988; U. Meyer, P. Sanders, "Delta-stepping", 2003.
"""

from __future__ import annotations

import time
from functools import cache
from typing import NamedTuple

import numpy as np

from gpop.common.atomics import popcount, prefetch
from gpop.common.inlined import inline
from gpop.common.memory import require_memory
from gpop.direct.phases import kernel
from gpop.direct.shortest_paths import Distances
from gpop.graph.graph import Graph
from gpop.model.light_first import FARTHEST

DAYS = 1 << 10
BLOCK = 1 << 8
FINDS = 1 << 10
MOST_KEPT = 1 << 22
"""Bytes of the blocks that stay for the next search."""
VERTEX_BYTES = 8
"""Of the arrays of a search: a distance, and a place in a block."""

_ROOM = DAYS + FINDS // BLOCK + 1  # blocks that so many finds may take: every bucket begins one
_FREE, _LEFT, _YEAR, _BEYOND, _LOOKED = range(5)
"""Slots of ``now``: the first free block, and how many are; the first day of the year; whether distances
are beyond it; edges that were walked."""

_ONE, _TWO, _FOUR, _SIX, _HALF, _ID = (np.uint64(number) for number in (1, 2, 4, 6, 32, 0xFFFFFFFF))
_BLOCK, _LAST, _LAST_BIT, _WORDS = (np.uint64(number) for number in (BLOCK, BLOCK - 1, 63, DAYS // 64))


class Calendar(NamedTuple):
    members: np.ndarray
    links: np.ndarray
    oldest: np.ndarray
    newest: np.ndarray
    filled: np.ndarray
    block: np.ndarray
    finds: np.ndarray
    busy: np.ndarray
    now: np.ndarray


PHASES = ("search",)


def search(graph: Graph, source: int, width: float) -> Distances:
    """Distances from a vertex of a graph with whole-number weights; days are ``width`` or up to half as wide.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 0, 1], [1, 2, 2], np.array([2, 9, 3]))
    >>> search(graph, 0, 4.0).distance.tolist()
    [0, 2, 5]
    """
    begin = time.perf_counter()
    shift = np.uint64(min(max(1, int(width)).bit_length() - 1, 31))
    _compile(graph.indices.dtype, graph.weights.dtype)
    require_memory(VERTEX_BYTES * graph.n, f"shortest paths of {graph!r}")
    start = time.perf_counter()
    distance, whole = _distances(graph.n), _borrowed(graph.n)
    calendar = _of_room(whole, _blocks(graph.n))
    _search(np.uint64(source), shift, graph.indptr, graph.indices, graph.weights, distance, calendar)
    looked = calendar.now[_LOOKED:].copy()
    if whole.members.nbytes <= MOST_KEPT:
        _spare[:] = [whole]
    seconds = time.perf_counter() - start
    return Distances(distance, FARTHEST, looked, np.array([seconds]), seconds, start - begin)


@cache
def _compile(ids: np.dtype, weights: np.dtype) -> None:
    """Search in nothing, before the clock starts."""
    no_edges = np.zeros(2, np.int64), np.empty(0, ids), np.empty(0, weights)
    _search(np.uint64(0), np.uint64(0), *no_edges, _distances(1), _calendar(1))


_spare: list[Calendar] = []
"""The buckets of the last search, while no other has them."""


def _borrowed(n: int) -> Calendar:
    """A calendar with enough room: the spare one, or a new one."""
    try:
        calendar = _spare.pop()
    except IndexError:
        return _calendar(n)
    return calendar if len(calendar.links) >= _blocks(n) else _calendar(n)


def _of_room(calendar: Calendar, blocks: int) -> Calendar:
    """A calendar with so many blocks at most: what is walked depends on nothing that was before."""
    return calendar._replace(members=calendar.members[:blocks], links=calendar.links[:blocks])


def _blocks(n: int) -> int:
    """Room for every vertex once, whatever its day, and for the finds of a block besides."""
    return n // BLOCK + DAYS + _ROOM


def _distances(n: int) -> np.ndarray:
    return np.full(n, FARTHEST, np.uint32)


def _calendar(n: int) -> Calendar:
    blocks = _blocks(n)
    return Calendar(
        np.empty((blocks, BLOCK), np.uint32), np.empty(blocks, np.uint32), np.empty(DAYS, np.uint32),
        np.empty(DAYS, np.uint32), np.empty(DAYS, np.uint32), np.empty(BLOCK, np.uint32),
        np.empty(FINDS, np.uint64), np.empty(DAYS // 64, np.uint64), np.empty(5, np.int64),
    )  # fmt: skip


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
def _fill(first, last, today, shift, distance, calendar):
    """Begin the buckets anew with those of ``[first, last)`` whose day is today or later this year."""
    now = calendar.now
    calendar.filled[:] = 0
    calendar.busy[:] = 0
    blocks = len(calendar.links)
    for block in range(blocks):
        calendar.links[block] = block + 1
    now[_FREE], now[_LEFT], now[_BEYOND] = 0, blocks, 0
    for v in range(np.uint64(first), np.uint64(last)):
        day = np.int64(np.uint64(distance[v]) >> shift)
        if day >= now[_YEAR] + DAYS:
            now[_BEYOND] |= distance[v] < FARTHEST
        elif day >= today and distance[v] < FARTHEST:
            _enter(v, np.uint64(day - now[_YEAR]), calendar)


@inline
def _take(at, shift, distance, calendar):
    """Take the oldest block out of a bucket: how many of ``block`` are still to be done on its day."""
    now, filled, links = calendar.now, calendar.filled, calendar.links
    today = np.uint64(now[_YEAR]) + at
    block = np.uint64(calendar.oldest[at])
    count = min(np.uint64(filled[at]), _BLOCK)
    filled[at] -= np.uint32(count)
    calendar.oldest[at] = links[block]
    links[block] = now[_FREE]
    now[_FREE] = block
    now[_LEFT] += 1
    taken = np.uint64(0)
    for i in range(count):
        v = calendar.members[block, i]
        calendar.block[taken] = v
        taken += np.uint64(np.uint64(distance[np.uint64(v)]) >> shift == today)
    return taken


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
            day = np.int64(length >> shift)
            if day >= now[_YEAR] + DAYS:
                now[_BEYOND] = 1
            elif day == today or np.int64(before >> shift) != day:
                _enter(v, np.uint64(day - now[_YEAR]), calendar)


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
    least, after = np.uint64(FARTHEST), np.uint64(now[_YEAR] + DAYS)
    if now[_BEYOND]:
        for v in range(np.uint64(len(distance))):
            length = np.uint64(distance[v])
            least = min(least, length if length >> shift >= after else np.uint64(FARTHEST))
    now[_YEAR] = least >> shift
    return least < FARTHEST


@kernel
def _search(source, shift, indptr, indices, weights, distance, calendar):
    """All distances from ``source``, where every other vertex has `FARTHEST`."""
    now, block, finds = calendar.now, calendar.block, calendar.finds
    now[_YEAR], now[_LOOKED], distance[source] = 0, 0, 0
    _fill(source, source + _ONE, 0, shift, distance, calendar)
    more = True
    while more:
        at = _next_day(np.uint64(0), calendar)
        while at < np.uint64(DAYS):
            today = now[_YEAR] + np.int64(at)
            while calendar.filled[at] > 0:
                taken = _take(at, shift, distance, calendar)
                i = e = stop = length = np.uint64(0)
                while True:
                    found = np.uint64(0)
                    while np.int64(2 * found) <= FINDS:
                        if e == stop:
                            if i == taken:
                                break
                            if i + _FOUR < taken:
                                prefetch(indptr, np.uint64(block[i + _FOUR]))
                                prefetch(indices, np.uint64(indptr[np.uint64(block[i + _TWO])]))
                                prefetch(weights, np.uint64(indptr[np.uint64(block[i + _TWO])]))
                            v = np.uint64(block[i])
                            i += _ONE
                            length = np.uint64(distance[v])
                            e, stop = np.uint64(indptr[v]), np.uint64(indptr[v + _ONE])
                            now[_LOOKED] += np.int64(stop - e)
                        last = min(stop, e + (np.uint64(FINDS) - found))
                        while e < last:
                            u = np.uint64(indices[e])
                            through = length + np.uint64(weights[e])
                            e += _ONE
                            finds[found] = through << _HALF | u
                            found += np.uint64(through < np.uint64(distance[u]))
                    if found == 0:
                        break
                    if now[_LEFT] < _ROOM:
                        _fill(0, len(distance), today, shift, distance, calendar)
                    _improve(found, today, shift, distance, calendar)
            calendar.busy[at >> _SIX] ^= _ONE << (at & _LAST_BIT)
            at = _next_day(at, calendar)
        more = _next_year(shift, distance, calendar)
        if more:
            _fill(0, len(distance), now[_YEAR], shift, distance, calendar)
