"""Afforest against NetworkX on all kinds of graphs, with partitions and threads in every combination."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from gpop.direct import afforest
from gpop.direct.afforest import COMPARE, COMPRESS, HOOK, JOIN, PHASES, REST, grow
from gpop.generate import generate
from gpop.graph.graph import Graph
from tests.apps import reference
from tests.graphs import small_graphs


@pytest.fixture
def eager(monkeypatch):
    """Threads take part however small the graph."""
    monkeypatch.setattr(afforest, "_SERIAL", 0)


@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(name, eager):
    graph = small_graphs()[name]
    expected = reference.smallest_labels(graph)
    for directed in {True, not graph.is_symmetric()}:
        for bits in (2, 6, 10):
            for threads in (1, 2, 4):
                forest = grow(graph, directed, bits, threads)
                assert np.array_equal(forest.parent, expected), (directed, bits, threads)
                assert forest.count == np.unique(expected).size


def shuffled(graph: Graph, seed: int) -> Graph:
    """The graph with random vertex ids and lists in no order."""
    rng = np.random.default_rng(seed)
    ids = rng.permutation(graph.n)
    sources = np.repeat(np.arange(graph.n), graph.out_degree)
    order = np.lexsort((rng.random(graph.m), ids[sources]))
    indptr = np.append(0, np.cumsum(np.bincount(ids[sources], minlength=graph.n)))
    return Graph(indptr, ids[graph.indices[order]].astype(np.uint32))


def backwards(graph: Graph) -> Graph:
    """The graph with every list in descending order."""
    sources = np.repeat(np.arange(graph.n), graph.out_degree)
    order = np.lexsort((-graph.indices.astype(np.int64), sources))
    return Graph(graph.indptr, graph.indices[order])


def two_giants() -> Graph:
    """Two components of equal size, so that neither is most of a sample, and loose vertices."""
    half = generate("rmat", scale=11, degree=8, seed=5, symmetrize=True)
    tails = np.repeat(np.arange(half.n), half.out_degree)
    return Graph.from_edges(
        np.r_[2 * tails, 2 * tails + 1],
        np.r_[2 * half.indices.astype(np.int64), 2 * half.indices.astype(np.int64) + 1],
        n=2 * half.n + 50,
    )


LARGE = {
    "dense": lambda: generate("rmat", scale=13, degree=16, seed=1, symmetrize=True),
    "dense directed": lambda: generate("rmat", scale=13, degree=16, seed=2),
    "uniform directed": lambda: generate("uniform", scale=13, degree=12, seed=2),
    "sparse": lambda: generate("road", width=90, height=90, seed=1),
    "sparse shuffled": lambda: shuffled(generate("road", width=90, height=90, seed=2), 1),
    "grid": lambda: generate("grid", width=100, height=90),
    "chain": lambda: generate("chain", vertices=10_000),
    "directed chain shuffled": lambda: shuffled(Graph.from_edges(np.arange(9999), np.arange(1, 10_000)), 3),
    "directed chain backwards": lambda: Graph.from_edges(np.arange(1, 10_000), np.arange(9999)),
    "two giants": two_giants,
    "many small": lambda: Graph.from_edges(
        *np.random.default_rng(1).integers(0, 20_000, (2, 9_000)), n=20_000
    ).symmetrize(),
}


@cache
def large(name: str) -> tuple[Graph, np.ndarray]:
    graph = LARGE[name]()
    return graph, reference.smallest_labels(graph)


@pytest.mark.parametrize("name", LARGE)
def test_many_threads_many_times(name, eager):
    graph, expected = large(name)
    for round_ in range(12):
        forest = grow(graph, not graph.is_symmetric(), bits=6 + round_ % 5, threads=1 + round_ % 4)
        assert np.array_equal(forest.parent, expected), round_
        assert forest.count == np.unique(expected).size


def test_hooking_finds_a_grid_and_no_other_edge_is_looked_at():
    grid, _ = large("grid")
    edges = dict(zip(PHASES, grow(grid, False, 10, 1).edges.tolist(), strict=True))
    assert edges == dict.fromkeys(PHASES, 0) | {"hook": grid.n}


def test_edges_of_the_largest_tree_are_skipped():
    graph, _ = large("dense")
    forest = grow(graph, False, 10, 1)
    assert 2 * forest.sampled > afforest.SAMPLES
    assert forest.edges[HOOK] == np.count_nonzero(graph.out_degree)
    assert forest.edges[JOIN] > 0
    assert forest.edges[REST] < graph.m / 20


@pytest.mark.parametrize("threads", [1, 4])
def test_all_of_the_sample_is_looked_up(threads):
    """By whoever takes a share of it. The root is 1, which is in no array by itself."""
    others = np.arange(2, 50_000)
    hub = np.ones_like(others)
    graph = Graph.from_edges(np.append(hub, others), np.append(others, hub), n=50_000)
    assert grow(graph, False, 10, threads).sampled == afforest.SAMPLES


def test_without_a_largest_tree_every_edge_is_looked_at_from_one_end():
    graph, labels = large("two giants")
    looked = {}
    for name, lists in (("ascending", graph), ("in no order", backwards(graph))):
        forest = grow(lists, False, 10, 1)
        assert 2 * forest.sampled <= afforest.SAMPLES
        assert np.array_equal(forest.parent, labels)
        looked[name] = forest.edges[REST]
    hooked = np.count_nonzero(graph.out_degree)
    assert looked["in no order"] == graph.m - hooked
    assert looked["ascending"] <= graph.m / 2  # the lower ends, and one that says that there are no more


def test_a_directed_graph_is_compared_with_its_largest_tree():
    graph, _ = large("uniform directed")
    forest = grow(graph, True, 10, 1)
    assert forest.edges[COMPARE] == graph.m
    assert forest.edges[REST] < graph.m / 4
    assert forest.phase_seconds[COMPRESS] >= 0


def test_no_vertices():
    forest = grow(Graph.from_edges([], [], n=0), False, 0, 2)
    assert (forest.parent.size, forest.count) == (0, 0)


def test_threads_are_called_by_the_work_that_there_is(monkeypatch):
    """Edges count where all are compared; else few beyond each vertex's first are looked at."""
    asked, call = [], afforest.call_together
    monkeypatch.setattr(
        afforest,
        "call_together",
        lambda function, job, threads: (asked.append(threads), call(function, job, threads)),
    )
    graph = generate("rmat", scale=14, degree=16, seed=3)
    assert graph.m == afforest._SERIAL
    grow(graph, directed=True, bits=10, threads=2)
    grow(graph.symmetrize(), directed=False, bits=10, threads=2)
    assert asked[-2:] == [2, 1]


def test_a_forest_that_grows_meanwhile_has_other_arrays(monkeypatch):
    """Another thread's call on the same graph comes between the beginning of one and its end."""
    graph, call, inner = generate("uniform", scale=8, degree=1, seed=2), afforest.call_together, []
    expected = grow(graph, True, 3, 1).parent.tolist()

    def meanwhile(function, job, threads):
        if not inner:
            inner.append(None)
            inner[0] = grow(graph, True, 3, 1)
        call(function, job, threads)

    monkeypatch.setattr(afforest, "call_together", meanwhile)
    outer = grow(graph, True, 3, 1)
    assert outer.parent.tolist() == inner[0].parent.tolist() == expected
    assert outer.count == inner[0].count
