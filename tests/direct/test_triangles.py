"""Triangles against NetworkX, closed forms and a dense matrix; every way in which two lists are met."""

from __future__ import annotations

from math import comb

import networkx as nx
import numpy as np
import pytest

from gpop.direct import triangles
from gpop.direct.triangles import count_triangles, worth_ordering
from gpop.direct.triangles_steps import MERGE, ORIENT
from gpop.generate import generate
from gpop.graph.graph import Graph
from tests.graphs import small_graphs


def dense_count(graph: Graph) -> int:
    """Trace of the cube of the adjacency matrix, over 6."""
    matrix = np.zeros((graph.n, graph.n), np.int64)
    matrix[np.repeat(np.arange(graph.n), graph.out_degree), graph.indices] = 1
    matrix |= matrix.T
    np.fill_diagonal(matrix, 0)
    return int((matrix @ matrix * matrix).sum()) // 6


@pytest.fixture(params=["merged", "as given", "by degree"])
def order(request, monkeypatch):
    monkeypatch.setattr(triangles, "_SHORT", 1 << 30 if request.param == "merged" else 0)
    monkeypatch.setattr(triangles, "worth_ordering", lambda degree: request.param == "by degree")
    monkeypatch.setattr(triangles, "_SERIAL", 0)


@pytest.mark.parametrize("hubs", [0, 7, 64, 130, 1 << 14])
def test_small_graphs(order, hubs, monkeypatch):
    monkeypatch.setattr(triangles, "HUBS", hubs)
    for name, graph in small_graphs().items():
        symmetric = graph.symmetrize()
        expected = dense_count(graph)
        for threads in (1, 3):
            found = count_triangles(symmetric, threads)
            assert found.count == expected, (name, threads)


def test_loops_and_duplicates_do_not_count(order):
    ends = [0, 1, 1, 2, 2, 0, 0, 1, 3, 3]
    others = [1, 0, 2, 1, 0, 2, 1, 0, 3, 3]  # a triangle, one side twice, and a loop twice
    found = count_triangles(Graph.from_edges(ends, others, n=5), 1)
    assert found.count == 1
    assert found.edges[ORIENT] in (0, 3)


@pytest.mark.parametrize("n", [1, 2, 3, 64, 65, 200])
def test_complete_graphs(n, order):
    graph = Graph.from_networkx(nx.complete_graph(n))
    assert count_triangles(graph, 2).count == comb(n, 3)


def test_graphs_without_triangles(order):
    assert count_triangles(generate("grid", width=20, height=30), 2).count == 0
    assert count_triangles(Graph.from_networkx(nx.complete_bipartite_graph(70, 90)), 2).count == 0
    assert count_triangles(Graph.from_edges([], [], n=0), 2).count == 0


def test_a_wheel(order):
    assert count_triangles(Graph.from_networkx(nx.wheel_graph(501)), 2).count == 500


@pytest.mark.parametrize("hubs", [64, 1 << 14])
def test_larger_graphs_with_threads(hubs, order, monkeypatch):
    monkeypatch.setattr(triangles, "HUBS", hubs)
    for kind in ("rmat", "uniform"):
        graph = generate(kind, scale=11, degree=8, seed=3, symmetrize=True)
        pairs = nx.Graph(graph.to_networkx())
        pairs.remove_edges_from(list(nx.selfloop_edges(pairs)))
        expected = sum(nx.triangles(pairs).values()) // 3
        assert {count_triangles(graph, threads).count for threads in (1, 2, 4)} == {expected}


@pytest.mark.slow
def test_short_lists_are_merged():
    for graph, short in (
        (generate("grid", width=30, height=30), True),
        (generate("road", width=30, height=30, seed=1), True),
        (generate("star", vertices=1000), False),
        (generate("rmat", scale=10, degree=16, seed=1, symmetrize=True), False),
    ):
        found = count_triangles(graph, 2)
        assert (found.edges[MERGE] == graph.m) == short
        assert found.count == dense_count(graph)


@pytest.mark.parametrize("kept", [True, False])
def test_a_room_is_used_again(order, kept, monkeypatch):
    """By calls with other threads and shares, and not by two at the same time."""
    if not kept:
        monkeypatch.setattr(triangles, "_KEPT_BYTES", -1)
    graph = generate("rmat", scale=9, degree=8, seed=3, symmetrize=True)
    expected, used, call = dense_count(graph), [], triangles.call_together

    def called(entry, address, threads):
        used.append(address)
        if len(used) == 2:
            assert count_triangles(graph, threads).count == expected
        call(entry, address, threads)

    monkeypatch.setattr(triangles, "call_together", called)
    for threads in (2, 2, 1, 4):
        assert count_triangles(graph, threads).count == expected
    assert sum(count_triangles(graph, 2, share, 3).count for share in range(3)) == expected
    assert used[1] != used[2]
    if kept:
        assert used[0] == used[1] != used[4] == used[5] == used[7]


def test_only_dense_skewed_graphs_are_ordered():
    rmat = generate("rmat", scale=10, degree=16, seed=1, symmetrize=True)
    uniform = generate("uniform", scale=10, degree=16, seed=1, symmetrize=True)
    star = generate("star", vertices=1000)
    assert [worth_ordering(graph.out_degree) for graph in (rmat, uniform, star)] == [True, False, False]
    assert count_triangles(rmat, 1).by_degree
    assert not count_triangles(uniform, 1).by_degree
