"""Label propagation against counting in dictionaries; counts that run full, hubs, and who chooses anew."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from gpop.direct import label_propagation
from gpop.direct.label_propagation import propagate
from gpop.generate import generate
from gpop.graph.graph import Graph
from tests.graphs import small_graphs


def counted(graph: Graph, label: list[int], iterations: int, both: bool) -> list[int]:
    """The definition, vertex by vertex."""
    neighbours: list[list[int]] = [[] for _ in range(graph.n)]
    tails = np.repeat(np.arange(graph.n), graph.out_degree)
    for u, v in zip(tails.tolist(), graph.indices.tolist(), strict=True):
        neighbours[u].append(v)
        if both:
            neighbours[v].append(u)
    for _ in range(iterations):
        votes = [Counter(label[u] for u in neighbours[v]) for v in range(graph.n)]
        label = [min(votes[v], key=lambda x: (-votes[v][x], x), default=label[v]) for v in range(graph.n)]
    return label


def check(graph: Graph, label: np.ndarray, iterations: int, threads: int, both: bool) -> list:
    expected = counted(graph, label.tolist(), iterations, both)
    found = label.copy()
    steps = propagate(graph, graph.reverse() if both else graph, found, iterations, threads)
    assert found.tolist() == expected
    return steps


@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(name, monkeypatch):
    monkeypatch.setattr(label_propagation, "_SERIAL", 0)
    monkeypatch.setattr(label_propagation, "_EDGES", 60)
    graph = small_graphs()[name]
    given = [np.arange(graph.n, dtype=np.uint32)]
    given.append(np.random.default_rng(1).permutation(given[0]))
    for label in given:
        for both in {True, not graph.equals_reverse()}:
            for threads in (1, 3):
                check(graph, label, 6, threads, both)


@pytest.mark.parametrize("both", [True, False])
def test_larger_graphs_with_threads(both):
    graph = generate("rmat", scale=12, degree=12, seed=5, symmetrize=not both)
    for threads in (1, 2, 4):
        steps = check(graph, np.arange(graph.n, dtype=np.uint32), 8, threads, both)
        assert steps[0].edges == graph.m * (1 + both)
        assert steps[0].changed > 0.3 * graph.n
        assert steps[-1].edges < steps[0].edges / 10  # few choose anew


def test_all_labels_of_a_hub_are_different():
    """Of equals the smallest wins."""
    star = generate("star", vertices=5000)
    label = np.random.default_rng(3).permutation(np.arange(5000, dtype=np.uint32))
    check(star, label, 1, 2, False)
    check(star, label, 4, 2, True)


def test_counts_that_run_full_begin_anew(monkeypatch):
    """They go on from list to list, and are cleared before they no longer fit."""
    make = label_propagation._state

    def nearly_full(n: int, threads: int) -> tuple[np.ndarray, ...]:
        state = make(n, threads)
        state[-1][:, n] = label_propagation._MOST - 100
        return state

    graph = generate("rmat", scale=8, degree=8, seed=2, symmetrize=True)
    monkeypatch.setattr(label_propagation, "_state", nearly_full)
    check(graph, np.arange(graph.n, dtype=np.uint32), 3, 1, False)
    given = nearly_full(graph.n, 1)
    monkeypatch.setattr(label_propagation, "_state", lambda n, threads: given)
    check(graph, np.arange(graph.n, dtype=np.uint32), 3, 1, False)
    assert 0 < given[-1][0, graph.n] < label_propagation._MOST - 100


def test_it_ends_where_nothing_changes():
    chain = generate("rmat", scale=8, degree=8, seed=1, symmetrize=True)
    label = np.zeros(chain.n, np.uint32)
    steps = propagate(chain, chain, label, 50, 1)
    assert [step.changed for step in steps] == [0]
    assert propagate(chain, chain, label, 0, 1) == []


def test_oscillation_goes_on():
    pair = Graph.from_edges([0, 1], [1, 0])
    label = np.arange(2, dtype=np.uint32)
    assert [step.changed for step in propagate(pair, pair, label, 5, 1)] == [2] * 5
    assert label.tolist() == [1, 0]
