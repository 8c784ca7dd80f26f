"""Sums of float32 at a hub of a million neighbours: right to 1e-5 in every mode, for any program."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import gpop
from gpop.apps import heat_kernel, nibble, pagerank, pagerank_nibble
from gpop.cpu import preparation, sums
from gpop.cpu.sums import MOST_ADDENDS, has_hub
from gpop.generate import generate
from tests.quick import quick

LEAVES = 1_000_000
HUB = 500_000
RELATIVE = 1e-5
MODES = ["sc", "pc", "pull", "auto"]


@cache
def star(directed: bool, weighted: bool = False) -> gpop.Graph:
    """Leaves point to the hub, which is in the middle of the ids; if not ``directed``, it points back."""
    leaves = np.delete(np.arange(LEAVES + 1, dtype=np.uint32), HUB)
    hub = np.full(LEAVES, HUB, np.uint32)
    tails, heads = (leaves, hub) if directed else (np.append(leaves, hub), np.append(hub, leaves))
    weights = np.random.default_rng(3).random(tails.size, np.float32) + np.float32(0.5) if weighted else None
    return gpop.Graph.from_edges(tails, heads, weights)


class Sum(gpop.Program):
    """Each vertex sums what its in-neighbours hold; how it does that is up to the subclass."""

    value = gpop.VertexField(np.float32)
    sum = gpop.VertexField(np.float32)
    combine = "add"

    def scatterFunc(self, node):
        return self.value[node]

    def gatherFunc(self, value, node):
        self.sum[node] += value
        return True


class AskingSum(Sum):
    """Whether a vertex becomes active depends on what it has."""

    def gatherFunc(self, value, node):
        self.sum[node] += value
        return self.sum[node] > 1000


class WeightedSum(Sum):
    def applyWeight(self, value, weight):
        return value * weight


class HarmlessSum(Sum):
    """Inactive vertices send 0."""

    inactive_message = gpop.HARMLESS

    def initFunc(self, node):
        self.value[node] = 0
        return False


class DenseSum(Sum):
    all_active = True


def summed(cls, graph, **options):
    program = cls(graph)
    program.value = 0.1 + np.random.default_rng(2).random(graph.n)
    values = program.value.astype(np.float64)
    run = gpop.run(program, iterations=1, **options)
    messages = np.repeat(values, np.diff(graph.indptr))
    if cls is WeightedSum:
        messages *= graph.weights
    return program, run, np.bincount(graph.indices, messages, graph.n)


@pytest.mark.parametrize("directed", quick([True, False], True))
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "cls",
    [
        Sum,
        *(pytest.param(c, marks=pytest.mark.slow) for c in (DenseSum, AskingSum, WeightedSum, HarmlessSum)),
    ],
)
def test_a_hub_hears_every_neighbour(cls, mode, directed):
    program, run, expected = summed(cls, star(directed, cls is WeightedSum), mode=mode)
    np.testing.assert_allclose(program.sum, expected, rtol=1e-7 if cls is not HarmlessSum else RELATIVE)
    heard = np.flatnonzero(expected > (1000 if cls is AskingSum else 0))
    assert run.frontier.tolist() == ([] if cls is DenseSum else heard.tolist())


@pytest.mark.parametrize("partition_size", quick([1 << 12, 1 << 20], 1 << 12))
def test_a_hub_in_partitions_of_any_size(partition_size):
    """From one in which the star is whole, where source-centric scatter needs no bins, to 245."""
    for mode in ("sc", "pc"):
        program, _, expected = summed(Sum, star(False), mode=mode, partition_size=partition_size)
        np.testing.assert_allclose(program.sum, expected, rtol=1e-7)


@pytest.mark.parametrize("directed", quick([True, False], True))
@pytest.mark.parametrize("mode", MODES)
def test_pagerank_is_right_at_a_hub(mode, directed):
    graph = star(directed)
    found = gpop.pagerank(graph, iterations=4, mode=mode)
    assert pagerank.verify(graph, found) is None
    exact = gpop.pagerank(graph, iterations=4, dtype=np.float64).rank
    np.testing.assert_allclose(found.rank, exact, rtol=RELATIVE)
    assert pagerank.verify(graph, gpop.pagerank(graph, mode=mode, max_iterations=6)) is None


@pytest.mark.parametrize("mode", quick(MODES, "auto"))
def test_local_apps_are_right_at_a_hub(mode):
    """From the hub to all leaves and back: the walk of an even number of steps is at the hub, or rests."""
    graph = star(False)
    walk = gpop.nibble(graph, HUB, iterations=3, threshold=1e-12, mode=mode)
    assert walk.values.sum(dtype=np.float64) == pytest.approx(1, rel=RELATIVE)
    assert walk.probability[HUB] == pytest.approx(0.5, rel=RELATIVE)
    assert nibble.verify(graph, walk, HUB, 1e-12, 3) is None


@pytest.mark.slow
@pytest.mark.parametrize("mode", quick(MODES, "auto"))
def test_the_other_local_apps_are_right_at_a_hub(mode):
    graph = star(False)
    found = gpop.heat_kernel(graph, HUB, t=2.0, epsilon=1e-9, mode=mode)
    assert found.probability[HUB] == pytest.approx((1 + np.exp(-4)) / 2, rel=RELATIVE)
    assert heat_kernel.verify(graph, found, HUB, 2.0, 1e-9) is None
    found = gpop.pagerank_nibble(graph, HUB, epsilon=1e-8, mode=mode)
    assert pagerank_nibble.verify(graph, found, HUB, epsilon=1e-8) is None


def test_a_sum_of_0_is_heard(monkeypatch):
    """+1 and -1 arrive: the sum changes nothing, and the vertex becomes active all the same."""
    monkeypatch.setattr(preparation, "has_hub", lambda graph: True)  # the kernels that the others have
    graph = gpop.Graph.from_edges([0, 1], [2, 2])
    for mode in ("sc", "pc", "pull"):
        program = Sum(graph)
        program.value = [1, -1, 5]
        run = gpop.run(program, frontier=[0, 1], iterations=1, mode=mode)
        assert run.frontier.tolist() == [2] and program.sum[2] == 0, mode


def test_who_answers_no_is_not_active_and_nothing_is_left_behind(monkeypatch):
    monkeypatch.setattr(preparation, "has_hub", lambda graph: True)
    graph = generate("rmat", scale=9, degree=8, seed=2)
    for mode in ("sc", "pc", "pull"):
        for partition_size in (16, 128, 512):
            for _ in range(2):
                program = AskingSum(graph)
                program.value = np.linspace(1, 200, graph.n)
                run = gpop.run(program, iterations=1, mode=mode, partition_size=partition_size)
                assert sorted(run.frontier) == np.flatnonzero(program.sum > 1000).tolist()
    assert 0 < run.frontier.size < graph.n // 2


@pytest.mark.parametrize("hub", [False, True])
def test_pull_in_blocks_is_bitwise_what_pc_computes(monkeypatch, hub):
    monkeypatch.setattr(preparation, "has_hub", lambda graph: hub)
    graph = generate("rmat", scale=11, degree=16, seed=4)
    ranks = [
        gpop.pagerank(graph, iterations=6, mode=mode, partition_size=size, threads=threads).rank.tobytes()
        for mode, size, threads in (("pc", None, 1), ("pc", 64, 3), ("pull", 256, 1), ("pull", None, 3))
    ]
    assert len(set(ranks)) == 1


def hubs_of(leaves: int, stars: int) -> gpop.Graph:
    """Directed stars, the hub of each behind its leaves."""
    tails = np.delete(np.arange(stars * (leaves + 1)), np.arange(1, stars + 1) * (leaves + 1) - 1)
    return gpop.Graph.from_edges(tails, np.repeat(np.arange(1, stars + 1) * (leaves + 1) - 1, leaves))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("leaves", quick([MOST_ADDENDS, MOST_ADDENDS + 1, 3000], MOST_ADDENDS + 1))
@pytest.mark.parametrize("cls", quick([Sum, DenseSum], Sum))  # PageRank is dense, too
def test_many_small_hubs_of_equal_addends(cls, leaves, mode):
    """Each star sends another number, and none is a large share of the edges."""
    graph = hubs_of(leaves, stars=100)
    program = cls(graph)
    program.value = np.repeat(1 + np.random.default_rng(6).random(100), leaves + 1)
    exact = leaves * program.value[leaves :: leaves + 1].astype(np.float64)
    gpop.run(program, iterations=1, mode=mode)
    np.testing.assert_allclose(program.sum[leaves :: leaves + 1], exact, rtol=RELATIVE)


@pytest.mark.parametrize("last", [False, True])
def test_which_graphs_have_a_hub(last):
    """Exactly those in which a sum of float32 may be off by more than 1e-5, wherever the hub's edges are."""

    def star_of(leaves):
        tails = np.arange(100_000)
        heads = np.maximum(tails, 1)
        heads[slice(-leaves, None) if last else slice(leaves)] = 0
        return gpop.Graph.from_edges(tails, heads)

    assert (MOST_ADDENDS - 1) * 2.0**-24 <= RELATIVE < MOST_ADDENDS * 2.0**-24
    assert not has_hub(star_of(MOST_ADDENDS)) and has_hub(star_of(MOST_ADDENDS + 1))
    assert not has_hub(generate("grid", width=64, height=64))
    assert not has_hub(gpop.Graph.from_edges([], [], n=3)) and not has_hub(gpop.Graph.from_edges([], [], n=0))


def test_it_is_asked_once(monkeypatch):
    graph = generate("rmat", scale=9, degree=4, seed=2)
    answer = has_hub(graph)
    monkeypatch.setattr(sums, "_reaches", None)
    assert has_hub(graph) == answer


def test_what_must_not_be_heard_twice_is_not_interleaved():
    with pytest.raises(gpop.UsageError, match='Sum declares combine = "add": interleave needs a program'):
        gpop.run(Sum(star(True)), interleave=True)
