"""Small graphs have few partitions, however many threads there are."""

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


ROADS = generate("grid", width=100, height=90)
CROWD = generate("rmat", scale=11, degree=16)


def test_small_graphs_have_few_partitions_and_the_same_answer():
    assert bits(Steps, ROADS) == 13  # 9000 vertices in 2 partitions, and not in 16 or more
    found = [gpop.bfs(ROADS, 7, threads=THREADS, **size) for size in ({}, {"partition_size": 512})]
    assert found[0].run.partitions == 2 and found[1].run.partitions == 18
    assert np.array_equal(found[0].level, found[1].level)


@pytest.mark.parametrize(
    ("cls", "options", "partitions"),
    [
        (Steps, {}, 2),
        (Buckets, {}, 4),
        (Buckets, {"interleave": True}, 4),
        (Steps, {"interleave": True}, 4 * THREADS),
        (Everywhere, {}, 4 * THREADS),
    ],
)
def test_fewest_partitions_of_each_kind_of_program(cls, options, partitions):
    assert partitions <= -(-CROWD.n >> bits(cls, CROWD, **options)) < 2 * partitions


def test_what_is_asked_for_goes_first_and_large_graphs_have_four_for_each_thread(monkeypatch):
    assert bits(Steps, ROADS, partition_size=256) == 8
    monkeypatch.setattr(preparation, "SMALL_EDGES", ROADS.m - 1)
    expected = partition_bits(ROADS.n, THREADS, edges=ROADS.m, vertex_bytes=5)
    assert bits(Steps, ROADS) == expected
