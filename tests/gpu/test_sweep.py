"""Levels of small graphs that look at all edges (kernels/sweep.cuh), or in which vertices ask
(level_ask.cuh): answers, traces, and when they end.
"""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.apps.bfs import BFS
from gpop.apps.sssp_programs import SSSP, UNORDERED
from gpop.generate import generate
from gpop.gpu import choices, engine, limits
from gpop.gpu.kernel import make_source
from tests.gpu.emulator import emulated
from tests.gpu.test_bottom_up import PROGRAMS, check
from tests.gpu.test_levels import AGAIN, STEPS, hubs, levels_run, long_and_thin
from tests.programs import random_graph
from tests.quick import quick

ASKS = {"ASK_EDGES": 2, "ASK_SHARE": 1 << 20, "ASK_DEGREE": 0, "ASK_LEAST": 0}
"""Limits with which vertices ask in levels of the smallest graphs."""

CHANGED = {"walks": {}, "pieces": {"PIECE": 3}, "sweeps": {"LEVEL_EDGES": 6}, "asks": ASKS}


@pytest.fixture(autouse=True, params=quick(CHANGED, "walks", "asks"))
def several_blocks(request, monkeypatch):
    """As if one block were not enough, however small the graph; short lists are long, levels are swept, or
    vertices ask in them."""
    seen = []

    def watched(emitted, traits, *rest):
        seen.append(traits.swept)
        return make_source(emitted, traits, *rest)

    monkeypatch.setattr(limits, "ONE_BLOCK", 0)
    for name, value in CHANGED[request.param].items():
        monkeypatch.setattr(limits, name, value)
    monkeypatch.setattr("gpop.gpu.prepared.make_source", watched)
    monkeypatch.setattr(choices, "prefers_cluster", lambda vertices, edges: False)
    yield request.param
    assert any(seen)


@pytest.mark.parametrize(
    "case",
    quick([STEPS, AGAIN, PROGRAMS["Reached"]], AGAIN),
    ids=lambda case: case.cls.__name__,
)
@pytest.mark.parametrize("mode", quick(["sc", "auto"], "auto"))
def test_sweeps_and_walks_give_what_others_give(case, mode, monkeypatch):
    begun = levels_run(monkeypatch)
    with emulated():
        for graph in (long_and_thin(), random_graph(21, 90, 400, weights=True)):
            for limit in (case.iterations, 5, 6):
                for frontier in (case.frontier[:1], case.frontier):
                    check(case._replace(iterations=limit, frontier=frontier), graph, mode=mode, ratio=1.0)
    assert any(begun)


def test_rows_of_the_trace_fill_up(several_blocks):
    """More levels than a launch has rows, or time: the next one goes on. Bytes say which were swept."""
    with emulated():
        graph = generate("grid", width=600, height=4)
        found = gpop.bfs(graph, 0, target="gpu")
        assert (found.level == gpop.bfs(graph, 0).level).all()
        assert found.run.iterations == found.level.max() + 1
        assert found.trace.column("frontier").sum() == graph.n
        heard = found.trace.column("active_edges") * (4 + BFS.parent.dtype.itemsize)
        swept = found.trace.column("bytes") == graph.n / 8 + 4 * graph.m + heard
        # those of the first time slice:
        assert swept[3:6].all() == swept.any() == (several_blocks == "sweeps")
        asked = found.trace.column("partitions_pull") > 0
        assert asked[3:6].all() == asked.any() == (several_blocks == "asks")
        following = np.append(found.trace.column("frontier")[1:], 0)
        assert np.array_equal(found.trace.column("messages")[asked], following[asked])  # of each level anew


