"""Strongly connected components: every vertex gets the smallest vertex that it reaches and is reached from.

trim       what has no in- or no out-neighbour left is alone: one pass from the last vertex to the first. On
           a graph without cycles whose edges all lead to larger ids, or all to smaller, it leaves nothing.
pivot      the vertex with the largest product of in- and out-degree: most likely in the giant component.
forward    what the pivot reaches, of what was not trimmed.
backward   what reaches the pivot, looked for in what it reaches: its component.
           Both searches are left out by few threads where much was trimmed (`_TRIMMED`).
rest       everything else, one thread: a depth-first search (`gpop.direct.depth_first`).

Both searches push (the frontier marks its neighbours) or pull (what is not reached looks for a neighbour
that is, and stops at the first), as in a direction-optimising search. Levels do not matter, so a pull may
stop at a vertex of this very step as well. In graphs with a giant component the searches look at a small part
of the edges, and the rest is small; where there is none, they walk twice over what the pivot reaches.

Encoding: ``seen`` has a row of bits for each search, and one of what was not trimmed (`ALIVE`).
Papers: L. Fleischer, B. Hendrickson, A. Pinar, "On identifying strongly connected components in parallel",
2000; W. McLendon et al., "Finding strongly connected components in distributed graphs", 2005 (trimming);
S. Hong, N. Rodia, K. Olukotun, "On fast parallel detection of strongly connected components (SCC) in
small-world graphs", SC 2013.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from gpop.common.atomics import fetch_add
from gpop.common.inlined import inline
from gpop.common.memory import require_memory
from gpop.common.parallel import together
from gpop.direct.crew import KIND, announce, dismiss, end, make_crew, next_chunk
from gpop.direct.depth_first import find_rest, room_for
from gpop.direct.frontier import BUFFER, buffers, flush, is_in, put_in
from gpop.direct.phases import kernel
from gpop.graph.graph import Graph
from gpop.layout.in_edges import Incoming

PHASES = ("trim", "searches", "rest")

PUSH, PULL, OVER = range(3)
SEARCH, FRONTIER, TAIL, FIRST, LAST, SIZE, OUT, UNSEEN, EDGES = range(9)
"""Slots of ``now``: the search; where the frontier begins in ``order``, and its end; range and chunk of the
step; out-edges of what is new; edges of what is not reached; edges looked at."""

_EDGES = 1 << 13  # of a chunk
_PULLED = 2  # edges that are pulled in the time of one that is pushed; marks of the same step help, too
_FEW, _TRIMMED = 2, 4
"""So many threads do not search where more than one vertex of four was trimmed that has edges: there the
giant component is small. One thread, time of the depth-first search alone over that with searches: cit-HepPh
.35, cnr-2000 .67, p2p-Gnutella31 .68; but where fewer were trimmed ego-twitter 3.0, soc-Slashdot0902 1.8."""
_SERIAL = 1 << 22
"""Vertices and edges of graphs that one thread does. On 4 and 16 threads of an Intel machine papers took 2.3
and 2.6 times as long, mails 1.1 and 1.7, the web (3.5 million) 1.1 and 1.0."""
ALIVE = 2
"""Row of ``seen``: what was not trimmed."""
_ONE, _SIX, _LAST_BIT = np.uint64(1), np.uint64(6), np.uint64(63)


class Strong(NamedTuple):
    """``label`` of every vertex, uint32; how many components; edges and seconds of each of `PHASES`."""

    label: np.ndarray
    count: int
    edges: np.ndarray
    phase_seconds: np.ndarray
    seconds: float


class _ReachWays(NamedTuple):
    indptr: np.ndarray
    indices: np.ndarray
    in_indptr: np.ndarray
    in_indices: np.ndarray


class _ReachSpace(NamedTuple):
    """``seen``: three rows of bits; ``order``: what was found; ``found``: the threads' buffers."""

    seen: np.ndarray
    order: np.ndarray
    found: np.ndarray
    now: np.ndarray


