"""Gather: who hears something where every edge carries a message, and which partition comes first."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numba import njit

import gpop
from gpop.apps.nibble import Nibble
from gpop.cpu.scatter import flag_bit
from gpop.generate import generate
from tests.programs import interpret

SIZE, BITS = 16, 4


@pytest.mark.parametrize(("kind", "bit"), [(np.uint16, 15), (np.uint32, 31)])
def test_the_flag_of_an_id_is_a_constant_of_its_type(kind, bit):
    @njit
    def find(ids):
        return flag_bit(ids)

    assert find(np.zeros(1, kind)) == bit
    assert re.search(rf"store i32 {bit},", next(iter(find.inspect_llvm().values())))


def walk(graph, **fields):
    """A Nibble whose vertices without in-edges wait with a mass that would make them active."""
    program = Nibble(graph)
    program.mass[np.flatnonzero(np.bincount(graph.indices, minlength=graph.n) == 0)] = 0.5
    program.mass[:SIZE] = 1 / SIZE
    program.share[:SIZE] = 0.5 / SIZE / np.maximum(graph.out_degree[:SIZE], 1)
    return program


def known_columns(graph):
    kept = graph.cache["workspace", BITS]
    return int(kept["receivers_known", np.dtype(np.uint8)].sum())


@pytest.mark.parametrize(("mode", "edges_each"), [("pc", 8), ("pc", 2), ("sc", 8), ("auto", 8)])
def test_who_becomes_active_in_a_full_column(mode, edges_each):
    n = 4 * SIZE
    rng = np.random.default_rng(5)
    tails, heads = rng.integers(0, n, edges_each * n), rng.integers(0, n - 5, edges_each * n)
    # The last vertices hear nothing; the walk begins in one partition, and is everywhere after a step.
    graph = gpop.Graph.from_edges(tails, heads, n=n)
    for iterations in (1, 2, 3):
        expected, program = walk(graph), walk(graph)
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
