"""Levels and buckets on a device, where blocks race: answers of searches over long thin graphs and others."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.apps import sssp
from gpop.generate import generate
from gpop.gpu import choices, limits
from tests.gpu import test_buckets, test_levels
from tests.gpu.test_bottom_up import PROGRAMS, check
from tests.programs import random_graph

pytestmark = pytest.mark.gpu

GRAPHS = {
    "grid": lambda: generate("grid", width=700, height=300, weights=(1, 255)),
    "chain": lambda: generate("chain", vertices=3000, weights=(1, 255)),
    "rmat": lambda: generate("rmat", scale=14, symmetrize=True, weights=(1, 255)),
}


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("most", [limits.LEVEL_EDGES, 1500, 300])
@pytest.mark.parametrize("clustered", [False, True])
def test_searches(kind, most, clustered, monkeypatch):
    """Levels of the whole grid, of a cluster, of one block, and changes between them and other iterations."""
    monkeypatch.setattr(limits, "CLUSTER_EDGES" if clustered else "LEVEL_EDGES", most)
    monkeypatch.setattr(choices, "prefers_cluster", lambda vertices, edges: clustered)
    graph = GRAPHS[kind]()
    source = int(np.argmax(graph.out_degree))
    level = gpop.bfs(graph, source, mode="sc").level
    for mode in ("sc", "auto"):
        for _ in range(3):
            assert np.array_equal(gpop.bfs(graph, source, target="gpu", mode=mode).level, level)
            for delta in () if clustered else (None, 100, np.inf):
                found = gpop.sssp(graph, source, target="gpu", mode=mode, delta=delta)
                assert sssp.verify(graph, found, source) is None


@pytest.mark.parametrize("case", [test_levels.STEPS, test_levels.AGAIN, PROGRAMS["Reached"]],
                         ids=lambda case: case.cls.__name__)  # fmt: skip
@pytest.mark.parametrize("mode", ["sc", "auto"])
@pytest.mark.parametrize("clustered", [False, True])
def test_levels_leave_what_other_iterations_leave(case, mode, clustered, monkeypatch):
    monkeypatch.setattr(choices, "prefers_cluster", lambda vertices, edges: clustered)
    for graph in (test_levels.long_and_thin(), random_graph(22, 3000, 30000, weights=True)):
        for limit in (case.iterations, 5, 6):
            check(case._replace(iterations=limit), graph, mode=mode, ratio=1.0, partition_size=256)


def test_what_a_block_has_no_room_for_lies_beside():
    """More vertices are found in a level than the shared memory of all blocks of the cluster takes."""
    graph, wide = test_levels.chains(16_000, 40), 16_000
    program = test_levels.Steps(graph)
    program.level[:wide] = 1
    run = gpop.run(program, range(wide), target="gpu", mode="sc")
    assert run.trace.column("frontier").tolist() == [wide] * 40
    assert (program.level == 1 + np.arange(graph.n) // wide).all()


@pytest.mark.parametrize("mode", ["auto", "pull", "sc", "pc"])
@pytest.mark.parametrize("start", [test_buckets.in_steps, test_buckets.labels])
def test_steps_of_buckets(start, mode):
    for graph in (random_graph(5, 90, 500, weights=True), random_graph(6, 9000, 90_000, weights=True)):
        test_buckets.check_steps(start, graph, mode, 256)


@pytest.mark.parametrize(
    "name, value", [("PIECE", limits.PIECE), ("PIECE", 3), ("LEVEL_EDGES", 2000), ("LEVEL_EDGES", 6)]
)
def test_runs_of_levels_alone(name, value, monkeypatch):
    """On small graphs; levels with more edges look at all of them. The grid takes several launches."""
    monkeypatch.setattr(limits, name, value)
    monkeypatch.setattr(choices, "prefers_cluster", lambda vertices, edges: False)
    graphs = [generate("grid", width=2000, height=9, weights=(1, 255)), GRAPHS["rmat"]()]
    for graph in [*graphs, random_graph(7, 5000, 60_000, weights=True)]:
        source = int(np.argmax(graph.out_degree))
        level = gpop.bfs(graph, source, mode="sc").level
        for _ in range(5):
            assert np.array_equal(gpop.bfs(graph, source, target="gpu").level, level)
            found = gpop.sssp(graph, source, method="messages", target="gpu")
            assert sssp.verify(graph, found, source) is None


def test_hubs_are_walked_by_all_of_a_block():
    """Lists that the warps of a block share, slice by slice, and more of them than wait together."""
    for count, spokes in (
        (9000, limits.LONG_LIST + 5),
        (60, limits.HEAVY + 70),
        (3, limits.LEVEL_DEGREE - 3),
    ):
        graph = test_levels.hubs(count, spokes)
        sources = tuple(np.flatnonzero(graph.out_degree > limits.LONG_LIST).tolist())
        for mode in ("sc", "auto"):
            check(test_levels.STEPS._replace(frontier=sources), graph, mode=mode, ratio=1.0)
