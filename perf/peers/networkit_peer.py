"""NetworKit: C++ and OpenMP. Directed graphs; components of a directed graph are its weak ones.

Its PageRank is the same iteration, scaled in the end so that the ranks sum to 1; it runs exactly the given
number of iterations here (tolerance 0).
"""

from __future__ import annotations

import numpy as np

import gpop
from perf.answers import smallest_members
from perf.graphs import vertex
from perf.implementations import Prepared

LIBRARY = DISTRIBUTION = "networkit"
THREADED = True
IMPLEMENTATIONS = {name: {"networkit": {}} for name in ("pagerank", "bfs", "sssp", "cc")}


def prepare(algorithm: str, graph: gpop.Graph, variant: dict, flags: dict, threads: int) -> Prepared:
    """One object of NetworKit's classes per call; ``run()`` is what takes the time."""
    import networkit

    networkit.setNumberOfThreads(threads)
    tails = np.repeat(np.arange(graph.n, dtype=np.uint64), np.diff(graph.indptr))
    weighted = algorithm == "sssp"
    values = graph.weights.astype(np.float64) if weighted else np.ones(graph.m)
    edges = (values, (tails, graph.indices.astype(np.uint64)))
    twin = networkit.GraphFromCoo(edges, n=graph.n, weighted=weighted, directed=True)
    if algorithm == "pagerank":
        return _pagerank(networkit, twin, variant)
    if algorithm == "cc":

        def components():
            return networkit.components.WeaklyConnectedComponents(twin).run()

        def labels(found) -> np.ndarray:
            label = np.empty(graph.n, np.int64)
            for number, members in enumerate(found.getComponents()):
                label[members] = number
            return smallest_members(label)

        return Prepared(call=components, answer=labels)
    source = vertex(graph, variant["source"])
    search = networkit.distance.Dijkstra if weighted else networkit.distance.BFS
    unreached = np.finfo(np.float64).max
    whole = not weighted or graph.weights.dtype.kind in "iu"

    def distances(found) -> np.ndarray:
        far = np.asarray(found.getDistances())
        if whole:
            return np.where(far == unreached, -1, far).astype(np.int64)
        return np.where(far == unreached, np.inf, far)

    return Prepared(call=lambda: search(twin, source, False).run(), answer=distances)


def _pagerank(networkit, twin, variant: dict) -> Prepared:
    def call():
        ranks = networkit.centrality.PageRank(twin, damp=variant["damping"], tol=0.0)
        ranks.maxIterations = variant["iterations"]
        return ranks.run()

    return Prepared(call=call, answer=lambda found: np.asarray(found.scores()), scaled=True)
