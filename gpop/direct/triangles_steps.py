"""What threads do in the phases of counting triangles, from end to end: see `gpop.direct.triangles`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.atomics import clock_ns, fetch_add, popcount, prefetch
from gpop.common.inlined import inline
from gpop.direct.oriented import order_by_degree, row_of
from gpop.direct.phases import claim, finish, wait_for

PHASES = ("order", "orient", "rows", "count", "merge")
ORDER, ORIENT, ROWS, COUNT, MERGE = range(len(PHASES))

_CHUNK = 256  # vertices
_MERGED = 512  # vertices of a chunk that is merged: some microseconds


class TriangleJob(NamedTuple):
    """What threads share: the graph, the arrays of the phases, and what they count.

    ``counts``: the triangles; from `EDGES` on edges of each of `PHASES`, from `BEGUN` on when each began,
    and the end. One of ``shares`` of the chunks is counted.
    """

    share: np.int64
    shares: np.int64
    by_degree: np.bool_
    hubs: np.uint64
    indptr: np.ndarray
    indices: np.ndarray
    phases: np.ndarray
    counts: np.ndarray
    degree: np.ndarray
    place: np.ndarray
    order: np.ndarray
    rank: np.ndarray
    begin: np.ndarray
    lists: np.ndarray
    size: np.ndarray
    rows: np.ndarray
    marks: np.ndarray
    """[threads, words], zero when no thread is at it."""


EDGES = 1
BEGUN = EDGES + len(PHASES)


@inline
def merge(number, job):
    """One thread's part of merging the lists of a > b, for c below b; equal entries count once."""
    indptr, indices, phases, counts = job.indptr, job.indices, job.phases, job.counts
    n = np.uint64(len(indptr) - 1)
    chunk, one = np.uint64(_MERGED), np.uint64(1)
    chunks = np.int64((n + chunk - one) // chunk)
    if number == 0:
        counts[BEGUN : BEGUN + MERGE + 1] = clock_ns()
    p = claim(phases, MERGE)
    while p < chunks:
        found = 0
        last = min(n, (np.uint64(p) + one) * chunk) if p % job.shares == job.share else np.uint64(0)
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
        fetch_add(counts, 0, found)
        finish(phases, MERGE)
        p = claim(phases, MERGE)
    if number == 0:
        wait_for(phases, MERGE, chunks)
        counts[EDGES + MERGE] = len(indices)
        counts[BEGUN + MERGE + 1] = clock_ns()


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
def _common(e, end, hubs, begin, size, lists, rows, words, bits):
    """Triangles of a vertex and two of its list, which is ``lists[e:end]`` and marked in ``words``."""
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


@inline
def count(number, job):
    """One thread's part of all phases but the merge; the main thread also keeps the time."""
    main, by_degree, hubs, share, shares = number == 0, job.by_degree, job.hubs, job.share, job.shares
    indptr, indices, order, rank, begin = job.indptr, job.indices, job.order, job.rank, job.begin
    lists, size, rows, phases, counts = job.lists, job.size, job.rows, job.phases, job.counts
    words = job.marks[number]
    bits = words.view(np.uint32)
    edges, stamps = counts[EDGES:], counts[BEGUN:]
    n = np.uint64(len(size))
    chunk = np.uint64(_CHUNK)
    chunks = np.int64((n + chunk - np.uint64(1)) // chunk)
    if main:
        stamps[ORDER] = clock_ns()
    if claim(phases, ORDER) == 0:
        place = job.place
        place[:] = 0
        order_by_degree(job.degree, by_degree, place, order, rank, begin)
        finish(phases, ORDER)
    wait_for(phases, ORDER, 1)

    if main:
        stamps[ORIENT] = clock_ns()
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
        stamps[ROWS] = clock_ns()
    hub_chunks = np.int64((hubs + chunk - np.uint64(1)) // chunk)
    p = claim(phases, ROWS)
    while p < hub_chunks:
        first, last = np.uint64(p) * chunk, min(hubs, (np.uint64(p) + np.uint64(1)) * chunk)
        rows[row_of(first) : row_of(last)] = np.uint64(0)
        for v in range(first, last):
            row = row_of(v)
            for e in range(np.uint64(begin[v]), np.uint64(begin[v]) + np.uint64(size[v])):
                w = np.uint64(lists[e])
                rows[row + (w >> np.uint64(6))] |= np.uint64(1) << (w & np.uint64(63))
        finish(phases, ROWS)
        p = claim(phases, ROWS)
    wait_for(phases, ROWS, hub_chunks)

    if main:
        stamps[COUNT] = clock_ns()
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
            found += _common(e, end, hubs, begin, size, lists, rows, words, bits)
            for i in range(e, end):
                words[np.uint64(lists[i]) >> np.uint64(6)] = np.uint64(0)
        fetch_add(counts, 0, found)
        finish(phases, COUNT)
        p = claim(phases, COUNT)
    wait_for(phases, COUNT, chunks)
    if main:
        stamps[MERGE] = stamps[MERGE + 1] = clock_ns()
