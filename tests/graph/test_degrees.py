"""What degrees say of a graph, and that it is looked at once."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.graph.degrees import squared_degrees, unevenness


def test_evenness_of_kinds_of_graphs():
    grid, crowd = generate("grid", width=40, height=40), generate("rmat", scale=10, degree=8)
    assert 1 <= unevenness(grid) < 1.2 < 5 < unevenness(crowd)
    degree = np.diff(crowd.indptr).astype(float)
    assert unevenness(crowd) == pytest.approx((degree**2).mean() / degree.mean() ** 2)
    assert unevenness(gpop.Graph.from_edges([], [], n=3)) == 0


def test_squares_are_kept_with_the_graph():
    graph = generate("rmat", scale=6, degree=4)
    expected = int((np.diff(graph.indptr) ** 2).sum())
    assert squared_degrees(graph) == expected == graph.facts.squared_degrees
    graph.facts.squared_degrees = 7
    assert squared_degrees(graph) == 7


def test_two_threads_that_ask_first_get_the_same_degrees(monkeypatch):
    graph, others, subtract = gpop.Graph.from_edges([0, 0, 2], [1, 2, 1]), [], np.subtract

    def another_thread_first(*arguments, **options):
        monkeypatch.undo()
        others.append(graph.out_degree)  # a run may have its address by now
        return subtract(*arguments, **options)

    monkeypatch.setattr(np, "subtract", another_thread_first)
    assert graph.out_degree is others[0] and graph.out_degree is others[0]
    assert others[0].tolist() == [2, 0, 1]
