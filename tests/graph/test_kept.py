"""What is kept with a graph: listed with true bytes, dropped, and the same answers without it."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import threading
import weakref

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.graph import kept as module
from gpop.graph.exclusive import exclusive
from gpop.graph.kept import Kind
from gpop.graph.transform import random_weights
from gpop.layout.kept_bins import bins_of

APPS = {
    "bfs": lambda graph: gpop.bfs(graph, 0, method="messages").level,
    "direct": lambda graph: gpop.bfs(graph, 0).level,
    "reordered": lambda graph: gpop.bfs(graph, 0, reorder="degree").level,
    "sssp": lambda graph: gpop.sssp(graph, 0).distance,
    "lists": lambda graph: gpop.sssp(graph, 0, method="lists").distance,
    "components": lambda graph: gpop.connected_components(graph, method="labels").label,
    "pagerank": lambda graph: gpop.pagerank(graph, iterations=3, mode="pull").rank,
    "weighted": lambda graph: gpop.pagerank(graph, iterations=3, weighted=True).rank,
    "spread": lambda graph: gpop.pagerank(graph, iterations=3, weighted=True, dangling="uniform").rank,
    "searched": lambda graph: gpop.bfs(graph, 0, mode="pull").level,
    "triangles": lambda graph: gpop.triangle_count(graph).count,
    "clustering": lambda graph: gpop.clustering(graph).links,
    "forest": lambda graph: gpop.spanning_forest(graph).parent,
    "colors": lambda graph: gpop.coloring(graph).color,
    "communities": lambda graph: gpop.label_propagation(graph).label,
    "nibble": lambda graph: gpop.nibble(graph, [0]).probability,
    "heat": lambda graph: gpop.heat_kernel(graph, [0]).probability,
    "walk": lambda graph: gpop.pagerank_nibble(graph, [0]).probability,
    "vertex": lambda graph: graph.vertex_of(9),
    "between": lambda graph: gpop.betweenness(graph, [0, 3]).score,
    "turned": lambda graph: graph.reverse().indices,
}


def named(scale=9):
    """A directed graph with weights and original ids."""
    graph = random_weights(generate("rmat", scale=scale, degree=6, seed=2), 1, 200, seed=1)
    return gpop.Graph(
        graph.indptr, graph.indices, graph.weights.astype(np.int64), original_ids=np.arange(graph.n) + 7
    )


def rows(graph):
    return {(each.kind, each.about): each for each in graph.kept()}


@pytest.fixture(scope="module")
def used():
    graph = named()
    return graph, {name: ask(graph) for name, ask in APPS.items()}


ELSEWHERE = {Kind.DEVICE, Kind.PINNED, Kind.HYB, Kind.PART, Kind.BOTH_WAYS, Kind.TIMES}
"""What is kept where there is a GPU, and where there are other ranks; by the matrix view; and where choices
may depend on the machine."""


def test_all_that_the_apps_keep_is_listed(used):
    graph, _ = used
    assert {each.kind for each in graph.kept()} == set(Kind) - ELSEWHERE
    nested = [
        about for _, about in rows(graph) if about.startswith(("symmetric copy: ", "reordered degree: "))
    ]
    assert len(nested) >= 4
    assert {each.about for each in graph.kept() if each.kind == "program"} == {
        "Betweenness", "Nibble", "HeatKernel", "PageRankNibble", "Shortest paths",
        "symmetric copy: Triangles",
    }  # fmt: skip


def test_bytes_are_those_of_the_arrays(used):
    graph, _ = used
    listed = rows(graph)
    bits = next(int(key) for kind, key in graph.store._entries if kind == Kind.BINS)
    bins = bins_of(graph, bits, 1)[0]
    assert listed["bins", f"partitions of {1 << bits}"].host_bytes == bins.nbytes
    workspace = graph.store.get(Kind.WORKSPACE, bits)
    assert listed["workspace", f"partitions of {1 << bits}"].host_bytes == sum(
        array.nbytes for array in workspace.values()
    )
    assert listed["out-degrees", ""].host_bytes == 4 * graph.n
    assert listed["narrow weights", "8 bits"].host_bytes == graph.m
    assert listed["program", "Nibble"].host_bytes == sum(
        array.nbytes for array in graph.store.get(Kind.PROGRAM, gpop.apps.nibble.Nibble)[0].fields.values()
    )
    both = graph.store.get(Kind.SYMMETRIC)
    assert listed["symmetric copy", ""].host_bytes == both.nbytes
    assert listed["reverse", ""].host_bytes == graph.reverse().nbytes
    other = graph.store.get(Kind.REORDERED, "degree")
    own = (other.old, other.new, other.graph.original_ids)
    assert listed["reordered", "degree"].host_bytes == other.graph.nbytes + sum(each.nbytes for each in own)
    blocks = next(entry.value for (kind, _), entry in graph.store._entries.items() if kind == Kind.BLOCKS)
    own = (blocks.bounds, blocks.first_block, blocks.blocks, blocks.refs, blocks.targets, blocks.weights)
    assert next(each.host_bytes for each in graph.kept() if each.kind == "blocks") == sum(
        each.nbytes for each in own
    )
    assert listed["original ids", ""].host_bytes > 28 * graph.n
    assert all(each.device_bytes == 0 for each in graph.kept())


def test_nothing_large_stays_out_of_the_list(used):
    """Every array of some size that is reached from the store is in one entry, and in one only."""
    graph, _ = used
    total = sum(each.host_bytes for each in graph.kept() if each.kind != "original ids")
    found, todo, seen = {}, [graph.store], set()
    while todo:
        each = todo.pop()
        if id(each) in seen or isinstance(each, type | type(gpop)) or callable(each):
            continue
        seen.add(id(each))
        if isinstance(each, np.ndarray):
            while isinstance(each.base, np.ndarray):
                each = each.base
            found[each.ctypes.data] = each.nbytes
        else:
            todo += gc.get_referents(each)
    for own in (graph.indptr, graph.indices, graph.weights, graph.original_ids):
        while isinstance(own.base, np.ndarray):
            own = own.base
        found.pop(own.ctypes.data, None)
    assert total == pytest.approx(sum(found.values()), rel=0.02)


def test_shown_as_a_table(used):
    graph, _ = used
    lines = repr(graph.kept()).splitlines()
    assert lines[0].split() == ["kind", "what", "host", "device"]
    assert lines[-1].split()[0] == "total" and lines[-1].endswith("0 B")
    assert len({len(line) for line in lines}) == 1 and len(lines) == len(graph.kept()) + 2


@pytest.mark.parametrize("kind", [None, *Kind])
def test_the_same_answers_after_a_drop(used, kind):
    graph, expected = used
    for ask in APPS.values():
        ask(graph)
    graph.drop(kind)
    assert not [each for each in graph.kept() if kind in (None, each.kind)]
    assert kind is None or len(graph.kept()) > 3
    for name, ask in APPS.items():
        assert np.array_equal(ask(graph), expected[name]), name
    assert kind in {None, *ELSEWHERE, *(each.kind for each in graph.kept())}


def test_dropped_is_freed_at_once():
    graph = named()
    for ask in [*APPS.values()] * 2:
        ask(graph)
    held = [weakref.ref(bins_of(graph, 5, 1)[0].ids), weakref.ref(graph.store.get(Kind.SYMMETRIC).indices)]
    held += [weakref.ref(array) for array in graph.store.get(Kind.WORKSPACE, "blocks").values()]
    for program in (gpop.apps.nibble.Nibble, gpop.apps.heat_kernel.HeatKernel):
        [room] = graph.store.get(Kind.PROGRAM, program)
        held += [weakref.ref(array) for array in room.fields.values()]
    del room
    gc.collect()
    gc.disable()
    try:
        graph.drop()
        assert [reference() is None for reference in held] == [True] * len(held)
    finally:
        gc.enable()


def test_refused_kinds_and_callbacks():
    graph = named(6)
    with pytest.raises(gpop.UsageError, match=r"^kind 'bin': expected one of out-degrees, .*, bins, "):
        graph.drop("bin")
    with pytest.raises(gpop.UsageError, match="in the middle of a run"):
        gpop.bfs(graph, 0, callback=lambda record: graph.drop())
    with pytest.raises(gpop.UsageError, match="in the middle of a run"):
        gpop.connected_components(graph, method="labels", callback=lambda record: graph.drop())
    assert gpop.bfs(graph, 0).level[0] == 0


def test_a_drop_waits_for_the_run_of_another_thread():
    graph, begun, order = named(6), threading.Event(), []

    def drop():
        begun.wait()
        graph.drop()
        order.append("dropped")

    def stay(record):
        if not order:
            begun.set()
            thread.join(0.2)
            assert graph.store.has(Kind.WORKSPACE)
            order.append("ran")

    thread = threading.Thread(target=drop)
    thread.start()
    gpop.bfs(graph, 0, callback=stay)
    thread.join()
    assert order == ["ran", "dropped"]
    assert graph.kept() == []


def test_answers_within_any_limit(monkeypatch, used):
    graph, expected = named(), used[1]
    for limit, name in itertools.product((0, 10_000, 100_000), APPS):
        monkeypatch.setattr(module, "LIMIT", limit)
        assert np.array_equal(APPS[name](graph), expected[name]), (limit, name)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process of the same kind")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # of Python 3.12
def test_a_child_that_is_forked_amid_the_run_of_another_thread_may_use_the_graph():
    graph, begun, over = named(6), threading.Event(), threading.Event()
    other = graph.reverse()
    degrees = graph.out_degree.tolist()

    def stay():
        with exclusive(graph), exclusive(other):
            begun.set()
            over.wait()

    thread = threading.Thread(target=stay)
    thread.start()
    begun.wait()
    right, child = False, os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # pytest's goes on with the tests, in the child
        signal.alarm(10)  # ends it, where it waits for a thread that it does not have
        try:
            graph.drop()
            other.drop()
            right = graph.out_degree.tolist() == degrees and graph.reverse() is not other
        finally:
            os._exit(not right)
    over.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert graph.reverse() is other
