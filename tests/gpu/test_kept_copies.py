"""Device copies among what is kept with a graph, on the emulator: listed, dropped, and making room."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.gpu import device, preparing
from gpop.graph.kept import Kind
from tests.gpu.cases import graph_of
from tests.gpu.emulator import emulated
from tests.programs import Smallest


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


def test_copies_are_listed_with_their_bytes_and_dropped(graph):
    with emulated():
        expected = labels(graph, 32)
        assert on_device(graph) == {"partitions of 32": graph.store.get(Kind.DEVICE, (5, False)).nbytes}
        assert on_device(graph)["partitions of 32"] >= 2 * graph.m + 8 * graph.n
        host = sum(each.host_bytes for each in graph.kept())
        graph.drop("device")
        assert on_device(graph) == {}
        assert sum(each.host_bytes for each in graph.kept()) == host
        assert labels(graph, 32).tolist() == expected.tolist()
        graph.drop()
        assert graph.kept() == []
        assert labels(graph, 32).tolist() == expected.tolist()


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
        graph.store.take(Kind.DEVICE, (6, False))

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
