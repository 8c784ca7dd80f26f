"""Iterations in which vertices ask (kernels/bottom_up.cuh): answers, the choice, arrays on the device."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.gpu import again, choices, engine, limits, preparing, strategies, traits
from gpop.gpu.device_graph import DeviceGraph
from gpop.gpu.model_source import model_source
from gpop.layout.bins import build_bins
from gpop.model import choosers
from gpop.model.choosers import SETTING_OUT, may_pull, prefers_asking
from gpop.model.gpu_bytes import bottom_up_bytes, push_bytes, wanting_bytes
from gpop.model.gpu_sizes import Part
from tests.gpu.asking import asking, missed_bytes, never_alone
from tests.gpu.cases import CASES, Case, combined, graph_of, in_plain_python, started
from tests.gpu.emulator import emulated
from tests.programs import Colours, random_graph
from tests.quick import quick


class Paths(gpop.Program):
    """How many shortest paths lead to a vertex: a sum, folded where it is pushed, over one iteration."""

    paths = gpop.VertexField(np.int64)
    done = gpop.VertexField(np.bool_)
    combine = "add"

    def scatterFunc(self, node):
        return self.paths[node]

    def needsFunc(self, node):
        return not self.done[node]

    def gatherFunc(self, value, node):
        if self.done[node]:
            return False
        self.paths[node] += value
        return True

    def filterFunc(self, node):
        self.done[node] = True
        return True


class Reached(gpop.Program):
    """The level, from a parameter that is the same everywhere, so that messages need not be kept."""

    level = gpop.VertexField(np.uint8)

    def scatterFunc(self, node):
        return node

    def needsFunc(self, node):
        return self.level[node] == 0

    def gatherFunc(self, value, node):
        if self.level[node] == 0:
            self.level[node] = self.iteration + 2
            return True
        return False


class Tracked(Reached):
    """All that were ever active are remembered."""

    track_touched = True


class Heavy(Colours):
    """Over edges with weights, and a vertex stays active while its own number says so."""

    rest = gpop.VertexField(np.uint8)

    def applyWeight(self, value, weight):
        return np.uint8(value & np.uint8(weight))

    def initFunc(self, node):
        if self.rest[node] > 0:
            self.rest[node] -= np.uint8(1)
            return True
        return False


class Noted(Reached):
    """Two fields are written, so that minima are folded."""

    who = gpop.VertexField(np.uint32)
    combine = "min"

    def gatherFunc(self, value, node):
        if self.level[node] == 0:
            self.level[node] = self.iteration + 2
            self.who[node] = value
            return True
        return False


def _paths(program, rng):
    program.paths[[3, 7]], program.done[[3, 7]] = 1, True


def _reached(program, rng):
    program.level[[3, 7]] = 1


def _rest(program, rng):
    program.mask[[3, 5, 9, 20]] = 1, 2, 4, 8
    program.rest = rng.integers(0, 3, program.graph.n)


PROGRAMS = {
    case.cls.__name__: case
    for case in (
        Case(Paths, _paths, (3, 7)),
        Case(Reached, _reached, (3, 7)),
        Case(Noted, _reached, (3, 7)),
        CASES["Colours"],
        CASES["ColoursCombined"],
        Case(Heavy, _rest, (3, 5, 9, 20), 6),
        Case(combined(Heavy, "or"), _rest, None, 6),
    )
}


def check(case, graph, **options):
    """Fields, frontier and counts are those of plain Python; the run."""
    correct, said = in_plain_python(case, graph)
    program = started(case, graph)
    run = gpop.run(program, case.frontier, iterations=case.iterations, target="gpu", **options)
    for name in case.cls.vertex_fields():
        np.testing.assert_array_equal(getattr(program, name), getattr(correct, name), err_msg=name)
    assert run.frontier.tolist() == sorted(said["frontier"])
    assert (run.iterations, run.converged) == (said["iterations"], said["converged"])
    assert run.trace.column("frontier").tolist() == said["sizes"]
    assert run.trace.column("active_edges").tolist() == said["edges"]
    return run


def with_hubs():
    """Hubs, whose warps ask for themselves, and vertices that no edge leads to."""
    rng = np.random.default_rng(5)
    tails, heads = rng.integers(0, 2000, 30_000), (2000 * rng.random(30_000) ** 4).astype(int)
    return gpop.Graph.from_edges(tails, heads, rng.integers(1, 9, tails.size).astype(np.uint32), n=2100)


@pytest.mark.parametrize("name", quick(PROGRAMS, "Reached"))
def test_vertices_that_ask_hear_what_they_would_be_sent(name):
    with emulated(), asking():
        for kind in ("small", "big"):
            run = check(PROGRAMS[name], graph_of(kind), ratio=1.0, partition_size=32)
            assert np.all(run.trace.column("partitions_pull") == run.partitions)
            assert not run.trace.column("partitions_sc").any() and not run.trace.column("partitions_pc").any()


@pytest.mark.parametrize("name, ratio", [("Reached", 1.0), ("Noted", 3.0)])
def test_some_iterations_push_and_some_ask(name, ratio):
    graph = with_hubs()
    assert graph.reverse().out_degree.max() > limits.HUB
    with emulated(), never_alone():
        run = check(PROGRAMS[name], graph, ratio=ratio, partition_size=64)
    asked = run.trace.column("partitions_pull") > 0
    assert asked.any() and not asked.all()


def test_who_was_touched_before_stays_touched():
    """Vertices of one word of bits become active in several iterations, one by one."""
    graph = random_graph(8, 300, 900)
    with emulated(), asking():
        program = Tracked(graph)
        program.level[[3, 7]] = 1
        run = gpop.run(program, [3, 7], target="gpu", ratio=1.0, partition_size=64)
    assert run.iterations > 3 and len(run.touched) > graph.n // 2
    assert run.touched.tolist() == np.flatnonzero(program.level).tolist()


def test_iterations_are_chosen_as_the_model_in_python_says(monkeypatch):
    """By estimates until the first time, then by counts; and the trace has the bytes of the model."""
    graph, chosen = random_graph(8, 2000, 9000), []
    with emulated(), never_alone():
        for ratio in (0.3, 1.0):
            chosen += as_the_model_says(graph, ratio, monkeypatch)
    assert True in chosen and False in chosen


def as_the_model_says(graph: gpop.Graph, ratio: float, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Which iterations of a run ask; its bytes and choices are those of the model."""
    found = {}

    class Watching(engine.GpuEngine):
        def load(self, *given):
            super().load(*given)
            found["sizes"] = traits.device_sizes(self.ready.emitted, self.traits, self.traits.live)

    case, chosen = PROGRAMS["Reached"], []
    in_degree = graph.reverse().out_degree.astype(int)
    monkeypatch.setattr(again, "RestingEngine", Watching)
    program = started(case, graph)
    trace = gpop.run(program, case.frontier, target="gpu", ratio=ratio, partition_size=64).trace
    needy, needy_edges = graph.n, graph.m
    for row in trace:
        needy, needy_edges = max(0, needy - row["frontier"]), max(0, needy_edges - row["active_edges"])
        part = Part(row["frontier"], row["active_edges"], graph.n, graph.m, 0, 0, needy, needy_edges)
        asked, pushed = bottom_up_bytes(part, found["sizes"]), push_bytes(part, found["sizes"])
        prefers = may_pull(row["active_edges"], needy_edges) and prefers_asking(
            pushed, wanting_bytes(part, found["sizes"]), asked, 0.0, ratio
        )
        if row["partitions_pull"]:
            assert row["bytes"] == int(asked) and prefers
            hungry = (program.level == 0) | (program.level > row["iteration"] + 2)
            hungry &= in_degree > 0
            following = program.level == row["iteration"] + 2
            needy = int(hungry.sum() + following.sum())
            needy_edges = int(in_degree[hungry].sum() + graph.out_degree[following].sum())
            assert row["messages"] == following.sum()
        elif not row["partitions_pc"]:
            assert row["bytes"] == int(pushed) and not prefers
        chosen.append(row["partitions_pull"] > 0)
    return chosen


