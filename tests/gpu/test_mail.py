"""Mail between the host and a kernel of one block: late answers, errors of the device, interrupts."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import gpop
from gpop.gpu import limits, mail
from gpop.gpu.device import cupy
from tests.gpu.emulator import emulated
from tests.programs import random_graph

APPS = {
    "bfs": lambda graph: gpop.bfs(graph, 3, target="gpu", ratio=1.0).level,
    "pagerank": lambda graph: gpop.pagerank(graph, target="gpu", ratio=1.0).rank,
    "cc": lambda graph: gpop.connected_components(graph, target="gpu").label,
}


@pytest.fixture(params=APPS)
def search(request):
    return APPS[request.param]


@pytest.fixture
def waits(monkeypatch):
    """How often a stream was waited for, in an emulator that is entered in the test."""
    found = []

    def watch():
        runtime = cupy().cuda.runtime
        monkeypatch.setattr(runtime, "streamSynchronize", found.append)
        return found

    return watch


def test_an_answer_that_is_late_is_waited_for(search, waits, monkeypatch):
    graph = random_graph(5, 34, 150)
    with emulated():
        expected, found = search(graph), waits()
        assert np.array_equal(search(graph), expected) and not found
        monkeypatch.setattr(mail, "LOOKS", 0)
        assert np.array_equal(search(graph), expected) and len(found) == 1


class Faulty(RuntimeError):
    """An error of the device, as CuPy tells of it."""


def test_a_kernel_that_fails_is_heard_of(search, monkeypatch):
    graph = random_graph(5, 34, 150)
    with emulated():
        expected, real = search(graph), mail.Mail.post
        runtime = cupy().cuda.runtime

        def fails(stream):
            raise Faulty("an illegal memory access was encountered")

        with monkeypatch.context() as patch:
            patch.setattr(runtime, "CUDARuntimeError", Faulty)
            patch.setattr(runtime, "streamSynchronize", fails)
            patch.setattr(mail.Mail, "wait", lambda self, stream: (real(self), runtime.streamSynchronize(0)))
            with pytest.raises(Faulty, match="illegal memory access"):
                search(graph)
        assert np.array_equal(search(graph), expected)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_after_an_interrupt_the_device_ends_before_anything_else_begins(error, search, waits, monkeypatch):
    graph = random_graph(5, 34, 150)
    with emulated():
        expected, found = search(graph), waits()
        with monkeypatch.context() as patch:

            def interrupted(self, stream):
                raise error

            patch.setattr(mail.Mail, "wait", interrupted)
            with pytest.raises(error):
                search(graph)
        assert len(found) == 1
        assert np.array_equal(search(graph), expected) and len(found) == 1


def test_a_graph_that_is_dropped_at_once_leaves_its_results():
    expected = gpop.bfs(random_graph(5, 34, 150), 3).level
    with emulated():
        found = [gpop.bfs(random_graph(5, 34, 150), 3, target="gpu", ratio=1.0) for _ in range(3)]
        gc.collect()
        assert all(np.array_equal(each.level, expected) for each in found)


@pytest.mark.parametrize("room", [0, 1 << 12])
def test_callbacks_slices_and_no_iterations_with_and_without_mail(room, monkeypatch):
    monkeypatch.setattr(limits, "ONE_BLOCK", room)
    graph = random_graph(5, 60, 200)
    expected = gpop.pagerank(graph, iterations=4)
    with emulated():
        seen = []
        options = {"target": "gpu", "ratio": 1.0, "callback": lambda row: seen.append(row["iteration"])}
        found = gpop.pagerank(graph, iterations=4, **options)
        assert np.allclose(found.rank, expected.rank) and seen == [0, 1, 2, 3]
        assert found.run.threads == 32
        for iterations in (0, 1, 0, 2):
            levels = [
                gpop.bfs(graph, 3, iterations=iterations, method="messages", **options)
                for options in ({}, {"target": "gpu", "ratio": 1.0})
            ]
            assert np.array_equal(levels[0].level, levels[1].level)
            assert np.array_equal(np.sort(levels[0].run.frontier), np.sort(levels[1].run.frontier))
