"""Triangle counting as an app: any graph is taken as undirected and simple."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.apps.triangles import verify
from gpop.generate import generate
from tests.gpu.emulator import emulated
from tests.graphs import small_graphs


@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(name):
    graph = small_graphs()[name]
    pairs = nx.Graph(graph.to_networkx())
    pairs.remove_edges_from(list(nx.selfloop_edges(pairs)))
    result = gpop.triangle_count(graph, threads=2)
    assert result.count == sum(nx.triangles(pairs).values()) // 3
    assert result.symmetrized == (not graph.is_symmetric())
    assert verify(graph, result) is None


def test_lists_in_no_order_are_no_fault():
    wheel = gpop.Graph.from_networkx(nx.wheel_graph(40))
    rows = np.split(wheel.indices, wheel.indptr[1:-1])
    turned = gpop.Graph.from_csr(wheel.indptr, np.concatenate([row[::-1] for row in rows]))
    assert gpop.triangle_count(turned).count == 39


def test_the_trace_says_in_which_order():
    rmat = generate("rmat", scale=10, degree=16, seed=1, symmetrize=True)
    result = gpop.triangle_count(rmat, threads=1)
    assert result.trace.summary["order"] == "by degree"
    assert result.trace.summary["phases"] == ["order", "orient", "rows", "count", "merge"]
    assert result.seconds == result.run.seconds > 0
    assert isinstance(result.count, int)


def test_on_a_gpu():
    graph = generate("rmat", scale=8, degree=8, seed=1)
    with emulated():
        result = gpop.triangle_count(graph, target="gpu")
    assert verify(graph, result) is None
    assert (result.run.target, result.symmetrized) == ("gpu", True)
    assert result.trace.summary["phases"] == ["orient", "search", "hash"]
    assert result.trace.summary["order"] == "by degree"


def test_another_target_is_refused():
    with pytest.raises(gpop.UsageError, match="^target 'python': expected one of cpu, gpu$"):
        gpop.triangle_count(generate("grid", width=3, height=3), target="python")


def test_options_of_messages_are_refused():
    graph = generate("grid", width=3, height=3)
    for option in ({"mode": "sc"}, {"interleave": True}, {"iterations": 2}, {"partition_size": 4}):
        with pytest.raises(gpop.UsageError, match="means nothing to triangles"):
            gpop.triangle_count(graph, **option)


def test_verify_sees_a_fault():
    graph = generate("rmat", scale=8, degree=8, seed=1)
    result = gpop.triangle_count(graph)
    assert "but SciPy finds" in verify(graph, replace(result, count=result.count + 1))


def test_verify_takes_an_edge_of_weight_0_for_an_edge():
    ring = gpop.Graph.from_edges([0, 1, 2], [1, 2, 0], [0, 0, 7])
    result = gpop.triangle_count(ring)
    assert (result.count, verify(ring, result)) == (1, None)
