"""Core numbers by one thread: what is to be peeled stands in one queue, and the graph is read ahead of it.

For k = 0, 1, ... what has k neighbours left is put into the queue; taking a vertex out of it takes one from
each neighbour that has more than k, and who comes down to k thereby is put into the queue as well. A vertex
is in the queue once, so that the queue is an array of n, and the lists of who comes next are fetched before
they are needed: they lie anywhere, and are short in most graphs.

Who has k left is looked for in blocks of `_BLOCK` vertices, several numbers by one instruction; a block where
nobody has more is not looked at again.

Encoding: ``degree`` is the number of neighbours left, and stays where it was when the vertex was peeled: in
the end these are the core numbers.
Paper: V. Batagelj, M. Zaversnik, "An O(m) algorithm for cores decomposition of networks", 2003; their lists
of vertices by degree cost a swap for each edge, which blocks do not.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import prefetch
from gpop.common.inlined import inline
from gpop.direct.phases import kernel

_BLOCK = np.uint64(64)  # vertices
_AHEAD = np.uint64(16)  # vertices
_ONE, _MOST = np.uint64(1), np.uint32(0xFFFFFFFF)


def peel_alone(simple: bool, indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, int]:
    """Core numbers, and edges that were looked at; ``simple`` promises no loops and no edge twice.

    Examples
    --------
    >>> peel_alone(True, np.array([0, 2, 4, 7, 8]), np.array([1, 2, 0, 2, 0, 1, 3, 2], np.uint32))
    (array([2, 2, 2, 1], dtype=uint32), 8)
    """
    n = len(indptr) - 1
    degree, queue = np.empty((2, n), np.uint32)
    blocks = np.arange((n + int(_BLOCK) - 1) // int(_BLOCK), dtype=np.uint32)
    return degree, int(_peel(simple, indptr, indices, degree, queue, blocks))


@inline
def neighbours(v, simple, indptr, indices):
    """How many neighbours a vertex has: neither itself nor one twice."""
    if simple:
        return indptr[v + _ONE] - indptr[v]
    count, before = 0, v
    for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + _ONE])):
        u = np.uint64(indices[e])
        count += u != before and u != v
        before = u
    return count


@kernel
def _find(k, left, degree, queue, blocks):
    """Put those with k neighbours into the queue: how many, the blocks with others, the least that they have.

    Not inlined: LLVM makes it of single numbers there, and all of it takes twice as long (fb100-Cornell5).
    """
    n, tail, kept, least = np.uint64(len(degree)), np.uint64(0), np.uint64(0), _MOST
    for i in range(left):
        block = blocks[i]
        first = np.uint64(block) * _BLOCK
        last = min(n, first + _BLOCK)
        most, here = np.uint32(0), np.uint32(0)
        for v in range(first, last):
            d = degree[v]
            most = max(most, d)
            here += np.uint32(d == k)
            least = min(least, d if d > k else _MOST)
        if here > 0:
            for v in range(first, last):
                if degree[v] == k:
                    queue[tail] = np.uint32(v)
                    tail += _ONE
        blocks[kept] = block
        kept += np.uint64(most > k)
    return tail, kept, least


@kernel
def _peel(simple, indptr, indices, degree, queue, blocks):
    """All of it; edges that were looked at."""
    n, left, k, edges = np.uint64(len(degree)), np.uint64(len(blocks)), np.uint32(0), 0
    for v in range(n):
        degree[v] = neighbours(v, simple, indptr, indices)
    while left > 0:
        tail, left, least = _find(k, left, degree, queue, blocks)
        head, above = np.uint64(0), k + np.uint32(1)
        while head < tail:
            v = np.uint64(queue[head])
            prefetch(indices, np.uint64(indptr[np.uint64(queue[min(head + _AHEAD, tail - _ONE)])]))
            head += _ONE
            begin, stop, before = np.uint64(indptr[v]), np.uint64(indptr[v + _ONE]), v
            edges += np.int64(stop - begin)
            for e in range(begin, stop):
                u = np.uint64(indices[e])
                d = degree[u]
                comes_down = (d > k) & (simple | (u != before))
                degree[u] = d - np.uint32(comes_down)  # without a branch that nobody can foresee
                if comes_down & (d == above):
                    queue[tail] = np.uint32(u)
                    tail += _ONE
                before = u
        k = above if tail else least
    return edges
