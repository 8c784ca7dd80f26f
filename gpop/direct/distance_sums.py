"""Sums of distances: to every vertex from some sources, many searches at once.

Breadth-first searches from `WORD` sources share their steps: bit s of a vertex's word says whether search s
has *seen* it, is at it (*front*) or comes to it next. One pass over the edges of the vertices at which any
search is serves all of them: next[v] |= front[u]. A level is *pushed* along the out-edges of these vertices,
or *pulled* by those that some search has not seen, which stop when all have come. What a level adds to a
vertex is its number times the bits that are new.

A batch of sources is one thread's; threads take batches. Sums are whole numbers, so that it makes no
difference who adds what.
Paper: M. Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB 2014.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from gpop.common.atomics import popcount
from gpop.common.cached import entry_of
from gpop.common.kinds import kind_of
from gpop.common.memory import require_memory
from gpop.common.parallel import for_each, ranges
from gpop.common.progress import progress_bar
from gpop.direct.phases import kernel
from gpop.graph.graph import Graph
from gpop.layout.in_edges import in_edges

WORD = 64
"""Sources of a batch, at most."""

_SERIAL = 1 << 22
"""Vertices and edges, for each source, up to which one thread is faster: a batch of all sources looks at few
edges more than one of half of them. 16 sources on a random graph: .5 and .7 ms; on a mesh 47 and 30."""

_FEWEST, _THIN = 16, 8
"""Sources of a batch, at least, but for graphs with so few edges a vertex, whose searches seldom meet: of
the web, with 10, one of 8, 16, 32 and 64 takes 30, 33, 42 and 49 ms; of 8, 16 threads took 2.6 times it."""

_PULLED = 4  # the edges of a level are so large a part of all, from which pulling pays
_ONE = np.uint64(1)


class DistanceSums(NamedTuple):
    """Of every vertex, int64: the ``total`` of distances from the sources that reach it; how many those are.

    A source does not count for itself.
    """

    total: np.ndarray
    reached: np.ndarray
    edges: int
    seconds: float
    prepare_seconds: float


class _SumSpace(NamedTuple):
    """``seen``, ``front``, ``next``: words of vertices; ``at``, ``then``: where front and next are not 0."""

    seen: np.ndarray
    front: np.ndarray
    next: np.ndarray
    at: np.ndarray
    then: np.ndarray
    total: np.ndarray
    reached: np.ndarray


def distance_sums(graph: Graph, sources: np.ndarray, threads: int, progress: bool = False) -> DistanceSums:
    """Distances from the sources, along out-edges.

    Examples
    --------
    >>> sums = distance_sums(Graph.from_edges([0, 1], [1, 2]), np.array([0, 1], np.uint32), threads=1)
    >>> sums.total.tolist(), sums.reached.tolist()
    ([0, 1, 3], [0, 1, 2])
    """
    begin, n = time.perf_counter(), graph.n
    incoming = in_edges(graph, weighted=False)
    ways = graph.indptr, graph.indices, incoming.indptr, incoming.indices
    # Compiled before the clock starts, and called without a look at what it is given.
    search_from = entry_of(_search, *map(kind_of, (sources, *ways, *_space(0))))
    threads = threads if len(sources) * (n + graph.m) > _SERIAL else 1
    fewest = 1 if graph.m <= _THIN * n else _FEWEST
    size = max(fewest, min(WORD, -(-len(sources) // threads)))
    batches = ranges(len(sources), size)
    workers = min(threads, len(batches))
    require_memory(48 * workers * n, f"distances in {graph!r}")
    start = time.perf_counter()
    spaces = [_space(n) for _ in range(workers)]
    free, edges = list(spaces), [0] * len(batches)

    def search(batch: int) -> None:
        space = free.pop()
        first, last = batches[batch]
        edges[batch] = search_from(sources[first:last], *ways, *space)
        free.append(space)

    with progress_bar(len(sources), "distances", "source", progress) as bar:
        for first, last in ranges(len(batches), 4 * max(workers, 1)):
            for_each(last - first, lambda batch: search(first + batch), workers)  # noqa: B023
            bar.update(sum(batches[batch][1] - batches[batch][0] for batch in range(first, last)))
    total, reached = np.zeros((2, n), np.int64)
    for space in spaces:
        total += space.total
        reached += space.reached
    return DistanceSums(total, reached, sum(edges), time.perf_counter() - start, start - begin)


def _space(n: int) -> _SumSpace:
    seen, front, following = np.zeros((3, n), np.uint64)
    at, then = np.empty((2, n), np.uint32)
    return _SumSpace(seen, front, following, at, then, *np.zeros((2, n), np.int64))


@kernel
def _search(
    sources, indptr, indices, in_indptr, in_indices, seen, front, following, at, then, total, reached
):  # fmt: skip
    """Search from all sources; adds to ``total`` and ``reached``. How many edges were looked at."""
    n, m = np.uint64(len(seen)), len(indices)
    seen[:] = np.uint64(0)
    every, count = np.uint64(0), 0
    for s in range(len(sources)):
        v, bit = np.uint64(sources[s]), _ONE << np.uint64(s)
        every |= bit
        seen[v] |= bit
        if front[v] == 0:
            at[count] = np.uint32(v)
            count += 1
        front[v] |= bit
    edges, depth = 0, 0
    while count > 0:
        depth += 1
        out = np.int64(0)
        for i in range(count):
            v = np.uint64(at[i])
            out += indptr[v + _ONE] - indptr[v]
        found = 0
        if out * _PULLED > m:
            for v in range(n):
                need = every & ~seen[v]
                if need:
                    new = np.uint64(0)
                    e, stop = np.uint64(in_indptr[v]), np.uint64(in_indptr[v + _ONE])
                    begin = e
                    while e < stop and new & need != need:
                        new |= front[np.uint64(in_indices[e])]
                        e += _ONE
                    edges += np.int64(e - begin)
                    new &= need
                    if new:
                        following[v] = new
                        then[found] = np.uint32(v)
                        found += 1
        else:
            edges += out
            for i in range(count):
                u = np.uint64(at[i])
                word = front[u]
                for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + _ONE])):
                    v = np.uint64(indices[e])
                    new = word & ~seen[v]
                    if new:
                        if following[v] == 0:
                            then[found] = np.uint32(v)
                            found += 1
                        following[v] |= new
        for i in range(count):
            front[np.uint64(at[i])] = np.uint64(0)
        for i in range(found):
            v = np.uint64(then[i])
            new = following[v]
            seen[v] |= new
            bits = np.int64(popcount(new))
            reached[v] += bits
            total[v] += bits * depth
        front, following, at, then, count = following, front, then, at, found
    return edges
