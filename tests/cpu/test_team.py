"""Threads that share phases: results do not depend on their number, nor on when they come and go."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.apps.bfs import verify
from gpop.cpu import team
from gpop.cpu.counters import COUNTERS
from gpop.cpu.engine import CpuEngine
from gpop.plan.plan import decide

CHAINS, LENGTH = 300, 100


def chains() -> gpop.Graph:
    """From vertex 0 chains with an edge back to it at each vertex: every level has 2 * `CHAINS` edges."""
    v = 1 + np.arange(CHAINS * LENGTH).reshape(LENGTH, CHAINS)
    tails = [np.zeros(CHAINS, np.int64), v[:-1].ravel(), v.ravel()]
    heads = [v[0], v[1:].ravel(), np.zeros(v.size, np.int64)]
    return gpop.Graph.from_edges(np.concatenate(tails), np.concatenate(heads))


@pytest.fixture(scope="module")
def graph():
    return chains()


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("partition_size", [16, 64, 4096])
def test_shares_of_a_light_phase_cover_every_partition_once(graph, threads, partition_size):
    """Each level lies in one partition, in some, or in many; a vertex is in the frontier once."""
    found = gpop.bfs(graph, 0, threads=threads, partition_size=partition_size)
    assert verify(graph, found, 0) is None
    assert found.trace.column("frontier").tolist() == [1] + LENGTH * [CHAINS]


def test_workers_stay_in_the_loop_between_slices(graph, monkeypatch):
    monkeypatch.setattr(CpuEngine, "most_rows", 7)
    called = []
    dismiss = team.dismiss
    monkeypatch.setattr(team, "dismiss", lambda slots: (called.append(1), dismiss(slots)))
    found = gpop.bfs(graph, 0, threads=3, partition_size=4096)
    assert verify(graph, found, 0) is None
    assert len(found.trace) == LENGTH + 1
    assert len(called) == 1


def test_workers_of_a_run_that_is_over_do_nothing(graph):
    """Runs too short for their workers to come, then longer ones: a late one must not join."""
    expected = gpop.bfs(graph, 0, threads=1).level
    for _ in range(30):
        for _ in range(3):
            gpop.bfs(graph, 0, threads=4, iterations=1)
        assert np.array_equal(gpop.bfs(graph, 0, threads=4).level, expected)


class Uneven(gpop.Program):
    """To send takes a millisecond and more for the last vertex, and no time for the others."""

    value = gpop.VertexField(np.uint32, 1)
    inactive_message = gpop.HARMLESS
    all_active = True

    def scatterFunc(self, node):
        value = self.value[node]
        for _ in range(2_000_000 * (self.out_degree[node] > 1)):
            value = np.uint32(value * np.uint32(1664525) + np.uint32(1013904223))
        return value

    def gatherFunc(self, value, node):
        self.value[node] = value
        return True


def edges_of_each(monkeypatch, n, iterations):
    """Edges that each of two threads has followed on a ring."""
    monkeypatch.setattr("gpop.cpu.engine.CALLED_LATER", False)
    ring = gpop.Graph.from_edges([*range(n), n - 1], [*range(1, n), 0, 1])
    plan = decide(Uneven(ring), mode="sc", threads=2, partition_size=n // 2, counting=True, limit=iterations)
    engine = CpuEngine(plan)
    engine.prepare()
    engine.load(None, iterations)
    while engine.iteration < iterations:
        engine.iterate()
    edges = engine.space.counters[:, COUNTERS.index("edges_scattered")].copy()
    engine.finish()
    assert edges.sum() == iterations * ring.m
    return edges


@pytest.mark.slow  # wants two cores that nobody else uses: who is late is chance where others do
def test_whoever_is_late_is_left_alone(monkeypatch):
    """A worker that has the last vertex keeps the other waiting, who does what comes next alone."""
    for _ in range(20):
        edges = edges_of_each(monkeypatch, 1024, 24)
        if edges[1] <= edges.sum() / 4:
            break
    assert edges[1] <= edges.sum() / 4
