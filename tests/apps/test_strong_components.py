"""Strongly connected components against NetworkX and SciPy, with threads in every way of sharing the work."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.apps.strong_components import verify
from gpop.direct import strong
from gpop.generate import generate
from tests.graphs import small_graphs


def of_networkx(graph) -> np.ndarray:
    label = np.arange(graph.n)
    for component in nx.strongly_connected_components(graph.to_networkx()):
        label[list(component)] = min(component)
    return label


@pytest.fixture
def eager(monkeypatch):
    """Threads take part however small the graph."""
    monkeypatch.setattr(strong, "_SERIAL", 0)


@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(name, eager):
    graph = small_graphs()[name]
    expected = of_networkx(graph)
    for threads in (1, 4):
        result = gpop.strong_components(graph, threads=threads)
        assert np.array_equal(result.label, expected)
        assert result.count == np.unique(expected).size
    assert verify(graph, result) is None


def cliques_in_a_row() -> gpop.Graph:
    """Rings of 1 to 60 vertices in a row, each with an edge to the next ring; ids are shuffled."""
    tails, heads, first = [], [], 0
    for size in range(1, 61):
        ring = first + np.arange(size)
        tails += [ring, ring[-1:]]
        heads += [np.roll(ring, -1), ring[-1:] + 1]
        first += size
    ids = np.random.default_rng(1).permutation(first + 1)
    return gpop.Graph.from_edges(ids[np.concatenate(tails)], ids[np.concatenate(heads)])


LARGE = {
    "rmat": lambda: generate("rmat", scale=14, degree=8, seed=1),
    "uniform": lambda: generate("uniform", scale=14, degree=8, seed=1),
    "sparse": lambda: generate("uniform", scale=14, degree=2, seed=1),
    "directed chain": lambda: gpop.Graph.from_edges(np.arange(20_000), np.arange(1, 20_001)),
    "ring": lambda: gpop.Graph.from_edges(np.arange(20_000), np.roll(np.arange(20_000), -1)),
    "road": lambda: generate("road", width=100, height=100, seed=1),
    "rings": cliques_in_a_row,
}


@pytest.mark.parametrize("name", LARGE)
def test_large_graphs(name, eager):
    graph = LARGE[name]()
    for threads in (1, 2, 4):
        for _ in range(3):
            assert verify(graph, gpop.strong_components(graph, threads=threads)) is None


def test_a_giant_component_is_found_from_a_part_of_the_edges():
    graph = LARGE["uniform"]()
    _, forward_and_backward, rest = gpop.strong_components(graph).trace.column("active_edges")
    assert forward_and_backward < graph.m / 3
    assert rest < graph.m / 100


@pytest.mark.parametrize("turned", [False, True])
def test_without_cycles_nothing_is_searched(turned):
    tails, heads = np.triu_indices(300, 1)
    ends = (heads, tails) if turned else (tails, heads)
    graph = gpop.Graph.from_edges(*ends)
    trimmed, searched, rest = gpop.strong_components(graph).trace.column("active_edges")
    assert trimmed <= 2 * graph.m
    assert searched == rest == 0


def test_few_threads_do_not_search_where_much_was_trimmed():
    """A ring of 30, and 70 that only lead to it: searches are for more threads."""
    tails = np.concatenate([np.arange(100), [99]])
    heads = np.concatenate([np.full(70, 70), np.arange(71, 100), [70, 80]])
    graph = gpop.Graph.from_edges(tails, heads)
    searched = [gpop.strong_components(graph, threads=threads).trace[1]["active_edges"] for threads in (1, 2)]
    assert searched == [0, 0]
    assert gpop.strong_components(graph).count == 71
    alone = gpop.Graph.from_edges(tails[70:], heads[70:], n=300)  # no edges, no say
    assert gpop.strong_components(alone).trace[1]["active_edges"] > 0


def test_without_a_giant_component_the_rest_is_walked_once():
    graph = LARGE["rings"]()
    trimmed, _, rest = gpop.strong_components(graph).trace.column("active_edges")
    assert trimmed <= 2 * graph.m
    assert 0 < rest <= graph.m


def test_orders_and_options():
    graph = small_graphs()["odd n"]
    plain, turned = (gpop.strong_components(graph, reorder=each).label for each in ("none", "random"))
    assert np.array_equal(plain, turned)
    with pytest.raises(gpop.UsageError, match="mode means nothing to strong_components"):
        gpop.strong_components(graph, mode="pc")
    assert gpop.strong_components(gpop.Graph.from_edges([], [], n=0)).count == 0


def test_verify_sees_a_fault():
    graph = small_graphs()["odd n"]
    result = gpop.strong_components(graph)
    assert "but SciPy finds" in verify(graph, replace(result, count=result.count - 1))
    assert "1 labels" in verify(graph, replace(result, label=np.append(result.label[:-1], 0)))
