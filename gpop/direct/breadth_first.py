"""Breadth-first search by one thread, for small graphs: a list of the frontier, or its bits, level by level.

push    the frontier is a list. Its edges are walked first without a branch, which leaves those whose end has
        no level yet (*finds*); then each of these is looked at again: an end takes the least of them.
pull    the frontier is a set of bits. Every vertex that has no level and has in-edges walks them until it
        meets the frontier. Those that do not meet it are what the next level begins with.

A level is pulled where that is likely to look at fewer edges. The frontier has a share ``edges / left`` of
the edges that are still to be sent, so a vertex without a level meets it after ``left / edges`` of its
in-edges, and all ``rest`` of them after ``rest * left / edges``: fewer than ``edges`` where
``edges**2 > rest * left``.

What such a search takes are branches that nobody can foresee: one for each vertex where its edges end.
Bytes per edge: 4, and an access to a level (push) or a bit (pull), which small graphs have in the cache.
Encoding: a find is the vertex that is found, and above it the one that found it; a level is -1 and a parent
`NOBODY`, which is -1 as int32, where there is none.
Paper: S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.
"""

from __future__ import annotations

import time
from functools import cache
from typing import NamedTuple

import numpy as np

from gpop.common.atomics import clock_ns, popcount, prefetch
from gpop.common.inlined import inline
from gpop.common.memory import require_memory
from gpop.direct.frontier import is_in
from gpop.direct.phases import kernel
from gpop.graph.graph import Graph
from gpop.layout.in_edges import Incoming, in_edges

PHASES = ("push", "pull")
FINDS = 1 << 10
NOBODY = 0xFFFFFFFF
VERTEX_BYTES = 13
"""Of the arrays of a search: a parent, a level, a place on the list, two bits."""

