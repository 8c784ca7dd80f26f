"""Breadth-first search from a queue: what NetworkX's searches without weights do, in their order.

Fresh arrays are zero and their pages are taken when they are touched, so that a search costs what it reaches:
0 stands for "not reached", and what is kept of a vertex that was reached is a 1, or a vertex plus 1.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL
from gpop.interop.networkx_graph import Lists


class Search(NamedTuple):
    """Vertices in the order in which they were reached, sources first; for each its parent and its level.

    Arrays over the order; a source is its own parent.
    """

    order: np.ndarray
    parent: np.ndarray
    level: np.ndarray


def limit_of(cutoff: Any) -> int:
    """The last level of a search: those below a number or, for None, all.

    >>> limit_of(1.5), limit_of(-1), limit_of(None) == limit_of(float("inf"))
    (2, 0, True)
    """
    if cutoff is None or cutoff >= 2**32:
        return 2**32 - 1
    return max(0, math.ceil(cutoff))


def breadth_first(lists: Lists, sources: list[int], limit: int) -> Search:
    """Search from the sources, in their order, up to a level.

    Examples
    --------
    >>> found = breadth_first(Lists(np.array([0, 2, 3, 4]), np.array([2, 1, 0, 1], np.uint32)), [0], 9)
    >>> found.order, found.level
    (array([0, 2, 1], dtype=uint32), array([0, 1, 1], dtype=uint32))
    """
    n = len(lists.indptr) - 1
    order, parent, level = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.uint32)
    order[: len(sources)] = parent[: len(sources)] = sources
    level[: len(sources)] = 0
    reached = _search(*lists, len(sources), limit, np.zeros(n, np.uint8), order, parent, level)
    return Search(order[:reached], parent[:reached], level[:reached])


@cached(**KERNEL)
def _search(indptr, indices, count, limit, seen, order, parent, level):
    """Reads the list of every vertex of the order once, and a byte for every edge."""
    for i in range(count):
        seen[order[i]] = 1
    at, filled = np.uint64(0), np.uint64(count)
    while at < filled and level[at] < limit:
        u = np.uint64(order[at])
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
            w = indices[e]
            if seen[w] == 0:
                seen[w] = 1
                order[filled] = w
                parent[filled] = u
                level[filled] = level[at] + 1
                filled += np.uint64(1)
        at += np.uint64(1)
    return filled


def path_between(successors: Lists, predecessors: Lists, source: int, target: int) -> list[int] | None:
    """A shortest path found from both ends, the smaller frontier first; None where there is none.

    Examples
    --------
    >>> ring = Lists(np.array([0, 2, 4, 6, 8]), np.array([1, 3, 0, 2, 1, 3, 0, 2], np.uint32))
    >>> path_between(ring, ring, 0, 2)
    [0, 1, 2]
    """
    n = len(successors.indptr) - 1
    before, after = np.zeros(n, np.uint32), np.zeros(n, np.uint32)
    fringes = np.empty((2, n), np.uint32)
    meeting = _meet(*successors, *predecessors, source, target, before, after, fringes)
    if meeting < 0:
        return None
    path = [int(meeting)]
    while path[-1] != source:
        path.append(int(before[path[-1]]) - 1)
    path.reverse()
    while path[-1] != target:
        path.append(int(after[path[-1]]) - 1)
    return path


@cached(**KERNEL)
def _expand(indptr, indices, fringe, first, last, mine, others):
    """A level of one side: (end of its fringe, vertex that the other side has reached or -1)."""
    filled = last
    for i in range(first, last):
        v = np.uint64(fringe[i])
        for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + np.uint64(1)])):
            w = indices[e]
            if mine[w] == 0:
                mine[w] = v + np.uint64(1)
                fringe[filled] = w
                filled += 1
            if others[w] != 0:
                return filled, np.int64(w)
    return filled, np.int64(-1)


@cached(**KERNEL)
def _meet(indptr, indices, back_indptr, back_indices, source, target, before, after, fringes):
    """Where the two sides meet, -1 where they do not."""
    before[source], after[target] = source + 1, target + 1
    if source == target:
        return np.int64(source)
    fringes[0, 0], fringes[1, 0] = source, target
    first, last, back_first, back_last = 0, 1, 0, 1
    while first < last and back_first < back_last:
        if last - first <= back_last - back_first:
            end, met = _expand(indptr, indices, fringes[0], first, last, before, after)
            first, last = last, end
        else:
            end, met = _expand(back_indptr, back_indices, fringes[1], back_first, back_last, after, before)
            back_first, back_last = back_last, end
        if met >= 0:
            return met
    return np.int64(-1)
