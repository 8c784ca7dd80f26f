"""What the five functions mean: which vertices, how often, in which order.

One iteration is worked out by hand, for the plain-Python target as well. With that target the compiled engine
is then compared in whole programs.
"""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.graph.kept import Kind
from gpop.layout.kept_bins import bins_of
from tests import programs
from tests.programs import (
    Colours,
    Diary,
    Distance,
    Drift,
    Flag,
    Formula,
    MarkedRumours,
    Parents,
    Rank,
    Rumours,
    Smallest,
    WeightedRumours,
    interpret,
    random_graph,
)  # fmt: skip
from tests.quick import quick, slow

MODES = ("sc", "pc", "auto", "pull")
SETTINGS = [{"mode": mode, "threads": threads} for mode in MODES for threads in (1, 4)]


def compare(make, frontier=None, iterations=10**9, exact=True, settings=SETTINGS, sizes=(8,)):
    """Every setting must leave the fields, the frontier and the trace that the interpreter leaves."""
    expected = make()
    wanted = interpret(expected, frontier, iterations)
    limit = None if iterations == 10**9 else iterations
    for setting in settings:
        for size in sizes:
            program = make()
            run = gpop.run(program, frontier, iterations=limit, partition_size=size, **setting)
            for name in type(program).vertex_fields():
                ours, theirs = getattr(program, name), getattr(expected, name)
                if exact:
                    assert np.array_equal(ours, theirs), (name, setting, size)
                else:
                    np.testing.assert_allclose(ours, theirs, rtol=1e-5, err_msg=f"{name} {setting} {size}")
            assert run.iterations == wanted["iterations"], setting
            if not program.all_active:
                assert sorted(run.frontier.tolist()) == sorted(wanted["frontier"]), setting
                assert run.trace.column("frontier").tolist() == wanted["sizes"], setting
            assert run.trace.column("active_edges").tolist() == wanted["edges"], setting
    return expected


# --- the order of calls ------------------------------------------------------------------------

#  partitions of two vertices: 0 1 | 2 3 | 4 5 | 6 7
TINY = gpop.Graph.from_edges([0, 0, 1, 2, 4, 4, 5], [1, 4, 4, 5, 2, 4, 5], n=8)


def diary(keep=(), dull=(), leave=(), graph=TINY):
    program = Diary(graph)
    program.keep[list(keep)] = True
    program.wake[list(dull)] = False
    program.stay[list(leave)] = False
    return program


def digits(program):
    """The diaries in base 4: 1 initFunc, 2 gatherFunc, 3 filterFunc."""
    return [np.base_repr(page, 4) for page in program.diary]


@pytest.mark.parametrize("setting", [{"target": "python"}, *SETTINGS], ids=str)
class TestOneIteration:
    def run(self, setting, frontier, **answers):
        program = diary(**answers)
        run = gpop.run(program, frontier, iterations=1, partition_size=2, **setting)
        return program, sorted(run.frontier.tolist())

    def test_init_for_active_vertices_only_then_gather_then_filter(self, setting):
        program, frontier = self.run(setting, [0, 1])
        # 0: scattered, forgotten. 1: active, and one message. 4: two messages, one filter call.
        assert digits(program) == ["1", "123", "0", "0", "223", "0", "0", "0"]
        assert frontier == [1, 4]

    def test_messages_are_made_before_init(self, setting):
        program, _ = self.run(setting, [4])  # 4 -> 2, and a self-loop
        assert program.letter.tolist() == [0, 0, 1, 0, 1, 0, 0, 0]  # diary 0 when scattered, plus 1
        assert digits(program)[4] == "123"

    def test_kept_without_a_message(self, setting):
        program, frontier = self.run(setting, [0, 7], keep=[0, 7])
        assert digits(program) == [
            "13",
            "23",
            "0",
            "0",
            "23",
            "0",
            "0",
            "13",
        ]  # filter is called for kept ones
        assert frontier == [0, 1, 4, 7]

    def test_keep_counts_for_active_vertices_only(self, setting):
        _, frontier = self.run(setting, [2], keep=[0, 1, 2, 3])
        assert frontier == [2, 5]

    def test_gather_false_does_not_activate(self, setting):
        program, frontier = self.run(setting, [0, 1], dull=[4])
        assert digits(program) == ["1", "123", "0", "0", "22", "0", "0", "0"]  # no filter call for 4
        assert frontier == [1]

    def test_gather_false_does_not_drop_a_kept_vertex(self, setting):
        program, frontier = self.run(setting, [4], keep=[4], dull=[4, 2])
        assert digits(program)[4] == "123"
        assert frontier == [4]

    def test_filter_false_drops(self, setting):
        program, frontier = self.run(setting, [0, 1], leave=[4, 0], keep=[0])
        assert digits(program) == ["13", "123", "0", "0", "223", "0", "0", "0"]
        assert frontier == [1]

    def test_kept_and_woken_is_active_once(self, setting):
        program, frontier = self.run(setting, [0, 1, 4], keep=[4])
        assert digits(program)[4] == "12223"
        assert frontier == [1, 2, 4]

    def test_vertices_without_edges(self, setting):
        program, frontier = self.run(setting, [3, 6, 7], keep=[6])
        assert digits(program) == ["0", "0", "0", "1", "0", "0", "13", "1"]
        assert frontier == [6]


