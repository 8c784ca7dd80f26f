"""A call like an earlier one is as right as the first, and asks little of Python."""

from __future__ import annotations

import gc
import logging
import pickle
import sys
import threading
import weakref
from functools import partial

import numpy as np
import pytest

import gpop
from gpop.apps import pagerank
from gpop.apps.pagerank_programs import ConvergingPageRank
from gpop.cpu.again import RestingEngine
from gpop.generate import generate

CALLS = {
    "bfs": lambda graph: gpop.bfs(graph, 3, threads=2).level,
    "bfs by messages": lambda graph: gpop.bfs(graph, 5, method="messages").parent,
    "bfs from another": lambda graph: gpop.bfs(graph, 9, method="messages").level,
    "some levels": lambda graph: gpop.bfs(graph, 5, iterations=1).level,
    "sssp": lambda graph: gpop.sssp(graph, 3, method="messages", interleave=False).distance,
    "pagerank": lambda graph: gpop.pagerank(graph).rank,
    "three iterations": lambda graph: gpop.pagerank(graph, iterations=3).rank,
    "two iterations": lambda graph: gpop.pagerank(graph, iterations=2).rank,
    "less damping": lambda graph: gpop.pagerank(graph, 0.5, iterations=3).rank,
    "double": lambda graph: gpop.pagerank(graph, dtype=np.float64, threads=1).rank,
    "weighted": lambda graph: gpop.pagerank(graph, weighted=True, mode="pc").rank,
    "dangling": lambda graph: gpop.pagerank(graph, dangling="uniform").rank,
    "components": lambda graph: gpop.connected_components(graph).label,
    "components alone": lambda graph: gpop.connected_components(graph, threads=1).label,
    "betweenness": lambda graph: gpop.betweenness(graph, [3, 5, 9], threads=2).score,
    "labels": lambda graph: gpop.connected_components(graph, "labels", interleave=False).label,
    "nibble": lambda graph: gpop.nibble(graph, 3).probability,
    "nibble from two": lambda graph: gpop.nibble(graph, [9, 5], 1e-3, threads=1).probability,
    "heat": lambda graph: gpop.heat_kernel(graph, 3, threads=1).probability,
    "less heat, further": lambda graph: gpop.heat_kernel(graph, 3, 2.0, 1e-4, threads=1).probability,
    "pushed": lambda graph: gpop.pagerank_nibble(graph, 5).probability,
    "back to one": lambda graph: gpop.personalized_pagerank(graph, 5).rank,
    "back to another": lambda graph: gpop.personalized_pagerank(graph, 9).rank,
    "back to either": lambda graph: gpop.personalized_pagerank(graph, [5, 9]).rank,
    "back to two": lambda graph: gpop.personalized_pagerank(graph, {9: 1, 5: 3}, iterations=4).rank,
    "katz": lambda graph: gpop.katz(graph, 0.01).score,
    "katz of its own": lambda graph: gpop.katz(graph, 0.01, np.arange(graph.n), normalized=False).score,
    "single katz": lambda graph: gpop.katz(graph, 0.01, 2, dtype=np.float32, iterations=3).score,
    "sampled": lambda graph: gpop.closeness(graph, 7).score,
}

MOST = {
    "pagerank": (lambda graph: gpop.pagerank(graph, threads=2), 40),
    "three iterations": (lambda graph: gpop.pagerank(graph, iterations=3, threads=2), 40),
    "components": (lambda graph: gpop.connected_components(graph, threads=2), 18),
    "bfs by messages": (lambda graph: gpop.bfs(graph, 5, method="messages", threads=2), 60),
    "bfs": (lambda graph: gpop.bfs(graph, 5, threads=2), 20),
    "sssp": (lambda graph: gpop.sssp(graph, 5, threads=2), 45),
    "betweenness": (lambda graph: gpop.betweenness(graph, [3, 5], threads=2), 40),
    "triangles": (lambda graph: gpop.triangle_count(graph, threads=2), 22),
    "heat_kernel": (lambda graph: gpop.heat_kernel(graph, [3], threads=2), 60),
    "nibble": (lambda graph: gpop.nibble(graph, 3, threads=2), 60),
    "personalized_pagerank": (lambda graph: gpop.personalized_pagerank(graph, 3, threads=2), 60),
    "katz": (lambda graph: gpop.katz(graph, 0.01, threads=2), 40),
}
"""Functions of Python that a call like an earlier one may ask."""


def graph_of(scale: int = 8) -> gpop.Graph:
    return generate("rmat", scale=scale, seed=3, symmetrize=True, weights=(1, 9))


def functions_of(call) -> int:
    """How many functions of Python are called."""
    seen = []
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: seen.append(event) if event == "call" else None)
    try:
        call()
    finally:
        sys.setprofile(before)
    return len(seen)


