"""Runs in another order of the vertices: results, sources and errors are in the ids of the given graph."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, get_type_hints

import numpy as np
import pytest

import gpop
from gpop.apps import bfs
from gpop.apps.holds import held
from gpop.apps.reorder import messages_per_edge, reorderable, reordered
from gpop.apps.result import AppResult, Holds, holds
from gpop.common.parallel import worker_count
from gpop.generate import generate
from gpop.graph.kept import Kind
from gpop.graph.transform import ORDERS
from gpop.layout.kept_bins import bins_of
from gpop.layout.partition import partition_bits
from tests.apps import reference
from tests.quick import quick


def directed() -> gpop.Graph:
    return generate("rmat", scale=8, degree=4, seed=4, weights=(1, 255), permute=True)


@pytest.mark.parametrize("order", ORDERS)
def test_every_app_gives_what_it_gives_without(order):
    graph = directed()
    source = int(np.argmax(graph.out_degree))
    found = gpop.bfs(graph, source, reorder=order)
    assert np.array_equal(found.level, gpop.bfs(graph, source).level)
    assert bfs.verify(graph, found, source) is None
    assert np.array_equal(gpop.sssp(graph, source, reorder=order).distance, gpop.sssp(graph, source).distance)
    rank = gpop.pagerank(graph, iterations=5).rank
    np.testing.assert_allclose(gpop.pagerank(graph, iterations=5, reorder=order).rank, rank, rtol=1e-5)
    for method in ("labels", "afforest"):
        found = gpop.connected_components(graph, method, reorder=order)
        assert np.array_equal(found.label, reference.smallest_labels(graph))
    here = gpop.nibble(graph, [source, 3], iterations=2, reorder=order)
    there = gpop.nibble(graph, [source, 3], iterations=2)
    assert np.array_equal(here.vertices, there.vertices)
    np.testing.assert_allclose(here.probability, there.probability, rtol=1e-5)
    for found in (here, there):  # in original ids; messages of 0 may touch others, in modes that send them
        assert np.isin(found.vertices, found.run.touched).all()
        assert found.run.touched.size < graph.n
    triangles = {gpop.triangle_count(graph, reorder=each).count for each in ("none", order)}
    assert len(triangles) == 1


def test_the_order_is_made_once_and_reported():
    graph = directed()
    first = gpop.pagerank(graph, iterations=1, reorder="degree").trace.summary["reorder"]
    other = graph.store.get(Kind.REORDERED, "degree")
    again = gpop.pagerank(graph, iterations=1, reorder="degree").trace.summary["reorder"]
    assert again is first is other.summary
    assert reordered(graph, "degree") is other
    assert first["order"] == "degree"
    assert first["seconds"] > 0
    assert (np.diff(other.graph.out_degree.astype(int)) <= 0).all()
    assert "reorder" not in gpop.pagerank(graph, iterations=1).trace.summary


def test_r_is_that_of_the_layout():
    graph = generate("rmat", scale=12, degree=8, seed=1, permute=True)
    bins, _ = bins_of(graph, partition_bits(graph.n, worker_count(), edges=graph.m), 1)
    assert messages_per_edge(graph) == bins.messages / graph.m
    summary = reordered(graph, "degree").summary
    assert summary["r_before"] == messages_per_edge(graph)
    assert summary["r_after"] < 0.9 * summary["r_before"]


def test_the_frontier_left_is_in_the_given_ids():
    chain = generate("chain", vertices=50)
    assert gpop.bfs(chain, 0, iterations=7, reorder="random").run.frontier.tolist() == [7]


def test_errors_are_about_the_given_graph():
    graph = directed()
    with pytest.raises(gpop.UsageError, match="source 256 is not in the graph: its vertices are 0 to 255"):
        gpop.bfs(graph, 256, reorder="degree")
    with pytest.raises(gpop.UsageError, match="reorder 'size': expected none, degree, random, bfs, rcm"):
        gpop.pagerank(graph, reorder="size")
    with pytest.raises(gpop.UsageError, match="negative"):
        gpop.sssp(gpop.Graph.from_edges([0, 1], [1, 0], [1, -3]), 0, reorder="degree")
    with pytest.raises(gpop.UsageError, match=r"beta of type int64, \(257,\): expected a number, or 256 of"):
        gpop.katz(graph, beta=range(257), reorder="degree")


@dataclass(frozen=True, kw_only=True)
class NearestResult(AppResult):
    """What a user's own one-call function may return."""

    nearest: np.ndarray = holds(Holds.VERTICES)
    hops: np.ndarray = holds(Holds.VALUES)
    found: np.ndarray = holds(Holds.LIST)
    weight: np.ndarray = holds(Holds.BESIDE_LIST)
    cell: np.ndarray = holds(Holds.COMPONENTS)


