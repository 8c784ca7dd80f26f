"""What an array of distances says: who is reached, and whether all of them are exact.

Who is not reached has infinity, the largest distance of the type (`gpop.apps.sssp_programs`), which is less
than the largest number of an unsigned type: an edge may be added to it.
"""

from __future__ import annotations

import numpy as np

from gpop.common.parallel import for_each, ranges
from gpop.graph.build import csr_edges
from gpop.graph.graph import Graph

PIECE = 1 << 18
"""Vertices that a thread looks at."""


def reached_of(distance: np.ndarray, infinity: np.generic) -> np.ndarray:
    """Whose distance is finite."""
    reached, pieces = np.empty(distance.size, np.bool_), ranges(distance.size, PIECE)

    def look(i: int) -> None:
        part = slice(*pieces[i])
        np.less(distance[part], infinity, out=reached[part])

    for_each(len(pieces), look)
    return reached


def are_exact(distance: np.ndarray, infinity: np.unsignedinteger, heaviest: int | float) -> bool:
    """Whether no edge leads as far as infinity."""
    return _farthest(distance, infinity) + heaviest < infinity


def fall_short(graph: Graph, distance: np.ndarray, infinity: np.unsignedinteger) -> bool:
    """Whether somebody is not reached, as the way there by one edge more is infinity or longer.

    Looks at all edges: it is for distances of which `are_exact` does not know.

    Examples
    --------
    >>> path, far = Graph.from_edges([0, 1], [1, 2], [1, 6]), np.uint64(7)
    >>> fall_short(path, np.array([0, 1, 7], np.uint64), far)
    True
    """
    edges = csr_edges(graph.indptr, graph.indices, graph.weights)
    for first, last in ranges(edges.count, PIECE):
        tail, head, weights = edges.chunk(first, last)
        there = distance[tail]
        lost = (there < infinity) & (distance[head] == infinity)
        if (there[lost] + weights[lost].astype(distance.dtype) >= infinity).any():
            return True
    return False


def _farthest(distance: np.ndarray, infinity: np.unsignedinteger) -> int:
    """The largest distance below infinity: minus infinity, unsigned, is 0 there and ascends elsewhere."""
    return int((distance - infinity).max()) - (np.iinfo(distance.dtype).max + 1 - int(infinity))
