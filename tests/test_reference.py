"""``target="python"``: looking inside works, and what is particular to it.

What the functions mean is tested with diaries worked out by hand in tests/cpu/test_semantics.py, which run on
this target as well; the apps and the gallery are in test_reference_apps.py.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.apps import triangles
from gpop.apps.sssp import SSSP
from tests.programs import MarkedRumours, Rank, Rumours, Smallest, random_graph

ROOT = Path(__file__).resolve().parents[1]
GRAPH = random_graph(7, 70, 300, weights=True)
PATH = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
MODES = ("sc", "pc", "auto", "pull")


class Hops(gpop.Program):
    hops = gpop.VertexField(np.int32, -1)

    def scatterFunc(self, node):
        return self.hops[node] + 1

    def gatherFunc(self, value, node):
        if self.hops[node] < 0:
            self.hops[node] = value
            return True
        return False


def started(kind, graph=PATH):
    program = kind(graph)
    program.hops[0] = 0
    return program


# --- looking inside ----------------------------------------------------------------------------


class Talking(Hops):
    def gatherFunc(self, value, node):
        print(f"{value} reaches {node} in iteration {self.iteration}")
        return Hops.gatherFunc(self, value, node)


def test_print_shows_every_message_in_order(capsys):
    program = started(Talking)
    run = gpop.run(program, [0], target="python")
    assert capsys.readouterr().out.splitlines() == [
        "1 reaches 1 in iteration 0",
        "2 reaches 2 in iteration 1",
        "3 reaches 3 in iteration 2",
    ]
    assert program.hops.tolist() == [0, 1, 2, 3]
    assert (run.iterations, run.target, run.converged) == (4, "python", True)


def test_what_is_refused_elsewhere_names_this_target():
    with pytest.raises(
        gpop.ProgramError, match='Talking.gatherFunc: print is not .*target="python" allows it$'
    ):
        gpop.run(started(Talking), [0])


def test_an_assertion_stops_at_its_line():
    class Careful(Hops):
        def gatherFunc(self, value, node):
            assert node != 2, "here it is"
            return Hops.gatherFunc(self, value, node)

    program = started(Careful)
    with pytest.raises(AssertionError, match="here it is") as caught:
        gpop.run(program, [0], target="python")
    assert caught.traceback[-1].lineno + 1 == Careful.gatherFunc.__code__.co_firstlineno + 1
    assert program.hops.tolist() == [0, 1, -1, -1]


def test_a_debugger_stops_inside(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: seen.append(sys._getframe(1).f_locals["value"]))

    class Stopping(Hops):
        def gatherFunc(self, value, node):
            breakpoint()
            return Hops.gatherFunc(self, value, node)

    gpop.run(started(Stopping), [0], target="python")
    assert seen == [1, 2, 3]


# --- the same answers --------------------------------------------------------------------------


def test_buckets_of_priorities():
    """The same buckets in the same iterations as on the CPU, and the same vertices left to wait."""
    for iterations in (None, 3):
        runs = []
        for options in ({"target": "python"}, {"mode": "sc", "threads": 1}):
            program = SSSP(GRAPH)
            program.distance[0], program.delta = 0, 20
            run = gpop.run(program, [0], iterations=iterations, **options)
            runs.append((run, program.distance.tolist()))
        (run, distance), (other, theirs) = runs
        assert distance == theirs
        assert run.frontier.tolist() == np.sort(other.frontier).tolist()
        assert (run.iterations, run.converged) == (other.iterations, other.converged)
        for column in ("frontier", "active_edges"):
            assert np.array_equal(run.trace.column(column), other.trace.column(column))
    whole = gpop.run(smallest(GRAPH), target="python")
    assert run.iterations == 3 and not run.converged and run.frontier.size and whole.converged


def smallest(graph):
    program = Smallest(graph)
    program.label = np.arange(graph.n)[::-1]
    return program


# --- what a run says and takes -----------------------------------------------------------------


def test_how_messages_travel_means_nothing():
    expected = smallest(GRAPH)
    gpop.run(expected, target="python")
    options = {"mode": "pull", "interleave": True, "threads": 3, "ratio": 1.0, "partition_size": 8}
    program = smallest(GRAPH)
    run = gpop.run(program, target="python", **options)
    assert np.array_equal(program.label, expected.label)
    assert (run.threads, run.partitions, run.partition_size, run.interleave) == (1, 1, 70, False)
    with pytest.raises(gpop.UsageError, match="^counters are counted on the CPU only"):
        gpop.run(program, target="python", counters=True)


def test_trace():
    run = gpop.run(started(Hops), [0], target="python")
    assert run.trace.column("frontier").tolist() == [1, 1, 1, 1]
    assert run.trace.column("active_edges").tolist() == [1, 1, 1, 0]
    assert run.trace.column("messages").tolist() == [1, 1, 1, 0]
    assert np.all(run.trace.column("gather_seconds") > 0) and run.trace.seconds <= run.seconds
    assert run.trace.summary == {
        "program": "Hops", "graph": "", "mode": "sc", "model": "engine", "target": "python", "threads": 1,
        "message bytes": 0, "weight bytes": 0, "pulls": 0,
    }  # fmt: skip


def test_touched_and_callbacks():
    runs = []
    for options in ({"target": "python"}, {"threads": 1}):
        program = MarkedRumours(GRAPH)
        run = gpop.run(program, [3, 50], callback=lambda record: record["iteration"] == 0, **options)
        runs.append(
            (run.iterations, run.touched.tolist(), sorted(run.frontier.tolist()), program.heard.tolist())
        )
    assert runs[0] == runs[1] and runs[0][0] == 1 and runs[0][2]

    program = Rank(GRAPH)
    program.rank, program.eps = 1, -1

    def callback(record):
        program.damping = 0
        return record["iteration"] == 2

    run = gpop.run(program, callback=callback, target="python")
    assert program.rank.tolist() == [1] * GRAPH.n and not run.converged and run.frontier.size == 0


def test_a_dense_program_settles():
    program = Rank(GRAPH)
    program.rank, program.eps = 1, 1e30
    run = gpop.run(program, target="python")
    assert (run.iterations, run.converged) == (1, True)


@pytest.mark.parametrize("kind", [Smallest, Rumours])
def test_no_vertices(kind):
    run = gpop.run(kind(gpop.Graph.from_edges([], [], n=0)), target="python")
    assert (run.iterations, run.converged, run.partitions) == (0, True, 0)


def test_weights_are_needed():
    with pytest.raises(gpop.UsageError, match="^SSSP needs edge weights .* has none$"):
        gpop.run(SSSP(PATH), [0], target="python")


# --- numbers -----------------------------------------------------------------------------------


class Narrow(gpop.Program):
    """200 + 100 is 300 on the way and 44 in a byte, where -1 is 255."""

    byte = gpop.VertexField(np.uint8, 200)
    wide = gpop.VertexField(np.int64)
    mark = gpop.VertexField(np.uint16)
    step = gpop.Parameter(np.uint8, 100)

    def scatterFunc(self, node):
        return self.byte[node] + self.step

    def gatherFunc(self, value, node):
        self.wide[node] = value
        self.byte[node] += self.step
        self.byte[node] -= 45
        self.mark[node] = -1
        return False


@pytest.mark.parametrize("target", ["cpu", "python"])
def test_whole_numbers_are_as_wide_as_in_compiled_code(target):
    program = Narrow(PATH)
    gpop.run(program, [0], target=target)
    assert (program.wide[1], program.byte[1], program.mark[1]) == (300, 255, 65535)


class Mixed(gpop.Program):
    few = gpop.VertexField(np.uint32, 3)
    more = gpop.VertexField(np.uint16, 5)
    huge = gpop.VertexField(np.uint64, 2**60 + 1)
    signed = gpop.VertexField(np.int64, -3)
    heard = gpop.VertexField(np.uint64)
    sum = gpop.VertexField(np.uint64)
    hashed = gpop.VertexField(np.int64)
    difference = gpop.VertexField(np.uint64)
    less = gpop.VertexField(np.int64)
    smaller = gpop.VertexField(np.bool_)
    share = gpop.VertexField(np.float64)
    none = gpop.VertexField(np.float64)

    def scatterFunc(self, node):
        return self.huge[node]

    def applyWeight(self, value, weight):
        return value + weight

    def gatherFunc(self, value, node):
        self.heard[node] = value
        self.sum[node] = self.huge[node] + self.more[node]
        self.hashed[node] = (self.huge[node] * 31 + self.signed[node]) & 8191
        self.difference[node] = self.few[node] - self.more[node]
        self.less[node] = self.few[node] - 5
        self.smaller[node] = self.few[node] - self.more[node] < 0
        self.share[node] = 1.5 / self.few[node] + self.signed[node] // self.few[node]
        self.none[node] = 1.5 / (self.out_degree[node] - self.out_degree[node])
        return False


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("weight", [np.uint8, np.int16])
@pytest.mark.parametrize("target", ["cpu", "python"])
def test_unsigned_numbers_meet_signed_ones_as_in_compiled_code(target, weight):
    program = Mixed(gpop.Graph.from_edges([0], [1], np.array([2], weight)))
    gpop.run(program, [0], target=target)
    assert [program.heard[1], program.sum[1]] == [2**60 + 3, 2**60 + 6]
    assert program.hashed[1] == ((2**60 + 1) * 31 - 3) & 8191
    assert [program.difference[1], program.less[1], program.smaller[1]] == [2**64 - 2, -2, False]
    assert [program.share[1], program.none[1]] == [-0.5, np.inf]


# --- what functions return ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, answer, message",
    [
        ("gatherFunc", "yes", "returned 'yes': expected True or False"),
        ("filterFunc", None, "returned None: expected True or False"),
        ("needsFunc", 0.5, "returned 0.5: expected True or False"),
        ("scatterFunc", (1, 2), r"returned \[1, 2\]: expected one number"),
        ("scatterFunc", "one", "returned 'one': expected one number"),
    ],
)
def test_answers_are_checked(name, answer, message):
    function = (lambda self, value, node: answer) if name == "gatherFunc" else (lambda self, node: answer)
    kind = type("Odd", (Hops,), {name: function})
    with pytest.raises(gpop.ProgramError, match=rf"test_reference\.py:\d+: Odd\.{name} {message}$"):
        gpop.run(started(kind), iterations=1, target="python")


def test_what_self_does_not_have_is_named():
    """As on the other targets; it is an AttributeError as well, so that hasattr answers."""

    class Misspelt(Smallest):
        def scatterFunc(self, node):
            return 1 if hasattr(self, "labels") else self.lable[node]

    expected = r"^self\.lable is no field or parameter of the program \(iteration, label, out_degree\)$"
    with pytest.raises(gpop.ProgramError, match=expected) as caught:
        gpop.run(Misspelt(random_graph(1, n=4, m=8)), target="python")
    assert isinstance(caught.value, AttributeError)


@pytest.mark.parametrize("app", ["bfs", "sssp", "cc", "pagerank", "nibble", "heat_kernel", "pagerank_nibble"])
def test_from_the_shell(app, capsys):
    main = importlib.import_module(f"gpop.apps.{app}").main
    options = ["--target", "python", "--rounds", "1", "--verify"]
    assert main([str(ROOT / "data/lesmis.bin"), *options]) == 0
    shown = capsys.readouterr()
    assert "verified" in shown.out and "target      python" in shown.out


def test_apps_without_messages_refuse_it_from_the_shell(capsys):
    assert triangles.main([str(ROOT / "data/lesmis.bin"), "--target", "python"]) == 2
    said = "gpop: argument --target: invalid choice: 'python' (choose from 'cpu', 'gpu')"
    assert capsys.readouterr().err.startswith(said)


def test_apps_without_messages_refuse_it():
    with pytest.raises(gpop.UsageError, match="^target 'python': expected one of cpu, gpu$"):
        gpop.triangle_count(PATH, target="python")
    with pytest.raises(gpop.UsageError, match="^target means nothing to afforest: it sends no messages$"):
        gpop.connected_components(PATH, "afforest", target="python")


class FewBits(gpop.Program):
    """Unsigned numbers of a few bits: what is negated, inverted, and divided by a negative number."""

    small = gpop.VertexField(np.uint8)
    half = gpop.VertexField(np.uint16)
    made = gpop.VertexField(np.int64)

    def scatterFunc(self, node):
        return self.small[node]

    def applyWeight(self, value, weight):
        return np.int64(-value) + np.int64(~weight) - abs(weight) + (value - weight) // 3

    def gatherFunc(self, value, node):
        self.made[node] += value + ~(-self.half[node]) // -3 + (~node) % -5 + np.int64(7) * abs(-node)
        return True


@pytest.mark.slow
def test_unsigned_numbers_of_few_bits():
    made = []
    for options in ({"target": "python"}, {}):
        program = FewBits(GRAPH)
        program.small, program.half = np.arange(70) * 3, np.arange(70) * 900
        gpop.run(program, iterations=2, **options)
        made.append(program.made.tolist())
    assert made[0] == made[1]