def find_components(graph: Graph, incoming: Incoming, threads: int) -> Strong:
    """Components of a graph, with its in-edges.

    Examples
    --------
    >>> from gpop.layout.in_edges import in_edges
    >>> graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 1, 3])
    >>> found = find_components(graph, in_edges(graph, weighted=False), threads=1)
    >>> found.label.tolist(), found.count
    ([0, 1, 1, 3], 3)
    """
    n, over = graph.n, make_crew(1)
    dismiss(over)
    ways = _ReachWays(graph.indptr, graph.indices, incoming.indptr, incoming.indices)
    _trim(_ReachWays(ways.indptr[:1], ways.indices, ways.in_indptr[:1], ways.in_indices), _bits(0)[ALIVE])
    _search(1, True, np.uint64(0), ways, _space(1, 2), over)  # compiled before the clock starts
    find_rest(ways.indptr[:1], ways.indices, *_bits(0)[1:], *room_for(0))
    require_memory(30 * n, f"strong components of {graph!r}")
    start = time.perf_counter()
    threads = threads if n + graph.m >= _SERIAL else 1
    space, crew = _space(n, threads), make_crew(threads)
    gone, trim_edges = _trim(ways, space.seen[ALIVE])
    trimmed = time.perf_counter()
    pivot = np.uint64(_pivot(ways, space.seen[ALIVE]))
    if pivot < n and (threads > _FEW or gone * _TRIMMED <= n):
        together(
            lambda worker: _search(worker, threads == 1, pivot, ways, space, crew),
            threads,
            lambda: dismiss(crew),
        )
    middle = time.perf_counter()
    numbers = room_for(n)
    count, edges = find_rest(ways.indptr, ways.indices, *space.seen[1:], *numbers)
    seconds = np.diff([start, trimmed, middle, time.perf_counter()])
    edges = np.array([trim_edges, space.now[EDGES], edges])
    return Strong(numbers[0], int(count), edges, seconds, time.perf_counter() - start)


def _space(n: int, threads: int) -> _ReachSpace:
    return _ReachSpace(_bits(n), np.empty(n, np.uint32), buffers(threads), np.zeros(16, np.int64))


def _bits(n: int) -> np.ndarray:
    """``seen`` before anything is."""
    seen = np.zeros((3, (n + 63) // 64), np.uint64)
    seen[ALIVE] = ~np.uint64(0)
    return seen


@inline
def _probe(v, indptr, indices, alive):
    """How many neighbours were looked at until one is there, not the vertex itself; and whether one is."""
    begin = e = np.uint64(indptr[v])
    stop = np.uint64(indptr[v + _ONE])
    while e < stop and (indices[e] == v or not is_in(alive, np.uint64(indices[e]))):
        e += _ONE
    return np.int64(e - begin), e < stop


@kernel
def _trim(ways, alive):
    """Take away what has no in- or out-neighbour left, last vertex first: how many with edges, and edges."""
    v, gone, edges = np.uint64(len(ways.indptr) - 1), 0, 0
    while v > 0:
        v -= _ONE
        looked, stays = _probe(v, ways.indptr, ways.indices, alive)
        edges += looked
        if stays:
            looked, stays = _probe(v, ways.in_indptr, ways.in_indices, alive)
            edges += looked
        if not stays:
            alive[v >> _SIX] ^= _ONE << (v & _LAST_BIT)
            degree = ways.indptr[v + _ONE] - ways.indptr[v] + ways.in_indptr[v + _ONE] - ways.in_indptr[v]
            gone += degree > 0
    return gone, edges


@kernel
def _pivot(ways, alive):
    """The vertex with the largest product of degrees, of those that are left; n where none is."""
    indptr, in_indptr = ways.indptr, ways.in_indptr
    n = np.uint64(len(indptr) - 1)
    best, most = n, np.int64(-1)
    for v in range(n):
        product = (indptr[v + _ONE] - indptr[v]) * (in_indptr[v + _ONE] - in_indptr[v])
        if product > most and is_in(alive, v):
            best, most = v, product
    return best


@inline
def _push(first, last, indptr, indices, mine, within, order, now, buffer):
    """Mark the neighbours of part of the frontier that are in ``within``."""
    waiting, out = 0, 0
    for i in range(first, last):
        u = np.uint64(order[i])
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + _ONE])):
            v = np.uint64(indices[e])
            if not is_in(mine, v) and is_in(within, v) and put_in(mine, v):
                out += indptr[v + _ONE] - indptr[v]
                buffer[waiting] = np.uint32(v)
                waiting += 1
                if waiting == BUFFER:
                    waiting = flush(order, now, TAIL, buffer, waiting)
    flush(order, now, TAIL, buffer, waiting)
    fetch_add(now, OUT, out)


