"""The steps of a search for shortest paths: what a thread does with a chunk of one (shortest_paths.py).

Encoding: distances are uint32. ``lists`` has four rows, near and far, each being read and being filled; a
vertex is on one once, as its bit in ``listed`` says. ``sent[v]`` edges of a settled v have been walked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.atomics import compare_and_swap, fetch_add, popcount, prefetch
from gpop.common.inlined import inline
from gpop.direct.frontier import BUFFER, flush, is_in, put_in
from gpop.model.light_first import NEVER

NEAR, SPLIT, REST, PULL, DENSE, OVER = range(6)
HIGH, CUT, WIDTH, WINDOW, LATER, WALKED = range(6)
FIRST, LAST, SIZE, NEAR_ROW, FAR_ROW, STARTED = range(6, 12)
LEAST, NEXT, MASS, SETTLED, ENDS, EDGES, TIMES, SLOTS = 20, 21, 22, 23, 24, 28, 34, 40
"""Slots of ``now``. What stays during a step: where the bucket and the cut end; widths of a bucket, of the
stretch up to a cut, and of later buckets; work of all rests. Range and chunk of the step; the rows that are
being filled; when the step began.

A cache line further on, what all threads change: no far vertex is nearer, no edge that waits leads nearer;
out-edges of settled vertices, and how many they are; ends of the lists; edges and nanoseconds of each kind of
step."""

NEAREST, WAITING, LOOKED, NEW, OUT, HELD = 2, 3, 4, 5, 6, 16
"""Slots of ``held``, of a chunk, after the numbers of vertices in ``found``: what will lower `LEAST` and
`NEXT` and add to `EDGES`, `SETTLED` and `MASS`. ``HELD`` slots, so that no other thread's are in the line."""

_AHEAD = np.uint64(8)
_ONE, _SIX, _LAST_BIT = np.uint64(1), np.uint64(6), np.uint64(63)
_HALF, _ID = np.uint64(32), np.uint64(0xFFFFFFFF)


class LineWays(NamedTuple):
    indptr: np.ndarray
    lines: np.ndarray
    in_indptr: np.ndarray
    in_lines: np.ndarray


class LineSpace(NamedTuple):
    """``listed``: bits of the rows of ``lists``. ``through``: whose edges have all been
    walked, as far as a rest has seen. Per thread, ``found``: what is not yet on the near and on the far list,
    and ``held``: how many those are, and what else it tells at the end of a chunk.
    """

    distance: np.ndarray
    sent: np.ndarray
    lists: np.ndarray
    listed: np.ndarray
    settled: np.ndarray
    through: np.ndarray
    found: np.ndarray
    held: np.ndarray
    now: np.ndarray


@inline
def _lower(array, at, value):
    """Make ``array[at]`` at most ``value``; whether it was more."""
    before = array[at]
    while value < before:
        if compare_and_swap(array, at, before, value):
            return True
        before = array[at]
    return False


@inline
def put_on_list(far, v, worker, space):
    """Put ``v`` on the near or the far list that is being filled, unless it is there."""
    row = space.now[FAR_ROW] if far else space.now[NEAR_ROW]
    if put_in(space.listed[row], v):
        count = space.held[worker, far]
        space.found[worker, far, count] = np.uint32(v)
        count += 1
        if count == BUFFER:
            count = flush(space.lists[row], space.now, ENDS + row, space.found[worker, far], count)
        space.held[worker, far] = count


@inline
def _send(u, skip, worker, ways, space):
    """Send along the edges of ``u`` after the first ``skip``, up to the cut."""
    now, distance, held = space.now, space.distance, space.held[worker]
    far, high, cut = np.uint64(distance[u]), np.uint64(now[HIGH]), np.uint64(now[CUT])
    begin, stop = np.uint64(ways.indptr[u]), np.uint64(ways.indptr[u + _ONE])
    e = begin + skip
    room = (cut - far) << _HALF if cut > far else np.uint64(0)
    while e < stop and ways.lines[e] < room:
        line = ways.lines[e]
        e += _ONE
        length = far + (line >> _HALF)
        if _lower(distance, line & _ID, np.uint32(length)):
            if length < high:
                put_on_list(0, line & _ID, worker, space)
            else:
                put_on_list(1, line & _ID, worker, space)
                held[NEAREST] = min(held[NEAREST], np.int64(length))
    space.sent[u] = np.uint32(e - begin)
    if e < stop:
        held[WAITING] = min(held[WAITING], np.int64(far + (ways.lines[e] >> _HALF)))
    held[LOOKED] += np.int64(e - begin - skip)


