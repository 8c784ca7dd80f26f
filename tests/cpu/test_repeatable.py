"""Bulk-synchronous runs repeat bit by bit; interleaved runs reach the same fixpoint."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from tests.programs import Drift, Parents, Rank, Smallest, interpret
from tests.quick import quick, slow

RMAT = generate("rmat", scale=12, degree=8, seed=21)
HUB = int(np.argmax(RMAT.out_degree))
SIZE = 256


def parents(**options):
    program = Parents(RMAT)
    program.parent[HUB], program.level[HUB] = HUB, 0
    gpop.run(program, [HUB], partition_size=SIZE, **options)
    return program.parent.tobytes()


def drift(**options):
    program = Drift(RMAT)
    program.mass = 1 / np.arange(1, RMAT.n + 1)
    run = gpop.run(
        program, np.flatnonzero(RMAT.out_degree)[::3], iterations=4, partition_size=SIZE, **options
    )
    return program.mass.tobytes() + run.frontier.tobytes()


def rank(**options):
    program = Rank(RMAT)
    program.rank, program.eps = 1 / np.arange(1, RMAT.n + 1), -1
    gpop.run(program, iterations=4, partition_size=SIZE, **options)
    return program.rank.tobytes()


PROGRAMS = {"parents": parents, "drift": drift, "rank": rank}


@pytest.mark.parametrize("mode", ["auto", "sc", "pc"])
@pytest.mark.parametrize("name", slow(PROGRAMS, "parents"))
def test_bitwise_the_same(name, mode):
    """200 runs with 1, 2 and 4 threads."""
    run = PROGRAMS[name]
    first = run(mode=mode, threads=1)
    assert all(run(mode=mode, threads=threads) == first for threads in (1, 2, 4) for _ in range(67))


def test_another_order_of_sums_would_show():
    """The ranks have other last bits when the edges are added up backwards, in float32 like here."""
    program = Rank(RMAT)
    program.rank, program.eps = 1 / np.arange(1, RMAT.n + 1), -1
    ranks = program.rank.copy()
    gpop.run(program, iterations=1, partition_size=SIZE)
    tails = np.repeat(np.arange(RMAT.n), np.diff(RMAT.indptr))
    sent = ranks / np.maximum(RMAT.out_degree, 1).astype(np.float32)
    for edges, same in ((slice(None), True), (slice(None, None, -1), False)):
        inflow = np.zeros(RMAT.n, np.float32)
        np.add.at(inflow, RMAT.indices[edges], sent[tails[edges]])
        by_hand = np.float32(1 - program.damping) + program.damping * inflow
        np.testing.assert_allclose(program.rank, by_hand, rtol=1e-5)
        assert (program.rank.tobytes() == by_hand.tobytes()) == same


def test_bins_are_gathered_in_the_order_of_their_source():
    """The first parent that offers itself is the one in the lowest partition."""
    graph = generate("star", vertices=65).reverse()
    for mode in ("sc", "pc"):
        for frontier in (np.arange(1, 65), np.arange(64, 0, -1)):
            program = Parents(graph)
            gpop.run(program, frontier, iterations=1, partition_size=4, mode=mode, threads=4)
            assert program.parent[0] in (1, 2, 3)


# --- interleaved -------------------------------------------------------------------------------


def graphs():
    path = np.arange(999)
    return {
        "chain": generate("chain", vertices=1000),
        "grid": generate("grid", width=40, height=31),
        "path along the ids": gpop.Graph.from_edges(path, path + 1),
        "path against the ids": gpop.Graph.from_edges(path + 1, path),
        "road": generate("road", width=30, height=31, seed=4),
        "rmat": generate("rmat", scale=10, degree=4, seed=3, symmetrize=True),
        "rmat of one direction": RMAT,
    }


def smallest(graph, shuffled):
    program = Smallest(graph)
    program.label = np.random.default_rng(6).permutation(graph.n) if shuffled else np.arange(graph.n)
    return program


@pytest.mark.parametrize("shuffled", quick([False, True], True), ids=["labels by id", "shuffled labels"])
@pytest.mark.parametrize("name", graphs())
def test_interleaving_reaches_the_same_fixpoint_in_no_more_iterations(name, shuffled):
    graph = graphs()[name]
    plain = smallest(graph, shuffled)
    iterations = gpop.run(plain, partition_size=32, threads=1).iterations
    if graph.n <= 1000:
        expected = smallest(graph, shuffled)
        interpret(expected)
        assert np.array_equal(plain.label, expected.label)
    for mode in ("auto", "sc", "pc"):
        for threads in (1, 2, 4):
            mixed = smallest(graph, shuffled)
            run = gpop.run(mixed, partition_size=32, threads=threads, mode=mode, interleave=True)
            assert np.array_equal(mixed.label, plain.label), (mode, threads)
            assert run.converged
            assert run.iterations <= iterations, (mode, threads)
            if not shuffled and "along" in name:
                assert run.iterations < iterations / 10, (mode, threads)


@pytest.mark.parametrize("mode", ["auto", "sc", "pc"])
def test_interleaving_from_one_vertex(mode):
    """A sparse start: the vertex itself keeps its value, and the wave runs ahead of the barrier."""
    graph = generate("grid", width=50, height=20)
    for source in (0, 999, 437):
        plain, mixed = smallest(graph, False), smallest(graph, False)
        for program in (plain, mixed):
            program.label = 5
            program.label[source] = 1
        slow = gpop.run(plain, [source], partition_size=64, mode=mode)
        fast = gpop.run(mixed, [source], partition_size=64, mode=mode, interleave=True)
        assert mixed.label.tolist() == plain.label.tolist() == [1] * 1000
        assert fast.iterations < slow.iterations


@pytest.mark.slow
def test_many_interleaved_runs():
    graph = generate("rmat", scale=13, degree=8, seed=2, symmetrize=True)
    plain = smallest(graph, True)
    gpop.run(plain, partition_size=64)
    for round_ in range(300):
        mixed = smallest(graph, True)
        options = {"mode": ("auto", "sc", "pc")[round_ % 3], "threads": (2, 4, 8)[round_ // 3 % 3]}
        gpop.run(mixed, partition_size=64, interleave=True, **options)
        assert np.array_equal(mixed.label, plain.label), options
