"""Which method shortest paths are found by, and that all find the same."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.apps import sssp_methods
from gpop.apps.sssp import verify
from gpop.apps.sssp_methods import choose
from gpop.direct import calendar, calendar_owned
from gpop.generate import generate
from gpop.model import crew_trial, sharing
from gpop.model.crew_trial import CALLS, FIRST, CrewTrial
from gpop.model.sharing import MANY_THREADS, PATHS_NEAR, THREADS_OF_MESH
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


def test_two_threads_share_a_calendar_where_neighbours_are_near_and_not_few(monkeypatch):
    """Many threads do anyway, unless there are few vertices."""
    world = generate("small_world", vertices=1 << 14, degree=PATHS_NEAR, seed=3, weights=(1, 255))
    assert gpop.sssp(world, 1, threads=8).run.threads == 1
    monkeypatch.setattr(sharing, "SHARED_VERTICES", 1 << 13)
    assert gpop.sssp(world, 1, threads=2).run.threads == 2
    fewer = generate("small_world", vertices=1 << 14, degree=PATHS_NEAR - 2, seed=3, weights=(1, 255))
    far = generate("uniform", scale=14, degree=PATHS_NEAR, seed=3, weights=(1, 255))
    for graph in (fewer, far):
        assert gpop.sssp(graph, 1, threads=MANY_THREADS - 1).run.threads == 1
        assert gpop.sssp(graph, 1, threads=MANY_THREADS).run.threads > 1
    monkeypatch.setattr(sharing, "SHARED_VERTICES", 1 << 15)  # of small graphs, where neighbours are near
    threads = THREADS_OF_MESH - 1, THREADS_OF_MESH
    assert [gpop.sssp(fewer, 1, threads=each).run.threads > 1 for each in threads] == [False, True]
    assert gpop.sssp(far, 1, threads=THREADS_OF_MESH - 1).run.threads > 1
    monkeypatch.setattr(sharing, "SHARED_VERTICES", 1 << 13)
    assert choose(world, "auto", 255, None, TWO)[0] == "calendar"
    monkeypatch.setattr(sssp_methods, "MOST_EDGES", world.m - 1)
    assert choose(world, "auto", 255, None, TWO)[0] == "calendar"
    assert choose(world, "auto", 255, None, {"threads": 1})[0] == "messages"
    monkeypatch.setattr(sssp_methods, "MOST_OF_MANY", world.n + world.m - 1)
    assert choose(world, "auto", 255, None, TWO)[0] == "messages"


def test_where_neighbours_are_near_each_of_many_threads_has_vertices_of_its_own(monkeypatch):
    """On graphs that are not small, and whose paths are no chains: else it is messages as before."""
    world = generate("small_world", vertices=1 << 14, degree=6, seed=3, weights=(1, 255))
    chain = generate("grid", width=1 << 14, height=1, weights=(1, 255))
    for name, value in (("MOST_OF_MANY", 1 << 12), ("MOST_VERTICES", 1 << 12)):
        monkeypatch.setattr(sssp_methods, name, value)
    monkeypatch.setattr(sharing, "SHARED_VERTICES", 1 << 13)
    many, few = {"threads": MANY_THREADS}, {"threads": MANY_THREADS - 1}
    assert choose(world, "auto", 255, None, many)[0] == "messages"
    monkeypatch.setattr(sharing, "OWN_VERTICES", world.n)
    asked = "few edges of each vertex, and neighbours are near"
    assert choose(world, "auto", 255, None, many) == ("calendar", asked)
    assert {choose(chain, "auto", 255, None, many)[0], choose(world, "auto", 255, None, few)[0]} == {
        "messages"
    }
    owned, search = [], calendar_owned.search
    seen = lambda *asked: owned.append(asked) or search(*asked)  # noqa: E731
    monkeypatch.setattr(calendar_owned, "search", seen)
    expected = gpop.sssp(world, 1, method="messages").distance
    assert np.array_equal(gpop.sssp(world, 1, threads=MANY_THREADS).distance, expected)
    assert [threads for *_, threads in owned] == [MANY_THREADS]


@pytest.mark.parametrize(("together", "then"), [(1.5, 2), (2.0, 1), (9.0, 1)])
def test_times_say_whether_two_threads_share_a_calendar(dense, monkeypatch, together, then):
    """Of calls from which all is found; what is found is the same."""
    monkeypatch.setattr(crew_trial, "is_shipped", lambda: False)
    monkeypatch.setattr(sssp_methods, "LEAST_TRIED", dense.n)
    calls, graph, hub = [], reference.with_weights(dense, dense.weights), int(dense.out_degree.argmax())

    def timed(graph, source, width, threads=1):
        calls.append(threads)
        return search(graph, source, width, threads)._replace(seconds={1: 2.0, 2: together}[threads])

    search = calendar.search
    monkeypatch.setattr(calendar, "search", timed)
    monkeypatch.setattr(calendar, "is_kept", lambda: True)
    expected = gpop.sssp(graph, hub, threads=1).distance
    for _ in range(FIRST + CALLS + 1):
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
    monkeypatch.setattr(calendar, "is_kept", lambda: False)
    graph, hub = reference.with_weights(dense, dense.weights), int(dense.out_degree.argmax())
    assert {gpop.sssp(graph, hub, threads=2).run.threads for _ in range(FIRST + CALLS + 1)} == {1}
    monkeypatch.setattr(crew_trial, "COMPILED_AFTER_S", 0.0)  # but for one who has searched for so long
    graph = reference.with_weights(dense, dense.weights)
    assert {gpop.sssp(graph, hub, threads=2).run.threads for _ in range(FIRST + CALLS + 1)} == {1, 2}


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