@pytest.mark.parametrize("seed", range(3))
def test_diaries_of_several_iterations(seed):
    graph = random_graph(seed, 60, 150)
    rng = np.random.default_rng(seed)
    answers = {name: np.flatnonzero(rng.random(60) < 0.2) for name in ("keep", "dull", "leave")}
    frontier = rng.choice(60, 6, replace=False)
    compare(lambda: diary(graph=graph, **answers), frontier, iterations=4, sizes=(1, 4, 64))


# --- whole programs ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", quick(range(3), 1))
def test_sums(seed):
    graph = random_graph(seed, 90, 400)
    compare(lambda: Rumours(graph), [3, 11, 40], iterations=5, sizes=(2, 16, 128))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_sums_where_inactive_vertices_send_a_marker(seed):
    """The usual run has this program in all modes but pull (test_inactive.py)."""
    compare(lambda: MarkedRumours(random_graph(seed, 90, 400)), None, iterations=3)


@pytest.mark.parametrize("seed", quick(range(2), 1))
@pytest.mark.parametrize("weights", quick(["small", "large"], "small"))
def test_weight_is_applied_once_per_edge(seed, weights):
    """``value * weight + 1`` tells the order of its arguments, and how often it was called."""
    graph = random_graph(seed, 70, 300, weights=True)
    if weights == "large":  # these do not fit the short type that small ones are stored in
        graph = gpop.Graph.from_csr(graph.indptr, graph.indices, graph.weights + np.uint32(70000))
    result = compare(lambda: WeightedRumours(graph), [1, 5, 20], iterations=3, sizes=(4, 32))
    assert result.arrived.sum() > 100
    once = WeightedRumours(graph)
    gpop.run(once, iterations=1, partition_size=4)
    assert np.array_equal(once.arrived, np.bincount(graph.indices, minlength=70))


@pytest.mark.slow
def test_weights_keep_their_type_in_the_function():
    """A weight is stored in a byte when it fits, but 200 + 100 must not wrap around."""
    graph = gpop.Graph.from_edges([0, 1], [1, 2], np.array([200, 100], np.uint32), n=3)
    for setting in SETTINGS:
        program = Distance(graph)
        program.distance[0] = 0
        gpop.run(program, [0], **setting)
        assert program.distance.tolist() == [0, 200, 300]


def test_weights_are_ignored_without_apply_weight():
    graph = random_graph(4, 50, 200, weights=True)
    compare(lambda: Rumours(graph), [0, 7], iterations=3, settings=SETTINGS[:1])


@pytest.mark.slow
def test_shortest_paths():
    graph = random_graph(5, 120, 500, weights=True)

    def make():
        program = Distance(graph)
        program.distance[0] = 0
        return program

    compare(make, [0], sizes=(4, 32))


@pytest.mark.slow
def test_levels_of_a_search():
    graph = random_graph(6, 200, 600)

    def make():
        program = Parents(graph)
        program.parent[3], program.level[3] = 3, 0
        return program

    expected = make()
    interpret(expected, [3])
    for setting in SETTINGS:
        program = make()
        gpop.run(program, [3], partition_size=16, **setting)
        assert np.array_equal(program.level, expected.level)
        child = np.flatnonzero(program.level > 0)
        assert np.array_equal(program.level[program.parent[child]] + 1, program.level[child])


def test_smallest_label():
    def make():
        program = Smallest(graph)
        program.label = np.random.default_rng(1).permutation(150)
        return program

    graph = random_graph(7, 150, 500)
    compare(make)


def test_colours_until_a_vertex_has_all():
    graph = random_graph(15, 120, 500)

    def make():
        program = Colours(graph)
        program.mask[sources] = 1, 2, 4, 8
        return program

    sources = [3, 5, 9, 20]
    assert np.count_nonzero(compare(make, sources, sizes=(1, 16, 64)).mask == 15) > 10


@pytest.mark.slow
def test_drift():
    graph = random_graph(8, 80, 400)

    def make():
        program = Drift(graph)
        program.mass[[1, 2]], program.threshold = 1, 1e-3
        return program

    compare(make, [1, 2], iterations=4, exact=False)


