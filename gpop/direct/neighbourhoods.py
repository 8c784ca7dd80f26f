"""The neighbourhood of a vertex, in which clustering counts: its out- and in-neighbours, each once.

Lists ascend; where there are ranks, vertices are numbered by descending degree (`gpop.direct.oriented`).
Of a hub, a vertex below ``hubs``, there are rows of bits: one of all hubs that it is joined to, and in a
directed graph one of those joined both ways. Row b begins at word ``row_of_hub(b, hubs)``.
"""

from __future__ import annotations

import numpy as np

from gpop.direct.phases import kernel


@kernel
def row_of_hub(v, hubs):
    """Where the row of bits of a hub begins."""
    return v * ((hubs + np.uint64(63)) >> np.uint64(6))


@kernel
def union(
    v, me, write, directed, by_degree, rank, indptr, indices, in_indptr, in_indices, lists, both, at, hubs,
    rows, two_way_rows,
):  # fmt: skip
    """Number of neighbours of v in either direction; or those below ``me``, which are written from ``at``.

    Then the row of a hub is written, too.
    """
    row = row_of_hub(me, hubs)
    e, end = np.uint64(indptr[v]), np.uint64(indptr[v + np.uint64(1)])
    i, stop = np.uint64(in_indptr[v]), np.uint64(in_indptr[v + np.uint64(1)])
    if not directed:
        i = stop
    count = np.uint64(0)
    while e < end or i < stop:
        forward, backward = e < end, i < stop
        if forward and backward:
            forward, backward = indices[e] <= in_indices[i], in_indices[i] <= indices[e]
        w = indices[e] if forward else in_indices[i]
        while e < end and indices[e] == w:
            e += np.uint64(1)
        while i < stop and in_indices[i] == w:
            i += np.uint64(1)
        if w == v:
            continue
        if write:
            u = np.uint64(rank[w]) if by_degree else np.uint64(w)
            if u < me:
                lists[at + count] = np.uint32(u)
                both[at + count] = forward and backward
                count += np.uint64(1)
            if me < hubs and u < hubs:
                bit = np.uint64(1) << (u & np.uint64(63))
                rows[row + (u >> np.uint64(6))] |= bit
                if forward and backward:  # in a directed graph
                    two_way_rows[row + (u >> np.uint64(6))] |= bit
        else:
            count += np.uint64(1)
    return count


@kernel
def is_plain(v, indptr, indices):
    """Whether the list of v has each neighbour once, and not v."""
    e, end = np.uint64(indptr[v]), np.uint64(indptr[v + np.uint64(1)])
    others = 0
    for i in range(e, end):
        others += indices[i] == v or (i > e and indices[i] <= indices[i - np.uint64(1)])
    return others == 0


@kernel
def lower(v, me, by_degree, rank, indptr, indices, lists, at, hubs, rows):
    """As `union` of a plain list in a symmetric graph: the neighbours below ``me``; their number."""
    e, end = np.uint64(indptr[v]), np.uint64(indptr[v + np.uint64(1)])
    count = np.uint64(0)
    for i in range(e, end):  # which are below is not to be foreseen: each is written, and others over it
        if count == me:  # no more can be, nor is there room
            break
        u = np.uint64(rank[indices[i]]) if by_degree else np.uint64(indices[i])
        lists[at + count] = np.uint32(u)
        count += np.uint64(u < me)
    if me < hubs:
        row = row_of_hub(me, hubs)
        for i in range(e, end):
            u = np.uint64(rank[indices[i]]) if by_degree else np.uint64(indices[i])
            if u < hubs:
                rows[row + (u >> np.uint64(6))] |= np.uint64(1) << (u & np.uint64(63))
    return count
