"""Vertices that a run leaves marked: the same as listed, whatever comes next, and nothing is left behind."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.apps.nibble import Nibble
from gpop.cpu import active, engine
from gpop.generate import generate
from tests.quick import quick

GRAPH = generate("rmat", scale=9, degree=6, seed=8)


def walks(graph, **options):
    """Frontier and touched of runs, of which later ones begin where an earlier one rests."""
    found = []
    for seed, iterations in ((0, 0), (17, 2), (0, 6), (200, 3), (17, 6), (17, 2)):
        program = Nibble(graph)
        program.mass[seed], program.share[seed] = 1, 0.5 / max(graph.out_degree[seed], 1)
        run = gpop.run(program, [seed], iterations=iterations, **options)
        assert run.frontier.dtype == run.touched.dtype == np.uint32
        assert np.all(np.diff(run.touched.astype(int)) > 0)
        found.append((sorted(run.frontier.tolist()), run.touched.tolist()))
    return found


@pytest.mark.parametrize(
    "options", quick([{}, {"partition_size": 4}, {"partition_size": 64, "threads": 3}], {"partition_size": 4})
)
def test_many_and_few_are_the_same_vertices(monkeypatch, options):
    monkeypatch.setattr(engine, "MANY", 0)  # always listed
    listed = walks(GRAPH, **options)
    monkeypatch.setattr(engine, "MANY", 1 << 20)  # always marks
    assert walks(GRAPH, **options) == listed
    monkeypatch.undo()
    assert walks(GRAPH, **options) == listed
    sizes = [len(touched) for _, touched in listed]
    assert min(sizes) < GRAPH.n / 8 and max(sizes) > GRAPH.n / 2  # some of either kind


def test_few_of_a_large_graph_are_sorted(monkeypatch):
    """A walk over a grid, whose lists are those in which vertices were met."""
    grid = generate("grid", width=256, height=256)
    few = walks(grid, partition_size=1 << 15)
    monkeypatch.setattr(engine, "MANY", 1 << 20)
    assert walks(grid, partition_size=1 << 15) == few
    assert 0 < max(len(touched) for _, touched in few) * active.FEW_TOUCHED < 1 << 15


def test_nobody_looks_until_somebody_does(monkeypatch):
    """What a call leaves is not listed for it, and is what it was after the next call."""
    monkeypatch.setattr(engine, "MANY", 1 << 20)
    for _ in range(3):
        first = gpop.nibble(GRAPH, 17)
    assert first.run.seconds > 0 and isinstance(vars(first.run)["_waiting"]["frontier"], engine.Marked)
    other = gpop.nibble(GRAPH, 3, iterations=1)
    assert other.run.touched.size < first.run.touched.size
    assert np.array_equal(first.run.touched, gpop.nibble(GRAPH, 17, threads=1).run.touched)
    assert np.isin(first.run.frontier, first.run.touched).all()


@pytest.mark.parametrize("call", quick([gpop.nibble, gpop.heat_kernel, gpop.pagerank_nibble], gpop.nibble))
def test_results_are_taken_from_all_as_from_a_list(call, monkeypatch):
    found = []
    for many in (0, 1 << 20):
        monkeypatch.setattr(engine, "MANY", many)
        found.append([call(GRAPH, seed) for seed in (17, 200, 17, 17)])
    for one, other in zip(*found, strict=True):
        assert one.vertices.tolist() == other.vertices.tolist()
        assert one.values.tobytes() == other.values.tobytes()
        assert np.isin(one.vertices, one.run.touched).all()
