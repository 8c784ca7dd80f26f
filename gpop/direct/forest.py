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


@inline
def look_up(first, last, parent, sample):
    """Roots of some of the random vertices, which are the same in every run (splitmix64 of their number)."""
    for i in range(first, last):
        random = (np.uint64(i) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        random = (random ^ random >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        random = (random ^ random >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        sample[i] = find(parent, (random ^ random >> np.uint64(31)) % np.uint64(len(parent)))


@inline
def most_frequent(sample):
    """The root that was found most often, and how often."""
    largest, most = np.uint32(0), 0
    for i in range(len(sample)):
        count = 0
        for j in range(len(sample)):
            count += sample[j] == sample[i]
        if count > most:
            largest, most = sample[i], count
    return largest, most


@kernel
def sample_roots(parent, sample):
    """The most frequent root of random vertices, and how often it came up."""
    look_up(0, len(sample), parent, sample)
    return most_frequent(sample)
