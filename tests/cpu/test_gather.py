"""Gather: who hears something where every edge carries a message, and which partition comes first."""

from __future__ import annotations

import re
import time
from collections import namedtuple

import numpy as np
import pytest
from numba import njit

import gpop
from gpop.apps.nibble import Nibble
from gpop.cpu import preparation, team, work
from gpop.cpu.engine import CpuEngine
from gpop.cpu.scatter import flag_bit
from gpop.generate import generate
from gpop.graph.kept import Kind
from tests.programs import interpret

SIZE, BITS = 16, 4


@pytest.mark.parametrize(("kind", "bit"), [(np.uint16, 15), (np.uint32, 31)])
def test_the_flag_of_an_id_is_a_constant_of_its_type(kind, bit):
    @njit
    def find(ids):
        return flag_bit(ids)

    assert find(np.zeros(1, kind)) == bit
    assert re.search(rf"store i32 {bit},", next(iter(find.inspect_llvm().values())))


def walk(graph, steps):
    """A Nibble that begins in the first partition; who never hears of it would be active if it were asked."""
    program = Nibble(graph)
    edges = graph.indptr[SIZE] if steps == 1 else graph.m
    program.mass[np.bincount(graph.indices[:edges], minlength=graph.n) == 0] = 0.5
    program.mass[:SIZE] = 1 / SIZE
    program.share[:SIZE] = 0.5 / SIZE / np.maximum(graph.out_degree[:SIZE], 1)
    return program


def known_columns(graph):
    kept = graph.store.get(Kind.WORKSPACE, BITS)
    return int(kept["receivers_known", np.dtype(np.uint8)].sum())


@pytest.mark.parametrize(("mode", "edges_each"), [("pc", 8), ("pc", 2), ("sc", 8), ("auto", 8)])
def test_who_becomes_active_in_a_full_column(mode, edges_each):
    n = 4 * SIZE
    rng = np.random.default_rng(5)
    tails, heads = rng.integers(0, n, edges_each * n), rng.integers(0, n - 5, edges_each * n)
    # The last vertices hear nothing; the walk begins in one partition, and is everywhere after a step.
    graph = gpop.Graph.from_edges(tails, heads, n=n)
    for iterations in (1, 2, 3):
        expected, program = walk(graph, iterations), walk(graph, iterations)
        wanted = interpret(expected, range(SIZE), iterations)
        run = gpop.run(program, np.arange(SIZE), iterations=iterations, mode=mode, partition_size=SIZE)
        for name in ("mass", "share"):  # source-centric sums are in another order
            rounding = 0 if mode == "pc" else 1e-6
            np.testing.assert_allclose(getattr(program, name), getattr(expected, name), rtol=rounding)
        assert sorted(run.frontier.tolist()) == sorted(wanted["frontier"])
        assert run.trace.column("frontier").tolist() == wanted["sizes"]
        assert set(wanted["frontier"]) <= set(run.touched.tolist())
        assert not set(range(n - 5, n)) & set(run.touched.tolist())
    assert (known_columns(graph) > 0) == (edges_each == 8 and mode != "sc")


@pytest.mark.parametrize("hub", [False, True])
def test_a_column_is_full_where_nearly_every_edge_carries_a_message(hub, monkeypatch):
    """Of the last partition one vertex is active: it alone sends, into columns that all others fill."""
    monkeypatch.setattr(preparation, "has_hub", lambda graph: hub)
    n, rng = 8 * SIZE, np.random.default_rng(6)
    tails, heads = rng.integers(0, n, 8 * n), rng.integers(0, n - 5, 8 * n)
    graph = gpop.Graph.from_edges(tails, heads, n=n)
    active = np.arange(n - SIZE + 1)

    def begun():
        program = Nibble(graph)
        program.mass[graph.n - 5 :] = 0.5  # who would be active if it were asked
        program.mass[active] = 1 / n
        program.share[active] = 0.5 / n / np.maximum(graph.out_degree[active], 1)
        return program

    for iterations in (1, 2, 3):
        expected, program = begun(), begun()
        wanted = interpret(expected, active, iterations)
        run = gpop.run(program, active, iterations=iterations, partition_size=SIZE, threads=2)
        assert [run.trace[0][f"partitions_{mode}"] for mode in ("sc", "pc")] == [1, 7]
        for name in ("mass", "share"):
            np.testing.assert_allclose(getattr(program, name), getattr(expected, name), rtol=1e-6)
        assert sorted(run.frontier.tolist()) == sorted(wanted["frontier"])
        assert run.trace.column("frontier").tolist() == wanted["sizes"]
        assert known_columns(graph) == 8