class Nearest(gpop.Program):
    nearest = gpop.VertexField(np.int32, -1)
    hops = gpop.VertexField(np.int32)

    def scatterFunc(self, node):
        return self.nearest[node]

    def gatherFunc(self, value, node):
        if self.nearest[node] < 0:
            self.nearest[node] = value
            self.hops[node] = self.iteration + 1
            return True
        return False


@reorderable
def from_seeds(graph: gpop.Graph, seeds: Any, **options: Any) -> NearestResult:
    """The seed that reaches a vertex first; the seeds must be too far apart to reach one at once."""
    program = Nearest(graph)
    program.nearest[seeds] = seeds
    run = gpop.run(program, frontier=seeds, **options)
    found = np.flatnonzero(program.nearest >= 0)
    first = np.full(graph.n, graph.n, np.int32)
    np.minimum.at(first, program.nearest[found], found)
    cell = np.arange(graph.n)
    cell[found] = first[program.nearest[found]]
    return NearestResult(
        nearest=program.nearest,
        hops=program.hops,
        found=found,
        weight=graph.out_degree[found],
        cell=cell,
        run=run,
    )


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.slow
def test_a_result_of_ones_own_is_in_the_given_ids(order):
    graph = gpop.Graph.from_edges([3, 5, 0, 1, 1, 6], [5, 0, 2, 4, 6, 7], n=10)
    found = from_seeds(graph, [3, 1], reorder=order)
    expected = [3, 1, 3, 3, 1, 3, 1, 1, -1, -1]
    assert found.nearest.tolist() == expected
    assert found.hops.tolist() == [2, 0, 3, 0, 1, 1, 1, 2, 0, 0]
    assert found.found.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert found.weight.tolist() == graph.out_degree[:8].tolist()
    assert found.cell.tolist() == [0, 1, 0, 0, 1, 0, 1, 1, 8, 9]


def shipped_calls() -> dict[str, Any]:
    """Every function of the package that takes ``reorder=``."""
    calls = {name: getattr(gpop, name) for name in gpop.__all__}
    return {name: call for name, call in calls.items() if takes_an_order(call)}


def takes_an_order(call: Any) -> bool:
    """Whether a public name is a function with the option."""
    return inspect.isfunction(call) and "reorder" in inspect.signature(call).parameters


@pytest.mark.parametrize("order", quick(ORDERS, "degree"))
@pytest.mark.parametrize("name", shipped_calls())
def test_every_field_of_every_shipped_result_is_in_the_given_ids(name, order):
    """Compared with a run without: vertices and components exactly, values as closely as float32 sums."""
    graph = generate("rmat", scale=7, degree=3, seed=4, weights=(1, 255), permute=True, symmetrize=True)
    call = shipped_calls()[name]
    takes_a_vertex = {"source", "seeds"} & {*inspect.signature(call).parameters}
    given = [int(np.argmax(graph.out_degree))] if takes_a_vertex else []
    here, there = call(graph, *given, reorder=order), call(graph, *given)
    assert held(here) and type(here) is get_type_hints(inspect.unwrap(call))["return"]
    for field, what in held(here).items():
        mine, other = getattr(here, field), getattr(there, field)
        assert isinstance(mine, np.ndarray) == (what not in (Holds.NO_VERTICES, Holds.VERTEX)), field
        if name == "bfs" and what is Holds.VERTICES:  # a breadth-first tree has many parents to choose from
            assert np.array_equal(mine < 0, other < 0)
            assert bfs.verify(graph, here, *given) is None
        elif what in (Holds.VALUES, Holds.BESIDE_LIST):
            np.testing.assert_allclose(mine, other, rtol=1e-5, err_msg=field)
        else:
            assert np.array_equal(mine, other), field


@pytest.mark.parametrize("value", [None, 7, holds("vertices")])
def test_a_field_that_does_not_say_what_it_holds_is_refused(value):
    with pytest.raises(gpop.ProgramError, match="Silent.centre: expected a field that says what it holds"):

        class Silent(AppResult):
            centre: np.ndarray = value

    with pytest.raises(gpop.ProgramError, match="Bare.centre: expected a field that says"):

        class Bare(AppResult):
            centre: np.ndarray
