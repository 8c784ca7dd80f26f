"""Links between neighbours against dense matrices; every way in which two lists are met."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from gpop.direct import clustering
from gpop.direct.clustering import count_links
from gpop.generate import generate
from gpop.graph.graph import Graph
from tests.graphs import small_graphs


def dense_links(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Links and neighbours of every vertex, from the definition."""
    one_way = np.zeros((graph.n, graph.n))
    one_way[np.repeat(np.arange(graph.n), graph.out_degree), graph.indices] = 1
    np.fill_diagonal(one_way, 0)
    either = np.maximum(one_way, one_way.T)
    return (either @ one_way * either).sum(axis=1), either.sum(axis=1)


def found(graph: Graph, threads: int, directed: bool) -> tuple[np.ndarray, np.ndarray]:
    links = count_links(graph, graph.reverse() if directed else graph, threads)
    return links.links, links.neighbours


@pytest.fixture(params=["as given", "by degree"])
def order(request, monkeypatch):
    monkeypatch.setattr(clustering, "worth_ordering", lambda degree: request.param == "by degree")
    monkeypatch.setattr(clustering, "_SERIAL", 0)


def test_threads_are_called_as_edges_are_worth_it(monkeypatch):
    """A grid has as many as the other graph, and few of each vertex."""
    grid, dense = generate("grid", width=200, height=200), generate("uniform", scale=11, degree=78, seed=1)
    called, together = [], clustering.together
    monkeypatch.setattr(
        clustering, "together", lambda task, threads: called.append(threads) or together(task, 1)
    )
    for graph in (grid, dense):
        count_links(graph, graph.reverse(), 16)
    assert called[-4:] == [4, 4, 16, 16]  # after what the first call compiles


@pytest.mark.parametrize("hubs", [0, 7, 64, 130, 1 << 14])
def test_small_graphs(order, hubs, monkeypatch):
    monkeypatch.setattr(clustering, "HUBS", hubs)
    for name, graph in small_graphs().items():
        for directed in {True, not graph.is_symmetric()}:
            for threads in (1, 3):
                for mine, exact in zip(found(graph, threads, directed), dense_links(graph), strict=True):
                    assert np.array_equal(mine, exact), (name, threads, directed)


@pytest.mark.parametrize("hubs", [0, 100, 1 << 14])
def test_larger_graphs_with_threads(hubs, order, monkeypatch):
    """A hub of the list, whether looked up or counted by words, and one that is none."""
    monkeypatch.setattr(clustering, "HUBS", hubs)
    for kind, directed in (("rmat", True), ("rmat", False), ("uniform", True)):
        graph = generate(kind, scale=10, degree=16, seed=3, symmetrize=not directed)
        exact, _ = dense_links(graph)
        for threads in (1, 2, 4):
            assert np.array_equal(found(graph, threads, directed)[0], exact), (kind, threads)


@pytest.mark.parametrize("n", [1, 2, 3, 64, 65, 200])
def test_complete_graphs(n, order):
    graph = Graph.from_networkx(nx.complete_graph(n))
    links, neighbours = found(graph, 2, False)
    assert (links == (n - 1) * (n - 2)).all() and (neighbours == n - 1).all()


def test_edges_that_go_one_way_count_once(order):
    wheel = [(0, v) for v in range(1, 6)] + [(v, v % 5 + 1) for v in range(1, 6)]
    graph = Graph.from_edges(*np.array(wheel + wheel[:4]).T)
    assert found(graph, 1, True)[0].tolist() == [5, 2, 2, 2, 2, 2]
    back = Graph.from_edges(*np.array([*wheel, (2, 1), (0, 0)]).T)
    assert found(back, 1, True)[0].tolist() == [6, 2, 2, 2, 2, 2]
    there = Graph.from_edges(*np.array([*wheel, (1, 0)]).T)
    assert found(there, 1, True)[0].tolist() == [5, 2, 3, 2, 2, 3]
