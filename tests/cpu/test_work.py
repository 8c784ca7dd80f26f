"""There is one loop for all programs of a kind; what is compiled for a program is what its phases do."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.common.by_reference import Reference
from gpop.cpu import control, loops, specialise
from gpop.generate import generate
from gpop.plan import plan

GRAPH = generate("rmat", scale=9, degree=6, seed=3, symmetrize=True, weights=(1, 9))

RUNS = {
    "sc": lambda: gpop.bfs(GRAPH, 1, mode="sc"),
    "pull": lambda: gpop.bfs(GRAPH, 1, mode="pull"),
    "blocks": lambda: gpop.pagerank(GRAPH, iterations=2, mode="pull"),
    "bins, all active": lambda: gpop.pagerank(GRAPH, iterations=2, mode="pc"),
    "priorities": lambda: gpop.sssp(GRAPH, 1, method="messages"),
    "labels": lambda: gpop.connected_components(GRAPH, "labels", interleave=True, threads=2),
}


@pytest.fixture
def controls(monkeypatch):
    """The controls that runs are given."""
    made, make = [], control.control_of
    monkeypatch.setattr(
        "gpop.cpu.specialise.control_of", lambda *given: made.append(make(*given)) or made[-1]
    )
    monkeypatch.setattr("gpop.common.by_reference._derived", {})
    return made


@pytest.mark.parametrize("name", RUNS)
def test_the_loop_is_compiled_once_for_all_runs_of_a_kind(name, controls):
    RUNS[name]()
    assert controls
    assert {Reference(each).kind for each in controls} == {control.CONTROL}
    assert all(len(each.signatures) <= 1 for each in loops.LOOPS.values())


@pytest.mark.parametrize(
    ("name", "kind"), [("sc", "frontier"), ("bins, all active", "all_active"), ("priorities", "priorities")]
)
def test_a_run_wants_no_loop_of_another_kind(name, kind, monkeypatch):
    begun, entered = [], []
    monkeypatch.setattr(loops.ahead, "begin", lambda module, kernel, is_kept: begun.append(kernel))
    monkeypatch.setattr(loops, "entry", lambda kernel, of=loops.entry: entered.append(kernel) or of(kernel))
    graph = generate("rmat", scale=8, degree=6, seed=5, symmetrize=True, weights=(1, 9))
    monkeypatch.setitem(globals(), "GRAPH", graph)  # nothing is kept with it
    monkeypatch.setattr(plan, "_asked", {})  # nor with the class
    RUNS[name]()
    assert begun == entered == [kind]


def test_parameters_that_a_callback_sets_are_seen_by_the_next_iteration():
    class Grows(gpop.Program):
        inactive_message = gpop.HARMLESS
        all_active = True
        step = gpop.Parameter(np.int64, 1)
        seen = gpop.VertexField(np.int64)

        def scatterFunc(self, node):
            return self.seen[node]

        def gatherFunc(self, value, node):
            return False

        def initFunc(self, node):
            self.seen[node] = self.seen[node] + self.step
            return False

    def tenfold(record):
        program.step *= 10

    program = Grows(GRAPH)
    gpop.run(program, iterations=3, callback=tenfold)
    assert set(program.seen.tolist()) == {111}


def test_what_a_phase_does_is_found_again_without_compiling(monkeypatch):
    gpop.bfs(GRAPH, 1, mode="sc")
    monkeypatch.setattr(specialise, "callback", None)
    monkeypatch.setattr(specialise, "make_entry", None)
    assert gpop.bfs(GRAPH, 2, mode="sc").level[2] == 0


@pytest.fixture
def entries(monkeypatch):
    """Which entries runs are given, one by the mode of the run."""
    given, make = {}, specialise.Loop
    now = []

    def loop(kind, control, entries, *rest):
        given[now[0]] = entries
        return make(kind, control, entries, *rest)

    monkeypatch.setattr(specialise, "Loop", loop)

    def search(mode, graph):
        now[:] = [mode]
        return gpop.bfs(graph, 0, method="messages", mode=mode, threads=2), given[mode]

    return search


def test_auto_calls_what_those_call_that_push_only_and_pull_only(entries, monkeypatch):
    """And has that for pull from when it is needed on."""
    monkeypatch.setattr(loops, "is_under_way", lambda kind: False)
    road = generate("grid", width=40, height=40)
    people = generate("rmat", scale=9, degree=16, symmetrize=True)
    pushed, (push, nothing) = entries("auto", road)
    assert not pushed.trace.column("partitions_pull").any() and nothing == 0
    both, (first, pull) = entries("auto", people)
    assert both.trace.column("partitions_pull").any() and both.trace.column("partitions_sc").any()
    assert (push, push) == entries("sc", road)[1] and (pull, pull) == entries("pull", people)[1]
    assert first == push != pull
    assert np.array_equal(both.level, entries("sc", people)[0].level)


def test_while_the_loop_is_compiled_what_pulls_is_compiled_too(entries, monkeypatch):
    """Else it would wait now, and compile that in the middle of the run."""
    monkeypatch.setattr(loops, "is_under_way", lambda kind: kind == "frontier")
    road = generate("grid", width=41, height=40)
    _, (push, pull) = entries("auto", road)
    assert 0 != pull != push
