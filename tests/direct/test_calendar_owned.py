"""Shortest paths by threads that each have vertices of their own: what they send, and when they begin.

That the distances are those of one thread is looked at in test_calendar.py, too.
"""

from __future__ import annotations

import numpy as np
import pytest

from gpop.direct import calendar, calendar_owned, calendar_owned_steps
from gpop.direct.calendar import search
from gpop.direct.calendar_owned import CREW, OwnedSearch, Owners, _share_out
from gpop.generate import generate
from gpop.graph.graph import Graph
from tests.direct.test_calendar import all_share, weighted


@pytest.fixture
def owned(monkeypatch):
    """Every graph is shared at once, and the calendars of a search can be looked at."""
    all_share(monkeypatch, 1)
    monkeypatch.setattr(calendar, "OWN_AT_ONCE", 0)
    monkeypatch.setattr(calendar, "_shelves", [])


def by_many(graph, source, width, threads):
    """A search in which all have taken part, which nobody waits for."""
    for _ in range(500):
        found = search(graph, source, width, threads, own=True)
        (owners,) = calendar._shelves
        if owners.now[CREW] == threads:
            return found, owners
    pytest.fail("they never came")


@pytest.mark.parametrize("threads", [2, 3])
def test_all_have_vertices_of_their_own(threads, owned):
    """And the distances of one thread come of it, wherever the source lies."""
    graph = weighted(generate("grid", width=90, height=80), 255)
    for source in (0, graph.n // 2, graph.n - 1):
        expected = search(graph, source, 8)
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
    expected = search(graph, 0, 1)
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
    assert isinstance(owners.search, OwnedSearch)


def test_days_become_wider_where_they_have_few_edges(owned):
    """Narrow ones at first: edges are walked about once. They are doubled before there are hundreds."""
    path = weighted(generate("grid", width=3000, height=2), 255)
    found, owners = by_many(path, 0, 1, 2)
    assert np.array_equal(found.distance, search(path, 0, 1).distance)
    assert owners.calendars[0].now[calendar_owned.SHIFT] > 4


def test_a_smaller_graph_is_searched_in_what_is_there(owned):
    large, small = (weighted(generate("grid", width=width, height=70), 90) for width in (90, 40))
    _, owners = by_many(large, 3, 8, 2)
    found, again = by_many(small, 3, 8, 2)
    assert again is owners and np.array_equal(found.distance, search(small, 3, 8).distance)