def test_results_of_earlier_calls_never_change():
    """In turns on one graph, all are those of calls on graphs of their own, then and afterwards."""
    graph, expected = graph_of(), {name: call(graph_of()).copy() for name, call in CALLS.items()}
    results = [(name, CALLS[name](graph)) for _ in range(3) for name in CALLS]
    results += [(name, CALLS[name](graph)) for name in reversed(CALLS) for _ in range(2)]
    for name, found in results:
        assert np.array_equal(found, expected[name]), name
    assert len({found.ctypes.data for _, found in results}) == len(results)


def test_two_threads_at_once():
    graph, failures = graph_of(), []
    expected = {name: call(graph_of()).copy() for name, call in CALLS.items()}

    def work(names):
        for name in names:
            if not np.array_equal(CALLS[name](graph), expected[name]):
                failures.append(name)

    orders = [[*CALLS] * 4, [*reversed(CALLS)] * 4, ["pagerank", "components"] * 15]
    threads = [threading.Thread(target=work, args=(names,)) for names in orders]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failures == []


def test_a_graph_is_freed_when_it_is_dropped():
    """At once: nothing that is kept with it leads back to it."""
    graphs = {name: graph_of() for name in CALLS}
    found = {name: [CALLS[name](graphs[name]) for _ in range(3)] for name in CALLS}
    gone, enabled = {name: weakref.ref(graph) for name, graph in graphs.items()}, gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        graphs.clear()
        assert [name for name, graph in gone.items() if graph() is not None] == []
    finally:
        if enabled:
            gc.enable()
    assert all(np.array_equal(first, last) for first, _, last in found.values())


@pytest.mark.parametrize("name", MOST)
def test_little_is_asked_of_python(name):
    graph, (call, most) = graph_of(), MOST[name]
    for _ in range(3):
        call(graph)
    assert functions_of(partial(call, graph)) <= most


def test_nor_is_more_after_calls_with_other_parameters():
    graph = graph_of()
    for t in (5.0, 2.0):
        call = partial(gpop.heat_kernel, graph, 3, t, threads=2)
        for _ in range(3):
            call()
        assert functions_of(call) <= MOST["heat_kernel"][1]


@pytest.mark.parametrize("call", [gpop.bfs, gpop.sssp, lambda graph, source: gpop.triangle_count(graph)])
def test_what_was_done_is_told_to_who_asks(call):
    """One run, whoever asks, and a copy has it."""
    result = call(graph_of(), 3)
    assert "run" not in vars(result)
    told = pickle.loads(pickle.dumps(result)).run
    assert result.run is result.run
    assert told.seconds == result.run.seconds > 0
    assert result.trace.column("active_edges").sum() > 0


def test_an_edited_function_is_noticed(monkeypatch):
    graph = graph_of()
    before = [gpop.pagerank(graph).rank for _ in range(3)][-1]

    def filterFunc(self, node):
        rank = self.base + self.damping * self.share[node]
        self.change[node] = abs(rank - self.rank[node])
        self.rank[node] = 2 * rank
        self.share[node] = rank * self.per_edge[node]
        return True

    with monkeypatch.context() as patch:
        patch.setattr(ConvergingPageRank, "filterFunc", filterFunc)
        assert np.abs(gpop.pagerank(graph, max_iterations=100).rank - 2 * before).max() < 1e-4
    assert np.array_equal(gpop.pagerank(graph).rank, before)


def test_another_number_of_threads_is_noticed(monkeypatch):
    graph = graph_of()
    for threads in (1, 3, 1, 2):
        monkeypatch.setenv("NUMBA_NUM_THREADS", str(threads))
        assert gpop.pagerank(graph).run.threads == threads
        assert gpop.connected_components(graph).run.threads == threads


def test_what_is_refused_is_refused_after_what_equals_it():
    graph = graph_of()
    for _ in range(2):
        gpop.pagerank(graph, 1)
        gpop.pagerank(graph, 1.0, weighted=True)
        gpop.pagerank(graph, True, weighted=1)
        for wrong in ({"tolerance": "no"}, {"max_iterations": 1.0}, {"max_iterations": -1}, {"dtype": None}):
            with pytest.raises(gpop.UsageError):
                gpop.pagerank(graph, **wrong)
        gpop.connected_components(graph, partition_size=64)
        with pytest.raises(gpop.UsageError):
            gpop.connected_components(graph, partition_size=64.0)


@pytest.fixture
def made(monkeypatch):
    """Arguments of the ways to ranks that are made."""
    made, ranking = [], pagerank._Ranking
    monkeypatch.setattr(pagerank, "_Ranking", lambda *given: (made.append(given[1:]), ranking(*given))[1])
    return made


