"""A run on a device that returns to the host: callbacks, slices, a trace that is full."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.common.progress import IterationBar
from gpop.execution import loop
from gpop.gpu import engine
from gpop.graph.graph import Graph
from tests.gpu.cases import (
    CASES,
    MODES,
    check,
    expected,
    graph_of,
    in_plain_python,
    started,
)
from tests.programs import random_graph

pytestmark = pytest.mark.gpu


class Growth(gpop.Program):
    """Adds a parameter in every iteration."""

    value = gpop.VertexField(np.int64)
    step = gpop.Parameter(np.int64, 1)
    all_active = True

    def scatterFunc(self, node):
        return self.value[node]

    def gatherFunc(self, value, node):
        pass

    def filterFunc(self, node):
        self.value[node] += self.step
        return True


def test_callback_sets_a_parameter_and_stops():
    program, records = Growth(random_graph(5, 100, 300)), []

    def callback(record):
        records.append(record["iteration"])
        assert np.all(program.value == sum(range(1, len(records) + 1)))  # fields are there to be read
        program.step += 1
        return len(records) == 5

    run = gpop.run(program, target="gpu", partition_size=32, callback=callback)
    assert (records, run.iterations, run.converged) == ([0, 1, 2, 3, 4], 5, False)
    assert np.all(program.value == 15)


def test_callback_changes_a_field():
    program = Growth(random_graph(5, 100, 300))

    def callback(record):
        program.value[:50] = 100 * record["iteration"]

    gpop.run(program, target="gpu", partition_size=32, callback=callback, iterations=3)
    assert program.value.tolist() == [200] * 50 + [3] * 50


def test_callback_of_a_program_with_a_frontier():
    case, graph = CASES["SumsCombined"], random_graph(22, 3000, 30000)
    wanted = in_plain_python(case, graph)
    for mode in MODES:
        program, sizes = started(case, graph), []
        run = gpop.run(
            program, case.frontier, iterations=case.iterations, mode=mode, ratio=1.0, partition_size=32,
            target="gpu", callback=lambda record, sizes=sizes: sizes.append(record["frontier"]),
        )  # fmt: skip
        assert sizes == wanted[1]["sizes"]
        assert np.array_equal(program.heard, wanted[0].heard)
        assert run.frontier.tolist() == sorted(wanted[1]["frontier"])


class Impatient(IterationBar):
    """In place of the progress bar: says when the loop goes back and forth without getting anywhere."""

    slices = 0

    def show(self, iteration, frontier):
        self.slices += 1
        assert self.slices < 200, f"{self.slices} slices for {iteration} iterations"


@pytest.mark.parametrize("kind", ["small", "big"])
@pytest.mark.parametrize("name", ["Smallest", "Sums", "SumsCombined", "Letters", "Rumours", "Countdown"])
@pytest.mark.parametrize(
    "owner, constant, value",
    [(engine.GpuEngine, "most_rows", 1), (engine.GpuEngine, "most_rows", 2), (engine, "SLICE_NS", 1)],
)
def test_loop_that_returns_to_the_host(name, kind, owner, constant, value, monkeypatch):
    """After every iteration, or every other one: the lists, bits and counts of the frontier live on."""
    monkeypatch.setattr(owner, constant, value)
    monkeypatch.setattr(loop, "IterationBar", Impatient)
    for mode in MODES:
        check(CASES[name], graph_of(kind), expected(name, kind), mode, 32, "declared")


def test_long_runs_fill_the_trace_several_times():
    chain = Graph.from_edges(np.arange(1500), np.arange(1, 1501))
    found = gpop.bfs(chain, 0, target="gpu", mode="sc", partition_size=256)
    assert np.array_equal(found.level, np.arange(1501))
    assert found.trace.column("frontier").tolist() == [1] * 1501
