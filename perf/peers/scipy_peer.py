"""SciPy: sparse matrix times vector, and the graph routines of `scipy.sparse.csgraph`. One thread."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

import gpop
from perf.answers import as_distances, matrix, smallest_members
from perf.graphs import vertex
from perf.implementations import Prepared

LIBRARY = DISTRIBUTION = "scipy"
THREADED = False
IMPLEMENTATIONS = {name: {"scipy": {}} for name in ("pagerank", "sssp", "cc")}


def prepare(algorithm: str, graph: gpop.Graph, variant: dict, flags: dict, threads: int) -> Prepared:
    """Power iteration by SpMV on the transposed matrix; Dijkstra; traversal."""
    if algorithm == "pagerank":
        return _pagerank(graph, variant)
    if algorithm == "sssp":
        weights, source = matrix(graph, graph.weights.astype(np.float64)), vertex(graph, variant["source"])
        return Prepared(
            call=lambda: csgraph.dijkstra(weights, indices=source),
            answer=lambda found: as_distances(found, np.isfinite(found), graph),
        )
    ones = matrix(graph)
    return Prepared(
        call=lambda: csgraph.connected_components(ones, connection="weak")[1], answer=smallest_members
    )


def _pagerank(graph: gpop.Graph, variant: dict) -> Prepared:
    inward = sparse.csr_array(matrix(graph, np.ones(graph.m, np.float32)).T)
    degree = np.maximum(np.diff(graph.indptr), 1).astype(np.float32)
    damping, base = np.float32(variant["damping"]), np.float32((1 - variant["damping"]) / graph.n)

    def call() -> np.ndarray:
        rank = np.full(graph.n, 1 / graph.n, np.float32)
        for _ in range(variant["iterations"]):
            rank = base + damping * (inward @ (rank / degree))
        return rank

    return Prepared(call=call, answer=lambda rank: rank)
