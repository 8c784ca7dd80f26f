"""Greedy colours: those of NetworkX, for every number of threads and in every order; what verify sees."""

from __future__ import annotations

import threading
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from numba import njit

import gpop
from gpop.apps.coloring import verify
from gpop.direct import coloring
from gpop.direct.phases import claim, make_phases
from gpop.generate import generate
from gpop.graph.transform import relabel
from tests.graphs import small_graphs


def expected(graph: gpop.Graph) -> list[int]:
    """NetworkX's colours of the same vertices; loops and duplicates would count for its degrees."""
    pairs = nx.Graph(graph.symmetrize().to_networkx())
    order = sorted(range(graph.n), key=lambda v: -int(graph.symmetrize().out_degree[v]))
    pairs.remove_edges_from(list(nx.selfloop_edges(pairs)))
    colors = nx.greedy_color(pairs, lambda *_: order)
    return [colors[v] for v in range(graph.n)]


@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(name, monkeypatch):
    monkeypatch.setattr(coloring, "_SERIAL", 0)
    graph = small_graphs()[name]
    simple = gpop.Graph(graph.indptr, graph.indices)
    colors = expected(simple)
    for threads in (1, 3):
        result = gpop.coloring(graph, threads=threads)
        if name not in ("duplicate edges",):  # which is symmetric but for their number
            assert result.color.tolist() == colors
        assert result.symmetrized == (not graph.is_symmetric())
        assert verify(graph, result) is None


def test_largest_first_is_that_of_networkx():
    graph = gpop.Graph.from_networkx(nx.les_miserables_graph(), weight=None)
    pairs = nx.convert_node_labels_to_integers(nx.les_miserables_graph())
    colors = nx.greedy_color(pairs, "largest_first")
    assert gpop.coloring(graph).color.tolist() == [colors[v] for v in range(graph.n)]


def test_threads_that_wait_for_each_other():
    """Every vertex of a clique waits for the one before it; and a graph with a dense part."""
    clique = gpop.Graph.from_networkx(nx.complete_graph(400))
    rmat = generate("rmat", scale=12, degree=16, seed=3, symmetrize=True)
    for graph in (clique, rmat):
        colors = gpop.coloring(graph, threads=1).color
        for threads in (2, 4):
            for _ in range(5):
                assert np.array_equal(gpop.coloring(graph, threads=threads).color, colors)
    assert sorted(gpop.coloring(clique).color.tolist()) == list(range(400))


def test_a_vertex_waits_for_what_another_thread_has_claimed():
    """Here the other thread is the test, which takes its time."""
    clique = gpop.Graph.from_networkx(nx.complete_graph(2 * coloring._CHUNK))
    assert gpop.coloring(clique).count == clique.n  # compiles
    order, state = np.arange(clique.n, dtype=np.uint32), np.arange(-1, -1 - clique.n, -1)
    phases, seen = make_phases(1), np.zeros(clique.n + 1, np.uint32)
    assert njit(claim)(phases, 0) == 0
    arguments = (clique.indptr, clique.indices, order, state, seen, phases)
    other = threading.Thread(target=coloring._color, args=arguments, daemon=True)
    other.start()
    other.join(0.2)
    assert other.is_alive() and (state < 0).all()
    for v in range(coloring._CHUNK):
        state[v] = v
    other.join(60)
    assert not other.is_alive()
    assert state.tolist() == list(range(clique.n))


@pytest.mark.parametrize(("kind", "options", "workers"), [
    ("grid", {"width": 64, "height": 64}, 1),
    ("uniform", {"scale": 12, "degree": 8, "symmetrize": True}, 2),
])  # fmt: skip
def test_one_thread_colors_where_each_vertex_follows_the_one_before(kind, options, workers, monkeypatch):
    """Others would wait for it at the end of every chunk; and the colours are the same."""
    monkeypatch.setattr(coloring, "_SERIAL", 0)
    counts, together = [], coloring.together
    monkeypatch.setattr(
        coloring, "together", lambda work, threads: (counts.append(threads), together(work, threads))[1]
    )
    graph = generate(kind, **options, seed=1) if kind == "uniform" else generate(kind, **options)
    alone = gpop.coloring(graph, threads=1).color
    assert np.array_equal(gpop.coloring(graph, threads=2).color, alone)
    assert counts[-1] == workers


def test_ids_decide_between_equal_degrees():
    graph = generate("uniform", scale=8, degree=4, seed=2, symmetrize=True)
    colors = gpop.coloring(graph).color
    shuffled = relabel(graph, "random", seed=4)
    for order in ("none", "rcm"):
        assert np.array_equal(gpop.coloring(shuffled, reorder=order).color, colors[shuffled.original_ids])


def test_verify_sees_a_fault():
    graph = generate("rmat", scale=7, degree=8, seed=1)
    result = gpop.coloring(graph)
    assert verify(graph, replace(result, color=np.zeros_like(result.color))).endswith("of the same color")
    wasteful = result.color + (result.color == result.color.max())
    assert "but a smaller one was left" in verify(graph, replace(result, color=wasteful))
    assert "but there are others" in verify(graph, replace(result, count=result.count + 1))
