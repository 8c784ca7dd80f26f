"""Betweenness: for every source the share of shortest paths that run through each vertex (Brandes).

forward    level by level the number of shortest paths from the source to each vertex (sigma). A level is
           found by *push* (the frontier adds its counts to what is not visited, atomically) or by *pull*
           (what is not visited sums up the counts of its in-neighbours), whichever has fewer edges.
backward   levels from the deepest: with c = (1 + dependency) / sigma of the level below,
           dependency(u) = sigma(u) * sum of c over the out-neighbours of u; it is added to u's score.

No sum looks at a level. An array is kept for even levels and one for odd ones. An in-neighbour of what is not
visited is in the frontier or not visited, an out-neighbour of u at most one level below: all that a sum
meets in the array of the other parity besides what it wants is 0, for it was not yet written. What a level
has written is cleared as soon as nobody asks any more, while it is in the caches.

Threads share a source (`gpop.direct.crew`), or each has sources of its own: every `LANES`-th, with scores of
their own, which are added up in the end. That is done from `LANES` sources on where a graph is small beside
the caches (`SMALL`), and from two on where that leaves no thread without one, or where levels are too thin to
be shared (`THIN`). The result is the same for any number of threads: from `LANES` sources on, graph and
sources alone decide; fewer have a lane each, and lanes are added up in the order of the sources. Numbers of
paths up to 2**53 are exact however they are added, and where they are larger the counts of a pushed level are
added up again, in the order of lists.

Parallel edges are paths of their own; loops are on no shortest path. Counts are float64: beyond 1e308 they
are infinite, and ``overflow`` is set.
Papers: U. Brandes, "A faster algorithm for betweenness centrality", 2001; S. Beamer, K. Asanovic,
D. Patterson, "Direction-optimizing breadth-first search", SC 2012, which does the same for parents.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from gpop.common.atomics import fetch_add
from gpop.common.inlined import inline
from gpop.common.memory import require_memory
from gpop.common.parallel import for_each, together
from gpop.common.progress import progress_bar
from gpop.direct.crew import KIND, announce, apart, chunk_done, dismiss, end, make_crew, next_chunk
from gpop.direct.frontier import BUFFER, buffers, flush, is_in
from gpop.direct.phases import kernel
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.layout.in_edges import in_edges

LANES = 32
"""Sources that are worked on at the same time where each has one thread."""

SMALL = 1 << 17
"""Vertices of a graph up to which that is done."""

THIN = 4
"""Edges for each vertex of a graph, at most, whose levels are taken to be thin: a road, a mesh."""

PUSH, MARK, AGAIN, PULL, BACK, CLEAR, OVER = range(7)
TAIL, FIRST, LAST, SIZE, PARITY, DEPTH, OUT, IN, UNSEEN, LARGE, INFINITE, EDGES = range(12)
"""Slots of ``now``: the end of ``order``; range and chunk of the step; parity of the frontier; out-edges and
in-edges of what is new; whether a count is beyond 2**53, and ever was infinite; edges looked at."""

KEPT = "Betweenness"
"""Under which the space of searches stays with the graph: new pages take the system as long as a search."""

_EDGES = 1 << 13  # of a chunk
_EACH = 8  # edges in the time that it takes to mark or to clear a vertex
_EXACT = 2.0**53
_PUSH_COST = 2  # edges that are pulled in the time of one that is pushed
_BATCH = 1 << 28  # edges between two looks at interrupts
_ONE, _SIX, _LAST_BIT = np.uint64(1), np.uint64(6), np.uint64(63)


class Scores(NamedTuple):
    """``score``: dependencies of all sources on each vertex; ``edges`` looked at; if counts overflowed."""

    score: np.ndarray
    edges: int
    seconds: float
    prepare_seconds: float
    overflow: bool


class _PathWays(NamedTuple):
    indptr: np.ndarray
    indices: np.ndarray
    in_indptr: np.ndarray
    in_indices: np.ndarray


class _PathSpace(NamedTuple):
    """What a search needs, kept with the graph. All but the last four are zero between searches.

    ``sigma``, ``share`` [2, n] by parity; ``visited``: a bit for each vertex; ``order``: vertices by level;
    ``starts``, ``outs``: where a level begins in it, and its out-edges; ``found`` [threads]: new vertices
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


