"""igraph: its C core through python-igraph. One thread.

Its PageRank is another one (it solves for the fixpoint, and sinks give their rank away), so it is left out.
"""

from __future__ import annotations

import math

import numpy as np

import gpop
from perf.answers import smallest_members
from perf.graphs import vertex
from perf.implementations import Prepared

LIBRARY = DISTRIBUTION = "igraph"
THREADED = False
IMPLEMENTATIONS = {name: {"igraph": {}} for name in ("bfs", "sssp", "cc")}


def prepare(algorithm: str, graph: gpop.Graph, variant: dict, flags: dict, threads: int) -> Prepared:
    """`Graph.distances` (a queue, or Dijkstra's heap) and `Graph.connected_components`."""
    import igraph

    heads = np.column_stack([np.repeat(np.arange(graph.n), np.diff(graph.indptr)), graph.indices])
    twin = igraph.Graph(graph.n, heads, directed=True)
    if algorithm == "cc":
        return Prepared(
            call=lambda: twin.connected_components(mode="weak"),
            answer=lambda found: smallest_members(np.array(found.membership, np.int64)),
        )
    source = vertex(graph, variant["source"])
    weights = graph.weights.tolist() if algorithm == "sssp" else None
    whole = weights is None or graph.weights.dtype.kind in "iu"

    def answer(found: list[list[float]]) -> np.ndarray:
        if whole:
            return np.array([-1 if math.isinf(d) else int(d) for d in found[0]], np.int64)
        return np.array(found[0], np.float64)

    return Prepared(call=lambda: twin.distances(source, weights=weights, mode="out"), answer=answer)
