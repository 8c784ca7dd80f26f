"""The adjacency lists as pairs of edges, for searches that walk many short lists as if they were one.

Layout: the edges of v are ``lines[2 * starts[v]:2 * starts[v + 1]]``, in the graph's order, uint64: the
weight in the upper half, the neighbour in the lower. An edge is one load, and a step of the walk two of them.
A list of an odd number ends with its last neighbour once more, as far away as can be. For whole-number
weights below 2**31. Kept with the graph; 8 bytes an edge, 4 to 8 a vertex.
"""

from __future__ import annotations

import numpy as np

from gpop.graph.graph import Graph
from gpop.graph.kept import Kind

_HALF, _ID, _FARTHEST = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(2**31 - 1)
_WHILE_MADE = 17
"""Bytes an edge: the lines, others that become part of them, and which of them are edges."""


def edge_pairs(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """``starts`` (uint32) and ``lines`` of a graph with whole-number weights.

    Raises
    ------
    NotEnoughMemory
        If they would not fit; found out before they are allocated.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 0, 0, 2], [1, 2, 3, 0], np.array([7, 9, 5, 4], np.uint8))
    >>> starts, lines = edge_pairs(graph)
    >>> starts.tolist(), lines.astype(np.uint32).tolist(), (lines >> np.uint64(32)).tolist()
    ([0, 2, 2, 3, 3], [1, 2, 3, 3, 0, 0], [7, 9, 5, 2147483647, 4, 2147483647])
    """
    pairs = graph.store.get(Kind.PAIRS)
    if pairs is None:
        graph.store.require(_WHILE_MADE * (graph.m + graph.n), f"edges in pairs of {graph!r}")
        degrees = np.diff(graph.indptr)
        starts = np.zeros(graph.n + 1, np.uint32)
        np.cumsum(degrees + 1 >> 1, out=starts[1:])
        lines, is_edge = np.empty(2 * int(starts[-1]), np.uint64), np.ones(2 * int(starts[-1]), np.bool_)
        ends = 2 * starts[1:][degrees & 1 == 1].astype(np.int64) - 1
        is_edge[ends] = False
        each = graph.weights.astype(np.uint64)
        each <<= _HALF
        each |= graph.indices
        lines[is_edge] = each
        lines[ends] = _FARTHEST << _HALF | lines[ends - 1] & _ID
        pairs = graph.store.put(Kind.PAIRS, (starts, lines))
    return pairs
