"""Paths of BFS and shortest paths: their edges are there, and their lengths are NetworkX's."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.apps.paths import along_distances
from tests.apps import reference
from tests.graphs import small_graphs
from tests.quick import slow


def edges_of(graph):
    """Least weight of every edge."""
    tails = np.repeat(np.arange(graph.n), np.diff(graph.indptr)).tolist()
    found = {}
    for tail, head, weight in zip(tails, graph.indices.tolist(), graph.weights.tolist(), strict=True):
        found[tail, head] = min(weight, found.get((tail, head), weight))
    return found


@pytest.mark.parametrize(
    "name", slow(small_graphs(), "odd n weighted", "one vertex", "one self-loop", "no edges")
)
def test_lengths(name):
    graph = reference.weighted(small_graphs()[name])
    edges = edges_of(graph)
    for source in reference.start_vertices(graph)[:1]:
        levels, distances = gpop.bfs(graph, source), gpop.sssp(graph, source)
        for to in np.flatnonzero(distances.reached)[::7].tolist():
            path = levels.path(to)
            assert (path[0], path[-1], len(path) - 1) == (source, to, levels.level[to])
            assert all(step in edges for step in pairwise(path))
            path = distances.path(to)
            assert (path[0], path[-1]) == (source, to)
            assert sum(edges[step] for step in pairwise(path)) == distances.distance[to]


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64, np.float32, np.float64])
def test_edges_that_add_nothing_lead_in_circles(dtype):
    rng = np.random.default_rng(5)
    for _ in range(20):
        n = 30
        src, dst = rng.integers(0, n, (2, 90))
        graph = gpop.Graph.from_edges(src, dst, (rng.random(90) < 0.2).astype(dtype), n=n)
        own = nx.MultiDiGraph()
        own.add_weighted_edges_from((u, v, w) for (u, v), w in edges_of(graph).items())
        if 0 not in own:
            continue
        lengths = nx.single_source_dijkstra_path_length(own, 0)
        distance = np.full(n, 2**31 - 1 if np.dtype(dtype).kind == "u" else np.inf).astype(dtype)
        distance[list(lengths)] = list(lengths.values())
        for to, length in lengths.items():
            path = along_distances(graph, distance, 0, to).tolist()
            assert (path[0], path[-1]) == (0, to) and len(set(path)) == len(path)
            assert sum(edges_of(graph)[step] for step in pairwise(path)) == length


@pytest.mark.slow
def test_what_has_no_path():
    graph = gpop.read_edges({"from": ["a", "b"], "to": ["b", "a"], "weight": [1, 1]})
    alone = gpop.read_edges({"from": ["a", "c"], "to": ["b", "d"], "weight": [1, 1]})
    for app in (gpop.bfs, gpop.sssp):
        assert app(graph, "b").path("b") == ["b"]
        with pytest.raises(gpop.UsageError, match="'d' is not reached from 'a'"):
            app(alone, "a").path("d")
        with pytest.raises(gpop.UsageError, match="vertex 0 is not in graph"):  # an id, not an index
            app(graph, "a").path(0)
    again = __import__("pickle").loads(__import__("pickle").dumps(gpop.sssp(graph, "a")))
    with pytest.raises(gpop.UsageError, match="a path needs the graph"):
        again.path("b")
