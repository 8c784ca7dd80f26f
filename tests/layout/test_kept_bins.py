"""Bins are built once and stay with the graph (files: test_bins_file.py)."""

from __future__ import annotations

from gpop.graph.graph import Graph
from gpop.layout.kept_bins import bins_of


def test_built_once_and_kept_with_the_graph():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0])
    first, seconds = bins_of(graph, 1, 1)
    again, no_seconds = bins_of(graph, 1, 4)
    assert again is first
    assert seconds > 0
    assert no_seconds == 0
    assert bins_of(graph, 0, 1)[0] is not first
