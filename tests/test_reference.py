"""``target="python"``: looking inside works, and it gives the answers of the compiled targets.

What the functions mean is tested with diaries worked out by hand in tests/cpu/test_semantics.py, which run on
this target as well; here are the apps, the gallery and what is particular.
"""

from __future__ import annotations

import importlib
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.apps import triangles
from gpop.apps.sssp import SSSP
from tests.programs import MarkedRumours, Rank, Rumours, Smallest, random_graph
from tests.quick import quick

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

APPS = {
    "bfs": (lambda **options: gpop.bfs(GRAPH, 3, **options), ["level"], 0),
    "sssp": (lambda **options: gpop.sssp(GRAPH, 3, interleave=False, **options), ["distance", "reached"], 0),
    "cc": (
        lambda **options: gpop.connected_components(GRAPH, "labels", interleave=False, **options),
        ["label", "count"],
        0,
    ),
    "pagerank": (lambda **options: gpop.pagerank(GRAPH, iterations=7, **options), ["rank"], 2e-6),
    "converging pagerank": (
        lambda **options: gpop.pagerank(GRAPH, dangling="uniform", dtype=np.float64, **options),
        ["rank"],
        1e-13,
    ),
    "personalized pagerank": (
        lambda **options: gpop.personalized_pagerank(GRAPH, {3: 2, 5: 1}, **options),
        ["rank"],
        1e-13,
    ),
    "hits": (lambda **options: gpop.hits(GRAPH, iterations=4, **options), ["hub", "authority"], 1e-13),
    "nibble": (lambda **options: gpop.nibble(GRAPH, 3, threshold=1e-4, **options), ["probability"], 2e-6),
    "heat kernel": (lambda **options: gpop.heat_kernel(GRAPH, 3, **options), ["probability"], 2e-6),
    "pagerank nibble": (lambda **options: gpop.pagerank_nibble(GRAPH, 3, **options), ["probability"], 2e-6),
}


@pytest.mark.parametrize("name", quick(APPS, "cc"))
def test_apps(name):
    call, fields, tolerance = APPS[name]
    expected = call(target="python")
    assert expected.run.target == "python" and expected.run.iterations > 1
    for mode in MODES:
        found = call(mode=mode, threads=2, partition_size=16)
        for field in fields:
            ours, theirs = getattr(found, field), getattr(expected, field)
            if tolerance:  # sums, in an order that depends on the partitions
                assert ours.dtype == theirs.dtype
                np.testing.assert_allclose(
                    ours, theirs, rtol=tolerance, atol=1e-12, err_msg=f"{field} {mode}"
                )
            else:
                assert np.array_equal(ours, theirs), (field, mode)
        assert found.run.iterations == expected.run.iterations, mode
        if not tolerance or mode == "sc":
            edges = expected.trace.column("active_edges")
            assert np.array_equal(found.trace.column("active_edges"), edges), mode


def k_hop(program):
    program.hops[0] = 0
    return {"frontier": [0]}


def label_spreading(program):
    graph = program.graph
    program.ties = np.bincount(graph.indices, graph.weights, graph.n)
    program.leaning[[1, 5]], program.ties[[1, 5]] = (-1, 1), 0
    return {"iterations": 9}


def nearest_landmark(program):
    program.best[[2, 9]] = 2, 9
    return {"frontier": [2, 9]}


def neighbour_sum(program):
    program.value = program.graph.out_degree
    return {"iterations": 1}


def widest_path(program):
    program.width[0] = np.iinfo(np.uint32).max
    return {"frontier": [0]}


def matrix_paths(program):
    program.distance[0] = 0
    return {"frontier": [0]}


GALLERY = {
    "k_hop": ("KHop", k_hop),
    "label_spreading": ("LabelSpreading", label_spreading),
    "matrix_paths": ("Paths", matrix_paths),
    "nearest_landmark": ("NearestLandmark", nearest_landmark),
    "neighbour_sum": ("NeighbourSum", neighbour_sum),
    "widest_path": ("WidestPath", widest_path),
}


def test_the_gallery_is_complete():
    assert sorted(GALLERY) == sorted(path.stem for path in (ROOT / "apps").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("name", GALLERY)
def test_gallery(name):
    kind, prepare = GALLERY[name]
    kind = runpy.run_path(str(ROOT / "apps" / f"{name}.py"))[kind]
    expected = kind(GRAPH)
    options = prepare(expected)
    run = gpop.run(expected, target="python", **options)
    for mode in MODES:
        program = kind(GRAPH)
        prepare(program)
        again = gpop.run(program, mode=mode, threads=2, partition_size=16, **options)
        assert (again.iterations, again.converged) == (run.iterations, run.converged)
        assert np.array_equal(again.frontier, run.frontier)
        for field in kind.vertex_fields():
            ours, theirs = getattr(program, field), getattr(expected, field)
            if ours.dtype.kind == "f":
                np.testing.assert_allclose(ours, theirs, rtol=1e-12, err_msg=f"{field} {mode}")
            else:
                assert np.array_equal(ours, theirs), (field, mode)


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


@pytest.mark.parametrize("app", ["bfs", "sssp", "cc", "pagerank", "nibble", "heat_kernel", "pagerank_nibble"])
def test_from_the_shell(app, capsys):
    main = importlib.import_module(f"gpop.apps.{app}").main
    options = ["--target", "python", "--rounds", "1", "--verify"]
    assert main([str(ROOT / "data/lesmis.bin"), *options]) == 0
    shown = capsys.readouterr()
    assert "verified" in shown.out and "target      python" in shown.out


def test_apps_without_messages_refuse_it_from_the_shell(capsys):
    assert triangles.main([str(ROOT / "data/lesmis.bin"), "--target", "python"]) == 2
    assert capsys.readouterr().err == "gpop: target 'python': expected one of cpu, gpu\n"


def test_apps_without_messages_refuse_it():
    with pytest.raises(gpop.UsageError, match="^target 'python': expected one of cpu, gpu$"):
        gpop.triangle_count(PATH, target="python")
    with pytest.raises(gpop.UsageError, match="^target means nothing to afforest: it sends no messages$"):
        gpop.connected_components(PATH, "afforest", target="python")
