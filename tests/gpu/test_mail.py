"""Runs of one block, which makes the copies itself: errors of the device, interrupts, callbacks."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import gpop
from gpop.gpu import limits
from gpop.gpu.device import cupy
from gpop.gpu.exchange import FIRST_ROWS
from gpop.gpu.mail import MAIL, UNIT, Mail
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


@pytest.mark.parametrize("room", [0, 1 << 12])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_after_an_error_the_device_ends_before_anything_else_begins(error, room, search, monkeypatch):
    """An interrupt, or an error of the device, as CuPy tells of it when its stream is waited for."""
    monkeypatch.setattr(limits, "ONE_BLOCK", room)
    graph, waits = random_graph(5, 34, 150), []

    failing = []

    def wait(stream):
        waits.append(stream)
        if failing:
            raise failing.pop()

    with emulated():
        search(graph)
        monkeypatch.setattr(cupy().cuda.runtime, "streamSynchronize", wait)
        expected, usual = search(graph), len(waits)
        waits.clear()
        failing.append(error("of the device"))
        with pytest.raises(error, match="of the device"):
            search(graph)
        assert len(waits) == 2
        assert np.array_equal(search(graph), expected) and len(waits) == 2 + usual


def test_a_graph_that_is_dropped_at_once_leaves_its_results():
    expected = gpop.bfs(random_graph(5, 34, 150), 3).level
    with emulated():
        found = [gpop.bfs(random_graph(5, 34, 150), 3, target="gpu", ratio=1.0) for _ in range(3)]
        gc.collect()
        assert all(np.array_equal(each.level, expected) for each in found)


def test_all_of_an_answer_comes(monkeypatch):
    """The last label of components, and the last value of as many rows of the trace as the first copy has."""
    chain = gpop.Graph.from_edges(
        np.arange(2 * FIRST_ROWS), np.arange(2 * FIRST_ROWS) + 1, n=2 * FIRST_ROWS + 4
    )
    with emulated():
        levels, components = ([], []), ([], [])
        for found, labels, room in zip(levels, components, (1 << 12, 0), strict=True):
            monkeypatch.setattr(limits, "ONE_BLOCK", room)
            graph = gpop.Graph(chain.indptr, chain.indices)
            trace = gpop.bfs(graph, 0, target="gpu", ratio=1.0).trace
            found += [{name: row[name] for name in row if "seconds" not in name} for row in trace]
            labels += gpop.connected_components(graph, target="gpu").label.tolist()
    assert levels[0] == levels[1] and len(levels[0]) > FIRST_ROWS
    assert components[0] == components[1] and components[0][-1] == chain.n - 1


def test_a_letter_is_rounded_up_to_whole_units():
    with emulated():
        mail = Mail(16, 32, UNIT + 1, 2 * UNIT + 1)
        (said,) = np.asarray(mail.argument).view(MAIL)
        assert (said["letter"], said["answer"]) == (2, 3)


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
        assert found.run.threads == 32 and (room == 0 or found.run.seconds > 0)
        for iterations in (0, 1, 0, 2):
            levels = [
                gpop.bfs(graph, 3, iterations=iterations, method="messages", **options)
                for options in ({}, {"target": "gpu", "ratio": 1.0})
            ]
            assert np.array_equal(levels[0].level, levels[1].level)
            assert np.array_equal(np.sort(levels[0].run.frontier), np.sort(levels[1].run.frontier))
