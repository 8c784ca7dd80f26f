"""The adjacency lists with the lightest edge first, for searches that walk a list up to a weight.

Layout: the edges of v are ``lines[indptr[v]:indptr[v + 1]]`` (``indptr`` is the graph's own), uint64,
ascending: the weight in the upper half, the neighbour in the lower. An edge is one load, and the end of a
walk one comparison. For whole-number weights below 2**32. Kept with the graph; 8 bytes an edge.
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL
from gpop.common.parallel import for_each, ranges
from gpop.common.shell import shell_sort
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind

LINE_BYTES = 8

LONGEST = 64
"""A list of so many edges is sorted by a kernel still; 16 to 128 make no difference, 256 does."""

_VERTICES = 1 << 12  # of a piece of work
_ONE, _HALF = np.uint64(1), np.uint64(32)


@cached(**KERNEL)
def _sort(first, last, longest, indptr, indices, weights, lines):
    """Fill the lists of vertices and sort those of so many edges at most."""
    for v in range(first, last):
        begin, end = np.uint64(indptr[v]), np.uint64(indptr[v + _ONE])
        for e in range(begin, end):
            lines[e] = np.uint64(weights[e]) << _HALF | np.uint64(indices[e])
        if end - begin <= longest:
            shell_sort(lines, begin, end)


def _sort_piece(first, last, graph, lines):
    """The same for all of them: NumPy, which sorts with wide registers, has the long ones."""
    _sort(*map(np.uint64, (first, last, LONGEST)), graph.indptr, graph.indices, graph.weights, lines)
    ends = graph.indptr[first : last + 1]
    for v in np.flatnonzero(np.diff(ends) > LONGEST):
        lines[ends[v] : ends[v + 1]].sort()


def lines_by_weight(graph: Graph, threads: int) -> np.ndarray:
    """The edges of a graph with whole-number weights, each list by weight.

    Raises
    ------
    NotEnoughMemory
        If they would not fit; found out before they are allocated.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], np.array([7, 9, 5], np.uint8))
    >>> lines = lines_by_weight(star, threads=1)
    >>> (lines >> np.uint64(32)).tolist(), lines.astype(np.uint32).tolist()
    ([5, 7, 9], [3, 1, 2])
    """
    lines = graph.store.get(Kind.BY_WEIGHT)
    if lines is None:
        graph.store.require(LINE_BYTES * graph.m, f"edges by weight of {graph!r}")
        lines = np.empty(graph.m, np.uint64)
        pieces = ranges(graph.n, _VERTICES)
        for_each(len(pieces), lambda i: _sort_piece(*pieces[i], graph, lines), threads)
        lines = graph.store.put(Kind.BY_WEIGHT, lines)
    return lines
