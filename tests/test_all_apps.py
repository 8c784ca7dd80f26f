"""Every app on every small graph, on every target, in every mode, number of threads and with interleaving,
against an answer obtained another way."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import gpop
from gpop.apps import bfs
from gpop.graph.graph import Graph
from tests.apps import reference
from tests.graphs import small_graphs

MODES = ("sc", "pc", "auto", "pull")
THREADS = (1, 2, 4)
SETTINGS = {
    "cpu": [{"mode": mode, "threads": threads} for mode, threads in product(MODES, THREADS)],
    # Two sizes for all graphs: each is an engine to compile. A ratio, or "auto" would measure one first.
    "gpu": [
        {"target": "gpu", "mode": mode, "partition_size": size, "ratio": 1.0}
        for mode, size in product(MODES, (16, 256))
    ],
    "python": [{"target": "python"}],
}
INTERLEAVED = {
    target: [{**each, "interleave": interleave} for each in settings for interleave in (False, True)]
    for target, settings in SETTINGS.items()
}
TOLERANCE = {"cpu": 2e-6, "python": 2e-6, "gpu": 1e-5}  # float32 sums; on the GPU in any order

pytestmark = [
    pytest.mark.parametrize("name", small_graphs()),
    pytest.mark.parametrize("target", ["cpu", "python", pytest.param("gpu", marks=pytest.mark.gpu)]),
]


def local_bound(graph: Graph, epsilon: float) -> np.ndarray:
    """How far below the exact value a local approximation may be, per vertex."""
    if graph.is_symmetric():
        return epsilon * np.maximum(graph.out_degree, 1)
    return np.full(graph.n, epsilon * (1 + graph.m))


def test_bfs(name, target):
    graph = small_graphs()[name]
    for source in reference.start_vertices(graph):
        expected = reference.levels(graph, source)
        for setting in SETTINGS[target]:
            result = gpop.bfs(graph, source, **setting)
            assert np.array_equal(result.level, expected), setting
            assert bfs.verify(graph, result, source) is None, setting


def test_sssp(name, target):
    graph = reference.weighted(small_graphs()[name])
    for source in reference.start_vertices(graph):
        expected = reference.distances(graph, source)
        reached = np.isfinite(expected)
        for setting in INTERLEAVED[target]:
            result = gpop.sssp(graph, source, **setting)
            assert np.array_equal(result.reached, reached), setting
            assert np.array_equal(result.distance[reached], expected[reached]), setting


def test_connected_components(name, target):
    graph = small_graphs()[name]
    expected = reference.smallest_labels(graph)
    for setting in INTERLEAVED[target]:
        result = gpop.connected_components(graph, **setting)
        assert np.array_equal(result.label, expected), setting
        assert result.count == np.unique(expected).size, setting


def test_pagerank(name, target):
    graph = small_graphs()[name]
    expected = reference.pagerank(graph, iterations=10)
    for setting in SETTINGS[target]:
        rank = gpop.pagerank(graph, iterations=10, **setting).rank
        np.testing.assert_allclose(rank, expected, rtol=TOLERANCE[target], atol=0, err_msg=str(setting))


def test_nibble(name, target):
    graph = small_graphs()[name]
    for seed in reference.start_vertices(graph):
        expected = reference.nibble(graph, seed, threshold=1e-4, iterations=8)
        for setting in SETTINGS[target]:
            result = gpop.nibble(graph, seed, threshold=1e-4, iterations=8, **setting)
            np.testing.assert_allclose(result.probability, expected, rtol=0, atol=1e-6, err_msg=str(setting))


def test_heat_kernel(name, target):
    graph, epsilon = small_graphs()[name], 1e-4
    for seed in reference.start_vertices(graph):
        exact = reference.heat_kernel(graph, seed, t=3.0)
        for setting in SETTINGS[target]:
            lacks = exact - gpop.heat_kernel(graph, seed, t=3.0, epsilon=epsilon, **setting).probability
            assert np.all(lacks >= -1e-6), setting
            assert np.all(lacks <= local_bound(graph, epsilon) + 1e-6), setting


def test_pagerank_nibble(name, target):
    graph, epsilon = small_graphs()[name], 1e-4
    for seed in reference.start_vertices(graph):
        exact = reference.personalised_pagerank(graph, seed, alpha=0.1)
        for setting in SETTINGS[target]:
            lacks = (
                exact - gpop.pagerank_nibble(graph, seed, alpha=0.1, epsilon=epsilon, **setting).probability
            )
            assert np.all(lacks >= -1e-6), setting
            assert np.all(lacks <= local_bound(graph, epsilon) + 1e-6), setting
