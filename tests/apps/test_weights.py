"""Sums of the weights of out-edges, whatever their type and wherever vertices have no edges."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.apps import weights
from gpop.generate import generate
from tests.apps import reference


@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("block", [1, 5, 1 << 20])
def test_sums_of_every_type(monkeypatch, block, dtype):
    monkeypatch.setattr(weights, "BLOCK", block)
    graph = generate("rmat", scale=6, degree=3, seed=1)
    assert (graph.out_degree == 0).sum() > 9
    graph = reference.with_weights(graph, (np.random.default_rng(1).random(graph.m) * 100).astype(dtype))
    tails = np.repeat(np.arange(graph.n), graph.out_degree)
    expected = np.bincount(tails, graph.weights.astype(np.float64), graph.n)
    found = weights.out_weights(graph, "pagerank")
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert weights.out_weights(graph, "pagerank") is found


def test_narrow_types_do_not_wrap_around():
    graph = gpop.Graph.from_edges(np.zeros(300, int), np.arange(300), np.full(300, 255, np.uint8))
    assert weights.out_weights(graph, "pagerank")[0] == 300 * 255
    single = reference.with_weights(
        graph, np.full(300, 2.0**24, np.float32) + np.arange(300, dtype=np.float32)
    )
    assert weights.out_weights(single, "pagerank")[0] == single.weights.sum(dtype=np.float64)


def test_a_sum_beyond_all_numbers_is_refused_in_one_line():
    graph = gpop.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.5e308, 1.2e308, 1.0])
    with pytest.raises(gpop.UsageError, match="the weights of vertex 0 sum to inf: expected 0, or from"):
        gpop.pagerank(graph, weighted=True)


def test_without_edges():
    for n in (0, 3):
        graph = gpop.Graph.from_edges([], [], np.empty(0), n=n)
        assert weights.out_weights(graph, "pagerank").tolist() == [0] * n
