"""Closeness centrality against NetworkX, exact and from samples, with 64 searches at a time and fewer."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.apps.closeness import verify
from gpop.direct import distance_sums
from gpop.generate import generate
from tests.graphs import small_graphs


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Threads take part however small the graph."""
    monkeypatch.setattr(distance_sums, "_SERIAL", 0)
    monkeypatch.setattr(distance_sums, "_FEWEST", 1)


def of_networkx(graph, **options) -> np.ndarray:
    return np.array(list(nx.closeness_centrality(graph.to_networkx(), **options).values()))


@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(name):
    graph = small_graphs()[name]
    for wf_improved in (True, False):
        expected = of_networkx(graph, wf_improved=wf_improved)
        for threads in (1, 4):
            result = gpop.closeness(graph, wf_improved=wf_improved, threads=threads)
            np.testing.assert_allclose(result.score, expected, rtol=1e-12)
    assert verify(graph, result, wf_improved=False) is None


@pytest.mark.parametrize("k", [1, 3, 64, 65, 200])
def test_samples(k):
    graph = small_graphs()["odd n"]
    first = gpop.closeness(graph, k, threads=1)
    assert first.sources.size == k
    assert verify(graph, first) is None
    for threads in (2, 4):
        assert gpop.closeness(graph, k, threads=threads).score.tobytes() == first.score.tobytes()
    assert not np.array_equal(gpop.closeness(graph, k, seed=3).sources, first.sources)


def test_what_one_thread_does_sooner_calls_none(monkeypatch):
    graph = small_graphs()["odd n"]
    expected = gpop.closeness(graph, 40, threads=2).score
    monkeypatch.setattr(distance_sums, "_SERIAL", 40 * (graph.n + graph.m))
    monkeypatch.setattr("gpop.common.parallel.beside", lambda *call: pytest.fail("a thread is called"))
    assert np.array_equal(gpop.closeness(graph, 40, threads=2).score, expected)


def test_a_sample_comes_near():
    graph = generate("rmat", scale=10, degree=16, seed=1, symmetrize=True)
    exact, estimate = gpop.closeness(graph).score, gpop.closeness(graph, 200).score
    connected = exact > 0
    assert np.abs(estimate[connected] / exact[connected] - 1).max() < 0.15


LARGE = {
    "rmat": lambda: generate("rmat", scale=13, degree=8, seed=1),
    "road": lambda: generate("road", width=100, height=100, seed=1),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_graphs(name):
    graph = LARGE[name]()
    assert verify(graph, gpop.closeness(graph, 40, threads=2)) is None


def test_searches_share_their_steps():
    """64 searches of a small world look at few times the edges, not at 64 times."""
    graph = generate("rmat", scale=12, degree=16, seed=1, symmetrize=True)
    assert gpop.closeness(graph, 64, threads=1).trace.column("active_edges").sum() < 5 * graph.m


def test_sources_orders_and_options():
    graph = small_graphs()["rmat"]
    plain, turned = (gpop.closeness(graph, 40, reorder=each) for each in ("none", "degree"))
    assert np.array_equal(plain.sources, turned.sources) and np.array_equal(plain.score, turned.score)
    assert gpop.closeness(graph, [7, 3, 7]).sources.tolist() == [3, 7]
    assert gpop.closeness(gpop.Graph.from_edges([], [], n=0)).score.size == 0
    with pytest.raises(gpop.UsageError, match="mode means nothing to closeness"):
        gpop.closeness(graph, mode="pc")
    with pytest.raises(gpop.UsageError, match="sources = 257: expected 1 to 256"):
        gpop.closeness(graph, 257)


def test_verify_sees_a_fault():
    graph = small_graphs()["road"]
    result = gpop.closeness(graph)
    score = result.score.copy()
    score[5] *= 1 + 1e-6
    assert "vertex 5 has" in verify(graph, replace(result, score=score))


def test_a_sample_is_the_callers():
    graph = generate("rmat", scale=6, seed=2, symmetrize=True)
    first = gpop.closeness(graph, 5, seed=3)
    drawn = first.sources.copy()
    first.sources[:] = 0
    assert np.array_equal(gpop.closeness(graph, 5, seed=3).sources, drawn)
