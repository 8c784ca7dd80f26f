"""Shortest paths by threads that each have vertices of their own: the distances of one, and what is sent."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from gpop.direct import calendar, calendar_owned, calendar_owned_steps
from gpop.direct.calendar_owned import CREW, Owners, _share_out, search
from gpop.generate import generate
from gpop.graph.graph import Graph
from gpop.layout.edge_pairs import edge_pairs
from gpop.model.light_first import FARTHEST
from tests.direct.test_calendar import SHARED, weighted


@pytest.fixture
def owned(monkeypatch):
    """Every graph is worth all threads, which are waited for; calendars of a search can be looked at."""
    monkeypatch.setattr(calendar_owned, "PATIENCE_NS", 10**11)
    monkeypatch.setattr(calendar_owned, "worth", lambda threads, *edges: threads)
    monkeypatch.setattr(calendar_owned, "_spare", [])


def by_many(graph, source, width, threads):
    """A search in which all take part."""
    found = search(graph, source, width, threads)
    (owners,) = calendar_owned._spare
    assert owners.now[CREW] == threads
    return found, owners


@pytest.mark.parametrize("name", SHARED)
def test_the_distances_are_those_of_one_thread(name, owned):
    graph = SHARED[name]()
    for source in (int(graph.out_degree.argmax()), 7):
        expected = calendar.search(graph, source, 8).distance
        for threads in (2, 3):
            for width in (1, 64, 1e12):
                found, _ = by_many(graph, source, width, threads)
                assert np.array_equal(found.distance, expected)
                assert found.distance[found.distance < FARTHEST].max() < found.below


@pytest.mark.parametrize("threads", [2, 3])
def test_all_have_vertices_of_their_own(threads, owned):
    """And the distances of one thread come of it, wherever the source lies."""
    graph = weighted(generate("grid", width=90, height=80), 255)
    for source in (0, graph.n // 2, graph.n - 1):
        expected = calendar.search(graph, source, 8)
        found, owners = by_many(graph, source, 8, threads)
        assert np.array_equal(found.distance, expected.distance) and found.threads == threads
        walked = [each.now[calendar_owned.LOOKED] for each in owners.calendars]
        assert min(walked) > 0 and sum(walked) == found.edges[0]


def test_what_is_sent_when_there_is_no_room_for_more(owned, monkeypatch):
    """The rest of a bucket is walked in the next round: a hub with more neighbours than a round can send to,
    and as many at the same distance."""
    n = 6 * calendar_owned_steps.CAPACITY
    tails, heads = np.r_[np.zeros(n - 1, int), np.arange(1, n)], np.r_[np.arange(1, n), n - np.arange(1, n)]
    graph = weighted(Graph.from_edges(tails, heads), 3)
    expected = calendar.search(graph, 0, 1)
    for width in (1, 64):
        found, owners = by_many(graph, 0, width, 2)
        assert np.array_equal(found.distance, expected.distance)
    assert owners.search.counts.max() <= calendar_owned_steps.CAPACITY


def test_blocks_are_dealt_out_in_turn():
    """As many for each as make `BLOCKS_EACH`, of 64 vertices at least."""
    owners = Owners(100_000, 3)
    for n, bits in ((100_000, 11), (1000, 6)):
        job = owners.search._replace(distance=np.zeros(n, np.uint32))
        _share_out(3, job)
        assert owners.now[calendar_owned_steps.BLOCK_BITS] == bits
        assert job.owner[: n >> bits].tolist() == [block % 3 for block in range(n >> bits)]
        assert n >> bits < len(job.owner)


def test_days_become_wider_where_they_have_few_edges(owned):
    """Narrow ones at first: edges are walked about once. They are doubled before there are hundreds."""
    path = weighted(generate("grid", width=3000, height=2), 255)
    found, owners = by_many(path, 0, 1, 2)
    assert np.array_equal(found.distance, calendar.search(path, 0, 1).distance)
    assert owners.calendars[0].now[calendar_owned.SHIFT] > 4


def test_a_smaller_graph_is_searched_in_what_is_there(owned):
    large, small = (weighted(generate("grid", width=width, height=70), 90) for width in (90, 40))
    _, owners = by_many(large, 3, 8, 2)
    found, again = by_many(small, 3, 8, 2)
    assert again is owners and np.array_equal(found.distance, calendar.search(small, 3, 8).distance)


def test_all_that_is_left_may_be_beyond_the_year(owned):
    """From the first day on, and again and again: who looks for it walks nothing meanwhile."""
    weights = np.array([1, 10**9, 10**6, 10**8, 3, 10**7], np.uint32)
    chain = Graph.from_edges(range(6), range(1, 7), weights)
    star = Graph.from_edges([0] * 6, range(1, 7), weights)
    for _ in range(20):
        for width in (1, 1000):
            assert search(chain, 0, width, 2).distance.tolist() == [0, *np.cumsum(weights).tolist()]
            assert search(star, 0, width, 2).distance.tolist() == [0, *weights.tolist()]


def test_what_is_kept_holds_nothing_of_the_graph(owned):
    graph = weighted(generate("grid", width=60, height=50), 255)
    search(graph, 7, 8, 2)
    lists = weakref.ref(edge_pairs(graph, FARTHEST)[1])
    del graph
    gc.collect()
    assert lists() is None and len(calendar_owned._spare) == 1


def test_nobody_is_waited_for_who_does_not_come(owned, monkeypatch):
    monkeypatch.setattr(calendar_owned, "PATIENCE_NS", 0)
    graph = weighted(generate("grid", width=60, height=50), 255)
    expected = calendar.search(graph, 7, 8).distance
    for threads in (1, 2, 4) * 10:
        assert np.array_equal(search(graph, 7, 8, threads).distance, expected)
