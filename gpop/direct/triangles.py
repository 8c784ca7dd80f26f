"""Triangles of a simple undirected graph: each once, as a > b > c after ordering the vertices.

order    by descending degree when degrees are skewed (the test of the GAP benchmark), else as they are.
orient   the list of a vertex keeps its smaller neighbours only: the smaller id is the larger degree, so
         that no list is longer than about sqrt(2 m).
rows     the lists of the first `HUBS` vertices also as rows of bits.
count    a vertex a marks its list in a thread's bitmap. For each b of the list, the common neighbours are
         counted by and and popcount with the row of b, if it has one; by looking the list of a up in that
         row, if this is shorter; else by looking the list of b up in the bitmap.

Where all lists are short (the squares of their lengths add up to few times the edges: roads, grids) there
is only one phase, *merge*: the lists of a and b are merged as they are.

Lists are uint32 and need not be sorted; they are cut from one array at ``start``, ``size`` long. Threads
share the vertices of each phase (`gpop.direct.phases`). Row b has b // 64 + 1 words and begins where those
of the smaller ones end.
Papers: T. Schank, D. Wagner, "Finding, counting and listing all triangles in large graphs", WEA 2005;
S. Beamer, K. Asanovic, D. Patterson, "The GAP benchmark suite", 2015 (when to reorder).
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from gpop.common.atomics import clock_ns, fetch_add, popcount, prefetch
from gpop.common.inlined import inline
from gpop.common.memory import require_memory
from gpop.common.parallel import together
from gpop.direct.oriented import HUBS, hub_count, order_by_degree, row_of, worth_ordering
from gpop.direct.phases import claim, finish, kernel, make_phases, wait_for
from gpop.graph.degrees import squared_degrees
from gpop.graph.graph import Graph

PHASES = ("order", "orient", "rows", "count", "merge")
ORDER, ORIENT, ROWS, COUNT, MERGE = range(len(PHASES))

_SHORT = 16  # sum of squared degrees for each edge, up to which lists are merged
_CHUNK = 256  # vertices
_MERGED = 4096  # vertices of a chunk that is merged
_SERIAL = 1 << 16  # vertices and edges that one thread does before another has started


class Triangles(NamedTuple):
    """How many, whether vertices were ordered by degree, and the edges and seconds of each of `PHASES`."""

    count: int
    by_degree: bool
    edges: np.ndarray
    phase_seconds: np.ndarray
    seconds: float


def count_triangles(graph: Graph, threads: int, share: int = 0, shares: int = 1) -> Triangles:
    """Count the triangles of a symmetric graph with ascending lists; loops and duplicates are left out.

    With ``shares`` only one share of them, so that several processes count all together.

    Examples
    --------
    >>> square = Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], n=4).symmetrize()
    >>> count_triangles(square, threads=1).count
    2
    """
    n, m = graph.n, graph.m
    if n and not _count.signatures:  # compiled before the clock starts
        empty = Graph(np.zeros(1, np.int64), np.empty(0, np.uint32))
        count_triangles(empty, 1)
        _merged(empty, 1, 0, 0, 1)
    short = squared_degrees(graph) <= _SHORT * m
    start = time.perf_counter()
    if n and short:
        return _merged(graph, threads, start, share, shares)
    require_memory(4 * m + 24 * n + threads * n // 8, f"triangles of {graph!r}")
    degree = graph.out_degree
    by_degree = worth_ordering(degree)
    order, rank = np.empty((2, n if by_degree else 0), np.uint32)
    begin = np.empty(n + 1, np.int64)
    most = int(degree.max()) if n else 0
    order_by_degree(degree, by_degree, np.zeros(most + 2, np.int64), order, rank, begin)
    lists, size = np.empty(begin[n], np.uint32), np.empty(n, np.uint32)
    hubs = hub_count(n, m, HUBS)
    rows = np.zeros(row_of(np.uint64(hubs)), np.uint64)
    marks = np.zeros((threads, n // 64 + 1), np.uint64)
    edges, stamps = np.zeros(len(PHASES), np.int64), np.zeros(COUNT + 1, np.int64)
    phases, total = make_phases(COUNT + 1), np.zeros(1, np.int64)
    ordered = time.perf_counter()
    together(
        lambda worker: _count(
            worker == 0, by_degree, np.uint64(hubs), graph.indptr, graph.indices, order, rank, begin, lists,
            size, rows, marks[worker], marks[worker].view(np.uint32), phases, edges, stamps, total,
            share, shares,
        ),
        threads if n + m >= _SERIAL else 1,
    )  # fmt: skip
    seconds = np.concatenate(([ordered - start], np.diff(stamps) / 1e9, [0]))
    return Triangles(int(total[0]), by_degree, edges, seconds, time.perf_counter() - start)


def _merged(graph: Graph, threads: int, start: float, share: int, shares: int) -> Triangles:
    """Triangles of a graph with short lists."""
    phases, total = make_phases(1), np.zeros(1, np.int64)
    together(
        lambda worker: _merge(graph.indptr, graph.indices, phases, total, share, shares),
        threads if graph.n + graph.m >= _SERIAL else 1,
    )
    edges, phase_seconds = np.zeros(len(PHASES), np.int64), np.zeros(len(PHASES))
    seconds = time.perf_counter() - start
    edges[MERGE], phase_seconds[MERGE] = graph.m, seconds
    return Triangles(int(total[0]), False, edges, phase_seconds, seconds)


@kernel
def _merge(indptr, indices, phases, total, share, shares):
    """One thread's part of merging the lists of a > b, for c below b; equal entries count once."""
    n = np.uint64(len(indptr) - 1)
    chunk, one = np.uint64(_MERGED), np.uint64(1)
    chunks = np.int64((n + chunk - one) // chunk)
    p = claim(phases, 0)
    while p < chunks:
        found = 0
        last = min(n, (np.uint64(p) + one) * chunk) if p % shares == share else np.uint64(0)
        for a in range(np.uint64(p) * chunk, last):
            first, e = np.uint64(indptr[a]), np.uint64(indptr[a]) + one  # none is below the first b
            end = np.uint64(indptr[a + one])
            while e < end and indices[e] < a:
                b = np.uint64(indices[e])
                if b != indices[e - one]:
                    j, stop = np.uint64(indptr[b]), np.uint64(indptr[b + one])
                    for i in range(first, e):  # branches are cheaper here than steps by comparison
                        c = indices[i]
                        while j < stop and indices[j] < c:
                            j += one
                        if j == stop:
                            break
                        found += indices[j] == c and (i == first or indices[i - one] != c)
                e += one
        fetch_add(total, 0, found)
        finish(phases, 0)
        p = claim(phases, 0)
    wait_for(phases, 0, chunks)


@inline
def _orient(v, by_degree, indptr, indices, order, rank, begin, lists):
    """Write the smaller neighbours of a vertex; how many there are."""
    old = np.uint64(order[v]) if by_degree else v
    e = np.uint64(indptr[old])
    end = np.uint64(indptr[old + np.uint64(1)])
    first = np.uint64(begin[v])
    at = first
    before = old  # a loop is no neighbour
    while e < end:
        w = np.uint64(indices[e])
        e += np.uint64(1)
        u = np.uint64(rank[w]) if by_degree else w
        if u < v and w != before:
            lists[at] = np.uint32(u)
            at += np.uint64(1)
            before = w
    return at - first


@inline
def _common(v, e, end, hubs, begin, size, lists, rows, words, bits):
    """Triangles of ``v`` and two of its list, which is ``lists[e:end]`` and marked in ``words``."""
    total = np.uint64(0)
    length = end - e
    for i in range(e, end):
        ahead = np.uint64(lists[min(i + np.uint64(4), end - np.uint64(1))])
        prefetch(lists, begin[ahead])
        u = np.uint64(lists[i])
        if u < hubs:
            row = row_of(u)
            whole = (u >> np.uint64(6)) + np.uint64(1)
            if length * np.uint64(4) < whole:
                for j in range(e, end):
                    w = np.uint64(lists[j])
                    if w < u:
                        total += rows[row + (w >> np.uint64(6))] >> (w & np.uint64(63)) & np.uint64(1)
            else:
                for j in range(whole):
                    total += popcount(rows[row + j] & words[j])
        else:
            at = np.uint64(begin[u])
            found = np.uint32(0)
            for j in range(at, at + np.uint64(size[u])):
                w = lists[j]
                found += bits[np.uint64(w >> np.uint32(5))] >> (w & np.uint32(31)) & np.uint32(1)
            total += np.uint64(found)
    return total


@kernel
def _count(
    main, by_degree, hubs, indptr, indices, order, rank, begin, lists, size, rows, words, bits, phases,
    edges, stamps, total, share, shares,
):  # fmt: skip
    """One thread's part of all phases after the order; the main thread also keeps the time."""
    n = np.uint64(len(size))
    chunk = np.uint64(_CHUNK)
    chunks = np.int64((n + chunk - np.uint64(1)) // chunk)
    if main:
        stamps[ORIENT - 1] = clock_ns()
    p = claim(phases, ORIENT)
    while p < chunks:
        kept = np.uint64(0)
        for v in range(np.uint64(p) * chunk, min(n, (np.uint64(p) + np.uint64(1)) * chunk)):
            size[v] = _orient(v, by_degree, indptr, indices, order, rank, begin, lists)
            kept += np.uint64(size[v])
        fetch_add(edges, ORIENT, kept)
        finish(phases, ORIENT)
        p = claim(phases, ORIENT)
    wait_for(phases, ORIENT, chunks)

    if main:
        stamps[ROWS - 1] = clock_ns()
    hub_chunks = np.int64((hubs + chunk - np.uint64(1)) // chunk)
    p = claim(phases, ROWS)
    while p < hub_chunks:
        for v in range(np.uint64(p) * chunk, min(hubs, (np.uint64(p) + np.uint64(1)) * chunk)):
            row = row_of(v)
            for e in range(np.uint64(begin[v]), np.uint64(begin[v]) + np.uint64(size[v])):
                w = np.uint64(lists[e])
                rows[row + (w >> np.uint64(6))] |= np.uint64(1) << (w & np.uint64(63))
        finish(phases, ROWS)
        p = claim(phases, ROWS)
    wait_for(phases, ROWS, hub_chunks)

    if main:
        stamps[COUNT - 1] = clock_ns()
    p = claim(phases, COUNT)
    while p < chunks:
        found = np.uint64(0)
        last = min(n, (np.uint64(p) + np.uint64(1)) * chunk) if p % shares == share else np.uint64(0)
        for v in range(np.uint64(p) * chunk, last):
            e = np.uint64(begin[v])
            end = e + np.uint64(size[v])
            if end - e < np.uint64(2):
                continue
            for i in range(e, end):
                w = np.uint64(lists[i])
                words[w >> np.uint64(6)] |= np.uint64(1) << (w & np.uint64(63))
            found += _common(v, e, end, hubs, begin, size, lists, rows, words, bits)
            for i in range(e, end):
                words[np.uint64(lists[i]) >> np.uint64(6)] = np.uint64(0)
        fetch_add(total, 0, found)
        finish(phases, COUNT)
        p = claim(phases, COUNT)
    wait_for(phases, COUNT, chunks)
    if main:
        stamps[COUNT] = clock_ns()
