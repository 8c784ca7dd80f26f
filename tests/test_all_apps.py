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
from tests.direct.test_clustering import dense_links
from tests.direct.test_triangles import dense_count
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


def check_local(
    graph: Graph, found: np.ndarray, exact: np.ndarray, epsilon: float, tolerance: float, setting
):
    """Nothing above the exact value, at every vertex no more missing than the method allows, and in all.

    Rounding is relative. On a symmetric graph a vertex lacks at most epsilon for each of its edges; else only
    the sum is bounded, by what all pushes together may leave behind.
    """
    rounding = 20 * tolerance * exact + 1e-10
    lacks = exact - found
    assert np.all(lacks >= -rounding), setting
    if graph.is_symmetric():
        assert np.all(lacks <= epsilon * np.maximum(graph.out_degree, 1) + rounding), setting
    assert lacks.sum() <= epsilon * (graph.n + graph.m) + rounding.sum(), setting


def test_bfs(name, target):
    graph = small_graphs()[name]
    for source in reference.start_vertices(graph):
        expected = reference.levels(graph, source)
        for setting in SETTINGS[target]:
            result = gpop.bfs(graph, source, **setting)
            assert np.array_equal(result.level, expected), setting
            assert bfs.verify(graph, result, source) is None, setting


def test_sssp(name, target):
    """With weights of a byte: two bytes are other kernels."""
    graph = reference.weighted(small_graphs()[name])
    check_paths(reference.with_weights(graph, graph.weights % 256), target)


@pytest.mark.slow  # tests/apps/test_sssp.py has them on roads
def test_sssp_with_weights_of_two_bytes(name, target):
    graph = reference.weighted(small_graphs()[name])
    check_paths(reference.with_weights(graph, graph.weights * np.uint32(50)), target)


def check_paths(graph: Graph, target: str):
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
    for setting in (*INTERLEAVED[target], {"target": target}):
        result = gpop.connected_components(graph, **setting)
        assert np.array_equal(result.label, expected), setting
        assert result.count == np.unique(expected).size, setting


def test_triangles(name, target):
    graph = small_graphs()[name]
    if target == "python":  # which is for programs
        with pytest.raises(gpop.UsageError, match="target 'python': expected one of cpu, gpu"):
            gpop.triangle_count(graph, target=target)
        return
    assert gpop.triangle_count(graph, target=target).count == dense_count(graph)


def test_clustering(name, target):
    graph = small_graphs()[name]
    if target == "python":
        with pytest.raises(gpop.UsageError, match="target 'python': expected one of cpu, gpu"):
            gpop.clustering(graph, target=target)
        return
    links, neighbours = dense_links(graph)
    found = gpop.clustering(graph, target=target)
    assert np.array_equal(found.links, links)
    assert np.array_equal(found.neighbours, neighbours)


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
            np.testing.assert_allclose(
                result.probability, expected, rtol=10 * TOLERANCE[target], atol=0, err_msg=str(setting)
            )


EPSILON = 1e-9
"""So small that on these graphs an answer is the exact one but for float32, and a wrong vertex is seen."""


def test_heat_kernel(name, target):
    graph = small_graphs()[name]
    for seed in reference.start_vertices(graph):
        exact = reference.heat_kernel(graph, seed, t=3.0)
        for setting in SETTINGS[target]:
            found = gpop.heat_kernel(graph, seed, t=3.0, epsilon=EPSILON, **setting).probability
            check_local(graph, found, exact, EPSILON, TOLERANCE[target], setting)


def test_pagerank_nibble(name, target):
    graph = small_graphs()[name]
    for seed in reference.start_vertices(graph):
        exact = reference.personalised_pagerank(graph, seed, alpha=0.1)
        for setting in SETTINGS[target]:
            found = gpop.pagerank_nibble(graph, seed, alpha=0.1, epsilon=EPSILON, **setting).probability
            check_local(graph, found, exact, EPSILON, TOLERANCE[target], setting)


@pytest.mark.parametrize("fault", ["zero", "one right", "one lost", "one doubled"])
def test_the_bounds_of_the_local_apps_see_a_fault(name, target, fault):
    if target == "python":
        assert TOLERANCE[target] == TOLERANCE["cpu"]  # so it has been seen
        return
    graph = small_graphs()[name]
    for exact in (
        reference.heat_kernel(graph, 0, t=3.0),
        reference.personalised_pagerank(graph, 0, alpha=0.1),
    ):
        if fault != "zero" and np.count_nonzero(exact) < 2:
            continue
        check_local(graph, exact.astype(np.float32), exact, EPSILON, TOLERANCE[target], "right")
        least = np.argmin(np.where(exact > 1e-3, exact, 2))
        found = {"zero": np.zeros(graph.n), "one right": np.where(exact == exact.max(), exact, 0)}.get(
            fault, exact.copy()
        )
        found[least] *= {"one lost": 0, "one doubled": 2}.get(fault, 1)
        with pytest.raises(AssertionError):
            check_local(graph, found, exact, EPSILON, TOLERANCE[target], fault)
