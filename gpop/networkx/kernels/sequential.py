"""Rounds over the vertices one after the other: greedy colouring, label propagation.

A vertex sees what those before it have become, so the order decides the result. ``mark`` and ``count`` are
over colours or labels and are cleared by the vertex that used them: the work is that of its list.
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL
from gpop.interop.networkx_graph import Lists

NONE = 0xFFFFFFFF


def greedy_colours(lists: Lists, order: np.ndarray) -> np.ndarray:
    """Every vertex, in this order, gets the smallest colour that none of its neighbours has.

    Examples
    --------
    >>> greedy_colours(Lists(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.uint32)), np.arange(3))
    array([0, 1, 0], dtype=uint32)
    """
    n = len(lists.indptr) - 1
    colour = np.full(n, NONE, np.uint32)
    _colour(*lists, order.astype(np.uint32), colour, np.full(n + 1, NONE, np.uint32))
    return colour


@cached(**KERNEL)
def _colour(indptr, indices, order, colour, mark):
    """``mark[c]`` is the last vertex that has seen the colour c."""
    for v in order:
        for e in range(np.uint64(indptr[v]), np.uint64(indptr[np.uint64(v) + np.uint64(1)])):
            c = colour[indices[e]]
            if c != NONE:
                mark[c] = v
        c = np.uint64(0)
        while mark[c] == v:
            c += np.uint64(1)
        colour[v] = c


def most_frequent_labels(lists: Lists, order: np.ndarray) -> np.ndarray:
    """Labels, at first the numbers of the vertices, when each is one of the most frequent around its vertex.

    Round by round the vertices, in this order, take the most frequent label of their neighbours: their own
    where it is one of those, else the largest.

    Examples
    --------
    >>> most_frequent_labels(Lists(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.uint32)), np.arange(3))
    array([1, 1, 1], dtype=uint32)
    """
    n = len(lists.indptr) - 1
    label, count = np.arange(n, dtype=np.uint32), np.zeros(n, np.uint32)
    order = order.astype(np.uint32)
    while _round(*lists, order, label, count, False):
        _round(*lists, order, label, count, True)
    return label


@cached(**KERNEL)
def _round(indptr, indices, order, label, count, change):
    """How many vertices have a label that another outnumbers; ``change`` gives them that."""
    outnumbered = 0
    for v in order:
        first, last = np.uint64(indptr[v]), np.uint64(indptr[np.uint64(v) + np.uint64(1)])
        most, largest = np.uint32(0), np.uint32(0)
        for e in range(first, last):
            c = label[indices[e]]
            count[c] += np.uint32(1)
            if count[c] > most or (count[c] == most and c > largest):
                most, largest = count[c], c
        changes = count[label[v]] < most
        for e in range(first, last):
            count[label[indices[e]]] = np.uint32(0)
        if changes:
            outnumbered += 1
            if change:
                label[v] = largest
    return outnumbered
