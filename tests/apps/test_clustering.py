"""Clustering as an app: NetworkX where it has the same definition, Graphalytics' examples, any lists."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.apps.clustering import verify
from gpop.generate import generate
from tests.apps import graphalytics
from tests.graphs import small_graphs


@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(name):
    graph = small_graphs()[name]
    result = gpop.clustering(graph, threads=2)
    assert result.directed == (not graph.is_symmetric())
    assert verify(graph, result) is None
    if not result.directed:
        pairs = nx.Graph(graph.to_networkx())
        pairs.remove_edges_from(list(nx.selfloop_edges(pairs)))
        assert result.triangles.tolist() == [nx.triangles(pairs)[v] for v in range(graph.n)]
        expected = [nx.clustering(pairs)[v] for v in range(graph.n)]
        np.testing.assert_allclose(result.coefficient, expected, rtol=1e-15)
        assert result.transitivity == pytest.approx(nx.transitivity(pairs))
        assert result.average == pytest.approx(nx.average_clustering(pairs))


@pytest.mark.parametrize("name", graphalytics.EXAMPLES)
def test_examples_of_graphalytics(name):
    example = graphalytics.EXAMPLES[name]
    found = gpop.clustering(example.graph()).coefficient
    assert np.abs(found - example.lcc).max() < 1e-15


def test_lists_in_no_order_are_no_fault():
    for graph in (generate("rmat", scale=7, degree=6, seed=2, symmetrize=flag) for flag in (True, False)):
        rows = np.split(graph.indices, graph.indptr[1:-1])
        turned = gpop.Graph.from_csr(graph.indptr, np.concatenate([row[::-1] for row in rows]))
        assert np.array_equal(gpop.clustering(turned).links, gpop.clustering(graph).links)


def test_no_vertices():
    result = gpop.clustering(gpop.Graph.from_edges([], [], n=0))
    assert (result.coefficient.size, result.average, result.transitivity) == (0, 0, 0)


def test_a_directed_graph_has_no_count_of_triangles():
    with pytest.raises(gpop.UsageError, match="triangles of a directed graph: make it symmetric first"):
        _ = gpop.clustering(gpop.Graph.from_edges([0, 0, 1], [1, 2, 2])).triangles


def test_options_of_messages_are_refused():
    with pytest.raises(gpop.UsageError, match="partition_size means nothing to clustering"):
        gpop.clustering(gpop.Graph.from_edges([0], [1]), partition_size=4)


def test_verify_sees_a_fault():
    graph = generate("rmat", scale=8, degree=8, seed=1)
    result = gpop.clustering(graph)
    other = result.coefficient.copy()
    other[np.argmax(other)] *= 0.999
    assert "1 coefficients are wrong: vertex" in verify(graph, replace(result, coefficient=other))
