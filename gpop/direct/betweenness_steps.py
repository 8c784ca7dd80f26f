"""A search for shortest paths and its way back, one source: what threads do in the steps of betweenness.

A *step* is part of a level: PUSH, MARK and AGAIN, or PULL, find a level and count its paths; BACK and CLEAR
give a level its dependencies. The leader (worker 0) decides on the next step and cuts it into chunks of about
`CHUNK_EDGES` edges, which whoever is free takes (`gpop.direct.crew`). What lies in which array when, and
why, is told in `gpop.direct.betweenness`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.atomics import fetch_add
from gpop.common.inlined import inline
from gpop.direct.frontier import BUFFER, flush, is_in

PUSH, MARK, AGAIN, PULL, BACK, CLEAR, OVER = range(7)
TAIL, FIRST, LAST, SIZE, PARITY, DEPTH, OUT, IN, UNSEEN, LARGE, INFINITE, EDGES = range(12)
"""Slots of ``now``: the end of ``order``; range and chunk of the step; parity of the frontier; out-edges and
in-edges of what is new; whether a count is beyond 2**53, and ever was infinite; edges looked at."""

CHUNK_EDGES = 1 << 13
"""Edges of a chunk."""

_EACH = 8  # edges in the time that it takes to mark or to clear a vertex
_EXACT = 2.0**53
_PUSH_COST = 2  # edges that are pulled in the time of one that is pushed
_ONE, _SIX, _LAST_BIT = np.uint64(1), np.uint64(6), np.uint64(63)


class PathWays(NamedTuple):
    """Out-edges and in-edges of the graph, as CSR has them."""

    indptr: np.ndarray
    indices: np.ndarray
    in_indptr: np.ndarray
    in_indices: np.ndarray


class PathSpace(NamedTuple):
    """What a search needs, kept with the graph. All but the last four are zero between searches.

    ``sigma``, ``share`` [2, n] by parity; ``visited``: a bit for each vertex; ``order``: vertices by level;
    ``starts``, ``outs``: where a level begins in it, and its out-edges; ``found``: new vertices
    that a thread has not put there yet.
    """

    sigma: np.ndarray
    share: np.ndarray
    visited: np.ndarray
    now: np.ndarray
    order: np.ndarray
    starts: np.ndarray
    outs: np.ndarray
    found: np.ndarray


@inline
def _push(first, last, alone, indptr, indices, here, there, visited, order, now, found):
    """Add the counts of part of the frontier to its neighbours that are not visited; list the new ones."""
    waiting = 0
    for i in range(first, last):
        u = np.uint64(order[i])
        count = here[u]
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + _ONE])):
            v = np.uint64(indices[e])
            if not is_in(visited, v):
                if alone:
                    before = there[v]
                    there[v] = before + count
                else:
                    before = fetch_add(there, v, count)
                if before == 0.0:
                    found[waiting] = np.uint32(v)
                    waiting += 1
                    if waiting == BUFFER:
                        waiting = flush(order, now, TAIL, found, waiting)
    flush(order, now, TAIL, found, waiting)


@inline
def _note(out, into, most, now):
    """What a chunk has found out about new vertices."""
    fetch_add(now, OUT, out)
    fetch_add(now, IN, into)
    if most >= _EXACT:
        now[LARGE] = 1
    if most == np.inf:
        now[INFINITE] = 1


@inline
def _mark(first, last, alone, ways, there, visited, order, now):
    """New vertices are visited."""
    out, into, most = 0, 0, 0.0
    for i in range(first, last):
        v = np.uint64(order[i])
        out += ways.indptr[v + _ONE] - ways.indptr[v]
        into += ways.in_indptr[v + _ONE] - ways.in_indptr[v]
        most = max(most, there[v])
        if alone:
            visited[v >> _SIX] |= _ONE << (v & _LAST_BIT)
        else:
            fetch_add(visited, v >> _SIX, _ONE << (v & _LAST_BIT))  # the bit is not set
    _note(out, into, most, now)


@inline
def _again(first, last, in_indptr, in_indices, here, there, order):
    """Counts of new vertices, added up in the order of their lists."""
    for i in range(first, last):
        v = np.uint64(order[i])
        count = 0.0
        for e in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + _ONE])):
            count += here[np.uint64(in_indices[e])]
        there[v] = count


@inline
def _pull(first, last, ways, here, there, visited, order, now, found):
    """Add up the counts in the frontier for what is not visited in some words; list the new ones."""
    n = np.uint64(len(here))
    out, into, most, waiting = 0, 0, 0.0, 0
    for word in range(np.uint64(first), np.uint64(last)):
        left, new = ~visited[word], np.uint64(0)
        v = word << _SIX
        while left and v < n:
            if left & _ONE:
                e, stop = np.uint64(ways.in_indptr[v]), np.uint64(ways.in_indptr[v + _ONE])
                degree = stop - e
                count = 0.0
                while e < stop:
                    count += here[np.uint64(ways.in_indices[e])]
                    e += _ONE
                if count > 0.0:
                    there[v] = count
                    most = max(most, count)
                    into += np.int64(degree)
                    out += ways.indptr[v + _ONE] - ways.indptr[v]
                    new |= _ONE << (v & _LAST_BIT)
                    found[waiting] = np.uint32(v)
                    waiting += 1
                    if waiting == BUFFER:
                        waiting = flush(order, now, TAIL, found, waiting)
            left >>= _ONE
            v += _ONE
        visited[word] |= new
    flush(order, now, TAIL, found, waiting)
    _note(out, into, most, now)


@inline
def _back(first, last, indptr, indices, here, share_here, share_below, order, score):
    """Dependencies on part of a level, from the shares of the level below."""
    for i in range(first, last):
        u = np.uint64(order[i])
        shares = 0.0
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + _ONE])):
            shares += share_below[np.uint64(indices[e])]
        count = here[u]
        dependency = count * shares
        here[u] = 0.0  # nobody asks again
        share_here[u] = (1.0 + dependency) / count
        score[u] += dependency


@inline
def step(kind, chunk, alone, ways, space, score):
    """A chunk of a step, which nobody else has another one of where ``alone`` is set."""
    now, order, visited, found = space.now, space.order, space.visited, space.found
    parity = now[PARITY]
    here, there = space.sigma[parity], space.sigma[1 - parity]
    first = now[FIRST] + chunk * now[SIZE]
    last = min(now[LAST], first + now[SIZE])
    if kind == PUSH:
        _push(first, last, alone, ways.indptr, ways.indices, here, there, visited, order, now, found)
    elif kind == MARK:
        _mark(first, last, alone, ways, there, visited, order, now)
    elif kind == AGAIN:
        _again(first, last, ways.in_indptr, ways.in_indices, here, there, order)
    elif kind == PULL:
        _pull(first, last, ways, here, there, visited, order, now, found)
    elif kind == BACK:
        share = space.share
        _back(first, last, ways.indptr, ways.indices, here, share[parity], share[1 - parity], order, score)
    else:
        for i in range(first, last):
            v = np.uint64(order[i])
            space.share[1 - parity, v] = 0.0
            if now[DEPTH] == 1:
                space.share[parity, v] = 0.0


@inline
def next_step(kind, space):
    """The step after one of this kind, its range and about how many edges it has; `OVER` at the end."""
    now, starts, outs = space.now, space.starts, space.outs
    first, tail = starts[now[DEPTH]], now[TAIL]
    if kind == PUSH:
        return MARK, starts[now[DEPTH] + 1], tail, _EACH * (tail - starts[now[DEPTH] + 1])
    if kind == MARK and now[LARGE]:
        now[EDGES] += now[IN]
        return AGAIN, starts[now[DEPTH] + 1], tail, now[IN]
    if kind < BACK:  # a level is complete
        now[DEPTH] += 1
        now[UNSEEN] -= now[IN]
        first = starts[now[DEPTH]]
        starts[now[DEPTH] + 1], outs[now[DEPTH]] = tail, now[OUT]
        now[OUT], now[IN], now[LARGE] = 0, 0, 0
        words = len(space.visited)
        if first < tail:
            if _PUSH_COST * outs[now[DEPTH]] > now[UNSEEN] + words:
                now[EDGES] += now[UNSEEN]
                return PULL, 0, words, now[UNSEEN] + words
            now[EDGES] += outs[now[DEPTH]]
            return PUSH, first, tail, outs[now[DEPTH]]
    if kind == BACK:  # the level below is asked no more, nor is the first one
        first, last = starts[now[DEPTH] + (now[DEPTH] > 1)], starts[now[DEPTH] + 2]
        if first < last:
            return CLEAR, first, last, _EACH * (last - first)
    now[DEPTH] -= 1
    if now[DEPTH] > 0:
        now[EDGES] += outs[now[DEPTH]]
        return BACK, starts[now[DEPTH]], starts[now[DEPTH] + 1], outs[now[DEPTH]]
    space.sigma[0, np.uint64(space.order[0])] = 0.0
    space.visited[:] = np.uint64(0)
    return OVER, 0, 0, 0


@inline
def begin(source, ways, space):
    """The source is the level above the first: nothing is visited but itself."""
    now = space.now
    space.order[0] = np.uint32(source)
    space.sigma[0, source] = 1.0
    space.visited[source >> _SIX] |= _ONE << (source & _LAST_BIT)
    now[TAIL], now[DEPTH], now[UNSEEN] = 1, -1, ways.in_indptr[len(ways.in_indptr) - 1]
    space.starts[0] = 0
    now[OUT] = ways.indptr[source + _ONE] - ways.indptr[source]
    now[IN] = ways.in_indptr[source + _ONE] - ways.in_indptr[source]
    now[LARGE] = 0
