"""Shortest paths on lists against SciPy's Dijkstra: graphs of all kinds, and every kind of step."""

from __future__ import annotations

import numpy as np
import pytest

from gpop.direct import shortest_paths
from gpop.direct import shortest_paths_steps as steps
from gpop.direct.shortest_paths import search
from gpop.generate import generate
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.layout import by_weight
from gpop.model.light_first import FARTHEST, PHASES
from tests.apps import reference
from tests.graphs import small_graphs

GRAPHS = small_graphs()


def found(graph, source, threads=1, unit=None):
    unit = unit or float(graph.weights.mean()) * graph.n / max(graph.m, 1) if graph.m else 1.0
    result = search(graph, source, unit, threads)
    return np.where(result.distance < FARTHEST, result.distance, np.inf), result


def weighted(graph, largest, seed=3):
    weights = np.random.default_rng(seed).integers(0, largest, graph.m, endpoint=True, dtype=np.uint32)
    return reference.with_weights(graph, weights)


@pytest.mark.parametrize("name", GRAPHS)
def test_small_graphs(name):
    graph = weighted(GRAPHS[name], 20)
    for source in range(0, graph.n, max(1, graph.n // 3)):
        assert np.array_equal(found(graph, source)[0], reference.distances(graph, source))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_many_edges_for_each_vertex(threads):
    graph = generate("rmat", scale=12, degree=16, seed=5, symmetrize=True, weights=(1, 255))
    directed = generate("rmat", scale=12, degree=16, seed=6, weights=(0, 1000))
    for each in (graph, directed):
        source = int(each.out_degree.argmax())
        distance, result = found(each, source, threads)
        assert np.array_equal(distance, reference.distances(each, source))
        edges = dict(zip(PHASES, result.edges.tolist(), strict=True))
        assert 0 < sum(edges.values()) < each.m / 2  # most edges are never looked at
        assert edges["near"] > 0 < edges["pull"]


def test_a_rest_does_not_come_back_to_lists_that_are_through(monkeypatch):
    graph = generate("uniform", scale=10, degree=8, seed=1, weights=(1, 255))
    spaces, make = [], shortest_paths._space
    monkeypatch.setattr(shortest_paths, "_space", lambda *given: spaces.append(make(*given)) or spaces[-1])
    found(graph, int(graph.out_degree.argmax()))
    bits = np.unpackbits(spaces[-1].through.view(np.uint8), bitorder="little")
    through = np.flatnonzero(bits)
    assert through.size > graph.n / 16
    assert np.array_equal(spaces[-1].sent[through], graph.out_degree[through])


@pytest.mark.parametrize("unit", [1e-3, 1.0, 30.0, 1e12])
def test_any_width_of_buckets(unit):
    graph = weighted(generate("rmat", scale=9, degree=8, seed=2), 99)
    for source in (0, 17):
        assert np.array_equal(found(graph, source, 2, unit)[0], reference.distances(graph, source))


def test_a_long_way_to_many_edges():
    """The cut jumps over a gap of weights, without a rest for each stretch of it."""
    core = generate("rmat", scale=9, degree=16, seed=4, symmetrize=True, weights=(1, 50))
    tails = np.repeat(np.arange(core.n), core.out_degree)
    hub = int(core.out_degree.argmax())
    graph = Graph.from_edges([core.n, *tails], [hub, *core.indices], np.array([10**8, *core.weights]))
    distance, result = found(graph, core.n, unit=1.0)
    assert np.array_equal(distance, reference.distances(graph, core.n))
    assert result.edges[PHASES.index("pull")] > 0


def test_long_paths_end_in_one_last_rest():
    graph = generate("grid", width=60, height=50, weights=(1, 9), seed=1)
    distance, result = found(graph, 0, 2, unit=0.5)
    assert np.array_equal(distance, reference.distances(graph, 0))
    assert result.edges.sum() < 6 * graph.m


def test_a_later_search_has_what_an_earlier_one_worked_in_and_leaves_its_results():
    graph = generate("rmat", scale=10, degree=12, seed=8, symmetrize=True, weights=(1, 90))
    rooms, hub = [], int(graph.out_degree.argmax())
    for source in (hub, 3, hub):
        alone = generate("rmat", scale=10, degree=12, seed=8, symmetrize=True, weights=(1, 90))
        result, other = search(graph, source, 2.0, 1), search(alone, source, 2.0, 1)
        kept = (result.distance, result.edges, result.phase_seconds)
        before = [array.copy() for array in kept]
        rooms.append(graph.store.get(Kind.PROGRAM, (shortest_paths.KEPT, 1))[:])
        search(graph, 5, 2.0, 1)
        for array, was in zip(kept, before, strict=True):
            assert np.array_equal(array, was)
        assert np.array_equal(result.distance, other.distance) and result.below == other.below
        assert np.array_equal(result.edges, other.edges)
    assert rooms[0] == rooms[1] == rooms[2] and len(rooms[0]) == 1


def test_a_search_while_another_has_the_room():
    graph = weighted(generate("rmat", scale=8, degree=8, seed=2), 99)
    wanted = found(graph, 0, 1, 2.0)[0]
    spare = graph.store.get(Kind.PROGRAM, (shortest_paths.KEPT, 1))
    theirs = spare.pop()
    assert np.array_equal(found(graph, 0, 1, 2.0)[0], wanted)
    assert len(spare) == 1 and spare[0] is not theirs


def test_what_is_as_far_as_can_be_is_not_reached():
    graph = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 4], np.array([2**30, 2**30 - 2, 1, 2**31], np.uint32))
    assert search(graph, 0, 1.0, 1).distance.tolist() == [0, 2**30, 2**31 - 2, FARTHEST, FARTHEST]


def test_a_pull_finds_what_is_one_nearer_than_the_farthest():
    """All that a pull improves has no distance yet: edges that wait lead farther than all that have one."""
    core = generate("rmat", scale=9, degree=16, seed=4, symmetrize=True, weights=(1, 50))
    tails = np.repeat(np.arange(core.n), core.out_degree)
    hub = int(core.out_degree.argmax())
    graph = Graph.from_edges([hub, *tails], [core.n, *core.indices], np.array([FARTHEST - 1, *core.weights]))
    distance, result = found(graph, hub, unit=1.0)
    assert result.edges[PHASES.index("pull")] > 0
    assert distance[core.n] == FARTHEST - 1


def test_edges_by_weight_are_kept_and_found():
    graph = generate("rmat", scale=7, degree=20, seed=3, weights=(1, 60))
    lines = by_weight.lines_by_weight(graph, 2)
    assert by_weight.lines_by_weight(graph, 1) is lines
    assert [line.kind for line in graph.kept()] == ["edges by weight"]
    assert graph.out_degree.min() < by_weight.LONGEST < graph.out_degree.max()  # both ways to sort
    tails = np.repeat(np.arange(graph.n), graph.out_degree)
    order = np.lexsort((graph.indices, graph.weights, tails))
    assert np.array_equal(lines >> np.uint64(32), graph.weights[order])
    assert np.array_equal(lines.astype(np.uint32), graph.indices[order])


def test_every_kind_of_step_has_a_slot():
    assert steps.EDGES + steps.OVER <= steps.TIMES < steps.TIMES + steps.OVER <= steps.SLOTS
