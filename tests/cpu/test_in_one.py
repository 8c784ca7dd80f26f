"""A search of a small graph has one partition, however many threads there are."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.apps.bfs import BFS
from gpop.cpu import engine, layouts, sharing
from gpop.generate import generate
from gpop.layout.partition import partition_bits, partition_count
from gpop.plan.plan import decide
from tests.programs import Smallest

THREADS = 4


def bits(cls, graph, **options):
    """Local bits of a run's partitions, which need no run to be known."""
    made = engine.CpuEngine(decide(cls(graph), threads=THREADS, **options))
    return made._bits()


class Everywhere(Smallest):
    all_active = True


class Adding(Smallest):
    combine = "add"


class Buckets(Smallest):
    def priorityFunc(self, node):
        return self.label[node]


ROADS = generate("grid", width=100, height=90)
CROWD = generate("rmat", scale=11, degree=16)


def test_small_graphs_are_one_partition_with_the_same_answer():
    assert bits(Smallest, ROADS) == 14
    found = [gpop.bfs(ROADS, 7, threads=THREADS, **size) for size in ({}, {"partition_size": 512})]
    assert found[0].run.partitions == 1 and found[1].run.partitions == 18
    assert np.array_equal(found[0].level, found[1].level)


@pytest.mark.parametrize(
    ("cls", "options", "partitions"),
    [
        (Smallest, {}, 1),
        (Buckets, {}, 1),
        (Buckets, {"interleave": True}, 1),
        (Adding, {}, 4),
        (Smallest, {"interleave": True}, 4 * THREADS),
        (Everywhere, {}, 4 * THREADS),
    ],
)
def test_fewest_partitions_of_each_kind_of_program(cls, options, partitions):
    assert partitions <= partition_count(CROWD.n, bits(cls, CROWD, **options)) < 2 * partitions


@pytest.mark.parametrize("most", [ROADS.m - 1, ROADS.n - 1])
def test_what_is_asked_for_goes_first_and_large_graphs_have_four_for_each_thread(monkeypatch, most):
    """Large is one with many edges, and one with many vertices that have none."""
    graph = ROADS if most > ROADS.n else gpop.Graph.from_edges([0, 1], [1, 2], n=ROADS.n)
    assert bits(Smallest, graph) == 14 and bits(Smallest, graph, partition_size=256) == 8
    monkeypatch.setattr(layouts, "SMALL_EDGES", most)
    assert bits(Smallest, graph) == partition_bits(ROADS.n, THREADS, edges=graph.m, vertex_bytes=5)


def test_nobody_is_called_where_there_is_one_partition():
    made = engine.CpuEngine(decide(BFS(ROADS), threads=THREADS))
    made.prepare()
    assert made.workers == 0


@pytest.mark.parametrize("threads", [1, 2, 16])
def test_what_nobody_shares_is_one_partition_with_the_same_bits(threads):
    """Where all are active, too: 16 threads had a partition for each of 34 vertices."""
    club = generate("uniform", scale=5, degree=6, seed=1, symmetrize=True)
    assert club.m < sharing.SERIAL_EDGES
    parts = gpop.pagerank(club, iterations=9, threads=threads, partition_size=2)
    found = gpop.pagerank(club, iterations=9, threads=threads)
    assert (found.run.partitions, parts.run.partitions) == (1, 16)
    assert found.rank.tobytes() == parts.rank.tobytes()
