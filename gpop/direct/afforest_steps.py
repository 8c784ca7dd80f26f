"""Steps of Afforest: what a thread does with a partition, its roots, or a part of the vertices or edges.

The phases that they belong to, and why they suffice, are in afforest.py; the forest is that of forest.py.
Paper: M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via subgraph
sampling", IPDPS 2018.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import load_acquire, prefetch
from gpop.common.inlined import inline
from gpop.direct.forest import find, unite

_JOINED = 4  # edges over which a root is joined
_AHEAD = 24  # vertices between the list that is read and the one that is fetched
_BLOCK = 16  # edges compared at once


@inline
def hook(first, last, bits, directed, indptr, indices, parent, roots, finished):
    """Hook the vertices of a partition to their first neighbours and list the roots that have edges.

    Returns how many are listed, and how many edges were looked at.
    """
    ahead = np.uint64(_AHEAD)
    n = np.uint64(len(parent))
    count = np.uint64(0)
    isolated = np.uint64(0)
    if directed:  # a vertex may hook a larger one of its partition, before that one's turn
        for v in range(first, last):
            parent[v] = np.uint32(v)
    for v in range(first, last):
        prefetch(indices, indptr[min(n, v + ahead)])
        e = np.uint64(indptr[v])
        if e == np.uint64(indptr[v + np.uint64(1)]):
            isolated += np.uint64(1)
            if not directed:
                parent[v] = np.uint32(v)
            continue
        u = np.uint64(indices[e])
        if directed and parent[v] != v:
            if v < u < last and parent[u] == u:
                parent[u] = parent[v]
        elif u >= v:
            parent[v] = np.uint32(v)
            roots[first + count] = np.uint32(v)
            count += np.uint64(1)
            if directed and v < u < last and parent[u] == u:
                parent[u] = np.uint32(v)
        elif u >= first or load_acquire(finished, u >> bits):
            parent[v] = parent[u]
        else:
            parent[v] = np.uint32(u)
    return count, last - first - isolated


@inline
def join(roots, indptr, indices, parent):
    """Link listed roots over their first edges."""
    edges = np.uint64(0)
    for i in range(len(roots)):
        v = np.uint64(roots[i])
        e = np.uint64(indptr[v])
        end = min(np.uint64(indptr[v + np.uint64(1)]), e + np.uint64(_JOINED))
        edges += end - e
        root = find(parent, v)
        while e < end:
            root = unite(parent, root, find(parent, np.uint64(indices[e])))
            e += np.uint64(1)
    return edges


@inline
def rest(first, last, largest, skip, directed, ascending, indptr, indices, parent):
    """Link the edges that the sample left open; how many were looked at."""
    edges = np.uint64(0)
    lower_only = not (skip or directed)
    hooked = np.uint64(lower_only)  # over its first edge, every vertex
    for v in range(first, last):
        root = np.uint64(parent[v])
        if skip:
            while root != largest and root != np.uint64(parent[root]):
                root = np.uint64(parent[root])
            if root == largest:
                if v != largest:
                    parent[v] = np.uint32(largest)
                continue
        root = find(parent, root)
        e = np.uint64(indptr[v])
        end = np.uint64(indptr[v + np.uint64(1)])
        begin = e = e + hooked
        while e < end:
            u = np.uint64(indices[e])
            e += np.uint64(1)
            if lower_only and u >= v:
                if ascending:
                    break
                continue
            # two steps: old roots that meanwhile have the same parent are told without a search
            above = np.uint64(parent[np.uint64(parent[u])])
            if above != root:
                root = unite(parent, find(parent, root), find(parent, above))
        edges += e - begin
    return edges


@inline
def compare(first, last, largest, indptr, indices, parent):
    """Link edges that leave the largest tree; all others have been linked."""
    block = np.uint64(_BLOCK)
    v = np.uint64(np.searchsorted(indptr, np.int64(first), "right") - 1)
    while first < last:
        different = np.uint32(0)
        if first + block <= last:
            for i in range(block):
                different |= parent[np.uint64(indices[first + i])] ^ np.uint32(largest)
        else:
            different = np.uint32(1)
        if different != 0:
            for e in range(first, min(first + block, last)):
                u = np.uint64(indices[e])
                if parent[u] != largest:
                    while np.uint64(indptr[v + np.uint64(1)]) <= e:
                        v += np.uint64(1)
                    root = unite(parent, find(parent, v), find(parent, u))
                    if u > largest and root == find(parent, largest):
                        parent[u] = np.uint32(largest)
        first += block
