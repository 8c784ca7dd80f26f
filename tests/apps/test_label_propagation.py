"""Label propagation as an app: Graphalytics' examples, ids that decide, the verifier."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gpop
from gpop.apps.label_propagation import verify
from gpop.generate import generate
from gpop.graph.transform import relabel
from tests.apps import graphalytics
from tests.graphs import small_graphs


@pytest.mark.parametrize("name", graphalytics.EXAMPLES)
def test_examples_of_graphalytics(name):
    example = graphalytics.EXAMPLES[name]
    graph = example.graph()
    for order in ("none", "random"):
        result = gpop.label_propagation(graph, example.iterations, reorder=order)
        assert graph.original_ids[result.label].tolist() == example.cdlp
        assert result.count == len(set(example.cdlp))


@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(name):
    graph = small_graphs()[name]
    for iterations in (0, 1, 5):
        result = gpop.label_propagation(graph, iterations, threads=2)
        assert verify(graph, result, iterations) is None
        assert result.count == np.unique(result.label).size
        assert result.iterations == result.run.iterations <= iterations


def test_ids_decide_and_not_the_order_of_the_vertices():
    graph = generate("rmat", scale=8, degree=4, seed=2)
    expected = gpop.label_propagation(graph).label
    shuffled = relabel(graph, "random", seed=4)
    for order in ("none", "degree"):
        found = gpop.label_propagation(shuffled, reorder=order)
        assert np.array_equal(shuffled.original_ids[found.label], expected[shuffled.original_ids])
        assert verify(shuffled, found) is None


def test_a_neighbour_in_both_directions_counts_twice():
    graph = gpop.Graph.from_edges([3, 0, 3, 3], [0, 3, 1, 2], n=4)
    assert gpop.label_propagation(graph, 1).label.tolist() == [3, 3, 3, 0]
    graph = gpop.Graph.from_edges([3, 2, 3, 3], [0, 3, 1, 2], n=4)
    assert gpop.label_propagation(graph, 1).label[3] == 2


def test_duplicates_count_as_often_as_they_occur():
    graph = gpop.Graph.from_edges([2, 2, 0, 0, 1, 1, 2], [0, 1, 2, 1, 0, 2, 1])
    assert graph.is_symmetric() and not graph.equals_reverse()
    assert gpop.label_propagation(graph, 1).label.tolist() == [1, 2, 1]


def test_the_trace_has_an_iteration_a_row():
    graph = generate("rmat", scale=9, degree=8, seed=2, symmetrize=True)
    result = gpop.label_propagation(graph, 2)
    assert result.trace.column("active_edges")[0] == graph.m
    assert len(result.trace.summary["changed"]) == len(result.trace) == 2
    assert not result.converged
    long = gpop.label_propagation(graph, 400)
    assert long.converged == (long.iterations < 400) == (long.trace.summary["changed"][-1] == 0)


def test_what_is_refused():
    graph = gpop.Graph.from_edges([0], [1])
    with pytest.raises(gpop.UsageError, match="iterations -1: expected a whole number from 0 on"):
        gpop.label_propagation(graph, -1)
    with pytest.raises(gpop.UsageError, match="mode means nothing to label_propagation"):
        gpop.label_propagation(graph, mode="pc")


def test_verify_sees_a_fault():
    graph = generate("rmat", scale=8, degree=8, seed=1)
    result = gpop.label_propagation(graph)
    label = result.label.copy()
    label[5] += 1
    assert verify(graph, replace(result, label=label)).startswith("1 labels differ")
