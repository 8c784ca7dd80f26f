"""Transforms against NetworkX, SciPy and plain NumPy; the given graph stays what it was."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from gpop.common.errors import NotEnoughMemory, UsageError
from gpop.generate import generate
from gpop.graph import transform
from gpop.graph.graph import Graph
from tests.graphs import same, small_graphs

GRAPHS = small_graphs()


def edge_list(graph: Graph, names: np.ndarray | None = None) -> list[tuple]:
    """Sorted (source, destination, weight); of original ids where ``names`` are given."""
    names = np.arange(graph.n) if names is None else names
    weights = np.zeros(graph.m) if graph.weights is None else graph.weights
    source = names[np.repeat(np.arange(graph.n), graph.out_degree)]
    return sorted(zip(source.tolist(), names[graph.indices].tolist(), weights.tolist(), strict=True))


@pytest.mark.parametrize("name", GRAPHS)
def test_self_loops(name):
    graph = GRAPHS[name]
    expected = [edge for edge in edge_list(graph) if edge[0] != edge[1]]
    assert edge_list(transform.remove_self_loops(graph)) == expected


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("policy", ["first", "min", "max", "sum"])
def test_duplicates(name, policy):
    graph = GRAPHS[name]
    source = np.repeat(np.arange(graph.n), graph.out_degree)
    expected = Graph.from_edges(source, graph.indices, graph.weights, n=graph.n, duplicates=policy)
    assert same(transform.remove_duplicates(graph, policy), expected)


def test_duplicates_of_lists_in_any_order():
    graph = Graph.from_csr([0, 5], [0, 0, 0, 0, 0], [5, 2, 9, 1, 4])
    assert transform.remove_duplicates(graph).weights.tolist() == [5]
    graph = Graph.from_csr([0, 4, 4, 4], [2, 1, 2, 1], [5.5, 2, 9, 1])
    assert transform.remove_duplicates(graph, "sum").weights.tolist() == [3, 14.5]
    assert graph.weights.tolist() == [5.5, 2, 9, 1]


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("order", transform.ORDERS)
def test_relabel_renames_only(name, order):
    graph = GRAPHS[name]
    renamed = transform.relabel(graph, order, seed=3)
    assert sorted(renamed.original_ids.tolist()) == list(range(graph.n))
    assert edge_list(renamed, renamed.original_ids) == edge_list(graph)
    for v in range(renamed.n):
        assert (np.diff(renamed.indices[renamed.indptr[v] : renamed.indptr[v + 1]].astype(int)) >= 0).all()


def test_relabel_by_degree():
    degree = transform.relabel(GRAPHS["rmat"], "degree").out_degree.astype(int)
    assert (np.diff(degree) <= 0).all()


def test_relabel_by_bfs():
    graph = generate("road", width=20, height=20)
    renamed = transform.relabel(graph, "bfs")
    names = renamed.original_ids
    assert names[0] == 0
    level = nx.single_source_shortest_path_length(graph.to_networkx(), 0)
    levels = [level[v] for v in names.tolist() if v in level]
    assert levels == sorted(levels)
    assert all(v in level for v in names[: len(level)].tolist())


def test_rcm_narrows_the_band():
    graph = generate("grid", width=20, height=20, permute=True)

    def band(g):
        return np.abs(np.repeat(np.arange(g.n), g.out_degree) - g.indices.astype(int)).max()

    assert band(transform.relabel(graph, "rcm")) < 30 < band(graph)


def test_random_order_depends_on_the_seed():
    graph = GRAPHS["rmat"]
    first, again, other = (transform.relabel(graph, "random", seed=s).original_ids for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_relabel_twice_keeps_the_first_names():
    graph = Graph.from_networkx(nx.path_graph(["a", "b", "c"]))
    renamed = transform.relabel(transform.relabel(graph, [2, 0, 1]), [1, 2, 0])
    assert renamed.original_ids.tolist() == ["a", "b", "c"]
    assert same(renamed, graph)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("best", "order 'best' is unknown, expected one of degree, random, bfs, rcm"),
        ([0, 1], "an order of 3 vertices must name each of 0..2 once"),
        ([0, 1, 3], "an order of 3 vertices"),
        ([0, 1, 1], "leaves out vertex 2"),
        ([2.0, 0.0, 1.0], r"order is float64 \[3\], expected a list of integers"),
        ([[0], [1, 2]], "order is no list of integers"),
        ([0, 1, -1], r"order\[2\] is -1"),
    ],
)
def test_impossible_orders(order, message):
    with pytest.raises(UsageError, match=message):
        transform.relabel(Graph.from_edges([0, 1], [1, 2]), order)


def test_random_weights(monkeypatch):
    graph = generate("rmat", scale=9, degree=8, symmetrize=True)
    weighted = transform.random_weights(graph, 1, 9, seed=4)
    assert same(weighted.reverse(), weighted)
    assert set(weighted.weights.tolist()) == set(range(1, 10))
    monkeypatch.setenv("NUMBA_NUM_THREADS", "4")
    monkeypatch.setattr(transform, "_PIECE", 17)
    assert same(transform.random_weights(graph, 1, 9, seed=4), weighted)
    assert not same(transform.random_weights(graph, 1, 9, seed=5), weighted)
    assert transform.random_weights(graph, -3, 3).weights.dtype == np.int64
    assert graph.weights is None


@pytest.mark.parametrize("low", [0, -(2**31)])
def test_random_weights_of_all_32_bits(low):
    graph = generate("rmat", scale=9, degree=8)
    found = np.sort(transform.random_weights(graph, low, low + 2**32 - 1).weights.astype(np.int64) - low)
    assert found[0] < 2**25 and found[-1] > 2**32 - 2**25 and len(np.unique(found)) > 0.5 * graph.m


def test_wrong_weights():
    with pytest.raises(UsageError, match="weights 5:1 are not possible"):
        transform.random_weights(GRAPHS["chain"], 5, 1)
    with pytest.raises(UsageError, match=r"weights have shape \[3\]"):
        transform.with_weights(GRAPHS["chain"], np.ones(3))
    pair = Graph.from_edges([0, 1], [1, 0])
    assert transform.with_weights(pair, [3, 7]).weights.tolist() == [3, 7]
    with pytest.raises(UsageError, match="weights are <U1, expected integers or floating-point numbers"):
        transform.with_weights(pair, np.array(["a", "b"]))
    with pytest.raises(UsageError, match="weights are no list of numbers"):
        transform.with_weights(pair, [[1], [1, 2]])


def test_memory_is_predicted(monkeypatch):
    graph = generate("rmat", scale=14, degree=32)
    monkeypatch.setattr("gpop.common.memory.available_bytes", lambda: 1000)
    for change in (
        transform.remove_self_loops,
        transform.remove_duplicates,
        lambda g: transform.relabel(g, "degree"),
        lambda g: transform.random_weights(g, 1, 2),
    ):
        with pytest.raises(NotEnoughMemory):
            change(graph)