def test_equal_arguments_of_other_types_are_others(made):
    graph = graph_of()
    gpop.pagerank(graph, iterations=2)  # layouts are there: notes go when something comes
    del made[:]
    for damping in (1, 1.0, True, 1, 1.0):
        gpop.pagerank(graph, damping, iterations=2)
    assert [type(each) for each, *_ in made] == [int, float, bool]
    del made[:]
    for damping in (np.float64(0.5), np.float64(0.5), 0.5):  # what is no plain number is looked at each time
        gpop.pagerank(graph, damping, iterations=2)
    assert len(made) == 3
    del made[:]
    options = {"iterations": 3}, {"iterations": 2, "dtype": np.float32}, {"iterations": 2, "weighted": False}
    for each in options * 2:
        gpop.pagerank(graph, **each)
    assert len(made) == len(options)


def test_nothing_is_noted_where_a_call_has_more_to_do(made, monkeypatch):
    graph, log = graph_of(), logging.getLogger("gpop")
    for options in ({"callback": lambda record: None}, {"progress": True}, {"transport": "alone"}):
        for count in (1, 2):
            gpop.pagerank(graph, iterations=2, **options)
            assert len(made) == count
        del made[:]
    monkeypatch.setattr(log, "level", logging.INFO)
    log.manager._clear_cache()
    for _ in range(2):
        gpop.pagerank(graph, iterations=2)
    monkeypatch.undo()
    log.manager._clear_cache()
    assert len(made) == 2


def test_a_source_by_its_name_is_the_same_and_none_is_refused_again_and_again():
    graph = graph_of()
    for _ in range(2):
        assert np.array_equal(gpop.bfs(graph, 3).level, gpop.bfs(graph=graph, source=3).level)
        with pytest.raises(TypeError, match="source"):
            gpop.bfs(graph)
        with pytest.raises(TypeError, match="source"):
            gpop.bfs(graph, 3, source=4)
        with pytest.raises(TypeError):
            gpop.bfs(graph, 3, "direct")
        with pytest.raises(gpop.UsageError, match="source 9999 is not in the graph"):
            gpop.bfs(graph, 9999)
        with pytest.raises(TypeError, match="bfs takes no option 'thread'"):
            gpop.bfs(graph, 3, thread=2)
        with pytest.raises(gpop.UsageError, match="mode means nothing"):
            gpop.bfs(graph, 3, method="direct", mode="pc")
        with pytest.raises(gpop.UsageError, match="expected a gpop.Graph"):
            gpop.bfs(None, 3)


def test_a_run_that_is_broken_off_leaves_nothing_for_the_next(monkeypatch):
    graph = graph_of()
    expected = [gpop.pagerank(graph, iterations=3).rank for _ in range(3)][-1]

    def broken(engine):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RestingEngine, "iterate", broken)
        with pytest.raises(KeyboardInterrupt):
            gpop.pagerank(graph, iterations=3)
    assert "workspace" not in [each.kind for each in graph.kept()]  # it may be in the middle of an iteration
    assert np.array_equal(gpop.pagerank(graph, iterations=3).rank, expected)


def test_a_run_is_told_as_the_first_was():
    graph = graph_of()
    graph.name = "first"
    first, again = (gpop.pagerank(graph, iterations=4, threads=2) for _ in range(2))
    graph.name = "second"
    third = gpop.pagerank(graph, iterations=4, threads=2)
    for found in (again, third):
        for name in ("iterations", "converged", "mode", "interleave", "threads", "target", "partition_size"):
            assert getattr(found.run, name) == getattr(first.run, name)
        assert found.run.seconds > 0 and found.run.prepare_seconds == 0 and len(found.trace) == 4
        assert found.run.frontier.tolist() == first.run.frontier.tolist()
        assert {**found.trace.summary, "graph": ""} == {**first.trace.summary, "graph": ""}
    assert [each.trace.summary["graph"] for each in (first, again, third)] == ["first", "first", "second"]


def test_a_search_that_comes_to_pull_later(monkeypatch):
    """In-edges that no earlier run wanted are found in the middle of one that is done again."""
    graph = generate("rmat", scale=12, degree=16, seed=3, symmetrize=True)
    expected = gpop.bfs(generate("rmat", scale=12, degree=16, seed=3, symmetrize=True), 1, mode="pull").level
    hub = int(np.argmax(graph.out_degree))
    for _ in range(2):
        assert gpop.bfs(graph, hub, method="messages", iterations=0).level.max() == 0
    far = np.where(expected < 0, -1, expected)
    for _ in range(2):
        assert np.array_equal(gpop.bfs(graph, 1, method="messages").level, far)
