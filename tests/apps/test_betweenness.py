"""Betweenness centrality against NetworkX: exact, sampled, with threads in every way of sharing the work."""

from __future__ import annotations

import random
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.apps.betweenness import verify
from gpop.direct import betweenness as direct
from gpop.direct import crew
from gpop.direct.betweenness_job import LINE
from gpop.generate import generate
from gpop.graph.kept import Kind
from tests.graphs import small_graphs


def simple(name) -> gpop.Graph:
    """A small graph without parallel edges, of which NetworkX takes one."""
    graph = small_graphs()[name]
    tails = np.repeat(np.arange(graph.n), graph.out_degree)
    ends = np.unique(np.stack([tails, graph.indices]), axis=1)
    return gpop.Graph.from_edges(*ends, n=graph.n)


def scores(graph, **options) -> np.ndarray:
    """Of NetworkX."""
    return np.array(list(nx.betweenness_centrality(graph.to_networkx(), **options).values()))


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Threads take part however small the graph."""
    monkeypatch.setattr(direct, "_SERIAL", 0)


@pytest.fixture
def shared(monkeypatch):
    """Threads share every search, and every step of it."""
    monkeypatch.setattr(direct, "SMALL", 0)


@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(name):
    graph = simple(name)
    expected = scores(graph)
    for threads in (1, 4):
        result = gpop.betweenness(graph, threads=threads)
        np.testing.assert_allclose(result.score, expected, rtol=1e-12, atol=1e-15)
    assert verify(graph, result) is None


@pytest.mark.parametrize("name", ["rmat", "rmat symmetric", "road", "self-loops", "directed chain"])
def test_threads_that_share_a_search(name, shared):
    graph = simple(name)
    result = gpop.betweenness(graph, threads=2)
    np.testing.assert_allclose(result.score, scores(graph), rtol=1e-12, atol=1e-15)


def test_what_is_over_before_another_thread_comes_calls_none(monkeypatch):
    graph = simple("rmat")
    expected = gpop.betweenness(graph, [0, 1, 2], threads=2).score
    monkeypatch.setattr(direct, "_SERIAL", 3 * (graph.n + graph.m) + 1)
    called, call = [], direct.call_together
    monkeypatch.setattr(direct, "call_together", lambda *given: called.append(given[2]) or call(*given))
    np.testing.assert_allclose(gpop.betweenness(graph, [0, 1, 2], threads=2).score, expected, rtol=1e-12)
    assert called == [1]


def test_parallel_edges_are_paths_of_their_own():
    graph = gpop.Graph.from_edges([0, 0, 0, 1, 2], [1, 1, 2, 3, 3])
    result = gpop.betweenness(graph, normalized=False)
    assert result.score.tolist() == [0, 2 / 3, 1 / 3, 0]
    assert verify(graph, result, normalized=False) is None


@pytest.mark.parametrize("normalized", [True, False])
def test_a_sample_is_scaled_as_in_networkx(normalized):
    graph, k = simple("rmat"), 17
    result = gpop.betweenness(graph, k, normalized=normalized)
    assert result.sources.size == np.unique(result.sources).size == k

    drawn = random.Random()
    drawn.sample = lambda nodes, count: result.sources.tolist()  # what NetworkX asks for its sources
    expected = scores(graph, k=k, normalized=normalized, seed=drawn)
    if not normalized:  # inflated there to what all sources would give
        expected[result.sources] *= (k - 1) / (graph.n - 1)
        expected[np.setdiff1d(np.arange(graph.n), result.sources)] *= k / (graph.n - 1)
    np.testing.assert_allclose(result.score, expected, rtol=1e-12, atol=1e-15)


def test_sources():
    graph = small_graphs()["rmat"]
    first, again, other = (gpop.betweenness(graph, 5, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.sources, again.sources) and not np.array_equal(first.sources, other.sources)
    assert gpop.betweenness(graph, [7, 3, 7]).sources.tolist() == [3, 7]
    assert np.isnan(gpop.betweenness(graph, [7]).score).nonzero()[0].tolist() == [7]
    for wrong, said in (
        (0, "sources = 0: expected 1 to 256"),
        ([256], "source 256 is not"),
        ([], "no source"),
    ):
        with pytest.raises(gpop.UsageError, match=said):
            gpop.betweenness(graph, wrong)
    with pytest.raises(gpop.UsageError, match="mode means nothing to betweenness"):
        gpop.betweenness(graph, mode="pc")


def test_the_order_does_not_matter():
    graph = small_graphs()["rmat"]
    plain, turned = (gpop.betweenness(graph, 40, reorder=each) for each in ("none", "degree"))
    assert np.array_equal(plain.sources, turned.sources)
    np.testing.assert_allclose(plain.score, turned.score, rtol=1e-12)


def layers() -> gpop.Graph:
    """30 layers of 2000 vertices, each with edges to 16 of the next: 2**120 paths, added by all threads."""
    below, heads = [], np.random.default_rng(1).integers(0, 2000, (30, 2000, 16))
    for layer in range(30):
        below.append(1 + 2000 * (layer + 1) + heads[layer].ravel())
    tails = np.repeat(np.arange(1, 60_001), 16)
    start = np.zeros(2000, np.int64), np.arange(1, 2001)
    return gpop.Graph.from_edges(np.r_[start[0], tails], np.r_[start[1], np.concatenate(below)])


LARGE = {
    "layers": layers,
    "rmat": lambda: generate("rmat", scale=13, degree=16, seed=1),
    "grid": lambda: generate("grid", width=200, height=150),
}


@pytest.mark.parametrize("lanes", [False, True])
@pytest.mark.parametrize("name", LARGE)
def test_large_graphs_are_right_and_bitwise_repeatable(name, lanes, monkeypatch):
    """Threads share every search, or the last of them joins one of three."""
    monkeypatch.setattr(direct, "SMALL", 1 << 17 if lanes else 0)
    monkeypatch.setattr(direct, "THIN", 0)
    graph, sources = LARGE[name](), [0, 1, 7]
    first = gpop.betweenness(graph, sources, threads=1)
    assert verify(graph, first) is None
    for threads in (1, 2, 4):
        for _ in range(4):
            found = gpop.betweenness(graph, sources, threads=threads)
            assert found.score.tobytes() == first.score.tobytes()


@pytest.mark.parametrize("sources", [2, 5])
def test_who_finds_no_lane_left_joins_one(sources):
    """From the beginning, or when the others are done."""
    graph = layers()
    for _ in range(100):  # in which the system lets others come in time, one that is busy, too
        gpop.betweenness(graph, sources, threads=4)
        (room,) = graph.store.get(Kind.PROGRAM, direct.KEPT)
        chunks = room.job.crews[:, LINE + crew._LINES + crew._DONE :: crew._LINE]  # that each has done
        if chunks[:, 1:].any():
            return
    pytest.fail("nobody has")


def test_lanes_are_bitwise_repeatable():
    graph = generate("rmat", scale=10, degree=8, seed=1)
    first = gpop.betweenness(graph, 100, threads=1)
    assert verify(graph, first) is None
    for threads in (2, 4):
        assert gpop.betweenness(graph, 100, threads=threads).score.tobytes() == first.score.tobytes()


def test_both_directions_are_taken(shared):
    """On a skewed graph the middle levels are pulled: fewer edges than twice all of them."""
    graph = generate("rmat", scale=12, degree=16, seed=1, symmetrize=True)
    hub = [int(np.argmax(graph.out_degree))]
    result = gpop.betweenness(graph, hub)
    assert result.trace.column("active_edges").sum() < 1.8 * graph.m
    chain = generate("chain", vertices=1000)
    assert gpop.betweenness(chain, [0]).trace.column("active_edges").sum() <= 2 * chain.m


def test_too_many_paths_to_count():
    """1100 pairs of parallel edges in a row: 2**1100 paths."""
    tails = np.repeat(np.arange(1100), 2)
    graph = gpop.Graph.from_edges(tails, tails + 1)
    with pytest.raises(gpop.UsageError, match="more than 1e308 shortest paths"):
        gpop.betweenness(graph, [0])
    assert np.nanmax(gpop.betweenness(graph, [200]).score) > 0


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_only_source_has_no_pairs(n):
    chain = generate("chain", vertices=n)
    score = gpop.betweenness(chain, [0]).score
    assert np.isnan(score[0]) == (n > 2) and not np.isnan(score[1:]).any()
    assert verify(chain, gpop.betweenness(chain, [0])) is None


def test_verify_sees_a_fault():
    graph = small_graphs()["road"]
    result = gpop.betweenness(graph)
    score = result.score.copy()
    score[5] *= 1 + 1e-6
    assert "vertex 5 has" in verify(graph, replace(result, score=score))


@pytest.mark.parametrize("alone", [True, False])
def test_the_room_of_searches_is_kept_and_clean(alone, monkeypatch):
    if not alone:
        monkeypatch.setattr(direct, "SMALL", 0)
    graph = simple("rmat")

    def found():
        asked = {"normalized": False, "threads": 2}
        return [gpop.betweenness(graph, sources, **asked).score for sources in ([1, 2, 3], [5, 4])]

    first = found()
    (room,) = graph.store.get(Kind.PROGRAM, direct.KEPT)
    spaces = room.spaces
    kept = spaces.sigma, spaces.share, spaces.visited, spaces.now, room.job.scores
    assert not any(array.any() for array in kept)
    assert np.array_equal(found()[0], first[0])
    assert np.array_equal(found()[1], first[1])
    assert graph.store.get(Kind.PROGRAM, direct.KEPT) == [room]


def test_more_sources_and_threads_than_before():
    """What was kept has no room for them."""
    graph = simple("rmat")
    expected = {count: gpop.betweenness(simple("rmat"), count, threads=1).score for count in (2, 5, 40)}
    for count, threads in ((2, 2), (5, 2), (2, 4), (40, 4), (5, 3)):
        found = gpop.betweenness(graph, count, threads=threads)
        assert np.array_equal(found.score, expected[count]), (count, threads)


def test_sources_in_batches(monkeypatch):
    """Between which an interrupt comes through."""
    graph, called, call = simple("rmat"), [], direct.call_together
    expected = [gpop.betweenness(graph, count, threads=2).score for count in (40, 3)]
    monkeypatch.setattr(direct, "_BATCH", 1)
    monkeypatch.setattr(direct, "call_together", lambda *given: called.append(given[2]) or call(*given))
    monkeypatch.setattr(direct, "LANES", 16)
    several = gpop.betweenness(graph, 40, threads=2)
    np.testing.assert_allclose(several.score, expected[0], rtol=1e-12)
    assert len(called) == 3
    monkeypatch.setattr(direct, "SMALL", 0)
    assert np.array_equal(gpop.betweenness(graph, 3, threads=2).score, expected[1])
    assert len(called) == 6


def test_calls_at_the_same_time_have_rooms_of_their_own(monkeypatch):
    """One that begins inside another, which has what is kept."""
    graph, used, search = simple("rmat"), [], direct.Room.search

    def found(source):
        return gpop.betweenness(graph, [source], normalized=False, threads=2).score

    expected = {source: found(source) for source in (1, 2)}

    def searched(room, *given):
        used.append(room)
        if len(used) == 1:
            assert np.array_equal(found(2), expected[2])
        search(room, *given)

    monkeypatch.setattr(direct.Room, "search", searched)
    assert np.array_equal(found(1), expected[1])
    assert len(used) == 2
    assert used[0] is not used[1]
