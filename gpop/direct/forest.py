"""A forest that threads link at the same time: union-find by compare-and-swap, without locks.

``parent[v]`` (uint32) is the vertex above v, a root is its own. A parent is never larger than its child, so
that no cycle can arise and the root of a finished tree is the smallest vertex of its component.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import compare_and_swap
from gpop.common.inlined import inline
from gpop.direct.phases import kernel


@inline
def find(parent, v):
    """Root of ``v``; halves the path. Only vertices that are no roots any more are written."""
    above = np.uint64(parent[v])
    while above != v:
        top = np.uint64(parent[above])
        if top != above:
            parent[v] = np.uint32(top)
        v = above
        above = top
    return v


@inline
def unite(parent, a, b):
    """Link the trees of the roots ``a`` and ``b``; the root of both."""
    while a != b:
        low, high = min(a, b), max(a, b)
        if compare_and_swap(parent, high, np.uint32(high), np.uint32(low)):
            return low
        a, b = find(parent, high), find(parent, low)
    return a


@inline
def flatten(first, last, parent):
    """Point vertices at their roots; the number of roots among them."""
    count = 0
    for v in range(first, last):
        root = np.uint64(parent[v])
        above = np.uint64(parent[root])
        while above != root:
            root = above
            above = np.uint64(parent[root])
        parent[v] = np.uint32(root)
        count += root == v
    return count


@kernel
def sample_roots(parent, sample):
    """The most frequent root of random vertices, and how often it came up."""
    random = np.uint64(88172645463325252)
    for i in range(len(sample)):
        random ^= random << np.uint64(13)
        random ^= random >> np.uint64(7)
        random ^= random << np.uint64(17)
        sample[i] = find(parent, (random >> np.uint64(11)) % np.uint64(len(parent)))
    largest, most = np.uint32(0), 0
    for i in range(len(sample)):
        count = 0
        for j in range(len(sample)):
            count += sample[j] == sample[i]
        if count > most:
            largest, most = sample[i], count
    return largest, most