def test_asking_is_better_where_a_push_misses_the_cache(monkeypatch):
    """Nobody asks while hardly an edge is active, whatever that costs."""
    asked = []
    with emulated(), never_alone():
        for _ in range(2):
            run = check(PROGRAMS["Reached"], random_graph(8, 2000, 9000), ratio=0.3, partition_size=64)
            asked.append(int((run.trace.column("partitions_pull") > 0).sum()))
            monkeypatch.setattr(strategies, "missed_bytes", missed_bytes)
    assert asked[0] < asked[1] < run.iterations


def test_a_small_graph_does_not_ask(monkeypatch):
    """All of it is pushed before vertices that ask have set out; if that took no time, they would."""
    monkeypatch.setattr(strategies, "model_source", model_source.__wrapped__)
    asked = []
    for bytes_of_sc in (0, SETTING_OUT):
        monkeypatch.setattr(choosers, "SETTING_OUT", bytes_of_sc)
        with emulated(), never_alone():
            run = check(PROGRAMS["Reached"], with_hubs(), ratio=1.0, partition_size=64)
        asked.append(bool(run.trace.column("partitions_pull").any()))
    assert asked == [True, False]


def test_a_search_of_few_edges_is_compiled_without(monkeypatch):
    """Unless somebody says how large partitions are; all ask who can."""
    asked = []
    with emulated(), asking():
        for size in (None, 64):
            run = check(PROGRAMS["Reached"], random_graph(8, 2000, 9000), ratio=1.0, partition_size=size)
            asked.append(bool(run.trace.column("partitions_pull").all()))
        monkeypatch.setattr(choices, "prefers_only_pushes", lambda edges: False)
        run = check(PROGRAMS["Reached"], random_graph(8, 2000, 9000), ratio=1.0)
        asked.append(bool(run.trace.column("partitions_pull").all()))
    assert asked == [False, True, True]


