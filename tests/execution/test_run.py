"""`gpop.run`: its arguments, how a run ends, and runs that share a graph."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import gpop
from tests.execution.usable import GRAPH, assert_usable, fixpoint, rank, smallest
from tests.graphs import small_graphs
from tests.programs import Distance, MarkedRumours, Rank, Rumours, Smallest, interpret, random_graph
from tests.quick import slow


class StaysThere:
    """What an array of CuPy says where NumPy asks for its values."""

    def __array__(self, *given, **options):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")


@pytest.mark.parametrize(
    "options, message",
    [
        ({"mode": "fast"}, "mode 'fast': expected one of auto, sc, pc"),
        ({"target": "tpu"}, "target 'tpu': expected one of cpu"),
        ({"iterations": -1}, "iterations = -1: expected 0 or more"),
        ({"ratio": -0.5}, "ratio = -0.5: expected a number from 0 on"),
        ({"ratio": float("nan")}, "ratio = nan: expected a number from 0 on"),
        ({"threads": 0}, "threads = 0: expected 1 to 1024"),
        ({"threads": "x"}, "threads 'x': expected a whole number"),
        ({"threads": 2.0}, "threads 2.0: expected a whole number"),
        ({"partition_size": 2.0}, "partition size 2.0: expected a whole number"),
        ({"iterations": "3"}, "iterations '3': expected a whole number"),
        ({"ratio": "2"}, "ratio = '2': expected a number from 0 on"),
        ({"callback": 3}, "callback 3: expected a function of the trace record"),
        (
            {"thread": 2},
            "run takes no option 'thread' (did you mean threads?): expected some of frontier",
        ),
        ({"Mode": "sc"}, "run takes no option 'Mode' (did you mean mode?): expected some of"),
        ({"zzz": 1}, "run takes no option 'zzz': expected some of"),
        ({"threads": 1025}, "threads = 1025: expected 1 to 1024"),
        ({"partition_size": 100}, "partition size 100: expected a power of two"),
        ({"frontier": [0, 200]}, "frontier holds vertex 200: expected ids from 0 to 199"),
        ({"frontier": [-1]}, "frontier holds vertex -1: expected ids from 0 to 199"),
        ({"frontier": [0.5]}, "frontier of type float64, 1 dimensions: expected a list of vertex ids"),
        ({"frontier": [[0, 1]]}, "frontier of type int64, 2 dimensions: expected"),
        ({"frontier": [True, 1]}, "frontier holds a boolean: expected a list of vertex ids"),
        ({"frontier": np.ones(200, bool)}, "frontier of type bool, 1 dimensions: expected"),
        ({"frontier": [[0], [1, 2]]}, "frontier is a list that NumPy makes no array of: expected a list"),
        ({"frontier": StaysThere()}, "frontier is a StaysThere that NumPy makes no array of: expected"),
    ],
)
def test_argument_errors_are_one_line(options, message):
    program = smallest()
    before = program.label.copy()
    with pytest.raises(gpop.UsageError) as caught:
        gpop.run(program, **options)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert np.array_equal(program.label, before)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"frontier": [0], "iterations": 1}, "Rank declares all_active: it takes no frontier"),
        ({"interleave": True, "iterations": 1}, "Rank declares all_active: interleave needs"),
    ],
)
def test_errors_of_dense_programs(options, message):
    with pytest.raises(gpop.UsageError, match=f"^{message}"):
        gpop.run(rank(), **options)


def test_a_dense_program_needs_an_end():
    Endless = type("Endless", (Rank,), {"filterFunc": gpop.Program.filterFunc})
    with pytest.raises(gpop.UsageError, match="^Endless would never end: give iterations, a callback, or a"):
        gpop.run(Endless(GRAPH))


def test_a_program_with_weights_needs_them():
    with pytest.raises(gpop.UsageError, match=r"^Distance needs edge weights .*has none$"):
        gpop.run(Distance(GRAPH))


def test_a_class_is_no_program():
    with pytest.raises(gpop.UsageError, match=r"^run\(<class .*\): expected a program made for"):
        gpop.run(Distance)


# --- frontiers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frontier",
    [
        [3, 1, 77], (77, 3, 1), range(1, 78, 2), [3, 3, 1, 77, 1, 3], [5], 5, np.int64(5), [], np.empty(0),
        np.array([77, 1, 3], np.uint32), np.array([1, 3, 77], np.int8), np.arange(200)[::7], np.arange(200),
        {1, 3, 77}, {1: "a", 77: "b"}.keys(), None,
    ],
    ids=repr,
)  # fmt: skip
def test_frontiers(frontier):
    program, expected = Rumours(GRAPH), Rumours(GRAPH)
    start = None
    if frontier is not None:
        start = np.array([*frontier] if np.iterable(frontier) else [frontier], int)
    wanted = interpret(expected, start, iterations=2)
    run = gpop.run(program, frontier, iterations=2, threads=1)
    assert np.array_equal(program.heard, expected.heard)
    assert sorted(run.frontier.tolist()) == sorted(wanted["frontier"])
    assert run.frontier.dtype == np.uint32
    assert run.trace.column("frontier").tolist() == wanted["sizes"]
    assert run.converged == (not wanted["frontier"])


def test_a_frontier_may_be_an_iterator():
    again, expected = Rumours(GRAPH), Rumours(GRAPH)
    gpop.run(expected, [3, 77], iterations=2)
    gpop.run(again, (vertex for vertex in (3, 77)), iterations=2)
    assert np.array_equal(again.heard, expected.heard)


def test_empty_frontier_does_nothing():
    program = smallest()
    run = gpop.run(program, [])
    assert (run.iterations, len(run.trace), run.converged, run.frontier.size) == (0, 0, True, 0)
    assert np.array_equal(program.label, smallest().label)


def test_no_iterations():
    program = smallest()
    run = gpop.run(program, [4, 2], iterations=0)
    assert (run.iterations, len(run.trace), run.converged) == (0, 0, False)
    assert sorted(run.frontier.tolist()) == [2, 4]
    run = gpop.run(program, iterations=0)
    assert np.array_equal(np.sort(run.frontier), np.arange(200))
    assert np.array_equal(program.label, smallest().label)
    assert gpop.run(rank(), iterations=0).iterations == 0


@pytest.mark.parametrize("mode", ["sc", "pc", "auto"])
def test_a_run_can_be_continued_from_its_frontier(mode):
    program, steps = smallest(), 0
    frontier = None
    while frontier is None or frontier.size:
        run = gpop.run(program, frontier, iterations=1, mode=mode, threads=1)
        frontier, steps = run.frontier, steps + 1
    whole = smallest()
    assert gpop.run(whole, mode=mode, threads=1).iterations == steps
    assert np.array_equal(program.label, whole.label)
    assert np.array_equal(program.label, fixpoint())


@pytest.mark.slow
def test_touched_is_every_vertex_that_was_ever_active():
    start = [150, 7, 199]
    program, expected = MarkedRumours(GRAPH), Rumours(GRAPH)
    ever, frontier = set(start), start
    for _ in range(3):
        frontier = interpret(expected, frontier, iterations=1)["frontier"]
        ever |= frontier
    run = gpop.run(program, start, iterations=3, threads=1)
    assert sorted(run.touched.tolist()) == sorted(ever)
    assert run.touched.dtype == np.uint32
    again = gpop.run(program, [5], iterations=0, threads=1)  # nothing of the last run is left
    assert again.touched.tolist() == [5]
    assert np.array_equal(np.sort(gpop.run(program, iterations=0, threads=1).touched), np.arange(200))
    assert gpop.run(smallest(), iterations=1, threads=1).touched is None


def test_touched_and_a_frontier_that_fills_at_once_are_ascending():
    for iterations in (0, 6):  # few of a partition, and most of it
        run = gpop.run(
            MarkedRumours(GRAPH), [150, 100, 7, 9], iterations=iterations, threads=1, partition_size=128
        )
        assert run.touched.size == 4 if iterations == 0 else run.touched.size > 50
        assert np.all(np.diff(run.touched.astype(int)) > 0)
    frontier = gpop.run(smallest(), iterations=1, threads=1, partition_size=128).frontier
    assert frontier.size > 50 and np.all(np.diff(frontier.astype(int)) > 0)


@pytest.mark.parametrize("name", ["no edges", "one vertex", "one self-loop"])
@pytest.mark.parametrize("mode", ["sc", "pc", "auto"])
def test_smallest_graphs(name, mode):
    graph = small_graphs()[name]
    program, expected = Rumours(graph), Rumours(graph)
    wanted = interpret(expected, iterations=3)
    run = gpop.run(program, iterations=3, mode=mode)
    assert run.iterations == wanted["iterations"]
    assert np.array_equal(program.heard, expected.heard)
    dense, by_hand = rank(graph), rank(graph)
    interpret(by_hand, iterations=3)
    assert gpop.run(dense, iterations=3, mode=mode).iterations == 3
    np.testing.assert_allclose(dense.rank, by_hand.rank, rtol=1e-6)


@pytest.mark.parametrize("options", [{}, {"mode": "sc"}, {"interleave": True}, {"threads": 4}])
def test_no_vertices(options):
    graph = gpop.Graph.from_edges([], [], n=0)
    run = gpop.run(Smallest(graph), **options)
    assert (run.iterations, run.frontier.size, run.converged, run.partitions) == (0, 0, True, 0)
    with pytest.raises(gpop.UsageError, match="frontier holds vertex 0"):
        gpop.run(Smallest(graph), [0])


# --- what a run says about itself --------------------------------------------------------------


def test_summary():
    run = gpop.run(smallest(), mode="sc", threads=2, partition_size=16)
    assert (run.mode, run.threads, run.partition_size, run.partitions) == ("sc", 2, 16, 13)
    assert (run.target, run.interleave, run.counters, run.touched) == ("cpu", False, None, None)
    assert run.iterations == len(run.trace)
    assert 0 < run.trace.seconds <= run.seconds
    assert run.converged
    assert run.trace.summary == {
        "program": "Smallest", "graph": "", "mode": "sc", "model": "engine", "interleave": False,
        "threads": 2, "message bytes": 4, "weight bytes": 0, "pulls": 0,
    }  # fmt: skip


def test_the_layout_is_built_once():
    graph = random_graph(2, 100, 400)
    assert gpop.run(smallest(graph), partition_size=8).prepare_seconds > 0
    assert gpop.run(rank(graph), iterations=1, partition_size=8, threads=4).prepare_seconds == 0
    assert gpop.run(smallest(graph), partition_size=16).prepare_seconds > 0


def test_default_partitions_keep_the_rules():
    run = gpop.run(rank(GRAPH), iterations=1, threads=4)
    assert run.partitions >= 16
    assert (run.partitions - 1) * run.partition_size < GRAPH.n <= run.partitions * run.partition_size


@pytest.mark.parametrize("size", slow([1, 2, 64, 256, 1 << 17], 1 << 17))
@pytest.mark.parametrize("mode", ["sc", "pc"])
def test_partition_size_does_not_change_the_result(size, mode):
    program = smallest()
    run = gpop.run(program, partition_size=size, mode=mode, threads=2)
    assert run.partition_size == size
    assert run.partitions == -(-200 // size)
    assert np.array_equal(program.label, fixpoint())


def test_settled_dense_program_ends():
    program, expected = rank(eps=1e-3), rank(eps=1e-3)
    wanted = interpret(expected)
    run = gpop.run(program)
    assert run.iterations == wanted["iterations"]
    assert run.converged
    assert run.frontier.size == 0
    np.testing.assert_allclose(program.rank, expected.rank, rtol=1e-5)
    limited = gpop.run(rank(), iterations=7)
    assert (limited.iterations, limited.converged) == (7, False)


# --- callbacks ---------------------------------------------------------------------------------


def test_progress_is_shown_on_stderr(capsys):
    gpop.run(rank(), iterations=3, progress=True)
    shown = capsys.readouterr()
    assert "iteration" in shown.err
    assert shown.out == ""
    gpop.run(rank(), iterations=3)
    assert capsys.readouterr().err == ""


# --- runs that break, and runs at the same time ------------------------------------------------


@pytest.mark.parametrize("shared", [True, False])
def test_runs_in_several_python_threads(shared):
    graphs = [GRAPH] * 4 if shared else [random_graph(seed, 300, 6000) for seed in range(10, 14)]
    expected = [fixpoint(graph, seed) for seed, graph in enumerate(graphs)]
    wrong, errors = [], []

    def work(i):
        try:
            for round_ in range(15):
                program = smallest(graphs[i], i)
                gpop.run(program, mode=("sc", "pc", "auto")[round_ % 3], threads=2, partition_size=16)
                if not np.array_equal(program.label, expected[i]):
                    wrong.append((i, round_))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(240)
    assert not any(thread.is_alive() for thread in threads)
    assert not errors
    assert not wrong


@pytest.mark.slow
def test_programs_of_different_types_share_a_graph():
    """Buffers of one run are reused by the next, whatever the types of its messages."""
    graph = random_graph(5, 150, 700, weights=True)
    for _ in range(2):
        program = smallest(graph)
        gpop.run(program, threads=1, partition_size=16)
        assert np.array_equal(program.label, fixpoint(graph))
        distance, expected = Distance(graph), Distance(graph)
        distance.distance[0] = expected.distance[0] = 0
        gpop.run(distance, [0], threads=1, partition_size=16)
        interpret(expected, [0])
        assert np.array_equal(distance.distance, expected.distance)
        assert_usable(graph)
