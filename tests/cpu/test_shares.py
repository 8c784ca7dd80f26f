"""Who does what of a phase; nobody else is asked for what is one thread's."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import gpop
from gpop.cpu import engine, sharing, team
from gpop.cpu.shares import is_divided
from gpop.generate import generate

LARGE, SMALL = 1 << 15, 1 << 10
"""Sizes of partitions."""

EPOCH = (1 << team.EPOCH_SHIFT) - 1


def one_in_two() -> gpop.Graph:
    """All edges are in the first of two partitions, or in one of many."""
    dense = generate("uniform", scale=14, degree=20, seed=1, symmetrize=True)
    tails = np.repeat(np.arange(dense.n), np.diff(dense.indptr))
    return gpop.Graph.from_edges(tails, dense.indices, n=LARGE + 1)


@pytest.mark.parametrize(("edges", "listed", "divided"), [
    ([90, 10, 0], [0, 1], False),
    ([80, 20, 500], [0, 1], True),
    ([0, 100, 0], [1], False),
    ([70, 10, 20], [2, 0, 1], True),
])  # fmt: skip
def test_whether_one_partition_has_nearly_all_active_edges(edges, listed, divided):
    lists = SimpleNamespace(active_edges=np.array(edges), scatter_list=np.array(listed, np.uint32))
    assert is_divided(len(listed), sum(edges[p] for p in listed), lists) == divided


@pytest.mark.parametrize(("partition_size", "calls"), [(LARGE, []), (SMALL, [1])])
def test_nobody_is_called_to_one_partition(partition_size, calls, monkeypatch):
    """But to many."""
    monkeypatch.setattr(engine, "CALLED_LATER", True)
    called, borrow = [], engine.borrow
    monkeypatch.setattr(engine, "borrow", lambda others: (called.append(others), borrow(others))[1])
    graph = one_in_two()
    assert graph.m * sharing.EDGE_BYTES > sharing.WAKE_BYTES
    found = gpop.connected_components(
        graph, method="labels", mode="sc", interleave=False, partition_size=partition_size, threads=2
    )
    assert called == calls
    inside = graph.out_degree > 0
    assert (found.label[inside] == 0).all()
    assert np.array_equal(found.label[~inside], np.flatnonzero(~inside))


def test_a_phase_of_one_partition_is_not_shared(monkeypatch):
    """However many edges it has, and whoever is there."""
    shared, dismiss = [], engine.CpuEngine._dismiss

    def dismissed(run):
        if run.called:
            shared.append(int(run.space.team[team.GENERATION]) & EPOCH)
        dismiss(run)

    monkeypatch.setattr(engine.CpuEngine, "_dismiss", dismissed)
    graph = one_in_two()
    for partition_size, least in ((LARGE, 0), (SMALL, 1)):
        shared.clear()
        gpop.nibble(graph, 0, threads=2, mode="sc", partition_size=partition_size)
        assert min(sum(shared), 1) == least
