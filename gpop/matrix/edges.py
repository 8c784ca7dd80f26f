"""The graph that a matrix program is run on: messages come to a row from those that it visits.

Along in-edges that is the graph itself, along out-edges its reverse; along all edges one that has every edge
in both directions, each with its weight, so that two opposite edges become four.
"""

from __future__ import annotations

import numpy as np

from gpop.graph.graph import Graph
from gpop.graph.kept import Kind

EDGES_TYPES = ("in-edges", "out-edges", "all-edges")


def matrix_of(graph: Graph, edges_type: str) -> Graph:
    """The graph along whose edges messages travel; made once and kept with ``graph``.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2])
    >>> [matrix_of(path, edges).indices.tolist() for edges in EDGES_TYPES]
    [[1, 2], [0, 1], [1, 0, 2, 1]]
    """
    if edges_type == "in-edges":
        return graph
    if edges_type == "out-edges":
        return graph if graph.equals_reverse() else graph.reverse()
    kept = graph.store.get(Kind.BOTH_WAYS)
    if kept is None:
        tails = np.repeat(np.arange(graph.n, dtype=np.uint32), graph.out_degree)
        ends = np.concatenate([tails, graph.indices]), np.concatenate([graph.indices, tails])
        weights = None if graph.weights is None else np.tile(graph.weights, 2)
        kept = Graph.from_edges(*ends, weights, n=graph.n)
        graph.store.put(Kind.BOTH_WAYS, kept, graph=kept, holds=(kept.indptr, kept.indices, kept.weights))
    kept.name = graph.name
    if kept.original_ids is not graph.original_ids:  # which may be set at any time
        kept.original_ids = graph.original_ids
    return kept
