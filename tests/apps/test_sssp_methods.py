"""Which method shortest paths are found by, and that all find the same."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.apps import sssp_methods
from gpop.apps.sssp import verify
from gpop.apps.sssp_methods import choose
from gpop.direct import calendar
from gpop.generate import generate
from gpop.model import crew_trial, sharing
from gpop.model.crew_trial import FIRST, TURNS, CrewTrial
from gpop.model.sharing import MANY_THREADS, THREADS_OF_MESH
from tests.apps import reference


@pytest.fixture(scope="module")
def dense():
    return generate("rmat", scale=13, degree=20, seed=9, weights=(1, 255))


TWO = {"threads": 2}


def test_lists_are_not_for_neighbours_that_are_near(dense, monkeypatch):
    """As on the web, whose pages link to pages of their own site: here the next 40 ids."""
    monkeypatch.setattr(sssp_methods, "MOST_EDGES", 1 << 12)
    heads = (np.arange(1 << 13)[:, None] + np.arange(1, 41)).ravel() % (1 << 13)
    indptr = np.arange(0, len(heads) + 1, 40)
    near = gpop.Graph(indptr, heads.astype(np.uint32), np.full(len(heads), 3, np.uint32))
    method, reason = choose(near, "auto", 3, None, TWO)
    assert method == "messages" and "near each other" in reason
    assert choose(dense, "auto", 255, None, TWO)[0] == "lists"


def test_the_calendar_is_for_few_edges_or_for_few_of_each_vertex_that_are_not_near(dense, monkeypatch):
    assert choose(dense, "auto", 255, None, TWO)[0] == "calendar"
    monkeypatch.setattr(sssp_methods, "SURE_EDGES", dense.m - 1)
    assert choose(dense, "auto", 255, None, TWO)[0] == "calendar"
    monkeypatch.setattr(sssp_methods, "MOST_DEGREE", dense.m // dense.n)
    assert choose(dense, "auto", 255, None, TWO)[0] == "lists"
    ring = np.arange(1 << 10)
    near = gpop.Graph.from_edges(ring, np.roll(ring, 1), np.full(1 << 10, 3, np.uint32))
    assert choose(near, "auto", 3, None, TWO)[0] == "calendar"
    monkeypatch.setattr(sssp_methods, "SURE_EDGES", near.m - 1)
    assert choose(near, "auto", 3, None, TWO)[0] == "messages"
    many = {"threads": MANY_THREADS}
    assert choose(near, "auto", 3, None, many)[0] == "messages"
    monkeypatch.setattr(sharing, "SHARED_VERTICES", near.n)  # they share it
    assert choose(near, "auto", 3, None, many)[0] == "calendar"
    monkeypatch.setattr(sssp_methods, "MOST_OF_MANY", near.n + near.m - 1)
    assert choose(near, "auto", 3, None, many)[1] == "few edges of each vertex, and neighbours are near"
    monkeypatch.setattr(sssp_methods, "LEAST_DEGREE", 1)
    assert choose(near, "auto", 3, None, many)[0] == "messages"


def test_room_for_lists_is_asked_in_every_call(monkeypatch):
    """What else a call resolves to is kept with the graph."""
    graph = generate("rmat", scale=8, degree=16, seed=9, weights=(1, 255))
    monkeypatch.setattr(sssp_methods, "MOST_EDGES", 0)
    monkeypatch.setattr(sssp_methods, "MOST_OF_MANY", 0)
    for available, method in ((0, "messages"), (1 << 40, "lists"), (0, "lists")):
        monkeypatch.setattr(sssp_methods, "available_bytes", lambda available=available: available)
        assert gpop.sssp(graph, 0).trace.summary["method"] == method  # the last time they are there


def test_which_method_is_chosen(road, dense, monkeypatch):
    def chosen(graph, method="auto", delta=None, **options):
        return choose(graph, method, graph.weights.max(), delta, TWO | options)[0]

    assert chosen(dense) == chosen(road) == chosen(dense, threads=2, mode="auto") == "calendar"
    assert chosen(road, mode="pc") == chosen(dense, delta=9) == "messages"
    assert chosen(dense, partition_size=256) == chosen(dense, interleave=True) == "messages"
    assert chosen(road, "lists") == "lists" and chosen(dense, "messages") == "messages"
    assert chosen(reference.with_weights(dense, dense.weights / 2)) == "messages"
    assert chosen(reference.with_weights(dense, dense.weights + 2**31)) == "messages"
    monkeypatch.setattr(sssp_methods, "MOST_EDGES", road.m - 1)
    assert chosen(dense) == "lists" and chosen(road) == "messages"
    monkeypatch.setattr(sssp_methods, "MOST_EDGES", road.m)
    assert chosen(road) == "calendar"
    monkeypatch.setattr(sssp_methods, "MOST_VERTICES", road.n - 1)
    assert chosen(road) == "messages"


def test_how_wide_days_are(dense):
    """Narrow among hubs and on meshes, wide where paths are long."""
    mesh = generate("grid", width=30, height=30, weights=(1, 255))
    chain = gpop.Graph.from_edges(range(99), range(1, 100), np.arange(1, 100)).symmetrize()
    steps = [sssp_methods._day_steps(graph) for graph in (dense, mesh, chain)]
    assert steps == [sssp_methods.DAY_STEPS, sssp_methods.DAY_STEPS_EVEN, sssp_methods.DAY_STEPS_CHAINS]


def test_two_threads_share_a_calendar_where_neighbours_are_near(monkeypatch):
    """Many threads do anyway, unless there are few vertices."""
    world = generate("small_world", vertices=1 << 14, degree=6, seed=3, weights=(1, 255))
    assert gpop.sssp(world, 1, threads=8).run.threads == 1
    monkeypatch.setattr(sharing, "SHARED_VERTICES", 1 << 13)
    assert gpop.sssp(world, 1, threads=2).run.threads == 2
    far = generate("uniform", scale=14, degree=6, seed=3, weights=(1, 255))
    assert gpop.sssp(far, 1, threads=MANY_THREADS - 1).run.threads == 1
    assert gpop.sssp(far, 1, threads=MANY_THREADS).run.threads > 1
    monkeypatch.setattr(sharing, "SHARED_VERTICES", 1 << 15)  # of small graphs, where neighbours are near
    threads = THREADS_OF_MESH - 1, THREADS_OF_MESH
    assert [gpop.sssp(world, 1, threads=each).run.threads > 1 for each in threads] == [False, True]
    assert gpop.sssp(far, 1, threads=THREADS_OF_MESH - 1).run.threads > 1
    monkeypatch.setattr(sharing, "SHARED_VERTICES", 1 << 13)
    assert choose(world, "auto", 255, None, TWO)[0] == "calendar"
    monkeypatch.setattr(sssp_methods, "MOST_EDGES", world.m - 1)
    assert choose(world, "auto", 255, None, TWO)[0] == "calendar"
    assert choose(world, "auto", 255, None, {"threads": 1})[0] == "messages"
    monkeypatch.setattr(sssp_methods, "MOST_OF_MANY", world.n + world.m - 1)
    asked = "few edges of each vertex, and neighbours are near"
    assert choose(world, "auto", 255, None, TWO) == ("calendar", asked)
    assert choose(world, "auto", 255, None, {"threads": 1})[0] == "messages"
    many = generate("small_world", vertices=1 << 14, degree=10, seed=3, weights=(1, 255))
    assert choose(many, "auto", 255, None, TWO)[0] == "messages"


def test_each_of_few_threads_has_vertices_of_its_own(monkeypatch):
    """And each of many on a large graph: `sharing.OWN_VERTICES`."""
    world = generate("small_world", vertices=1 << 14, degree=6, seed=3, weights=(1, 255))
    monkeypatch.setattr(sharing, "SHARED_VERTICES", 1 << 13)
    owned = []
    search = calendar.search

    def seen(graph, source, width, threads=1, own=False):
        owned.append(own)
        return search(graph, source, width, threads, own)

    monkeypatch.setattr(calendar, "search", seen)
    for threads, vertices in ((2, 1 << 17), (8, 1 << 17), (8, 1 << 11)):
        monkeypatch.setattr(sharing, "OWN_VERTICES", vertices)
        assert gpop.sssp(world, 1, threads=threads).run.threads > 1
    assert owned == [True, False, True]


@pytest.mark.parametrize(("together", "then"), [(1.5, 2), (2.0, 1), (9.0, 1)])
def test_times_say_whether_two_threads_share_a_calendar(dense, monkeypatch, together, then):
    """Of calls from which all is found; what is found is the same."""
    monkeypatch.setattr(crew_trial, "is_shipped", lambda: False)
    monkeypatch.setattr(sssp_methods, "LEAST_TRIED", dense.n)
    calls, graph, hub = [], reference.with_weights(dense, dense.weights), int(dense.out_degree.argmax())

    def timed(graph, source, width, threads=1, own=False):
        calls.append(threads)
        return search(graph, source, width, threads, own)._replace(seconds={1: 2.0, 2: together}[threads])

    search = calendar.search
    monkeypatch.setattr(calendar, "search", timed)
    monkeypatch.setattr(calendar, "is_kept", lambda own: True)
    expected = gpop.sssp(graph, hub, threads=1).distance
    for _ in range(FIRST + 2 * TURNS + 2):
        assert np.array_equal(gpop.sssp(graph, hub, threads=2).distance, expected)
    assert calls[: FIRST + 2] == [1] * (FIRST + 2) and calls[FIRST + 2] == 2 and calls[-1] == then


def test_searches_of_little_are_not_timed(dense, monkeypatch):
    monkeypatch.setattr(sssp_methods, "LEAST_TRIED", dense.n)
    monkeypatch.setattr(sssp_methods, "crew_trial", lambda *_: CrewTrial(1, 2))
    monkeypatch.setattr(CrewTrial, "note", lambda *_: pytest.fail("a search that finds nothing"))
    assert gpop.sssp(dense, int(dense.out_degree.argmin()), threads=2).reached.sum() == 1


def test_nobody_waits_for_a_trial_to_be_compiled(dense, monkeypatch):
    monkeypatch.setattr(crew_trial, "is_shipped", lambda: False)
    monkeypatch.setattr(sssp_methods, "LEAST_TRIED", dense.n)
    monkeypatch.setattr(calendar, "is_kept", lambda own: False)
    graph, hub = reference.with_weights(dense, dense.weights), int(dense.out_degree.argmax())
    assert {gpop.sssp(graph, hub, threads=2).run.threads for _ in range(FIRST + 2 * TURNS + 2)} == {1}
    monkeypatch.setattr(sssp_methods, "COMPILED_AFTER_S", 0.0)  # but for one who has searched for so long
    graph = reference.with_weights(dense, dense.weights)
    assert {gpop.sssp(graph, hub, threads=2).run.threads for _ in range(FIRST + 2 * TURNS + 2)} == {1, 2}


@pytest.mark.parametrize("threads", [1, 2])
def test_all_methods_find_the_same(dense, threads):
    source = int(dense.out_degree.argmax())
    lists = gpop.sssp(dense, source, method="lists", threads=threads)
    days = gpop.sssp(dense, source, threads=threads)
    assert days.trace.summary["method"] == "calendar" and days.run.threads == 1
    assert np.array_equal(lists.distance, days.distance) and days.distance.dtype == np.uint32
    messages = gpop.sssp(dense, source, method="messages", threads=threads)
    assert np.array_equal(lists.distance, messages.distance) and lists.distance.dtype == np.uint32
    assert np.array_equal(lists.reached, messages.reached)
    assert verify(dense, lists, source) is None
    assert 0 < lists.trace.column("active_edges").sum() < dense.m / 2


@pytest.mark.parametrize("method", ["lists", "calendar"])
def test_other_methods_give_way_where_distances_are_too_long(method):
    weights = np.array([2**30, 2**30, 5], np.uint32)
    graph = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=weights)
    found = gpop.sssp(graph, 0, method=method)
    assert found.distance.tolist() == [0, 2**30, 2**31, 2**31 + 5] and found.distance.dtype == np.uint64
    assert found.trace.summary["method"] == "messages"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "heap"}, "method 'heap': expected one of auto, messages, lists, calendar"),
        ({"method": "lists", "delta": 3}, "delta means nothing to lists"),
        ({"method": "lists", "mode": "sc"}, "mode means nothing to lists: it sends no messages"),
        ({"method": "calendar", "mode": "sc"}, "mode means nothing to calendar: it sends no messages"),
        ({"method": "lists", "partition_size": 8}, "partition_size means nothing to lists"),
    ],
)
def test_what_lists_refuse(road, options, said):
    with pytest.raises(gpop.UsageError, match=said):
        gpop.sssp(road, 0, **options)
    with pytest.raises(gpop.UsageError, match="method 'lists' is for whole-number weights"):
        gpop.sssp(reference.with_weights(road, road.weights / 2), 0, method="lists")