def test_eq_1_of_the_paper_never_asks():
    with emulated(), asking():
        run = check(PROGRAMS["Reached"], graph_of("small"), model="paper", ratio=1.0, partition_size=32)
    assert not run.trace.column("partitions_pull").any()


def test_a_run_that_has_no_room_for_in_edges_pushes(monkeypatch):
    graph, room = random_graph(2, 90, 400), {}

    class Watching(engine.GpuEngine):
        def _needs(self, layout, emitted, traits):
            found = super()._needs(layout, emitted, traits)
            room[traits.pulling is not None] = found[-1]
            return found

    monkeypatch.setattr(again, "RestingEngine", Watching)
    with emulated(), asking():
        monkeypatch.setattr(preparing, "free_bytes", lambda: room.get(True, 1) - 1)
        run = check(PROGRAMS["Reached"], graph, ratio=1.0, partition_size=32)
    assert not run.trace.column("partitions_pull").any()
    assert room[True] - room[False] >= 4 * graph.m + 8 * graph.n


def test_in_edges_are_edges_where_a_graph_equals_its_reverse():
    one_way = random_graph(4, 60, 300)
    tails = np.repeat(np.arange(one_way.n), one_way.out_degree)
    both = gpop.Graph.from_edges(np.r_[tails, one_way.indices], np.r_[one_way.indices, tails], n=one_way.n)
    names = ("indptr", "indices", "in_indptr", "in_indices")
    with emulated():
        for graph, more in ((one_way, 2), (both, 1)):
            layout = DeviceGraph(graph, build_bins(graph, bits=5, threads=1), False)
            needed, edges = layout.missing_bytes(names), layout.missing_bytes(("indptr", "indices"))
            layout.load(names)
            assert needed == layout.nbytes == more * edges
            assert layout.missing_bytes(names) == 0
            reverse = graph.reverse()
            assert np.array_equal(layout["in_indices"][: graph.m], reverse.indices)
            assert np.array_equal(layout["in_indptr"][: graph.n + 1], reverse.indptr)