@pytest.fixture(scope="module")
def heavy():
    """Four partitions with tens of thousands of edges each; the third one has most."""
    graph = generate("rmat", scale=12, degree=32, seed=3, weights=(1, 255))
    tails = np.repeat(np.arange(graph.n, dtype=np.uint32), graph.out_degree)
    turned = (graph.indices + np.uint32(2048)) % np.uint32(graph.n)
    return gpop.Graph.from_edges(tails, turned, graph.weights, n=graph.n)


def test_the_heaviest_partition_is_gathered_first(heavy, monkeypatch):
    begin = CpuEngine._begin

    def forget(engine, *given):
        """That threads were late before, which sends the main thread on alone for a while."""
        engine.told_alone[:] = 0
        begin(engine, *given)

    monkeypatch.setattr(CpuEngine, "_begin", forget)
    into = np.bincount(heavy.indices >> np.uint32(10), minlength=4)
    assert np.argmax(into) == 2
    for _ in range(2000):  # threads that share a gather make the order: others may want the core of one
        time.sleep(1e-3)
        gpop.nibble(heavy, 5, threads=2, mode="pc", partition_size=1024)
        order = heavy.store.get(Kind.WORKSPACE, 10)["gather_order", np.dtype(np.int64)].tolist()
        if sorted(order) == [0, 1, 2, 3]:
            break
    assert order == np.argsort(-into).tolist()


def test_every_thread_takes_the_heaviest_partition_that_is_left():
    Space = namedtuple("Space", "team claim scatter_list gather_list gather_order log")
    lists = (np.arange(3), np.arange(3), np.array([1, 2, 0]))
    space = Space(np.zeros(team.SHARES + 4, np.int64), np.zeros(2 * team.LINE_SLOTS, np.int64), *lists, [])

    @njit
    def scatter(p, w, threads, forced, ratio, sizes, layout, space, state, wire):
        pass

    @njit
    def gather(d, w, threads, layout, space, state):
        space.log[space.log[0]] = d
        space.log[0] += 1

    @njit
    def advance(state, iteration):
        return state

    take = njit(
        work.make_work(scatter, gather, None, None, None, None, None, None, advance, None, None, False)
    )
    for w in (0, 1):
        log = np.array([1, -1, -1, -1])
        space.claim[:] = 0
        take(work.GATHER, 0, w, 2, 3, 2, work.HEAVIEST, 0, 2.0, 0, 0, 0, space._replace(log=log), 0, 0)
        assert log.tolist() == [4, 1, 2, 0]


@pytest.mark.parametrize("mode", ["sc", "pc"])
def test_heavy_phases_do_the_same_on_any_number_of_threads(heavy, mode):
    options = {"partition_size": 256, "mode": mode}
    walks = [gpop.nibble(heavy, 5, threads=threads, **options).probability for threads in (1, 2, 4)]
    assert walks[0].sum() == pytest.approx(1, abs=1e-4)
    ranks = [gpop.pagerank(heavy, iterations=3, threads=threads, **options).rank for threads in (1, 2, 4)]
    for results in (walks, ranks):
        assert all(np.array_equal(results[0], result) for result in results)
