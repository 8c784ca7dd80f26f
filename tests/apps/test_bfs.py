"""Breadth-first search: results, and a verifier that sees every kind of fault."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gpop
from gpop.apps import bfs_methods
from gpop.apps.bfs import verify
from gpop.apps.bfs_methods import choose
from gpop.generate import generate
from gpop.model import crew_trial, sharing
from gpop.model.crew_trial import AGAIN, CALLS, FIRST, TURNS
from gpop.model.sharing import MANY_THREADS


@pytest.fixture(scope="module")
def grid():
    return generate("grid", width=8, height=8)


def test_levels_and_parents_of_a_tree():
    #  0 -> 1 -> 3, 0 -> 2 -> 4, 5 -> 0
    graph = gpop.Graph.from_edges([0, 0, 1, 2, 5], [1, 2, 3, 4, 0])
    result = gpop.bfs(graph, 0)
    assert result.level.tolist() == [0, 1, 1, 2, 2, -1]
    assert result.parent.tolist() == [0, 0, 0, 1, 2, -1]
    assert result.level.dtype.kind == result.parent.dtype.kind == "i"
    by_messages = gpop.bfs(graph, 0, method="messages")
    assert np.array_equal(by_messages.level, result.level)
    assert np.array_equal(by_messages.parent, result.parent)
    assert [record["frontier"] for record in by_messages.trace] == [1, 2, 2]


def test_a_grid_is_searched_diagonal_by_diagonal(grid):
    result = gpop.bfs(grid, 0)
    assert np.array_equal(result.level.reshape(8, 8), np.add.outer(np.arange(8), np.arange(8)))
    assert result.run.converged


def test_iterations_limit_the_depth(grid):
    assert gpop.bfs(grid, 0, iterations=3).level.max() == 3


def test_source_may_be_any_integer(grid):
    assert gpop.bfs(grid, np.uint32(63)).level[0] == 14


@pytest.mark.parametrize("source", [-1, 64, 2**40])
def test_source_outside_the_graph(grid, source):
    with pytest.raises(
        gpop.UsageError, match=f"source {source} is not in the graph: its vertices are 0 to 63"
    ):
        gpop.bfs(grid, source)


def test_source_that_is_no_vertex(grid):
    with pytest.raises(gpop.UsageError, match=r"source 1\.5: expected a vertex index"):
        gpop.bfs(grid, 1.5)
    with pytest.raises(gpop.UsageError, match="source True: expected a vertex index"):
        gpop.bfs(grid, True)
    with pytest.raises(gpop.UsageError, match="it has no vertices"):
        gpop.bfs(gpop.Graph.from_edges([], [], n=0), 0)


def test_interleaving_is_refused(grid):
    with pytest.raises(gpop.UsageError, match="bfs cannot be interleaved"):
        gpop.bfs(grid, 0, interleave=True)


def test_which_method_is_chosen(grid, monkeypatch):
    def chosen(method="auto", **options):
        return choose(grid, method, options)[0]

    assert chosen() == chosen(threads=2, mode="auto", target="cpu") == chosen("direct") == "direct"
    assert chosen(mode="pc") == chosen(iterations=3) == chosen(target="gpu") == "messages"
    assert chosen("messages") == chosen(partition_size=16) == chosen(callback=print) == "messages"
    both = grid.n + grid.m
    for bound, value in (("MOST_EDGES", grid.m), ("MOST_VERTICES", grid.n), ("MOST_OF_BOTH", both)):
        with monkeypatch.context() as patch:
            patch.setattr(bfs_methods, "MOST_OF_BOTH", 0)
            patch.setattr(bfs_methods, "MOST_OF_MANY", 0)
            patch.setattr(bfs_methods, "MOST_OF_ROAD", 0)
            if bound == "MOST_OF_BOTH":
                patch.setattr(bfs_methods, "MOST_EDGES", 0)
            patch.setattr(bfs_methods, bound, value)
            assert chosen() == "direct"
            patch.setattr(bfs_methods, bound, value - 1)
            assert chosen() == "messages" and chosen("direct") == "direct"
            patch.setattr(bfs_methods, "MOST_OF_MANY", both)
            assert chosen(threads=MANY_THREADS) == "direct"
            assert chosen(threads=MANY_THREADS - 1) == "messages"


def test_a_graph_on_disk_is_searched_there(tmp_path):
    gpop.Graph.from_edges([0, 1], [1, 2]).save(tmp_path / "x.mapped")
    mapped = gpop.load(tmp_path / "x.mapped")
    assert choose(mapped, "auto", {}) == ("messages", "the graph is on disk, with its bins")
    assert choose(mapped, "auto", {"mode": "pc", "ratio": 1.0})[1] == "mode, ratio are for messages"


def test_roads_go_without_messages_unless_they_are_large(monkeypatch):
    grid = generate("grid", width=100, height=100)
    for bound in ("MOST_VERTICES", "MOST_OF_BOTH", "MOST_OF_MANY"):
        monkeypatch.setattr(bfs_methods, bound, 0)
    for threads in (1, 2, MANY_THREADS):
        assert choose(grid, "auto", {"threads": threads})[0] == "direct"
    monkeypatch.setattr(sharing, "PART_OF_ROAD", grid.n // MANY_THREADS - 1)
    assert choose(grid, "auto", {"threads": 1})[0] == choose(grid, "auto", {"threads": 2})[0] == "direct"
    assert choose(grid, "auto", {"threads": MANY_THREADS})[0] == "messages"
    assert choose(grid, "auto", {"threads": MANY_THREADS + 1})[0] == "direct"
    far = generate("uniform", scale=12, degree=3, seed=1)
    many = generate("grid3", width=30, height=30, depth=30)
    assert choose(far, "auto", {"threads": 2})[0] == choose(many, "auto", {"threads": 2})[0] == "messages"
    monkeypatch.setattr(bfs_methods, "MOST_OF_ROAD", grid.n - 1)
    assert choose(grid, "auto", {"threads": 2})[0] == "messages"


@pytest.mark.slow
def test_times_say_whether_a_search_is_shared(monkeypatch):
    """What is found is the same."""
    monkeypatch.setattr(crew_trial, "is_shipped", lambda: False)
    monkeypatch.setattr(sharing, "SHARED_VERTICES", 1 << 8)
    monkeypatch.setattr(bfs_methods, "SHARED_ROAD", 0)
    calls, graph = [], generate("grid", width=40, height=40)
    expected = gpop.bfs(graph, 3, threads=1)

    def timed(graph, source, threads=1, few=False):
        calls.append(threads)
        return search(graph, source, threads)._replace(seconds={1: 2.0, 2: 3.0}[threads])

    search = bfs_methods.search
    monkeypatch.setattr(bfs_methods, "search", timed)
    for _ in range(AGAIN + CALLS + 1):
        found = gpop.bfs(graph, 3, method="direct", threads=2)
        assert np.array_equal(found.level, expected.level) and np.array_equal(found.parent, expected.parent)
    assert calls == [2] * AGAIN + [2] + [1, 1, 2, 2] * (TURNS - 1) + [1, 1] + [1]


@pytest.mark.parametrize("kept", [True, False])
def test_times_say_whether_two_threads_share_a_small_mesh(kept, monkeypatch):
    """They are tried once what they share is compiled; here one thread takes their part."""
    monkeypatch.setattr(crew_trial, "is_shipped", lambda: False)
    monkeypatch.setattr(bfs_methods, "LEAST_MESH", 1)
    monkeypatch.setattr(bfs_methods, "is_kept", lambda: kept)
    calls, graph = [], generate("grid3", width=4, height=4, depth=100)

    def timed(graph, source, threads=1, few=False):
        calls.append((threads, few))
        return search(graph, source)._replace(seconds={1: 3.0, 2: 2.0}[threads])

    search = bfs_methods.search
    monkeypatch.setattr(bfs_methods, "search", timed)
    for _ in range(1 + FIRST + CALLS + 1):
        gpop.bfs(graph, 3, threads=2)
    alone, shared = (1, True), (2, True)
    assert calls[0] == (1, False)  # nothing is known of the graph yet
    if kept:
        assert calls[-1] == shared and calls.count(shared) == 2 * TURNS + 1
    else:
        assert {*calls[1:]} == {alone}
    gpop.bfs(graph, 3, threads=MANY_THREADS)
    assert calls[-1][0] == 1


@pytest.mark.slow
def test_a_small_road_is_searched_by_one_thread(monkeypatch):
    """Levels are thin; a random graph of as many vertices is shared."""
    monkeypatch.setattr(sharing, "SHARED_VERTICES", 1 << 8)
    grid, far = generate("grid", width=64, height=64), generate("uniform", scale=12, degree=64, seed=1)
    threads = {
        name: gpop.bfs(graph, 3, threads=4).run.threads for name, graph in {"grid": grid, "far": far}.items()
    }
    assert threads["grid"] == 1 and threads["far"] > 1
    monkeypatch.setattr(bfs_methods, "SHARED_ROAD", grid.n)
    assert gpop.bfs(grid, 3, threads=4).run.threads > 1


def test_both_methods_find_the_same_levels():
    graph = generate("rmat", scale=10, degree=12, seed=8)
    source = int(graph.out_degree.argmax())
    direct, messages = (gpop.bfs(graph, source, method=method) for method in ("auto", "messages"))
    assert direct.trace.summary["method"] == "direct" and direct.run.threads == 1
    assert direct.trace.summary["phases"] == ["push", "pull"]
    assert messages.trace.summary["method"] == "messages"
    assert np.array_equal(direct.level, messages.level)
    assert direct.parent.dtype == messages.parent.dtype == direct.level.dtype == np.int32
    assert verify(graph, direct, source) is verify(graph, messages, source) is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "queue"}, "method 'queue': expected one of auto, messages, direct"),
        ({"method": "direct", "mode": "sc"}, "mode means nothing to direct: it sends no messages"),
        ({"method": "direct", "partition_size": 8}, "partition_size means nothing to direct"),
    ],
)
def test_what_is_refused(grid, options, said):
    with pytest.raises(gpop.UsageError, match=said):
        gpop.bfs(grid, 0, **options)


def test_verify_sees_faults(grid):
    result = gpop.bfs(grid, 0)
    assert verify(grid, result, 0) is None

    def changed(**values):
        arrays = {"parent": result.parent.copy(), "level": result.level.copy()}
        for name, (vertex, value) in values.items():
            arrays[name][vertex] = value
        return verify(grid, replace(result, **arrays), 0)

    assert "source 0 has parent" in changed(parent=(0, 1))
    assert "one level below its parent" in changed(level=(9, 4))
    assert "one level below its parent" in changed(level=(63, -1))
    assert "without an edge" in changed(parent=(56, 41))
    assert "skips a level" in changed(parent=(63, -1), level=(63, -1))
    late = gpop.bfs(gpop.Graph.from_edges([0, 1, 2], [1, 2, 3]), 0)
    assert "skips a level" in verify(gpop.Graph.from_edges([0, 0, 1, 2], [1, 3, 2, 3]), late, 0)