@inline
def _pull(first, last, indptr, in_indptr, in_indices, mine, within, order, now, buffer):
    """Mark what has a marked in-neighbour, in some words of what is in ``within``."""
    n = np.uint64(len(order))
    waiting, out, edges = 0, 0, 0
    for word in range(np.uint64(first), np.uint64(last)):
        left = ~mine[word] & within[word]
        v = word << _SIX
        while left and v < n:
            if left & _ONE:
                begin = e = np.uint64(in_indptr[v])
                stop = np.uint64(in_indptr[v + _ONE])
                while e < stop and not is_in(mine, np.uint64(in_indices[e])):
                    e += _ONE
                edges += np.int64(e - begin)
                if e < stop:
                    mine[word] |= _ONE << (v & _LAST_BIT)  # nobody else writes this word
                    out += indptr[v + _ONE] - indptr[v]
                    buffer[waiting] = np.uint32(v)
                    waiting += 1
                    if waiting == BUFFER:
                        waiting = flush(order, now, TAIL, buffer, waiting)
            left >>= _ONE
            v += _ONE
    flush(order, now, TAIL, buffer, waiting)
    fetch_add(now, OUT, out)
    fetch_add(now, EDGES, edges)


@inline
def _start(search, pivot, ways, space):
    """A search from the pivot: what is found next is the pivot."""
    now = space.now
    space.order[0] = np.uint32(pivot)
    put_in(space.seen[search], pivot)
    now[SEARCH], now[LAST], now[TAIL], now[UNSEEN] = search, 0, 1, len(ways.indices)
    indptr = ways.in_indptr if search else ways.indptr
    now[OUT] = indptr[pivot + _ONE] - indptr[pivot]


@inline
def _probes(vertices, edges, all_edges):
    """About how many edges a pull looks at: each vertex until one is from what is reached, or all it has."""
    return min(edges, vertices * all_edges // max(all_edges - edges, 1))


@inline
def _next(pivot, ways, space):
    """The next step, and its number of chunks."""
    now = space.now
    if now[FRONTIER] == now[TAIL]:
        if now[SEARCH]:
            return OVER, 0
        _start(1, pivot, ways, space)
        now[FRONTIER] = 0
    out = now[OUT]
    now[UNSEEN] -= out
    now[OUT] = 0
    probes = _probes(len(space.order) - now[TAIL], now[UNSEEN], len(ways.indices))
    kind = PULL if _PULLED * out > probes else PUSH
    if kind == PULL:
        now[FIRST], now[LAST] = 0, space.seen.shape[1]
        out = now[UNSEEN]
    else:
        now[FIRST], now[LAST] = now[FRONTIER], now[TAIL]
        now[EDGES] += out
    now[FRONTIER] = now[TAIL]
    chunks = max(1, min(now[LAST] - now[FIRST], out // _EDGES))
    now[SIZE] = (now[LAST] - now[FIRST] + chunks - 1) // chunks
    return kind, (now[LAST] - now[FIRST] + now[SIZE] - 1) // now[SIZE]


@kernel
def _search(worker, alone, pivot, ways, space, crew):
    """Forward and backward: what the leader does, worker 0, and who follows."""
    now = space.now
    if worker == 0:
        now[FRONTIER] = 0
        _start(0, pivot, ways, space)
    owed = 0
    while True:
        chunk, owed = next_chunk(crew, worker, owed)
        if chunk < 0:
            if worker > 0:
                return
            kind, chunks = _next(pivot, ways, space)
            if kind == OVER:
                end(crew)
                return
            announce(crew, kind, chunks, alone)
            continue
        indptr, indices = ways.indptr, ways.indices
        in_indptr, in_indices = ways.in_indptr, ways.in_indices
        mine, within = space.seen[now[SEARCH]], space.seen[ALIVE]
        if now[SEARCH] > 0:
            indptr, indices, in_indptr, in_indices = in_indptr, in_indices, indptr, indices
            within = space.seen[0]
        first = now[FIRST] + chunk * now[SIZE]
        last, buffer = min(now[LAST], first + now[SIZE]), space.found[worker]
        if crew[KIND] == PUSH:
            _push(first, last, indptr, indices, mine, within, space.order, now, buffer)
        else:
            _pull(first, last, indptr, in_indptr, in_indices, mine, within, space.order, now, buffer)