def test_dense_program():
    def make():
        program = Rank(graph)
        program.rank, program.eps = 1, 1e-4
        return program

    graph = random_graph(9, 100, 600)
    compare(make, exact=False)
    compare(make, exact=False, iterations=3)


@pytest.mark.slow
def test_bool_messages_and_a_field_that_is_left_alone():
    def make():
        program = Flag(graph)
        program.marked[::7] = True
        return program

    graph = random_graph(10, 100, 300)
    assert np.all(compare(make, [1, 2, 3]).note == 4.5)


@pytest.mark.parametrize("shift, strength", [(2, 0.5), (-3, 1.25)])
def test_helpers_globals_math_parameters_and_the_iteration(shift, strength):
    graph = random_graph(11, 40, 160)

    def make():
        program = Formula(graph)
        program.value, program.shift, program.strength = np.linspace(0, 3, 40), shift, strength
        return program

    compare(make, iterations=4, exact=False)


def test_a_global_is_read_when_the_run_starts(monkeypatch):
    graph = random_graph(12, 20, 60)
    results = []
    for offset in (0.25, 0.75):
        monkeypatch.setattr(programs, "OFFSET", offset)
        program, expected = Formula(graph), Formula(graph)
        gpop.run(program, iterations=2, threads=1)
        interpret(expected, iterations=2)
        np.testing.assert_allclose(program.value, expected.value)
        results.append(program.value.copy())
    assert not np.allclose(*results)


# --- what a run does not touch -----------------------------------------------------------------


def test_the_layout_and_the_graph_are_not_written():
    """Static ids, PNG and weights are written once, when the layout is built."""
    graph = random_graph(13, 90, 500, weights=True)
    bins, _ = bins_of(graph, 3, 1)
    before = [array.copy() for array in bins if isinstance(array, np.ndarray)]
    for mode in MODES:
        distance = Distance(graph)
        distance.distance[0] = 0
        gpop.run(distance, [0], mode=mode, partition_size=8)
        gpop.run(Smallest(graph), mode=mode, partition_size=8, interleave=True)
    after, seconds = bins_of(graph, 3, 1)
    assert after is bins
    assert seconds == 0
    arrays = [array for array in bins if isinstance(array, np.ndarray)]
    assert all(np.array_equal(old, new) for old, new in zip(before, arrays, strict=True))


def test_dense_programs_keep_no_frontier():
    graph = random_graph(14, 64, 200)
    program = Rank(graph)
    program.eps = -1
    gpop.run(program, iterations=2, partition_size=8)
    kept = {name for name, _ in graph.store.get(Kind.WORKSPACE, 3)}
    assert kept.isdisjoint({"frontier", "in_frontier", "sc_ids", "sent"})
    gpop.run(Smallest(graph), partition_size=8)
    assert {"frontier", "in_frontier"} <= {name for name, _ in graph.store.get(Kind.WORKSPACE, 3)}


# --- numbers -----------------------------------------------------------------------------------


class Complements(gpop.Program):
    """What is made of ``node`` shows of how many bits it is, and does not compile if it is of 64."""

    said = gpop.VertexField(np.int64)
    heard = gpop.VertexField(np.int64)

    def scatterFunc(self, node):
        return np.int64(~node) + np.int64(-node)

    def gatherFunc(self, value, node):
        least = node if value > 3 else value
        self.heard[node] += np.int64(~node) + (least & 7) + value
        return True

    def filterFunc(self, node):
        self.said[node] += np.int64(-node)
        return True


class DenseComplements(Complements):
    all_active = True


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Complements, DenseComplements])
def test_a_vertex_is_a_number_of_32_bits_in_every_mode(kind):
    compare(lambda: kind(random_graph(15, 30, 120)), iterations=2)


class Countdown(gpop.Program):
    """Every vertex counts down to 0, and answers with its number; those of two cancel in a sum."""

    left = gpop.VertexField(np.int64)
    all_active = True

    def scatterFunc(self, node):
        return 0

    def gatherFunc(self, value, node):
        return True

    def filterFunc(self, node):
        self.left[node] -= np.sign(self.left[node])
        return self.left[node]


@pytest.mark.parametrize("mode", slow(MODES, "pull"))
def test_answers_that_are_whole_numbers_are_true_but_for_0(mode):
    program = Countdown(random_graph(16, 4, 9))
    program.left = [5, -5, 3, -3]
    run = gpop.run(program, iterations=20, mode=mode)
    assert (run.iterations, run.converged, program.left.tolist()) == (5, True, [0] * 4)
