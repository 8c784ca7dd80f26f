"""In-edges, and how many vertices have some: what a search knows of who can want a message."""

from __future__ import annotations

import numpy as np

import gpop
from gpop.apps.bfs import BFS
from gpop.cpu import loop_state
from gpop.cpu.engine import CpuEngine
from gpop.generate import generate
from gpop.layout.in_edges import in_edges, kept_in_edges, receivers
from gpop.plan.plan import decide


def crowd():
    """A directed graph; many of its vertices have no in-edges."""
    return generate("rmat", scale=9, degree=8, seed=5)


def test_receivers_are_known_when_in_edges_are():
    graph = crowd()
    expected = np.unique(graph.indices).size
    assert expected < 0.8 * graph.n
    assert receivers(graph, kept_in_edges(graph, weighted=False)) == graph.n
    assert receivers(graph, in_edges(graph, weighted=False)) == expected == graph.facts.receivers
    assert receivers(graph, kept_in_edges(graph, weighted=False)) == expected


def test_a_search_begins_with_those_that_can_want_a_message():
    graph = crowd()
    source = int(graph.out_degree.argmax())

    def wanting():
        engine = CpuEngine(decide(BFS(graph), threads=1))
        engine.prepare()
        engine.load(np.array([source], np.uint32), 8)
        before = int(engine.progress[loop_state.NEEDY])
        engine.iterate()
        engine.abandon()
        return before, engine.receivers

    expected = np.unique(graph.indices).size
    assert wanting() == (graph.n, expected)  # the run has found the in-edges on its way
    assert wanting() == (expected, expected)
    assert gpop.bfs(graph, source).level.max() > 0
