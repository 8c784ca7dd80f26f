"""Links: how many edges there are between the neighbours of each vertex, which is what clustering counts.

The neighbourhood of a vertex is the union of its out- and in-neighbours. Each triangle a > b > c of that
undirected graph gives each of its vertices the edges between the other two: 1, or 2 where they go both ways.

degree   the union of the two lists of a vertex is counted; loops and duplicates are left out. In a symmetric
         graph a list without them needs a look only.
order    as in `gpop.direct.oriented`.
orient   the smaller ones of the union are written, with a byte beside each: whether the edge goes both ways.
         The first vertices, the hubs, also get rows of bits: all hubs that they are joined to, and once more
         those joined both ways.
count    a vertex a marks its list in two bitmaps of a thread, all neighbours and two-way ones. A hub b of the
         list gets the population count of its row and the marks: larger and smaller ones alike, so that
         nobody is told what somebody else has found. For another b, its own list is looked up in the marks,
         and what is found gives a, b and c the edges between the other two.

What a hub gets is added up by each thread for itself; for other vertices it is added atomically. In a
symmetric graph all edges go both ways: triangles are counted, and doubled.
Paper: T. Schank, D. Wagner, "Finding, counting and listing all triangles in large graphs", WEA 2005.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from gpop.common.atomics import clock_ns, fetch_add, popcount, prefetch
from gpop.common.inlined import inline
from gpop.common.memory import require_memory
from gpop.common.parallel import as_many_as_pay, together
from gpop.direct.neighbourhoods import is_plain, lower, row_of_hub, union
from gpop.direct.oriented import hub_count, order_by_degree, worth_ordering
from gpop.direct.phases import claim, finish, kernel, make_phases, wait_for
from gpop.graph.graph import Graph

PHASES = ("degree", "order", "orient", "count")
DEGREE, ORDER, ORIENT, COUNT = range(len(PHASES))

HUBS = 1 << 12
"""Vertices with rows of bits: 2 MiB for all of them, which stay in the cache; more took longer."""

_CHUNK = 256  # vertices
_LOOKS = 8
"""For each edge as many edges are looked at as a vertex has in the mean, so many in the time of an edge of
other apps (`as_many_as_pay`): it takes 12 ns on a road, 22, 72 and 124 among mails, votes and papers."""

_SERIAL = 1 << 16  # vertices and edges that one thread does before another has started


class Links(NamedTuple):
    """``links`` (edges between neighbours) and ``neighbours`` of every vertex, and how it was found."""

    links: np.ndarray
    neighbours: np.ndarray
    by_degree: bool
    edges: np.ndarray
    phase_seconds: np.ndarray
    seconds: float


def count_links(outward: Graph, inward: Graph, threads: int) -> Links:
    """Count for every vertex of a graph and its reverse, both with ascending lists.

    The same graph twice promises that it is symmetric.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 1])
    >>> found = count_links(star, star.reverse(), threads=1)
    >>> found.links.tolist(), found.neighbours.tolist()
    ([2, 1, 1], [2, 2, 2])
    """
    n, directed = outward.n, inward is not outward
    if n and not _count.signatures:  # compiled before the clock starts
        empty = Graph(np.zeros(1, np.int64), np.empty(0, np.uint32))
        count_links(empty, empty, 1)
    room = outward.m + inward.m if directed else outward.m
    work = n + outward.m * room // (_LOOKS * max(n, 1))
    threads = as_many_as_pay(work, threads) if n + outward.m >= _SERIAL else 1
    start = time.perf_counter()
    require_memory(5 * room + 44 * n + threads * n // 4, f"clustering of {outward!r}")
    lists_of = (outward.indptr, outward.indices, inward.indptr, inward.indices)
    degree, phases = np.empty(n, np.uint32), make_phases(COUNT + 1)
    edges, stamps = np.zeros(len(PHASES), np.int64), np.zeros(len(PHASES) + 1, np.int64)
    nothing = np.empty(0, np.uint32), np.empty(0, np.uint8), np.empty(0, np.uint64)
    together(lambda worker: _degrees(directed, *lists_of, degree, *nothing, phases, edges), threads)
    united = time.perf_counter()
    by_degree = worth_ordering(degree)
    order, rank = np.empty((2, n if by_degree else 0), np.uint32)
    begin = np.empty(n + 1, np.int64)
    place = np.zeros(int(degree.max(initial=0)) + 2, np.int64)
    order_by_degree(degree, by_degree, place, order, rank, begin)
    lists, both, size = np.empty(begin[n], np.uint32), np.empty(begin[n], np.uint8), np.empty(n, np.uint32)
    hubs = hub_count(n, room, HUBS)
    rows = np.zeros((1 + directed, hubs * -(-hubs // 64)), np.uint64)
    marks = np.zeros((threads, 1 + directed, n // 64 + 1), np.uint64)
    of_hubs, total = np.zeros((threads, hubs), np.int64), np.zeros(n, np.int64)
    ordered = time.perf_counter()
    together(
        lambda worker: _count(
            worker == 0, directed, by_degree, np.uint64(hubs), *lists_of, degree, rank, begin, lists, both,
            size, rows[0], rows[-1], marks[worker, 0], marks[worker, -1], of_hubs[worker], total, phases,
            edges, stamps,
        ),
        threads,
    )  # fmt: skip
    total[:hubs] += of_hubs.sum(axis=0)
    links = total[rank] if by_degree else total
    if not directed:
        links *= 2
    seconds = np.diff(stamps) / 1e9
    seconds[DEGREE], seconds[ORDER] = united - start, ordered - united
    return Links(links, degree, by_degree, edges, seconds, time.perf_counter() - start)


@kernel
def _degrees(
    directed, indptr, indices, in_indptr, in_indices, degree, no_ids, no_bytes, no_words, phases, edges
):
    """One thread's share of counting neighbours."""
    n, chunk, one = np.uint64(len(degree)), np.uint64(_CHUNK), np.uint64(1)
    chunks = np.int64((n + chunk - one) // chunk)
    p = claim(phases, DEGREE)
    while p < chunks:
        looked_at = 0
        for v in range(np.uint64(p) * chunk, min(n, (np.uint64(p) + one) * chunk)):
            if not directed and is_plain(v, indptr, indices):
                degree[v] = indptr[v + one] - indptr[v]
            else:
                degree[v] = union(
                    v, v, False, directed, False, no_ids, indptr, indices, in_indptr, in_indices, no_ids,
                    no_bytes, np.uint64(0), np.uint64(0), no_words, no_words,
                )  # fmt: skip
            looked_at += degree[v]
        fetch_add(edges, DEGREE, looked_at)
        finish(phases, DEGREE)
        p = claim(phases, DEGREE)
    wait_for(phases, DEGREE, chunks)


@inline
def _bit(words, first, w):
    """1 if the bit of w is set in the words from ``first`` on, else 0."""
    return words[first + (w >> np.uint64(6))] >> (w & np.uint64(63)) & np.uint64(1)


@inline
def _with_hubs(
    e, end, members, whole, directed, hubs, lists, both, rows, two_way_rows, words, two_way, of_hubs
):
    """Links of v and two hubs of its list, which is marked up to word ``whole``; what v gets.

    Each of the two is looked at in turn and finds the other, so that nothing need be told to the other.
    """
    twice = np.uint64(0)
    for i in range(e, end):
        u = np.uint64(lists[i])
        if u >= hubs:
            continue
        row = row_of_hub(u, hubs)
        common, more_of_u, more_of_v = np.uint64(0), np.uint64(0), np.uint64(0)
        if members * np.uint64(4) < whole:
            for j in range(e, end):
                w = np.uint64(lists[j])
                if w < hubs:
                    found = _bit(rows, row, w)
                    common += found
                    if directed:
                        more_of_u += found & np.uint64(both[j])
                        more_of_v += _bit(two_way_rows, row, w)
        elif directed:
            for j in range(whole):
                bits = rows[row + j] & words[j]
                common += popcount(bits)
                more_of_u += popcount(bits & two_way[j])
                more_of_v += popcount(bits & two_way_rows[row + j])
        else:
            for j in range(whole):
                common += popcount(rows[row + j] & words[j])
        of_hubs[u] += np.int64(common + more_of_u)
        twice += common + more_of_v
    return twice >> np.uint64(1)


@inline
def _with_others(e, end, directed, hubs, begin, size, lists, both, words, two_way, of_hubs, total):
    """Links of v, one of its list that is no hub, and a smaller one of both their lists; what v gets."""
    mine, one = np.uint64(0), np.uint64(1)
    for i in range(e, end):
        prefetch(lists, begin[np.uint64(lists[min(i + np.uint64(4), end - one)])])
        u = np.uint64(lists[i])
        if u < hubs:
            continue
        apart = np.int64(1) + np.int64(both[i]) if directed else np.int64(1)  # links between v and u
        common, more_of_u, more_of_v = np.uint64(0), np.uint64(0), np.uint64(0)
        at = np.uint64(begin[u])
        for j in range(at, at + np.uint64(size[u])):
            w = np.uint64(lists[j])
            if _bit(words, np.uint64(0), w):
                common += one
                if w < hubs:
                    of_hubs[w] += apart
                else:
                    fetch_add(total, w, apart)
                if directed:
                    more_of_u += _bit(two_way, np.uint64(0), w)
                    more_of_v += np.uint64(both[j])
        if common:
            fetch_add(total, u, np.int64(common + more_of_u))
            mine += common + more_of_v
    return mine


@kernel
def _count(
    main, directed, by_degree, hubs, indptr, indices, in_indptr, in_indices, degree, rank, begin, lists, both,
    size, rows, two_way_rows, words, two_way, of_hubs, total, phases, edges, stamps,
):  # fmt: skip
    """One thread's share of all phases after the order; the main thread also keeps the time."""
    n, chunk, one, low = np.uint64(len(size)), np.uint64(_CHUNK), np.uint64(1), np.uint64(63)
    chunks = np.int64((n + chunk - one) // chunk)
    if main:
        stamps[ORIENT] = clock_ns()
    p = claim(phases, ORIENT)
    while p < chunks:
        kept = np.uint64(0)
        for v in range(np.uint64(p) * chunk, min(n, (np.uint64(p) + one) * chunk)):
            me = np.uint64(rank[v]) if by_degree else v
            if not directed and np.int64(degree[v]) == indptr[v + one] - indptr[v]:
                size[me] = lower(
                    v, me, by_degree, rank, indptr, indices, lists, np.uint64(begin[me]), hubs, rows
                )
            else:
                size[me] = union(
                    v, me, True, directed, by_degree, rank, indptr, indices, in_indptr, in_indices, lists,
                    both, np.uint64(begin[me]), hubs, rows, two_way_rows,
                )  # fmt: skip
            kept += np.uint64(size[me])
        fetch_add(edges, ORIENT, kept)
        finish(phases, ORIENT)
        p = claim(phases, ORIENT)
    wait_for(phases, ORIENT, chunks)

    if main:
        stamps[COUNT] = clock_ns()
    p = claim(phases, COUNT)
    while p < chunks:
        for v in range(np.uint64(p) * chunk, min(n, (np.uint64(p) + one) * chunk)):
            e = np.uint64(begin[v])
            end = e + np.uint64(size[v])
            if end - e < np.uint64(2):
                continue
            members, whole = np.uint64(0), np.uint64(0)
            for i in range(e, end):
                w = np.uint64(lists[i])
                words[w >> np.uint64(6)] |= one << (w & low)
                if directed:
                    two_way[w >> np.uint64(6)] |= np.uint64(both[i]) << (w & low)
                if w < hubs:
                    members += one
                    whole = max(whole, (w >> np.uint64(6)) + one)
            mine = np.uint64(0)
            if members > one:
                mine += _with_hubs(
                    e, end, members, whole, directed, hubs, lists, both, rows, two_way_rows, words, two_way,
                    of_hubs,
                )  # fmt: skip
            if members < end - e:
                mine += _with_others(
                    e, end, directed, hubs, begin, size, lists, both, words, two_way, of_hubs, total
                )
            if mine:
                fetch_add(total, v, np.int64(mine))
            for i in range(e, end):
                words[np.uint64(lists[i]) >> np.uint64(6)] = np.uint64(0)
                if directed:
                    two_way[np.uint64(lists[i]) >> np.uint64(6)] = np.uint64(0)
        finish(phases, COUNT)
        p = claim(phases, COUNT)
    wait_for(phases, COUNT, chunks)
    if main:
        stamps[len(PHASES)] = clock_ns()
