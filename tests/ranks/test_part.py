"""Parts of a graph without MPI: where ranges begin, where mirrors go, and that every edge is on one rank."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpop.graph.graph import Graph
from gpop.ranks.part import cut, in_edges_of, lay_out, pack, partition_in_edges
from tests.graphs import small_graphs


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
@pytest.mark.parametrize("bits", [0, 3, 9])
def test_ranges_begin_at_partitions_and_hold_everything(ranks, bits):
    for graph in small_graphs().values():
        counts = partition_in_edges(graph, bits)
        assert counts.sum() == graph.m
        bounds = cut(counts, ranks, bits, graph.n)
        assert bounds[0] == 0 and bounds[-1] == graph.n and bounds.size == ranks + 1
        assert (np.diff(bounds) >= 0).all()
        assert all(bound % (1 << bits) == 0 or bound == graph.n for bound in bounds)


def test_ranges_have_about_equal_numbers_of_edges():
    counts = np.random.default_rng(1).integers(0, 50, 1000)
    bounds = cut(counts, 8, 2, 4000)
    pairs = itertools.pairwise(bounds)
    shares = [counts[first >> 2 : last >> 2].sum() for first, last in pairs]
    assert max(shares) - min(shares) <= 100


def test_mirrors_of_a_partition_stay_together_in_order():
    mirrors = np.flatnonzero(np.random.default_rng(2).random(4096) < 0.1)
    places, partitions = pack(mirrors, 5)
    assert (np.diff(places) > 0).all() and places[-1] < partitions << 5
    assert (places <= mirrors).all()
    for p in np.unique(mirrors >> 5):
        assert np.unique(places[mirrors >> 5 == p] >> 5).size == 1
    assert partitions < 128 // 2  # several in one


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("bits", [0, 2, 4])
def test_local_graphs_have_the_edges_of_the_whole_in_its_order(bits, everywhere):
    for graph in small_graphs().values():
        bounds = cut(partition_in_edges(graph, bits), 3, bits, graph.n)
        found = 0
        for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            edges = in_edges_of(graph, begin, end)
            local = lay_out(edges, begin, end, bits, graph.n, lambda times: everywhere)
            names = np.arange(local.graph.n) + begin - local.first
            assert local.first % (1 << bits) == 0 or begin == end
            assert local.last - local.first == end - begin
            assert begin - local.first >= 0  # fields are used in place
            assert local.graph.n + begin - local.first <= max(graph.n, begin + 1)
            names[local.mirrors] = local.names
            sources = np.repeat(names, np.diff(local.graph.indptr))
            assert np.array_equal(sources, edges.sources)
            assert np.array_equal(names[local.graph.indices], edges.targets)
            found += local.graph.m
            assert local.everywhere == everywhere
            if everywhere:
                assert np.array_equal(names, np.arange(max(graph.n, 1)))
        assert found == graph.m


def test_weights_go_with_their_edges():
    graph = Graph.from_edges([0, 3, 3], [1, 1, 2], [5, 6, 7])
    assert in_edges_of(graph, 1, 2).weights.tolist() == [5, 6]
