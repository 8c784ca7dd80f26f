"""Edges one by one, for strategies that give each a thread (kernels/edges.cuh): in arrays, or as structs.

Structs are as C++ lays them out: source, destination and, where the run has weights, the weight.
"""

from __future__ import annotations

import numpy as np

from gpop.graph.graph import Graph

STRUCTS = ("edge", "reverse_edge")
"""Arrays of structs, by source and by destination; with weights ``weighted_`` stands before the name."""


def ends(graph: Graph) -> np.ndarray:
    """The vertex that each edge is listed at.

    Examples
    --------
    >>> ends(Graph.from_edges([0, 0, 2], [1, 2, 0])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(graph.n, dtype=np.uint32), graph.out_degree)


def struct_of(name: str, graph: Graph) -> np.dtype:
    """One edge of the array of that name."""
    weight = [("weight", graph.weights.dtype)] if name.startswith("weighted") else []
    return np.dtype([("source", "u4"), ("target", "u4"), *weight], align=True)


def structs(name: str, listed: Graph) -> np.ndarray:
    """All edges; ``listed``: the graph, or its reverse for those by destination.

    Examples
    --------
    >>> reverse = Graph.from_edges([0, 1], [2, 2], [5, 6]).reverse()
    >>> structs("weighted_reverse_edge", reverse).tolist()
    [(0, 2, 5), (1, 2, 6)]
    """
    edges = np.zeros(listed.m, struct_of(name, listed))
    owner, other = ("target", "source") if "reverse" in name else ("source", "target")
    edges[owner], edges[other] = ends(listed), listed.indices
    if "weight" in edges.dtype.names:
        edges["weight"] = listed.weights
    return edges