@inline
def _settle(u, worker, ways, space):
    """A vertex of the bucket sends."""
    if put_in(space.settled, u):
        space.held[worker, NEW] += 1
        space.held[worker, OUT] += ways.indptr[u + _ONE] - ways.indptr[u]
    _send(u, np.uint64(0), worker, ways, space)


@inline
def _near(first, last, worker, ways, space):
    """Part of the list of the bucket."""
    row = 1 - space.now[NEAR_ROW]
    list, indptr = space.lists[row], ways.indptr
    for i in range(first, last):
        if i + _AHEAD + _AHEAD < last:
            prefetch(indptr, np.uint64(list[i + _AHEAD + _AHEAD]))
            prefetch(ways.lines, np.uint64(indptr[np.uint64(list[i + _AHEAD])]))
        u = np.uint64(list[i])
        fetch_add(space.listed[row], u >> _SIX, np.uint64(0) - (_ONE << (u & _LAST_BIT)))  # the bit is set
        _settle(u, worker, ways, space)


@inline
def _split(first, last, worker, space):
    """Part of the far list: what is in the bucket is near, the rest far, what is settled neither."""
    row = 5 - space.now[FAR_ROW]
    list, high = space.lists[row], space.now[HIGH]
    for i in range(first, last):
        v = np.uint64(list[i])
        fetch_add(space.listed[row], v >> _SIX, np.uint64(0) - (_ONE << (v & _LAST_BIT)))
        length = np.int64(space.distance[v])
        if length >= high:
            put_on_list(1, v, worker, space)
            space.held[worker, NEAREST] = min(space.held[worker, NEAREST], length)
        elif not is_in(space.settled, v):
            put_on_list(0, v, worker, space)


@inline
def _take_best(v, worker, ways, space):
    """The best way from a neighbour to what is not settled."""
    e, stop = np.uint64(ways.in_indptr[v]), np.uint64(ways.in_indptr[v + _ONE])
    space.held[worker, LOOKED] += np.int64(stop - e)
    before = best = np.uint64(space.distance[v])
    while e < stop:
        line = ways.in_lines[e]
        best = min(best, np.uint64(space.distance[line & _ID]) + (line >> _HALF))
        e += _ONE
    if best < before:
        space.distance[v] = np.uint32(best)
        put_on_list(1, v, worker, space)
        space.held[worker, NEAREST] = min(space.held[worker, NEAREST], np.int64(best))


@inline
def _walk(kind, first, last, worker, ways, space):
    """A step over sets of vertices in the order of memory, of which this is words ``[first, last)``."""
    n = np.uint64(len(space.distance))
    row = 1 - space.now[NEAR_ROW]
    for word in range(first, last):
        left = space.settled[word]
        if kind == PULL:
            left = ~left
        elif kind == DENSE:
            left = space.listed[row, word]
            space.listed[row, word] = np.uint64(0)
        elif kind == REST:
            left &= ~space.through[word]
        through = np.uint64(0)  # no other thread has this word
        while left:
            bit = left & (~left + _ONE)
            left ^= bit
            v = (word << _SIX) + popcount(bit - _ONE)
            if v >= n:
                break
            if kind == DENSE:
                _settle(v, worker, ways, space)
            elif kind == REST:
                _send(v, np.uint64(space.sent[v]), worker, ways, space)
                if np.int64(space.sent[v]) == ways.indptr[v + _ONE] - ways.indptr[v]:
                    through |= bit
            else:
                _take_best(v, worker, ways, space)
        if kind == REST:
            space.through[word] |= through


@inline
def do_step(worker, kind, chunk, ways, space):
    """A chunk of a step, and what it has found out."""
    now, held = space.now, space.held[worker]
    first = now[FIRST] + chunk * now[SIZE]
    last = np.uint64(min(now[LAST], first + now[SIZE]))
    first = np.uint64(first)
    held[NEAREST] = held[WAITING] = NEVER
    held[LOOKED] = held[NEW] = held[OUT] = 0
    if kind == NEAR:
        _near(first, last, worker, ways, space)
    elif kind == SPLIT:
        _split(first, last, worker, space)
    else:
        _walk(kind, first, last, worker, ways, space)
    for far in range(2):
        row = now[FAR_ROW] if far else now[NEAR_ROW]
        held[far] = flush(space.lists[row], now, ENDS + row, space.found[worker, far], held[far])
    _lower(now, LEAST, held[NEAREST])
    _lower(now, NEXT, held[WAITING])
    fetch_add(now, EDGES + kind, held[LOOKED])
    fetch_add(now, MASS, held[OUT])
    fetch_add(now, SETTLED, held[NEW])
