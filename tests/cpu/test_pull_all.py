"""Pull where every vertex is active: bitwise what PC computes, in any layout, for any number of threads."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import gpop
from gpop.common.errors import NotEnoughMemory
from gpop.cpu import layouts, pull_all
from gpop.generate import generate
from gpop.layout import edge_block_plan
from gpop.layout import edge_blocks as blocks
from tests.programs import Formula, Rank
from tests.quick import quick

GRAPH = generate("rmat", scale=10, seed=4, weights=(1, 9))


class Decayed(gpop.Program):
    """The order of messages matters: each one halves what came before it."""

    value = gpop.VertexField(np.float64, 1)
    begun = gpop.VertexField(np.int32)
    all_active = True

    def scatterFunc(self, node):
        return self.value[node]

    def applyWeight(self, value, weight):
        return value * weight

    def initFunc(self, node):
        self.value[node] = self.value[node] * 0.25
        self.begun[node] += 1
        return True

    def gatherFunc(self, value, node):
        self.value[node] = 0.5 * self.value[node] + value
        return True

    def filterFunc(self, node):
        self.value[node] = self.value[node] % 16.0
        return True


class Timed(gpop.Program):
    """What is sent depends on the iteration, and on a parameter."""

    value = gpop.VertexField(np.float64, 1)
    factor = gpop.Parameter(np.float64, 0.75)
    all_active = True

    def scatterFunc(self, node):
        return self.value[node] * self.factor + self.iteration

    def initFunc(self, node):
        self.value[node] = 0
        return True

    def gatherFunc(self, value, node):
        self.value[node] = (self.value[node] + value) % 16.0
        return True


def fields_after(cls, mode, graph=GRAPH, iterations=4, **options):
    program = cls(graph)
    for name in ("rank", "value"):
        if name in program._fields:
            setattr(program, name, np.linspace(0.1, 1, graph.n))
    run = gpop.run(program, iterations=iterations, mode=mode, **options)
    return {name: np.array(values) for name, values in program._fields.items()}, run


@pytest.mark.slow
def test_edges_are_asked_for_up_to_the_last_one_and_beyond(monkeypatch):
    expected, _ = fields_after(Decayed, "pc", threads=1)
    monkeypatch.setattr(pull_all, "FAR_EDGES", 0)
    found, _ = fields_after(Decayed, "pull")
    assert np.array_equal(found["value"], expected["value"])


@pytest.mark.parametrize("all_of_them", quick([True, False], False))
def test_where_values_are_far_threads_take_units_in_the_order_of_the_layout(all_of_them, monkeypatch):
    """Were it another order, those that it leaves out would have their turn."""
    monkeypatch.setattr(edge_block_plan, "FAR_BYTES", 0)
    plan, firsts = blocks.plan_blocks, []

    def ordered(*given, **options):
        found = plan(*given, **options)
        units = np.arange(len(found.units) - 1)[::-1].copy()
        firsts.append(found.units[1] << found.cell_bits)
        return found._replace(by_work=units if all_of_them else 0 * units)

    monkeypatch.setattr(blocks, "plan_blocks", ordered)
    graph = generate("rmat", scale=10, seed=4, weights=(1, 9))
    expected, _ = fields_after(Decayed, "pc", graph, threads=1)
    found, run = fields_after(Decayed, "pull", graph, threads=2)
    assert run.partitions > 4
    if all_of_them:
        assert np.array_equal(found["value"], expected["value"])
    else:
        # Of 4 iterations one thread may take some by itself, to compare: they go by ids.
        assert (found["begun"][: firsts[0]] > 4).all() and (found["begun"][firsts[0] :] < 4).all()


@pytest.mark.parametrize("cls", quick([Decayed, Rank, Formula], Decayed))
@pytest.mark.parametrize("options", [{}, {"partition_size": 4}, {"partition_size": 128, "threads": 3}])
def test_bitwise_what_pc_computes(cls, options):
    expected, _ = fields_after(cls, "pc", threads=1)
    found, run = fields_after(cls, "pull", **options)
    for name, values in expected.items():
        assert np.array_equal(found[name], values), name
    assert run.mode == "pull" and run.iterations == 4
    assert run.trace.column("partitions_pull").tolist() == [run.partitions] * 4
    assert run.trace.column("messages").tolist() == [GRAPH.m] * 4
    assert (run.trace.column("bytes") > 2 * GRAPH.m).all()


def test_a_program_that_settles_stops():
    runs = {}
    for mode in ("pc", "pull"):
        program = Rank(GRAPH)
        program.rank, program.eps = 1, 1e-3
        runs[mode] = gpop.run(program, mode=mode, iterations=200, partition_size=64)
        assert runs[mode].converged
    assert runs["pull"].iterations == runs["pc"].iterations < 200


@pytest.mark.parametrize("n", [0, 1, 5])
def test_tiny_and_empty_graphs(n):
    graph = gpop.Graph.from_edges([], [], n=n)
    found, run = fields_after(Rank, "pull", graph, iterations=2)
    expected, _ = fields_after(Rank, "pc", graph, iterations=2)
    assert np.array_equal(found["rank"], expected["rank"]) and run.mode == "pull"


def test_counters_count_every_edge_once_an_iteration():
    _, run = fields_after(Decayed, "pull", counters=True, threads=2)
    assert run.counters["edges_pulled"] == run.counters["messages_pulled"] == 4 * GRAPH.m


def test_auto_follows_the_plan_and_falls_back_without_memory(monkeypatch):
    assert fields_after(Decayed, "auto")[1].mode == "pc"  # too few edges to think about it
    monkeypatch.setattr(blocks, "SMALL_EDGES", 0)
    for gain, mode in ((100.0, "pull"), (-1.0, "pc")):
        monkeypatch.setattr(blocks.Plan, "gain", lambda plan, threads, costs, gain=gain: gain)
        GRAPH.drop("workspace")  # what was decided is kept with it
        assert fields_after(Decayed, "auto")[1].mode == mode

    def refuse(*_, **__):
        raise NotEnoughMemory("too large")

    monkeypatch.setattr(layouts, "blocks_of", refuse)
    assert fields_after(Decayed, "auto")[1].mode == "pc"
    with pytest.raises(NotEnoughMemory, match="too large"):
        fields_after(Decayed, "pull")


def test_auto_turns_to_pull_once_that_would_have_paid(monkeypatch):
    monkeypatch.setattr(blocks, "SMALL_EDGES", 0)
    gain = blocks.BLOCKS_BUILD / 17.5  # bins are built in the first run; two runs of 3 are expected
    monkeypatch.setattr(blocks.Plan, "gain", lambda plan, threads, costs: gain)
    graph = generate("rmat", scale=9, seed=6, weights=(1, 9))
    modes = [fields_after(Decayed, "auto", graph, iterations=3)[1].mode for _ in range(6)]
    assert modes == ["pc"] * 4 + ["pull"] * 2


def test_an_interrupted_run_leaves_nothing_behind():
    graph = generate("rmat", scale=9, seed=8, weights=(1, 9))
    expected, _ = fields_after(Decayed, "pull", graph)

    def interrupt(record):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fields_after(Decayed, "pull", graph, callback=interrupt)
    found, _ = fields_after(Decayed, "pull", graph)
    assert np.array_equal(found["value"], expected["value"])


@pytest.mark.slow
def test_one_layout_for_all_programs_that_change_one_number():
    """What a message does not touch does not make units narrower, nor another layout."""
    graph = generate("uniform", scale=18, degree=4, seed=3)
    fixed = gpop.pagerank(graph, iterations=2, mode="pull", threads=2)
    settling = gpop.pagerank(graph, tolerance=1e-3, mode="pull", threads=2)
    assert fixed.run.prepare_seconds > 0 == settling.run.prepare_seconds
    assert fixed.run.partitions == settling.run.partitions


@pytest.mark.parametrize("threads", quick([1, 3], 3))
def test_values_are_of_the_iteration_in_which_they_are_sent(threads):
    """Also of programs that ask for its number, or have a parameter for each, or are changed between."""

    def changes(program):
        def after(record):
            program.value[::7] += 1.0
            program.factor = 0.5 + program.factor / 2

        return after

    found = []
    for mode in ("pc", "pull"):
        for series, callback in ((0.75, None), ([0.5, 0.25, 0.125, 1.0, 0.5], None), (0.75, changes)):
            program = Timed(GRAPH)
            program.factor = series
            options = {} if callback is None else {"callback": callback(program)}
            gpop.run(program, iterations=7, mode=mode, threads=threads, **options)
            found.append(np.array(program.value))
    for sent, pulled in zip(found[:3], found[3:], strict=True):
        assert np.array_equal(sent, pulled)
    assert not np.array_equal(found[0], found[1]) and not np.array_equal(found[0], found[2])


def test_the_next_block_is_asked_for_while_one_is_walked(monkeypatch):
    """All of a block's values before its first edge, those of the next one by its last, of windows once."""
    told = []

    def ask_for(first, end, values):
        told.append((int(first), int(end)))
        return max(first, end)

    monkeypatch.setattr(pull_all, "ask_for", ask_for)
    width, pieces = 1 << 15, 1 << 14
    n = 20 * width - 7
    sources = [0, 0, width, *range(2 * width, n, width)]  # of two windows; the last ends with the graph
    blocks = np.array([[source, 0, 0, pieces, pieces, pieces] for source in sources])
    layout, values = SimpleNamespace(n=n, blocks=blocks), np.zeros(1, np.float32)
    asked, ends = np.uint64(0), []
    for b in range(len(blocks)):
        end, step, asked = pull_all.look_ahead(b, len(blocks), asked, layout, values)
        stretches = 3 * pieces // pull_all.STRETCH
        assert end <= asked or asked + step * np.uint64(stretches) >= end
        ends.append(int(end))
        asked = max(asked, end)
    assert ends == [2 * width, 2 * width, *range(3 * width, n, width), n, n]
    assert told[0] == (0, width)
    assert all(first >= end for first, end in told[1:])  # nothing is left to be asked for at once
    blocks[:, 3:] = 1  # few edges
    assert pull_all.look_ahead(0, len(blocks), np.uint64(5), layout, values) == (0, 0, 5)


def test_values_that_are_fetched_before_they_are_read():
    """With so many values that they are asked for block by block, ranks are those of messages."""
    graph = generate("uniform", scale=19, degree=2, seed=3)
    assert 4 * graph.n >= pull_all.FAR_BYTES
    pulled, sent = (gpop.pagerank(graph, iterations=2, mode=mode, threads=2).rank for mode in ("pull", "pc"))
    assert (pulled == sent).all()
