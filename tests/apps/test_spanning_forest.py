"""Minimum spanning forests: NetworkX's total, one forest for all threads, orders and equal weights."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.apps.spanning_forest import verify
from gpop.direct import spanning_forest
from gpop.generate import generate
from gpop.graph.transform import random_weights, relabel
from tests.graphs import small_graphs


def kruskal(graph: gpop.Graph, place: np.ndarray | None = None) -> set[tuple[int, int]]:
    """Edges of the only forest, ties by the places of their ends, with a dictionary of sets."""
    place = np.arange(graph.n) if place is None else place
    tails = np.repeat(np.arange(graph.n), graph.out_degree).tolist()
    weights = [1] * graph.m if graph.weights is None else graph.weights.tolist()
    rows = [
        (w, *sorted((place[u], place[v])), u, v)
        for u, v, w in zip(tails, graph.indices.tolist(), weights, strict=True)
        if u != v
    ]
    part = {v: {v} for v in range(graph.n)}
    found = set()
    for _, _, _, u, v in sorted(rows):
        if part[u] is not part[v]:
            found.add((min(u, v), max(u, v)))
            small, large = sorted((part[u], part[v]), key=len)
            large |= small
            part.update(dict.fromkeys(small, large))
    return found


def edges(result) -> set[tuple[int, int]]:
    return {(min(u, v), max(u, v)) for u, v in result.edges.tolist()}


@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(name, monkeypatch):
    monkeypatch.setattr(spanning_forest, "_SERIAL", 0)
    monkeypatch.setattr(spanning_forest, "_EDGES", 60)
    graph = small_graphs()[name]
    expected = kruskal(graph)
    for threads in (1, 3):
        result = gpop.spanning_forest(graph, threads=threads)
        assert edges(result) == expected
        assert result.trees == graph.n - len(expected) == np.count_nonzero(~result.has_parent)
        assert verify(graph, result) is None


@pytest.mark.parametrize("kind, low, high", [("rmat", 1, 3), ("road", 1, 1), ("uniform", -50, 50)])
def test_equal_weights_and_many_threads(kind, low, high):
    sizes = {"width": 60, "height": 60} if kind == "road" else {"scale": 12, "degree": 8, "symmetrize": True}
    graph = random_weights(generate(kind, seed=2, **sizes), low, high, seed=3)
    expected = kruskal(graph)
    for threads in (1, 2, 4):
        for _ in range(3):
            assert edges(gpop.spanning_forest(graph, threads=threads)) == expected


def test_the_total_is_that_of_networkx():
    graph = generate("rmat", scale=9, degree=6, seed=2, symmetrize=True)
    weights = random_weights(graph, 1, 1000, seed=1).weights
    for given in (weights, weights / 7 - 60, weights.astype(np.float32), weights.astype(np.uint64) + 2**63):
        weighted = gpop.Graph(graph.indptr, graph.indices, given)
        pairs = nx.Graph()
        tails = np.repeat(np.arange(graph.n), graph.out_degree).tolist()
        pairs.add_weighted_edges_from(zip(tails, graph.indices.tolist(), given.tolist(), strict=True))
        result = gpop.spanning_forest(weighted)
        assert result.total == pytest.approx(nx.minimum_spanning_tree(pairs).size("weight"), rel=1e-9)
        assert result.weight.dtype == given.dtype


def test_the_lighter_of_two_directions_counts():
    graph = gpop.Graph.from_edges([0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2], [9, 1, 5, 5, 4, 8])
    assert graph.is_symmetric()
    result = gpop.spanning_forest(graph)
    assert (edges(result), result.total, result.symmetrized) == ({(0, 1), (0, 2)}, 5, True)


def test_trees_hang_from_their_first_vertex():
    graph = gpop.Graph.from_edges([5, 1, 2, 6], [1, 3, 3, 4], [1, 2, 3, 4], n=8)
    result = gpop.spanning_forest(graph)
    assert result.parent.tolist() == [-1, -1, 3, 1, -1, 1, 4, -1]
    assert result.weight.tolist() == [0, 0, 3, 2, 0, 1, 4, 0]


def test_ids_decide_between_equal_weights():
    graph = random_weights(generate("uniform", scale=8, degree=4, seed=2, symmetrize=True), 1, 3)
    result = gpop.spanning_forest(graph)
    shuffled = relabel(graph, "random", seed=4)
    ids = shuffled.original_ids
    for order in ("none", "degree"):
        other = gpop.spanning_forest(shuffled, reorder=order)
        parent = np.where(other.parent < 0, -1, ids[other.parent])
        assert np.array_equal(parent, result.parent[ids])
        assert np.array_equal(other.weight, result.weight[ids])


def test_weights_whose_sums_are_beyond_all_numbers():
    """On the way or in the end; SciPy's are moved up, by more than what is lost beside them."""
    for weights, total in (
        ([1e308, 1.7e308, -1.7e308, -1e308], 0.0),
        ([-1.5e308, 1e308, 1e308, 1.0], 0.5e308),
        ([1.5e308, 1.5e308, 1.0, 1.0], np.inf),
        ([-1e17, 3e17, 1.0, 1.0], 2e17),
    ):
        graph = gpop.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], weights)
        found = gpop.spanning_forest(graph)
        assert found.total == pytest.approx(total, rel=1e-9) and verify(graph, found) is None
        wrong = replace(found, total=1e300 if total > 1e300 else found.total + 1e302)
        assert "but SciPy finds" in verify(graph, wrong)


def test_no_number_is_refused():
    graph = gpop.Graph.from_edges([0, 1], [1, 2], [1.0, np.nan])
    with pytest.raises(gpop.UsageError, match="needs weights that are numbers: edge 1 -> 2 has nan"):
        gpop.spanning_forest(graph)
    far = gpop.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, np.inf, -np.inf])
    assert edges(gpop.spanning_forest(far)) == {(0, 1), (0, 2)}


def test_verify_sees_a_fault():
    graph = generate("road", width=10, height=10, seed=1)
    result = gpop.spanning_forest(graph)
    assert "but SciPy finds" in verify(graph, replace(result, total=result.total + 1))
    leaf = np.setdiff1d(np.arange(graph.n), result.parent)[-1]
    parent = result.parent.copy()
    parent[leaf] = -1
    assert "components" in verify(graph, replace(result, parent=parent))
    parent[leaf] = (leaf + graph.n // 2) % graph.n
    assert "not in the graph" in verify(graph, replace(result, parent=parent))
