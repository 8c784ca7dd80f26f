"""Device copies among what is kept with a graph, on the emulator: listed, dropped, and making room."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import gpop
from gpop.gpu import device, preparing
from gpop.graph.kept import Kind
from tests.gpu.cases import graph_of
from tests.gpu.emulator import emulated
from tests.programs import Smallest, random_graph


@pytest.fixture
def graph():
    found = graph_of("big")
    return gpop.Graph(found.indptr, found.indices).symmetrize()


def labels(graph, size, **options):
    program = Smallest(graph)
    program.label = np.arange(graph.n)[::-1]
    gpop.run(program, target="gpu", mode="pc", partition_size=size, **options)
    return program.label.copy()


def on_device(graph):
    return {each.about: each.device_bytes for each in graph.kept() if each.device_bytes}


@pytest.mark.slow
def test_copies_are_listed_with_their_bytes_and_dropped(graph):
    with emulated():
        expected = labels(graph, 32)
        assert on_device(graph) == {"partitions of 32": graph.store.get(Kind.DEVICE, (5, False, 0)).nbytes}
        assert on_device(graph)["partitions of 32"] >= 2 * graph.m + 8 * graph.n
        host = sum(each.host_bytes for each in graph.kept())
        graph.drop("device")
        assert on_device(graph) == {}
        assert sum(each.host_bytes for each in graph.kept()) == host
        assert labels(graph, 32).tolist() == expected.tolist()
        graph.drop()
        assert graph.kept() == []
        assert labels(graph, 32).tolist() == expected.tolist()


CALLS = {
    "messages": lambda graph: labels(graph, 32),
    "search": lambda graph: gpop.bfs(graph, 1, target="gpu"),
    "all active": lambda graph: gpop.pagerank(graph, iterations=2, target="gpu"),
    "paths": lambda graph: gpop.sssp(graph, 1, target="gpu"),
    "components": lambda graph: gpop.connected_components(graph, target="gpu"),
    "triangles": lambda graph: gpop.triangle_count(graph, target="gpu"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_copies_go_with_their_graph(call):
    """At once: Python's collector does not know how much of a device waits for it."""
    graph = random_graph(3, 60, 300, weights=True)
    alive = weakref.ref(graph)
    with emulated():
        call(graph)
        gc.collect()
        gc.disable()
        try:
            call(graph)
            del graph
            assert alive() is None
        finally:
            gc.enable()


@pytest.mark.slow
def test_copies_of_other_runs_make_room(graph, monkeypatch):
    """Room for one run and one copy more: the least recently used copy goes, then there is room."""
    needed = []
    monkeypatch.setattr(preparing, "require_device_memory", lambda nbytes, what: needed.append(nbytes))
    with emulated():
        expected = [labels(graph, size).tolist() for size in (16, 32, 64)]
        sizes = on_device(graph)
        assert list(sizes) == ["partitions of 16", "partitions of 32", "partitions of 64"]
        room = needed[-1] + sizes["partitions of 16"]  # of what is needed the copy is counted, too
        labels(graph, 16)
        assert graph.store.take(Kind.DEVICE, (6, False, 0)) is not None

        def free():
            return room - sum(on_device(graph).values())

        for module in (preparing, device):
            monkeypatch.setattr(module, "free_bytes", free)
        assert labels(graph, 64).tolist() == expected[2]  # copy and workspace: 32 is older than 16
        assert list(on_device(graph)) == ["partitions of 16", "partitions of 64"]
        assert needed[-1] > sizes["partitions of 64"]
        room = 0  # what the run itself uses is not dropped, however little that helps
        assert labels(graph, 64, residency="device").tolist() == expected[2]
        assert list(on_device(graph)) == ["partitions of 64"]
        assert graph.store.has(Kind.BINS)
