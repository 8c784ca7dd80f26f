"""Core numbers against NetworkX, and the same for any number of threads."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.apps.core_number import verify
from gpop.direct import cores
from gpop.generate import generate
from tests.graphs import small_graphs


def of_networkx(graph) -> np.ndarray:
    pairs = nx.Graph(graph.to_networkx())
    pairs.remove_edges_from(list(nx.selfloop_edges(pairs)))
    core = nx.core_number(pairs)
    return np.array([core[v] for v in range(graph.n)])


@pytest.fixture
def eager(monkeypatch):
    """Threads take part however small the graph."""
    monkeypatch.setattr(cores, "_SERIAL", 0)
    monkeypatch.setattr(cores, "_SERIAL_THIN", 0)
    monkeypatch.setattr(cores, "_FEWEST", 2)


@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(name, eager):
    graph = small_graphs()[name]
    expected = of_networkx(graph)
    for threads in (1, 4):
        result = gpop.core_number(graph, threads=threads)
        assert np.array_equal(result.core, expected)
        assert result.degeneracy == expected.max()
        assert result.symmetrized == (not graph.is_symmetric())
    assert verify(graph, result) is None


LARGE = {  # of several chunks; lists that are packed on the way; cascades through all of them
    "rmat": lambda: generate("rmat", scale=14, degree=16, seed=1),
    "road": lambda: generate("road", width=100, height=100, seed=1),
    "chain": lambda: generate("chain", vertices=20_000),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_graphs(name, eager):
    graph = LARGE[name]()
    first = gpop.core_number(graph, threads=1)
    assert verify(graph, first) is None
    for threads in (2, 4):
        for _ in range(5):
            assert np.array_equal(gpop.core_number(graph, threads=threads).core, first.core)


def test_every_edge_is_looked_at_once_from_each_end(eager):
    graph = generate("rmat", scale=12, degree=16, seed=1, symmetrize=True)
    assert gpop.core_number(graph).trace.column("active_edges").tolist() == [graph.m]


def test_lists_in_no_order_are_no_fault():
    wheel = gpop.Graph.from_networkx(nx.wheel_graph(40))
    rows = np.split(wheel.indices, wheel.indptr[1:-1])
    turned = gpop.Graph.from_csr(wheel.indptr, np.concatenate([row[::-1] for row in rows]))
    assert gpop.core_number(turned).core.tolist() == 40 * [3]


def test_orders_and_options():
    graph = small_graphs()["rmat"]
    assert np.array_equal(gpop.core_number(graph, reorder="random").core, gpop.core_number(graph).core)
    with pytest.raises(gpop.UsageError, match="mode means nothing to core_number"):
        gpop.core_number(graph, mode="pc")
    assert gpop.core_number(gpop.Graph.from_edges([], [], n=0)).degeneracy == 0


@pytest.mark.parametrize(("by", "said"), [(1, "has only"), (-1, "has a larger core number")])
def test_verify_sees_a_fault(by, said):
    graph = small_graphs()["rmat"]
    result = gpop.core_number(graph)
    wrong = np.where(result.core == result.degeneracy, result.degeneracy + by, result.core)
    assert said in verify(graph, replace(result, core=wrong))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_edge_that_is_there_twice_is_one(threads, eager):
    """Four vertices that all know each other, and one that knows one of them by two edges."""
    pairs = [(u, v) for u in range(4) for v in range(4) if u != v] + [(3, 4), (4, 3)] * 2
    graph = gpop.Graph.from_edges(*zip(*pairs, strict=True))
    assert gpop.core_number(graph, threads=threads).core.tolist() == [3, 3, 3, 3, 1]
