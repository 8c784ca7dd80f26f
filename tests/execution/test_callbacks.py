"""Callbacks of a run: what they see and may do, and what one that fails, or an interrupt, leaves behind."""

from __future__ import annotations

import _thread
import threading

import numpy as np
import pytest

import gpop
from tests.execution.usable import GRAPH, assert_usable, fixpoint, rank, smallest
from tests.programs import MarkedRumours, Rumours, interpret, random_graph


def test_callback_sees_every_iteration():
    seen = []
    program = smallest()
    run = gpop.run(program, callback=lambda record: seen.append((record, program.label.copy())) or None)
    assert [record for record, _ in seen] == list(run.trace)
    assert [record["iteration"] for record, _ in seen] == list(range(run.iterations))
    expected, frontier = smallest(), None
    for _, label in seen:
        frontier = interpret(expected, frontier, iterations=1)["frontier"]
        assert np.array_equal(label, expected.label)


def test_callback_stops_the_run():
    run = gpop.run(rank(), callback=lambda record: record["iteration"] == 4)
    assert run.iterations == len(run.trace) == 5
    assert not run.converged
    stopped = gpop.run(smallest(), callback=lambda record: True)
    assert stopped.iterations == 1
    assert stopped.frontier.size > 0


def test_callback_changes_parameters_and_fields():
    program = rank()

    def callback(record):
        program.damping = 0
        return record["iteration"] == 2

    gpop.run(program, callback=callback)
    assert program.rank.tolist() == [1] * 200  # 1 - 0 + 0 * inflow

    labels = smallest()

    def zero(record):
        labels.label[:] = 0

    gpop.run(labels, callback=zero)
    assert labels.label.tolist() == [0] * 200


@pytest.mark.parametrize("at", [0, 2])
@pytest.mark.parametrize("mode", ["sc", "pc"])
def test_an_error_in_a_callback_leaves_the_graph_usable(at, mode):
    def callback(record):
        if record["iteration"] == at:
            raise ZeroDivisionError("mine")

    for program in (Rumours(GRAPH), MarkedRumours(GRAPH), smallest()):
        with pytest.raises(ZeroDivisionError, match="^mine$"):
            gpop.run(program, mode=mode, callback=callback, threads=2, partition_size=16)
    assert_usable(GRAPH)


@pytest.mark.parametrize("threads", [1, 4])
def test_interrupt_leaves_the_graph_usable(threads):
    graph = random_graph(3, 400, 9000)
    gpop.run(
        rank(graph), iterations=1, threads=threads, partition_size=16
    )  # compiled before the clock starts
    timer = threading.Timer(0.3, _thread.interrupt_main)
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        gpop.run(rank(graph), iterations=10**12, threads=threads, partition_size=16)
    assert_usable(graph)


def test_a_callback_runs_another_program():
    """On another graph it works; on the same one it is refused; neither hangs."""
    other, results = random_graph(4, 50, 200), {}

    def on(graph):
        program = smallest(graph, seed=9)
        gpop.run(program, threads=1)
        return program.label

    def callback(record):
        results["other"] = on(other)
        try:
            results["same"] = on(GRAPH)
        except gpop.UsageError as error:
            results["same"] = str(error)

    def outer():
        program = smallest()
        gpop.run(program, callback=callback, threads=1)
        results["outer"] = program.label

    thread = threading.Thread(target=outer, daemon=True)
    thread.start()
    thread.join(120)
    assert not thread.is_alive()
    assert np.array_equal(results["outer"], fixpoint())
    assert np.array_equal(results["other"], fixpoint(other, 9))
    assert "in the middle of a run" in results["same"]
    assert_usable(GRAPH)


def test_callbacks_of_two_threads_on_each_others_graphs_do_not_wait_for_each_other():
    """One of them is refused, which lets the other one through; neither hangs."""
    graphs, both, said = [random_graph(seed, 40, 90) for seed in (5, 6)], threading.Barrier(2), []

    def outer(at):
        def callback(record):
            if record["iteration"] == 0:
                both.wait(60)
                gpop.run(smallest(graphs[1 - at]), target="python")

        try:
            gpop.run(smallest(graphs[at]), callback=callback, target="python")
            said.append("done")
        except gpop.UsageError as error:
            said.append(str(error))

    threads = [threading.Thread(target=outer, args=[at], daemon=True) for at in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    refused, done = sorted(said, key="done".__eq__)
    assert "is in the middle of a run whose callback waits for the run of this one" in refused
    assert done == "done"
    for graph in graphs:
        assert not graph.store.is_held()