def dependencies(graph: Graph, sources: np.ndarray, threads: int, progress: bool = False) -> Scores:
    """Sum over the sources of the dependencies on every vertex, a source's on itself left out.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2]).symmetrize()
    >>> dependencies(path, np.arange(3), threads=1).score.tolist()
    [0.0, 2.0, 0.0]
    """
    n, begin = graph.n, time.perf_counter()
    incoming = in_edges(graph, weighted=False)
    ways = _PathWays(graph.indptr, graph.indices, incoming.indptr, incoming.indices)
    over = make_crew()
    dismiss(over)
    _search(1, False, np.uint64(0), ways, _space(1, 2), np.zeros(1), over)  # compiled before the clock starts
    alone = takes_own(graph, len(sources), threads)
    lanes = min(LANES, len(sources)) if alone else 1
    workers, sharers = (min(threads, lanes), 1) if alone else (1, threads)
    kept = graph.store.take(Kind.PROGRAM, KEPT) or []
    spaces = [space for space in kept if len(space.found) == sharers][:workers]
    missing = workers - len(spaces)
    require_memory((52 * missing + 8 * lanes) * n, f"betweenness of {graph!r}")
    prepare_seconds = time.perf_counter() - begin
    start = time.perf_counter()
    scores = np.zeros((lanes, n))
    spaces += [_space(n, sharers) for _ in range(missing)]
    each = max(1, _BATCH // (lanes * max(graph.m, 1)))
    with progress_bar(len(sources), "betweenness", "source", progress) as bar:
        for first in range(0, len(sources), lanes * each):
            batch = sources[first : first + lanes * each]
            if alone:
                _apart(ways, batch, spaces, scores)
            else:
                for source in batch:
                    _shared(ways, source, spaces[0], scores[0], threads)
            bar.update(len(batch))
    score = np.add.reduce(scores) if lanes > 1 else scores[0]
    seconds = time.perf_counter() - start
    edges, overflow = (sum(int(space.now[slot]) for space in spaces) for slot in (EDGES, INFINITE))
    for space in spaces:
        space.now[:] = 0
    graph.store.put(Kind.PROGRAM, spaces, KEPT, about=KEPT)
    return Scores(score, edges, seconds, prepare_seconds, overflow > 0)


def takes_own(graph: Graph, sources: int, threads: int) -> bool:
    """Whether each source has a thread of its own.

    >>> takes_own(Graph.from_edges([0, 1], [1, 2]), sources=4, threads=2)
    True
    """
    if sources >= LANES:
        return graph.n <= SMALL
    thin, enough = graph.m <= THIN * graph.n, graph.n <= SMALL and sources >= threads
    return threads > 1 and sources > 1 and (thin or enough)


def _space(n: int, threads: int) -> _PathSpace:
    return _PathSpace(
        np.zeros((2, n)), np.zeros((2, n)), np.zeros((n + 63) // 64, np.uint64), apart(16),
        np.empty(n, np.uint32), np.empty(n + 2, np.int64), np.empty(n + 2, np.int64),
        buffers(threads),
    )  # fmt: skip


def _shared(ways: _PathWays, source: int, space: _PathSpace, score: np.ndarray, threads: int) -> None:
    """Search from one source with all threads."""
    crew = make_crew()
    together(
        lambda worker: _search(worker, False, np.uint64(source), ways, space, score, crew),
        threads if len(ways.indices) > _EDGES else 1,
        lambda: dismiss(crew),
    )


def _apart(ways: _PathWays, batch: np.ndarray, spaces: list[_PathSpace], scores: np.ndarray) -> None:
    """Search from every source with one thread; lane i has each `LANES`-th of them, and its own scores."""
    free = list(spaces)

    def search(lane: int) -> None:
        space, crew = free.pop(), make_crew()
        for source in batch[lane :: len(scores)]:
            _search(0, True, np.uint64(source), ways, space, scores[lane], crew)
        free.append(space)

    for_each(min(len(scores), len(batch)), search, len(spaces))


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
def _mark(first, last, ways, there, visited, order, now):
    """New vertices are visited."""
    out, into, most = 0, 0, 0.0
    for i in range(first, last):
        v = np.uint64(order[i])
        out += ways.indptr[v + _ONE] - ways.indptr[v]
        into += ways.in_indptr[v + _ONE] - ways.in_indptr[v]
        most = max(most, there[v])
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
def _step(worker, kind, chunk, alone, ways, space, score):
    """A chunk of a step."""
    now, order, visited, found = space.now, space.order, space.visited, space.found[worker]
    parity = now[PARITY]
    here, there = space.sigma[parity], space.sigma[1 - parity]
    first = now[FIRST] + chunk * now[SIZE]
    last = min(now[LAST], first + now[SIZE])
    if kind == PUSH:
        _push(first, last, alone, ways.indptr, ways.indices, here, there, visited, order, now, found)
    elif kind == MARK:
        _mark(first, last, ways, there, visited, order, now)
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
def _next(kind, ways, space):
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
def _begin(source, ways, space):
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


@kernel
def _search(worker, alone, source, ways, space, score, crew):
    """Forward and backward from a source: what the leader does, worker 0, and who follows."""
    now, kind = space.now, PULL
    if worker == 0:
        _begin(source, ways, space)
    while True:
        chunk = next_chunk(crew, worker)
        if chunk >= 0:
            _step(worker, crew[KIND], chunk, alone, ways, space, score)
            chunk_done(crew)
        elif worker > 0:
            return
        else:
            kind, first, last, edges = _next(kind, ways, space)
            if kind == OVER:
                end(crew)
                return
            chunks = max(1, min(last - first, edges // _EDGES))
            size = max(1, (last - first + chunks - 1) // chunks)
            now[FIRST], now[LAST], now[SIZE], now[PARITY] = first, last, size, now[DEPTH] & 1
            announce(crew, kind, (last - first + size - 1) // size, alone)
