"""Features: against the statistics module and counts by hand, and what a trace makes of them."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.layout.bins import build_bins
from gpop.layout.partition import messages_per_edge, share_inside
from gpop.model.features import (
    DEGREES,
    FEATURES,
    OF_GRAPH,
    OF_ORDER,
    OF_RUN,
    OF_STEP,
    STEP_AT,
    SUMMARY,
    graph_features,
    run_features,
    summary_of,
)


def by_hand(values):
    """Tukey's quartiles: medians of the halves, the middle of an odd number in neither."""
    values = sorted(values)
    half = max(len(values) // 2, 1)
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    quartiles = [values[0], *(statistics.median(part) for part in (values[:half], values, values[-half:]))]
    return [*quartiles, values[-1], statistics.fmean(values), spread]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7, 8, 101])
def test_summary(size):
    values = np.random.default_rng(size).integers(0, 9, size)
    assert summary_of(np.bincount(values)) == pytest.approx(by_hand(values.tolist()))


def test_nothing_has_a_summary_of_zeros():
    assert summary_of(np.bincount([])) == [0.0] * len(SUMMARY)


def test_names_and_order():
    assert len(FEATURES) == len({*FEATURES}) == len(OF_GRAPH) + len(OF_RUN) + len(OF_STEP)
    assert OF_GRAPH[2 : 2 + len(SUMMARY)] == tuple(f"{DEGREES[0]} {part}" for part in SUMMARY)
    assert FEATURES[STEP_AT:] == OF_STEP


def test_of_a_graph_each_once():
    graph = gpop.Graph.from_edges([0, 0, 0, 1, 4], [1, 2, 3, 2, 2], n=6)
    found = dict(zip(OF_GRAPH, graph_features(graph), strict=True))
    assert (found["vertices"], found["edges"]) == (6, 5)
    for name, degrees in {
        "out degree": [3, 1, 0, 0, 1, 0], "in degree": [0, 1, 3, 1, 0, 0], "degree": [3, 2, 3, 1, 1, 0],
    }.items():  # fmt: skip
        assert [found[f"{name} {part}"] for part in SUMMARY] == pytest.approx(by_hand(degrees)), name
    assert graph_features(graph) is graph_features(graph)  # counted once
    empty = gpop.Graph.from_edges([], [], n=0)
    assert {*graph_features(empty)[: -len(OF_ORDER)]} == {0.0}
    assert run_features(empty, (4, 0, 1), [], []).shape == (0, len(FEATURES))


def test_what_the_order_of_the_vertices_does():
    ring = gpop.Graph.from_edges(np.arange(4096), (np.arange(4096) + 1) % 4096)
    assert messages_per_edge(ring, 5) == 1 and share_inside(ring, 5) == pytest.approx(31 / 32, abs=0.02)
    near = generate("uniform", scale=10, degree=64, seed=2)
    bins = build_bins(near, bits=5, threads=1)
    assert messages_per_edge(near, 5) == pytest.approx(bins.messages / near.m, abs=0.03)
    assert dict(zip(OF_GRAPH, graph_features(near), strict=True))["messages per edge"] <= 1


def test_of_the_iterations_of_a_run():
    graph = generate("rmat", scale=8, degree=8, seed=3)
    trace = gpop.bfs(graph, int(np.argmax(graph.out_degree)), method="messages", threads=1).trace
    found = trace.features(graph)
    assert tuple(found) == FEATURES
    frontier, edges = (trace.column(name) for name in ("frontier", "active_edges"))
    assert found["frontier abs"].tolist() == frontier.tolist()
    assert found["visited abs"].tolist() == [sum(frontier[:step]) for step in range(len(trace))]
    assert np.allclose(found["edges rel"] * graph.m, edges)
    assert np.allclose(found["visited rel"] * graph.n, found["visited abs"])
    assert np.allclose(found["frontier rel"] * graph.n, frontier)
    assert {*found["message bytes"]} == {4.0} and {*found["weight bytes"]} == {0.0}
