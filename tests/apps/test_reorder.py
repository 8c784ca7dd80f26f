"""Runs in another order of the vertices: results, sources and errors are in the ids of the given graph."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import gpop
from gpop.apps import bfs, sssp
from gpop.apps.reorder import messages_per_edge, reordered
from gpop.common.parallel import worker_count
from gpop.generate import generate
from gpop.graph.transform import ORDERS
from gpop.layout.bins import bins_of
from gpop.layout.partition import partition_bits
from tests.apps import reference


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
    other = graph.cache["reordered", "degree"]
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
    assert sssp.sssp is inspect.unwrap(gpop.sssp)