@pytest.mark.parametrize("hub", quick([limits.HUB, 5], 5))
def test_levels_in_which_vertices_ask(several_blocks, hub, monkeypatch):
    """Each takes the message that makes it active, and no more. Forced modes have none."""
    monkeypatch.setattr(limits, "HUB", hub)
    with emulated():
        graph = random_graph(22, 90, 400)
        source = int(graph.out_degree.argmax())
        expected = gpop.bfs(graph, source)
        found = gpop.bfs(graph, source, target="gpu")
        assert np.array_equal(found.level, expected.level)
        asked = found.trace.column("partitions_pull") > 0
        assert asked[1:3].all() == asked.any() == (several_blocks == "asks")
        frontier, heard = found.trace.column("frontier"), found.trace.column("messages")
        following = np.append(frontier[1:], 0)
        assert np.array_equal(heard[asked], following[asked])
        pushed = gpop.bfs(graph, source, target="gpu", mode="sc")
        assert not pushed.trace.column("partitions_pull").any()
        assert np.array_equal(pushed.level, expected.level)


def test_nobody_asks_where_somebody_has_many_in_edges(several_blocks, monkeypatch):
    graph = random_graph(22, 90, 400)
    monkeypatch.setattr(limits, "MOST_ASKED", int(graph.reverse().out_degree.max()) - 1)
    with emulated():
        found = gpop.bfs(graph, int(graph.out_degree.argmax()), target="gpu")
    assert not found.trace.column("partitions_pull").any()


def test_what_is_left_for_lack_of_time_is_left_once(monkeypatch):
    """A vertex that lies in pieces, too: a launch is out of time after its first level."""
    monkeypatch.setattr(engine, "SLICE_NS", 0)
    middle, ends = 1 + np.arange(20), 21 + np.arange(100)
    src = np.concatenate([np.zeros(20, np.int64), np.repeat(middle, 5)])
    graph = gpop.Graph.from_edges(src, np.concatenate([middle, ends]))
    with emulated():
        found = gpop.bfs(graph, 0, target="gpu", mode="sc")
    assert found.trace.column("frontier").tolist() == [1, 20, 100]
    assert found.level.tolist() == [0, *[1] * 20, *[2] * 100]


def test_a_vertex_is_active_once_however_many_messages_make_it():
    first = np.arange(1, 7)
    edges = [(0, v, int(v)) for v in first]
    edges += [(v, 7, 10 * (7 - int(v))) for v in first] + [(7, 8, 1)]
    src, dst, weights = np.array(edges).T
    with emulated():
        graph = gpop.Graph.from_edges(src, dst, weights=weights)
        for _ in range(2):  # on one workspace
            found = gpop.sssp(graph, 0, target="gpu", mode="sc", delta=np.inf)
            assert found.trace.column("frontier").tolist() == [1, 6, 1, 1]
            assert found.distance[7:].tolist() == [16, 17]


def test_who_becomes_active_for_the_next_level_sends_in_this_one_still():
    """So that as many iterations find all paths of so many edges."""
    edges = [(0, 1, 1), (0, 2, 10), (1, 2, 1), (2, 3, 10), *((1, v, 5) for v in range(4, 9))]
    src, dst, weights = np.array(edges).T
    with emulated():
        graph = gpop.Graph.from_edges(src, dst, weights=weights)
        for iterations, farthest in ((2, 20), (3, 12)):
            found = gpop.sssp(graph, 0, target="gpu", mode="sc", delta=np.inf, iterations=iterations)
            assert found.distance[2] == 2 and 12 <= found.distance[3] <= farthest


@pytest.mark.parametrize("source", quick([0, 11], 11))
def test_runs_from_one_vertex_and_from_some(source):
    with emulated():
        graph = hubs(9, limits.LONG_LIST + 70)
        for sources in ([source], [source, source + 1, 0, 200]):
            for target in ("cpu", "gpu"):
                program = UNORDERED[SSSP](graph)
                program.distance[sources] = 0
                run = gpop.run(program, sources, target=target, interleave=True)
                if target == "cpu":
                    expected = program.distance.copy()
                else:
                    assert (program.distance == expected).all() and run.converged
