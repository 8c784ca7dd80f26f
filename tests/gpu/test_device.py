"""Every program gives on a device what plain Python gives: all modes, partition sizes and ways to gather."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from tests.gpu.cases import CASES, MODES, WAYS, can_swap, check, expected, graph_of, in_plain_python, started

pytestmark = pytest.mark.gpu

# Partitions of 2 share words of the frontier, those of 256 are whole warps' work. Each size is an engine to
# compile; an owner per vertex does not care.
SIZES = {"declared": (2, 32, 256), "swap": (2, 32), "owner": (32,)}


@pytest.mark.parametrize("kind", ["small", "big"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_program(name, way, kind):
    case, graph = CASES[name], graph_of(kind)
    if case.small_only and kind == "big":
        graph = graph_of("small")
    if way == "swap" and (case.cls.combine is None or not can_swap(case.cls, graph)):
        way = "owner"  # it is swapped as declared, or cannot be
    wanted = expected(name, "small" if case.small_only else kind)
    for size in SIZES[way]:
        for mode in MODES:
            check(case, graph, wanted, mode, size, way)


@pytest.mark.parametrize("name", ["Smallest", "DistanceCombined", "SumsCombined", "ColoursCombined"])
def test_without_combine(name):
    """A subclass that takes the declaration back."""
    case = CASES[name]
    plain = type("Plain", (case.cls,), {"combine": None, "__module__": case.cls.__module__})
    for mode in MODES:
        check(case._replace(cls=plain), graph_of("big"), expected(name, "big"), mode, 32, "declared")


@pytest.mark.parametrize("name", ["Parents", "ParentsCombined"])
def test_every_parent_is_a_level_above(name):
    graph = graph_of("big")
    tails = np.repeat(np.arange(graph.n), graph.out_degree)
    edges = set(zip(tails.tolist(), graph.indices.tolist(), strict=True))
    for mode in MODES:
        program = started(CASES[name], graph)
        gpop.run(program, [3], mode=mode, partition_size=32, ratio=1.0, target="gpu")
        child = np.flatnonzero(program.level > 0)
        assert child.size > 100
        assert np.array_equal(program.level[program.parent[child]] + 1, program.level[child])
        assert edges.issuperset(zip(program.parent[child].tolist(), child.tolist(), strict=True))


@pytest.mark.parametrize("name", ["Distance", "DistanceCombined", "WeightedSums", "WeightedSumsCombined"])
@pytest.mark.parametrize("weights", ["wide", "asymmetric"])
def test_weights(name, weights):
    """Weights that fit no short type; and edges both ways with a weight each way: not its own reverse."""
    small = graph_of("small")
    if weights == "wide":
        graph = gpop.Graph.from_csr(small.indptr, small.indices, small.weights + np.uint32(70000))
    else:
        tails = np.repeat(np.arange(small.n), small.out_degree)
        both = np.concatenate([tails, small.indices]), np.concatenate([small.indices, tails])
        graph = gpop.Graph.from_edges(*both, np.arange(2 * small.m).astype(np.uint32) % 251, n=small.n)
        assert graph.is_symmetric()
        assert not graph.equals_reverse()
    wanted = in_plain_python(CASES[name], graph)
    for mode in MODES:
        check(CASES[name], graph, wanted, mode, 32, "declared")


def test_an_owner_where_gather_writes_two_fields():
    """Rumours writes two fields: whatever the mode, one owner per vertex walks its in-edges."""
    graph = graph_of("small")
    assert not can_swap(CASES["Rumours"].cls, graph)
    for mode in MODES:
        run = check(CASES["Rumours"], graph, expected("Rumours", "small"), mode, 32, "declared")
        assert run.trace.column("partitions_pull").sum() > 0
        assert run.trace.column("partitions_sc").sum() == run.trace.column("partitions_pc").sum() == 0
