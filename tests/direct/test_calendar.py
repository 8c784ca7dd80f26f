"""Shortest paths with a calendar against SciPy's Dijkstra: all kinds, many years, too few blocks.

By several threads, each with a calendar of its own, the distances are the same; where each has vertices of
its own, too: test_calendar_owned.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from gpop.direct import calendar, calendar_owned, calendar_steps, calendar_together
from gpop.direct.calendar import FARTHEST, search
from gpop.direct.calendar_steps import BLOCK, DAYS, FINDS, REST, ROOM
from gpop.direct.calendar_together_steps import THE_FILLING
from gpop.generate import generate
from gpop.graph.graph import Graph
from gpop.model.sharing import PATH_EDGES_EACH
from tests.apps import reference
from tests.graphs import small_graphs
from tests.quick import quick

GRAPHS = small_graphs()
WIDTHS = (1, 7, 64.5, 1e12)


def agrees(graph, source, width):
    found = search(graph, source, width).distance
    expected = reference.distances(graph, source)
    return np.array_equal(np.where(found < FARTHEST, found, np.inf), expected)


def weighted(graph, largest, dtype=np.uint32, seed=3):
    weights = np.random.default_rng(seed).integers(0, largest, graph.m, endpoint=True).astype(dtype)
    return reference.with_weights(graph, weights)


@pytest.mark.parametrize("name", GRAPHS)
def test_small_graphs(name):
    graph = weighted(GRAPHS[name], 20)
    for source in range(0, graph.n, max(1, graph.n // 3)):
        for width in WIDTHS:
            assert agrees(graph, source, width)


@pytest.mark.parametrize("kind", quick(["rmat", "uniform"], "rmat"))
def test_edges_that_are_walked(kind):
    """With days as narrow as can be every vertex that is reached is walked about once."""
    graph = generate(kind, scale=12, degree=16, seed=5, weights=(1, 255))
    source = int(graph.out_degree.argmax())
    reached = np.isfinite(reference.distances(graph, source))
    degree = graph.out_degree[reached]
    edges = int((degree + degree % 2).sum())  # in pairs
    assert search(graph, source, 1).edges[0] == edges
    for width in WIDTHS:
        assert agrees(graph, source, width)
    assert edges <= search(graph, source, 8).edges[0] < 1.3 * edges


def test_many_years():
    """Long weights and narrow days; a year in which nothing lies is left out."""
    grid = weighted(generate("grid", width=40, height=30), 10_000)
    for width in WIDTHS:
        assert agrees(grid, 0, width)
    weights = np.array([5, 10**9, 1, 10**8, DAYS, DAYS - 1], np.uint32)
    chain = Graph.from_edges(range(6), range(1, 7), weights)
    assert search(chain, 0, 1).distance.tolist() == [0, *np.cumsum(weights).tolist()]


def test_a_hub_with_more_finds_than_there_is_room():
    n = 3 * FINDS + 5
    tails, heads = np.r_[np.zeros(n - 1, int), np.arange(1, n - 1)], np.r_[np.arange(1, n), np.arange(2, n)]
    graph = weighted(Graph.from_edges(tails, heads), 4000)
    for width in WIDTHS:
        assert agrees(graph, 0, width)


def _few_blocks(monkeypatch):
    for module in (calendar, calendar_owned, calendar_steps, calendar_together):
        monkeypatch.setattr(module, "blocks_for", lambda n: ROOM + REST + n // BLOCK)


def test_blocks_that_run_out(monkeypatch):
    """Vertices that move from day to day leave a place behind on each: all buckets are filled anew."""
    graph = weighted(generate("rmat", scale=12, degree=40, seed=2, symmetrize=True), 900)
    source = int(graph.out_degree.argmax())
    expected = search(graph, source, 300)
    # Few days are in use here: no more room than that is needed.
    _few_blocks(monkeypatch)
    monkeypatch.setattr(calendar, "_spare", [])
    found = search(graph, source, 300)
    assert found.edges[0] != expected.edges[0]  # buckets filled anew have another order
    assert np.array_equal(found.distance, expected.distance) and agrees(graph, source, 300)


def test_buckets_are_kept_for_the_next_search(monkeypatch):
    """Of a larger graph, too, which changes nothing; what is too large, or in use, is not taken."""
    graph = weighted(generate("rmat", scale=12, degree=40, seed=2, symmetrize=True), 900)
    larger = weighted(generate("grid", width=200, height=300), 5)
    monkeypatch.setattr(calendar, "_spare", [])
    first = search(graph, 1, 300)
    (kept,) = calendar._spare
    assert search(graph, 1, 300).edges[0] == first.edges[0] and calendar._spare[0] is kept
    assert agrees(larger, 0, 3) and calendar._spare[0] is not kept  # too small
    (kept,) = calendar._spare
    again = search(graph, 1, 300)
    assert calendar._spare[0] is kept and again.edges[0] == first.edges[0]
    assert np.array_equal(again.distance, first.distance)
    taken = calendar._borrowed(graph)
    assert taken is kept and calendar._borrowed(graph) is not kept
    monkeypatch.setattr(calendar, "MOST_KEPT", 0)
    assert agrees(graph, 1, 300) and not calendar._spare


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.int64, np.uint64])
def test_weights_of_every_whole_type(dtype):
    graph = weighted(generate("uniform", scale=8, degree=4, seed=1), 100, dtype)
    assert agrees(graph, 3, 16)


def test_what_is_as_far_as_can_be_is_not_reached():
    graph = Graph.from_edges(
        [0, 1, 2, 0], [1, 2, 3, 4], np.array([2**30, 2**30 - 2, 1, FARTHEST - 1], np.uint32)
    )
    for width in WIDTHS:
        assert search(graph, 0, width).distance.tolist() == [0, 2**30, 2**31 - 2, FARTHEST, FARTHEST - 1]


@pytest.mark.parametrize("width", [1, 2**19, 2**20, 2**29])
def test_the_last_day_before_what_is_not_reached(width):
    """Who is found on it goes on, although it is the day on which all others seem to lie."""
    weights = np.array([2**30, 2**30 - 2**19, 2**10, 2**18], np.uint32)
    found = search(Graph.from_edges(range(4), range(1, 5), weights), 0, width)
    assert found.distance.tolist() == [0, *np.cumsum(weights).tolist()]


def test_no_distance_is_beyond_the_bound_that_comes_with_them():
    graph = weighted(generate("grid", width=40, height=30), 100)
    for width in (1, 64, 5000):
        found = search(graph, 0, width)
        assert found.distance.max() < found.below <= found.distance.max() + 2 * width


SHARED = {
    "hubs": lambda: weighted(generate("rmat", scale=12, degree=16, seed=5, symmetrize=True), 255),
    "one way": lambda: weighted(generate("rmat", scale=12, degree=8, seed=6), 1000),
    "mesh": lambda: weighted(generate("grid", width=90, height=80), 255),
    "no weight": lambda: weighted(generate("uniform", scale=11, degree=5, seed=3), 1),
}


def all_share(monkeypatch, after):
    """However small the graph, others are called when so many edges were walked."""
    for module in (calendar, calendar_owned):
        monkeypatch.setattr(module, "worth", lambda threads, *edges: threads)
    monkeypatch.setattr(calendar, "begun_alone", lambda threads, n: after)


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("after", quick([0, 3000], 3000))
def test_several_threads_find_the_same_distances(name, after, monkeypatch):
    """Also where they are more than there are cores, so that some come late, or never."""
    all_share(monkeypatch, after)
    graph = SHARED[name]()
    for source in (int(graph.out_degree.argmax()), 7):
        expected = search(graph, source, 8)
        assert expected.threads == 1 and agrees(graph, source, 8)
        for threads in (2, 3, 16, 2):
            for width in (1, 64, 1e12):
                found = search(graph, source, width, threads)
                if width == 1 and expected.edges[0] > 2 * after:  # else there may be but one day
                    assert found.threads == threads
                assert np.array_equal(found.distance, expected.distance)
                assert found.distance[found.distance < FARTHEST].max() < found.below


@pytest.mark.parametrize("search", [search, calendar_owned.search])
def test_many_years_of_several_threads(search, monkeypatch):
    """What is beyond the year waits; one in which nothing lies is left out."""
    all_share(monkeypatch, 0)
    weights = np.array([5, 10**9, 1, 10**8, DAYS, DAYS - 1], np.uint32)
    chain = Graph.from_edges(range(6), range(1, 7), weights)
    grid = weighted(generate("grid", width=40, height=30), 10_000)
    for threads in (2, 5):
        assert search(chain, 0, 1, threads).distance.tolist() == [0, *np.cumsum(weights).tolist()]
        assert np.array_equal(search(grid, 0, 1, threads).distance, calendar.search(grid, 0, 1).distance)
    edge = np.array([2**30, 2**30 - 2**19, 2**10, 2**18], np.uint32)
    found = search(Graph.from_edges(range(4), range(1, 5), edge), 0, 1, 2)
    assert found.distance.tolist() == [0, *np.cumsum(edge).tolist()]


@pytest.mark.parametrize("by_threads", [search, calendar_owned.search])
def test_calendars_of_several_threads_that_have_no_room(by_threads, monkeypatch):
    all_share(monkeypatch, 0)
    graph = weighted(generate("rmat", scale=12, degree=40, seed=2, symmetrize=True), 900)
    source = int(graph.out_degree.argmax())
    expected = search(graph, source, 300)
    _few_blocks(monkeypatch)
    monkeypatch.setattr(calendar, "_shelves", [])
    monkeypatch.setattr(calendar_owned, "_spare", [])
    for threads in (2, 5):
        found = by_threads(graph, source, 300, threads)
        assert np.array_equal(found.distance, expected.distance)


def test_threads_are_called_as_edges_are_worth_it(monkeypatch):
    monkeypatch.setattr(calendar, "begun_alone", lambda threads, n: 0)
    graph = weighted(generate("rmat", scale=12, degree=12, seed=5), 255)
    assert search(graph, int(graph.out_degree.argmax()), 8, 4).threads == graph.m // PATH_EDGES_EACH == 3


def test_a_last_day_from_which_all_have_moved_away(monkeypatch):
    """Others are called for it, and find nobody: what was found before is below the bound all the same."""
    all_share(monkeypatch, 1)
    found = search(Graph.from_edges([0, 0, 2], [1, 2, 1], np.array([100, 1, 1])), 0, 8, 2)
    assert found.threads == 2 and found.distance.tolist() == [0, 2, 1] and 2 < found.below <= 100


def test_days_begin_as_wide_as_those_of_one_thread_suggest(monkeypatch):
    """So that calendars are filled once, not once for each doubling."""
    all_share(monkeypatch, 3000)
    monkeypatch.setattr(calendar, "worth", lambda threads, *edges: 1)
    monkeypatch.setattr(calendar, "_shelves", [])
    search(SHARED["mesh"](), 0, 1, 2)
    assert calendar._shelves[0].now[THE_FILLING] == 1
