"""What a call takes over from the last one alike: never stale, and nothing of an earlier run changes."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.cpu import engine, loop_state, sharing
from gpop.cpu.again import RestingEngine
from gpop.cpu.beginning import Beginning
from gpop.cpu.engine import CpuEngine
from gpop.generate import generate
from gpop.layout import edge_blocks
from tests.quick import quick


def graph_of(scale: int = 8) -> gpop.Graph:
    return generate("rmat", scale=scale, seed=3, symmetrize=True, weights=(1, 9))


@pytest.fixture
def prepared(monkeypatch):
    """One entry for every run that had to find out what it needs."""
    made, prepare = [], CpuEngine._prepare
    monkeypatch.setattr(CpuEngine, "_prepare", lambda run: (made.append(run.plan), prepare(run))[1])
    return made


def labels(cls, graph, **options):
    program = cls(graph)
    program.label = np.arange(graph.n)[::-1]
    return gpop.run(program, threads=2, **options), program.label


def smallest(bias: int = 0):
    class Smallest(gpop.Program):
        label = gpop.VertexField(np.uint32)
        inactive_message, combine = gpop.HARMLESS, "min"

        def scatterFunc(self, node):
            return self.label[node] + bias

        def gatherFunc(self, value, node):
            if value < self.label[node]:
                self.label[node] = value
                return True
            return False

    return Smallest


def test_the_second_call_prepares_nothing_and_leaves_the_first_result_alone(prepared):
    graph = graph_of()
    one = gpop.bfs(graph, 1, method="messages", threads=2)
    level, parent, count = one.level.copy(), one.parent.copy(), len(prepared)
    other = gpop.bfs(graph, 2, method="messages", threads=2)
    assert len(prepared) == count == 1
    assert np.array_equal(one.level, level) and np.array_equal(one.parent, parent)
    assert other.level[2] == 0 and np.array_equal(
        gpop.bfs(graph_of(), 2, method="messages", threads=2).level, other.level
    )


OPTIONS = {
    "threads": {"threads": 3},
    "mode": {"mode": "sc"},
    "partition_size": {"partition_size": 16},
    "model": {"model": "paper"},
    "ratio": {"ratio": 9.0},
    "counters": {"counters": True},
}


@pytest.mark.parametrize("name", quick(OPTIONS, "threads", "partition_size"))
def test_another_option_is_another_run(name, prepared):
    graph = graph_of()
    expected, counted = gpop.bfs(graph, 1, method="messages", threads=2).level, []
    for _ in range(2):
        found = gpop.bfs(graph, 1, **{"method": "messages", "threads": 2, **OPTIONS[name]})
        assert np.array_equal(found.level, expected)
        assert found.run.threads == OPTIONS[name].get("threads", 2)
        assert found.run.mode == OPTIONS[name].get("mode", "auto")
        assert found.run.partition_size == OPTIONS[name].get("partition_size", found.run.partition_size)
        counted.append(found.run.counters)
    assert counted[0] == counted[1] and (counted[0] is None) == (name != "counters")
    assert len(prepared) == 2


def test_what_is_dropped_is_made_again(prepared):
    graph = graph_of()
    expected = gpop.bfs(graph, 1, method="messages", threads=2).level
    for kind in ("workspace", "bins"):
        graph.drop(kind)
        assert kind not in [each.kind for each in graph.kept()]
        assert np.array_equal(gpop.bfs(graph, 1, method="messages", threads=2).level, expected)
    assert len(prepared) == 3


@pytest.mark.slow  # tests/apps/test_called_again.py edits a function of an app
def test_an_edited_program_is_another_program(prepared):
    cls, graph = smallest(), graph_of()
    before = labels(cls, graph)[1].copy()
    cls.scatterFunc = smallest(1).scatterFunc
    fresh = labels(smallest(1), graph_of())[1]
    assert not np.array_equal(before, fresh)
    assert np.array_equal(labels(cls, graph)[1], fresh)


def test_programs_take_turns_on_a_graph(prepared):
    graph = graph_of()
    first = [
        gpop.bfs(graph, 1, method="messages", threads=2).level,
        gpop.sssp(graph, 1, method="messages", threads=2).distance,
    ]
    for _ in range(3):
        assert np.array_equal(gpop.bfs(graph, 1, method="messages", threads=2).level, first[0])
        assert np.array_equal(gpop.sssp(graph, 1, method="messages", threads=2).distance, first[1])


def test_parameters_and_fields_are_those_of_the_program_that_is_run():
    graph = graph_of()
    results = [gpop.pagerank(graph, damping, iterations=3).rank for damping in (0.5, 0.85, 0.5)]
    assert np.array_equal(results[0], results[2]) and not np.array_equal(results[0], results[1])


def test_a_run_that_failed_leaves_nothing_for_the_next(prepared):
    graph = graph_of()
    expected = gpop.bfs(graph, 1, method="messages", threads=2).level

    def fails(record):
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        gpop.bfs(graph, 1, method="messages", threads=2, callback=fails)
    count = len(prepared)
    assert np.array_equal(gpop.bfs(graph, 1, method="messages", threads=2).level, expected)
    assert len(prepared) == count + 1


def test_workers_are_called_when_there_is_work_to_share(monkeypatch):
    """In a run of little work nobody is called; results are the same whoever takes part."""
    monkeypatch.setattr(engine, "CALLED_LATER", True)
    called, borrow = [], engine.borrow
    monkeypatch.setattr(engine, "borrow", lambda others: (called.append(others), borrow(others))[1])
    small = gpop.Graph.from_edges(np.arange(2000), np.arange(1, 2001))
    assert gpop.bfs(small, 0, threads=3, iterations=20).level.max() == 20
    assert called == []
    large = graph_of(16)
    assert large.m * sharing.EDGE_BYTES > sharing.WAKE_BYTES
    ways = {"method": "labels", "interleave": False, "partition_size": 4096}
    results = [gpop.connected_components(large, **ways, threads=threads) for threads in (1, 3)]
    assert called == [2]
    assert np.array_equal(results[0].label, results[1].label)
    assert [each["frontier"] for each in results[0].trace] == [each["frontier"] for each in results[1].trace]


def test_no_more_are_called_than_there_are_partitions(monkeypatch):
    called, borrow = [], engine.borrow
    monkeypatch.setattr(engine, "borrow", lambda others: (called.append(others), borrow(others))[1])
    graph = graph_of(14)
    for ways in (
        {"method": "labels", "interleave": False},
        {"method": "labels", "interleave": True},
        {"method": "labels", "interleave": False, "mode": "pull"},
    ):
        expected = gpop.connected_components(graph, **ways, partition_size=4096, threads=1)
        found = gpop.connected_components(graph, **ways, partition_size=4096, threads=9)
        assert np.array_equal(found.label, expected.label) and found.run.threads == 9
        assert found.run.partitions == 4
    assert called == [3, 3, 3]


def test_workers_are_called_at_once_for_one_iteration_of_many_edges():
    """Of 192,000, which take one thread .6 ms; to call others takes .1."""
    assert sharing.pays_to_call(192_000, sharing.EDGE_BYTES, 1, False)
    assert not sharing.pays_to_call(100_000, sharing.EDGE_BYTES, 1, False)


def test_workers_are_called_for_all_iterations_to_come(monkeypatch):
    """Where all are active, a run of several iterations calls them for less work in each of them."""
    monkeypatch.setattr(engine, "CALLED_LATER", True)
    called, borrow = [], engine.borrow
    monkeypatch.setattr(engine, "borrow", lambda others: (called.append(others), borrow(others))[1])
    graph = generate("uniform", scale=13, degree=10, seed=1)
    expected = graph.m * sharing.EDGE_BYTES
    assert expected < sharing.WAKE_BYTES <= expected * sharing.ROUNDS and graph.m < sharing.WAIT_EDGES
    gpop.pagerank(graph, iterations=1, mode="pc", threads=2)
    assert called == []
    entries, enter = [], engine.CpuEngine._enter
    monkeypatch.setattr(
        engine.CpuEngine, "_enter", lambda *given, **how: (entries.append(how), enter(*given, **how))[1]
    )
    gpop.pagerank(graph, iterations=sharing.ROUNDS, mode="pc", threads=2)
    assert called == [1]
    assert len(entries) == 1  # not once more for the loop to ask


def test_workers_are_not_called_for_iterations_between_which_python_is_asked(monkeypatch):
    """They leave then: one iteration is all that they would come for. The loop is entered once for each."""
    monkeypatch.setattr(engine, "CALLED_LATER", True)
    called, entries, borrow, enter = [], [], engine.borrow, engine.CpuEngine._enter
    monkeypatch.setattr(engine, "borrow", lambda others: (called.append(others), borrow(others))[1])
    monkeypatch.setattr(
        engine.CpuEngine, "_enter", lambda *given, **how: (entries.append(how), enter(*given, **how))[1]
    )
    graph = generate("uniform", scale=13, degree=10, seed=1)
    asked = []
    gpop.pagerank(graph, iterations=2 * sharing.ROUNDS, mode="pc", threads=2, callback=asked.append)
    assert len(asked) == len(entries) == 2 * sharing.ROUNDS
    assert called == []


def test_what_the_main_thread_takes_alone_is_known_to_the_next_run(monkeypatch):
    """So that threads which take longer together are noticed from the first iteration on."""
    known, begin = [], engine.CpuEngine._begin

    def begun(run, *given):
        begin(run, *given)
        known.append(int(run.progress[loop_state.LEAST_ALONE]))

    monkeypatch.setattr(engine.CpuEngine, "_begin", begun)
    graph = generate("uniform", scale=13, degree=10, seed=1)
    for _ in range(2):
        gpop.pagerank(graph, iterations=sharing.ROUNDS, mode="pc", threads=2)
    gpop.pagerank(generate("uniform", scale=13, degree=10, seed=2), iterations=2, mode="pc", threads=2)
    assert known[0] == known[2] == 0 < known[1]


@pytest.mark.parametrize("options", [{"mode": "pull"}, {"mode": "pc"}, {"mode": "pull", "dtype": np.float64}])
def test_numbers_of_threads_take_turns_on_a_graph(options, prepared):
    """Units and partitions are others for each; both stay, and so does what was made of them."""
    graph = graph_of(12)

    def ranks(threads):
        return gpop.pagerank(graph, iterations=3, threads=threads, **options).rank

    first = {threads: ranks(threads) for threads in (1, 4, 2)}
    for threads in (2, 4, 1):  # where arrays were replaced by longer ones
        ranks(threads)
    count, kept = len(prepared), len(graph.kept())
    for threads in (1, 2, 4, 4, 2, 1):
        assert np.array_equal(ranks(threads), first[threads])
    assert len(prepared) == count and len(graph.kept()) == kept


def test_in_edges_that_a_run_finds_which_begins_like_the_last(monkeypatch):
    """It has no program until then."""
    rmat, alike, pull = generate("rmat", scale=12, degree=16, seed=1), [], RestingEngine._pull_if_wanted
    tails, n = np.repeat(np.arange(rmat.n), rmat.out_degree), rmat.n
    edges = np.r_[tails, n, n + 1], np.r_[rmat.indices, n + 1, n + 2]  # and a chain
    graph, other = gpop.Graph.from_edges(*edges), gpop.Graph.from_edges(*edges)
    hub = int(np.argmax(rmat.out_degree))
    expected = {each: gpop.bfs(other, each, method="direct").level for each in (n, hub)}

    def pull_if_wanted(engine):
        late = engine.late is not None
        found = pull(engine)
        alike.append(late and found)
        return found

    monkeypatch.setattr(RestingEngine, "_pull_if_wanted", pull_if_wanted)
    for source in (n, n, n, n, hub, hub, hub, n, hub):
        found = gpop.bfs(graph, source, method="messages", threads=2)
        assert np.array_equal(found.level, expected[source])
        assert np.array_equal(found.level[found.parent[found.level > 0]] + 1, found.level[found.level > 0])
    assert alike.count(True) == 1


def test_the_source_of_a_run_that_begins_like_the_last_is_its_own(monkeypatch):
    graph, begun, begin = graph_of(), [], Beginning.begin
    expected = {source: gpop.bfs(graph_of(), source, method="direct") for source in range(8)}
    far = {source: gpop.sssp(graph_of(), source, method="lists").distance for source in range(8)}
    monkeypatch.setattr(Beginning, "begin", lambda *given: (begun.append(1), begin(*given))[1])
    results = []
    for source in (0, 1, 2, 3, 4, 5, 6, 7, 3):
        results.append((source, gpop.bfs(graph, source, method="messages", threads=2)))
        found = gpop.sssp(graph, source, method="messages", threads=2)
        assert np.array_equal(found.distance, far[source]) and found.source == source
    assert len(begun) >= 12
    for source, found in results:
        assert np.array_equal(found.level, expected[source].level), source
        assert found.parent[source] == source and found.source == source


def test_runs_rest_until_enough_was_asked_for_to_choose_blocks(monkeypatch):
    """They did not, and each call of PageRank on a grid of 4 million vertices began 3 ms later."""
    monkeypatch.setattr(edge_blocks, "SMALL_EDGES", 0)
    gain = 1.01 * edge_blocks.BLOCKS_BUILD / 20
    monkeypatch.setattr(edge_blocks.Plan, "gain", lambda plan, threads, costs: gain)
    graph, rested, again = graph_of(), [], RestingEngine.again

    def spied(*given):
        left = again(*given)
        rested.append(left is not None)
        return left

    right = gpop.pagerank(graph, iterations=3, threads=2, mode="pc").rank  # bins need not be built then
    monkeypatch.setattr(RestingEngine, "again", spied)
    found = [gpop.pagerank(graph, iterations=3, threads=2) for _ in range(8)]
    modes = ["pull" if each.trace.column("partitions_pull").any() else "pc" for each in found]
    assert modes == ["pc"] * 5 + ["pull"] * 3  # 6 are expected, and 3 count for each before: 6 + 5 * 3
    assert rested == [True] * 4 + [False] * 2 + [True] * 2  # it is asked twice in vain
    assert all(each.rank.tobytes() == right.tobytes() for each in found)
