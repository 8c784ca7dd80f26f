"""Priorities on a GPU (kernels/buckets.cuh): the iterations of plain Python, or their end."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.apps import sssp
from gpop.generate import generate
from gpop.gpu import limits
from tests.gpu.asking import asking
from tests.gpu.emulator import emulated
from tests.prioritised import LastOfAll, Widest
from tests.programs import random_graph
from tests.quick import quick


def in_steps(graph):
    """Widths in steps of 8, from two vertices."""
    program = Widest(graph)
    program.width[[3, 7]] = 1000, 20
    return program, [3, 7]


def labels(graph):
    """Labels from 0 to 8, of which those above 2 come last."""
    program = LastOfAll(graph)
    program.label[::7] = np.arange(len(program.label[::7])) % 9
    return program, range(0, graph.n, 7)


def check_steps(start, graph, mode, size):
    """Every iteration has the vertices that the interpreter's has; in the end, where whole partitions send.

    Those send for vertices that wait as well, which is harmless, and sooner than was asked.
    """
    whole = mode in ("pc", "auto")
    for limit in (None,) if whole else (None, 3):
        (program, frontier), (correct, _) = start(graph), start(graph)
        said = gpop.run(correct, frontier, iterations=limit, target="python")
        run = gpop.run(
            program, frontier, iterations=limit, mode=mode, ratio=1.0, target="gpu", partition_size=size
        )
        for name in type(program).vertex_fields():
            assert np.array_equal(getattr(program, name), getattr(correct, name))
        assert run.frontier.tolist() == said.frontier.tolist()
        assert run.converged == said.converged
        for column in () if whole else ("frontier", "active_edges"):
            assert run.trace.column(column).tolist() == said.trace.column(column).tolist()
        assert whole or run.iterations == said.iterations


WAYS = [(start, mode) for start in (in_steps, labels) for mode in ("sc", "pull", "auto", "pc")]


@pytest.mark.parametrize(
    "start, mode",
    [way if way in (WAYS[0], WAYS[5]) else pytest.param(*way, marks=pytest.mark.slow) for way in WAYS],
)
def test_buckets_are_those_of_plain_python(start, mode):
    with emulated():
        check_steps(start, random_graph(5, 90, 500, weights=True), mode, 32)


@pytest.mark.parametrize("delta", quick([None, 1, 40.0, np.inf], None))
@pytest.mark.parametrize("interleave", quick([True, False], True))
def test_distances_do_not_depend_on_buckets(delta, interleave, monkeypatch):
    monkeypatch.setattr(limits, "LEVEL_EDGES", 100)
    for graph in (
        generate("grid", width=17, height=9, weights=(1, 99)),
        generate("rmat", scale=8, weights=(1, 99)),
    ):
        with emulated():
            found = sssp.sssp(
                graph, 1, target="gpu", mode="auto", ratio=1.0, delta=delta, interleave=interleave,
                partition_size=2048,
            )  # fmt: skip
        assert sssp.verify(graph, found, 1) is None
        assert found.run.converged


@pytest.mark.slow
def test_buckets_save_edges(monkeypatch):
    """Distances that will be improved are not followed. Here buckets of many vertices are bits alone."""
    monkeypatch.setattr(limits, "MOST_LISTED", 9)
    graph = generate("rmat", scale=9, weights=(1, 99))
    with emulated():
        runs = [gpop.sssp(graph, 1, target="gpu", mode="sc", delta=delta) for delta in (20, np.inf)]
    edges = [run.trace.column("active_edges").sum() for run in runs]
    assert edges[0] < edges[1]
    assert np.array_equal(runs[0].distance, runs[1].distance)
    assert sssp.verify(graph, runs[0], 1) is None


@pytest.mark.slow
def test_vertices_that_ask_have_buckets_too():
    class Needs(Widest):
        def needsFunc(self, node):
            return self.width[node] < 1000

    graph = random_graph(5, 90, 500, weights=True)
    program, correct = Needs(graph), Widest(graph)
    program.width[3] = correct.width[3] = 1000
    with emulated(), asking():
        run = gpop.run(program, [3], ratio=1.0, target="gpu", partition_size=32)
    gpop.run(correct, [3], target="python")
    assert np.array_equal(program.width, correct.width)
    assert run.trace.column("partitions_pull").any()
