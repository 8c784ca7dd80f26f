"""How fields begin on a device is how they begin on the host, and some begin early; on the emulator."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.gpu import beginning, device, device_graph, exchange, fields, left, limits
from gpop.gpu.beginning import begin
from gpop.gpu.device import cupy
from gpop.program.values import Declared
from tests.gpu.emulator import emulated
from tests.programs import random_graph


@pytest.mark.parametrize(
    "dtype, value, other",
    [
        ("u4", 2**32 - 1, 3), ("i4", -1, 0), ("f8", 0.0, 1.5), ("f4", 0.25, np.nan), ("u2", 257, 7),
        ("?", True, False),
    ],
)  # fmt: skip
def test_values_are_those_of_the_recipe(dtype, value, other):
    with emulated():
        recipe = Declared(9, np.dtype(dtype), np.dtype(dtype).type(value))
        array = cupy().empty(11, recipe.dtype)[:9]
        beyond = array.base[9:].copy()
        for vertex in (np.uint32(2), 8):
            recipe.assign(vertex, other)
        begin(array, recipe)
        np.testing.assert_array_equal(np.asarray(array), recipe.on_host())
        assert np.array_equal(array.base[9:], beyond, equal_nan=dtype != "?" and dtype[0] == "f")


def test_the_driver_is_told_behind_what_the_stream_has_to_do(monkeypatch):
    with emulated():
        runtime, streams = cupy().cuda.runtime, []
        monkeypatch.setattr("gpop.gpu.beginning.current_stream", lambda: 7)
        for name in ("memsetAsync", "memcpyAsync"):
            done = getattr(runtime, name)
            monkeypatch.setattr(
                runtime, name, lambda *given, done=done: (streams.append(given[-1]), done(*given))
            )
        recipe = Declared(9, np.dtype(np.int32), np.int32(-1))
        recipe.assign(2, 5)
        begin(cupy().empty(9, recipe.dtype), recipe)
        assert streams == [7, 7]


@pytest.fixture
def graph(monkeypatch):
    """A graph whose fields do not travel with the block of small ones, nor is it for one block of threads."""
    monkeypatch.setattr(exchange, "SMALL", 0)
    monkeypatch.setattr(limits, "ONE_BLOCK", 0)
    return random_graph(5, 300, 1500)


@pytest.fixture
def waiting(monkeypatch):
    """All that waits for a next run, by layout."""
    made = []

    class Watched(beginning.Begun):
        def __init__(self):
            super().__init__()
            made.append(self)

    monkeypatch.setattr(device_graph, "Begun", Watched)
    return lambda: sum(each.nbytes for each in made)


def search(graph, source):
    return gpop.bfs(graph, source, method="messages", target="gpu", mode="sc", ratio=1.0)


def test_a_run_takes_what_the_one_before_has_begun(graph, waiting, monkeypatch):
    expected = {source: gpop.bfs(graph, source) for source in (3, 8, 50)}
    both = 2 * 4 * (graph.n + exchange.ROOM)
    with emulated():
        found = {3: search(graph, 3)}
        assert waiting() == both
        monkeypatch.setattr(fields, "begin", lambda array, recipe: pytest.fail("nothing was taken"))
        found |= {source: search(graph, source) for source in (8, 50)}
        assert waiting() == both
        for source, result in found.items():  # each has arrays of its own
            assert np.array_equal(result.level, expected[source].level), source
            assert np.array_equal(result.parent >= 0, expected[source].parent >= 0), source


def test_what_waits_gives_way(graph, waiting, monkeypatch):
    with emulated():
        level = search(graph, 3).level
        assert waiting() > 0
        with monkeypatch.context() as patch:
            patch.setattr(device, "free_bytes", lambda: 0)
            left.make_room(graph, 1)
        assert waiting() == 0
        assert np.array_equal(search(graph, 3).level, level)


def test_nothing_waits_where_it_would_take_much(graph, waiting, monkeypatch):
    monkeypatch.setattr(beginning, "MOST_SHARE", 1 << 40)
    with emulated():
        for _ in range(2):
            search(graph, 3)
            assert waiting() == 0


def test_nothing_waits_without_room():
    def full(size):
        raise cupy().cuda.memory.OutOfMemoryError(size)

    with emulated():
        begun = beginning.Begun()
        begun.make([(64, 255), (64, 255)], full)
        assert begun.nbytes == 0 and begun.take(64, 255) is None
        begun.make([(64, 255), (64, 255)], lambda size: cupy().empty(size, np.uint8))
        assert begun.nbytes == 128 and begun.take(64, 0) is None
        assert np.all(np.asarray(begun.take(64, 255)) == 255) and begun.nbytes == 64
