"""Graphs with frontiers that stay small, such as roads, have few partitions."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.cpu import engine, preparation
from gpop.generate import generate
from gpop.layout.partition import partition_bits
from gpop.plan.plan import decide

THREADS = 4


def bits(cls, graph, **options):
    """Local bits of a run's partitions, which need no run to be known."""
    made = engine.CpuEngine(decide(cls(graph), threads=THREADS, **options))
    return made._bits()


class Steps(gpop.Program):
    """Levels of a search; nothing is compiled."""

    level = gpop.VertexField(np.uint32, 9)
    inactive_message = gpop.HARMLESS
    combine = "min"

    def scatterFunc(self, node):
        return self.level[node]

    def gatherFunc(self, value, node):
        if value < self.level[node]:
            self.level[node] = value
            return True
        return False


class Everywhere(Steps):
    all_active = True


class Buckets(Steps):
    def priorityFunc(self, node):
        return self.level[node]


ROADS, CROWD = generate("grid", width=100, height=90), generate("rmat", scale=13, degree=16)


def test_roads_have_few_partitions_and_the_same_answer():
    assert bits(Steps, ROADS) == 11  # 9000 vertices in 5 partitions, and not in 16 or more
    found = [gpop.bfs(ROADS, 7, threads=THREADS, **size) for size in ({}, {"partition_size": 512})]
    assert found[0].run.partitions == 5 and found[1].run.partitions == 18
    assert np.array_equal(found[0].level, found[1].level)


@pytest.mark.parametrize(
    ("cls", "graph", "options"),
    [
        (Steps, CROWD, {}),  # many edges
        (Everywhere, ROADS, {}),
        (Buckets, ROADS, {}),
        (Steps, ROADS, {"interleave": True}),
    ],
)
def test_all_others_have_four_for_each_thread(cls, graph, options):
    expected = partition_bits(graph.n, THREADS, edges=graph.m, vertex_bytes=5)
    assert bits(cls, graph, **options) == expected
    assert -(-graph.n >> expected) >= 4 * THREADS


def test_what_is_asked_for_goes_first_and_large_graphs_are_not_narrow(monkeypatch):
    assert bits(Steps, ROADS, partition_size=256) == 8
    monkeypatch.setattr(preparation, "NARROW", 4 * ROADS.n - 1)
    assert bits(Steps, ROADS) < 11