_PUSH, _PULL = range(2)
_ONE, _TWO, _FOUR, _SIX, _EIGHT, _HALF = (np.uint64(number) for number in (1, 2, 4, 6, 8, 32))
_LAST_BIT, _ID, _HALF_FULL = np.uint64(63), np.uint64(0xFFFFFFFF), np.uint64(FINDS // 2)


class SearchTree(NamedTuple):
    """``parent`` and ``level`` of every vertex, -1 where none; edges and seconds of each phase."""

    parent: np.ndarray
    level: np.ndarray
    edges: np.ndarray
    phase_seconds: np.ndarray
    seconds: float
    prepare_seconds: float


class SearchSpace(NamedTuple):
    parent: np.ndarray
    level: np.ndarray
    order: np.ndarray
    finds: np.ndarray
    edges: np.ndarray
    nanoseconds: np.ndarray


def search(graph: Graph, source: int) -> SearchTree:
    """Parents and levels of what a vertex reaches; which of several parents depends on nothing but these.

    Examples
    --------
    >>> search(Graph.from_edges([0, 0, 1], [1, 2, 3], n=5), 0)[:2]
    (array([ 0,  0,  0,  1, -1], dtype=int32), array([ 0,  1,  1,  2, -1], dtype=int32))
    """
    begin = time.perf_counter()
    incoming = in_edges(graph, weighted=False)
    _compile(graph.indices.dtype, incoming.weights.dtype)
    require_memory(VERTEX_BYTES * graph.n, f"breadth-first search of {graph!r}")
    start = time.perf_counter()
    space = _space(graph.n)
    _search(np.uint64(source), graph.indptr, graph.indices, incoming, space, _bits(graph.n), _bits(graph.n))
    times = space.nanoseconds / 1e9
    return SearchTree(
        space.parent.view(np.int32),
        space.level,
        space.edges,
        times,
        time.perf_counter() - start,
        start - begin,
    )


@cache
def _compile(ids: np.dtype, weights: np.dtype) -> None:
    """Search in nothing, before the clock starts."""
    no_edges = np.zeros(2, np.int64)
    nobody = Incoming(no_edges, np.empty(0, ids), np.empty(0, weights))
    _search(np.uint64(0), no_edges, nobody.indices, nobody, _space(1), _bits(1), _bits(1))


def _bits(n: int) -> np.ndarray:
    return np.empty((n + 63) // 64, np.uint64)


def _space(n: int) -> SearchSpace:
    return SearchSpace(
        np.full(n, NOBODY, np.uint32), np.full(n, -1, np.int32), np.empty(n + 1, np.uint32),
        np.empty(FINDS, np.uint64), np.zeros(2, np.int64), np.zeros(2, np.int64),
    )  # fmt: skip


@inline
def _push(begin, end, depth, indptr, indices, space):
    """Those without a level that ``order[begin:end]`` leads to are put behind them; the list's end."""
    level, parent, order, finds = space.level, space.parent, space.order, space.finds
    tail, i = end, begin
    e = stop = finder = np.uint64(0)
    while True:
        found = np.uint64(0)
        while found <= _HALF_FULL:
            if e == stop:
                if i == end:
                    break
                if i + _FOUR < end:
                    prefetch(indptr, np.uint64(order[i + _FOUR]))
                    prefetch(indices, np.uint64(indptr[np.uint64(order[i + _TWO])]))
                v = np.uint64(order[i])
                i += _ONE
                finder = v << _HALF
                e, stop = np.uint64(indptr[v]), np.uint64(indptr[v + _ONE])
            last = min(stop, e + (np.uint64(FINDS) - found))
            while e < last:
                u = np.uint64(indices[e])
                e += _ONE
                finds[found] = finder | u
                found += np.uint64(level[u] < 0)
        if found == 0:
            return tail
        for j in range(found):
            if j + _EIGHT < found:
                prefetch(parent, finds[j + _EIGHT] & _ID)
            u, v = finds[j] & _ID, finds[j] >> _HALF
            fresh = level[u] < 0
            level[u] = depth
            parent[u] = min(parent[u], np.uint32(v))
            order[tail] = u
            tail += np.uint64(fresh)


@inline
def _remaining(incoming, space):
    """Begin the list with the vertices that have no level and have in-edges; its end."""
    order, starts, end = space.order, incoming.indptr, np.uint64(0)
    for v in range(np.uint64(len(space.level))):
        order[end] = v
        end += np.uint64((space.level[v] < 0) & (starts[v] < starts[v + _ONE]))
    return end


@inline
def _pull(end, depth, front, found, incoming, space):
    """Vertices of the list look for one of ``front``; those that meet it are ``found`` and leave the list.

    Returns the list's end and the edges that end at those found, which are as many as start there where a
    graph is symmetric and about as many where it is not: only the next choice goes by them.
    """
    order, starts, kept, looked, edges = space.order, incoming.indptr, np.uint64(0), np.uint64(0), np.int64(0)
    found[:] = 0
    for i in range(end):
        v = np.uint64(order[i])
        if i + _EIGHT < end:
            prefetch(incoming.indices, np.uint64(starts[np.uint64(order[i + _EIGHT])]))
        first, stop = np.uint64(starts[v]), np.uint64(starts[v + _ONE])
        order[kept] = v
        kept += _ONE
        e = first
        while e < stop:
            u = np.uint64(incoming.indices[e])
            e += _ONE
            if is_in(front, u):
                space.parent[v], space.level[v] = u, depth
                found[v >> _SIX] |= _ONE << (v & _LAST_BIT)
                edges += np.int64(stop - first)
                kept -= _ONE
                break
        looked += e - first
    space.edges[_PULL] += np.int64(looked)
    return kept, edges


@inline
def _to_bits(begin, end, front, space):
    front[:] = 0
    for i in range(begin, end):
        v = np.uint64(space.order[i])
        front[v >> _SIX] |= _ONE << (v & _LAST_BIT)


@inline
def _to_list(front, space):
    """Begin the list with those whose bits are set; its end."""
    end = np.uint64(0)
    for word in range(np.uint64(len(front))):
        bits = front[word]
        while bits != np.uint64(0):
            others = bits & (bits - _ONE)
            space.order[end] = (word << _SIX) + popcount((bits ^ others) - _ONE)
            end += _ONE
            bits = others
    return end


@inline
def _edges_of(begin, end, indptr, space):
    """Edges that start at ``order[begin:end]``."""
    edges = np.int64(0)
    for i in range(begin, end):
        v = np.uint64(space.order[i])
        edges += indptr[v + _ONE] - indptr[v]
    return edges


@kernel
def _search(source, indptr, indices, incoming, space, front, found):
    """All levels from ``source``. ``front`` and ``found``: bits, of a level and of the next one.

    ``order[begin:end]`` is the frontier after a push, and what is left of the rest after a pull.
    """
    space.parent[source], space.level[source], space.order[0] = source, 0, source
    begin, end, depth, before = np.uint64(0), _ONE, np.int32(0), _PUSH
    size, edges = np.int64(1), indptr[source + _ONE] - indptr[source]
    rest, left, started = len(space.level) - 1, len(indices), clock_ns()
    while size > 0:
        depth += np.int32(1)
        kind = _PULL if edges * edges > rest * left else _PUSH
        left -= edges
        if kind == _PULL:
            if before == _PUSH:
                _to_bits(begin, end, front, space)
                end = _remaining(incoming, space)
            size, begin = np.int64(end), np.uint64(0)
            end, edges = _pull(end, depth, front, found, incoming, space)
            size -= np.int64(end)
            front, found = found, front
        else:
            if before == _PULL:
                end = _to_list(front, space)
            space.edges[_PUSH] += edges
            begin, end = end, _push(begin, end, depth, indptr, indices, space)
            size, edges = np.int64(end - begin), _edges_of(begin, end, indptr, space)
        rest -= size
        before, now = kind, clock_ns()
        space.nanoseconds[kind] += now - started
        started = now
