"""How fields begin on a device is how they begin on the host; on the emulator."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.gpu import beginning, exchange
from gpop.gpu.beginning import Beginning
from gpop.gpu.device import cupy
from gpop.program.recipes import WIDTH, Declared
from tests.gpu.emulator import RUBBISH, emulated, racing
from tests.gpu.host_kernels import take_races

LENGTH = 9
KINDS = [
    ("u4", 2**32 - 1, 3), ("i4", -1, 0), ("f8", 0.0, 1.5), ("f4", 0.25, np.nan), ("u2", 257, 7),
    ("?", True, False), ("i1", -2, 5), ("u8", 2**64 - 1, 2**63),
]  # fmt: skip


def made(kinds, begin):
    """A recipe of each kind with three vertices that differ, and what one launch makes of an array for it."""
    found, steps = [], []
    for dtype, value, other in kinds:
        recipe = Declared(LENGTH, np.dtype(dtype), np.dtype(dtype).type(value))
        for vertex in (np.uint32(2), 3, LENGTH - 1):
            recipe.assign(vertex, other)
        room = cupy().empty(LENGTH + exchange.ROOM, recipe.dtype)
        found.append((recipe, room))
        steps += recipe.steps(room.data.ptr)
    begin(steps, LENGTH)
    return found


@pytest.mark.parametrize("most", [beginning.MOST_STEPS, 3])
def test_values_are_those_of_the_recipes(most, monkeypatch):
    monkeypatch.setattr(beginning, "MOST_STEPS", most)
    with emulated():
        for recipe, room in made(KINDS, Beginning()):
            np.testing.assert_array_equal(np.asarray(room[:LENGTH]), recipe.on_host())
            beyond = np.asarray(room)[LENGTH:].view(np.uint8)[7:]
            assert len(beyond) and np.all(beyond == RUBBISH)


@pytest.mark.parametrize("seed", range(3))
def test_a_vertex_is_set_by_who_has_filled_its_word(seed):
    with racing(seed, compares=True):
        for recipe, room in made(KINDS[:3], Beginning()):
            np.testing.assert_array_equal(np.asarray(room[:LENGTH]), recipe.on_host())
        assert not take_races()


def test_it_comes_behind_what_the_stream_has_to_do(monkeypatch):
    with emulated():
        begin, streams = Beginning(), []
        monkeypatch.setattr("gpop.gpu.beginning.current_stream", lambda: 7)
        monkeypatch.setattr(begin, "_launch", streams.append)
        made(KINDS[:2], begin)
        assert streams == [7]


def test_all_fields_of_a_run_are_one_launch(monkeypatch):
    launched, call = [], Beginning.__call__

    def watched(self, steps, length):
        launched.append(len(steps) // WIDTH)
        call(self, steps, length)

    monkeypatch.setattr(exchange, "SMALL", 0)
    monkeypatch.setattr(Beginning, "__call__", watched)
    graph = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], n=70)
    with emulated():
        for _ in range(2):
            found = gpop.bfs(graph, 1, target="gpu", ratio=1.0)
            assert found.level[:5].tolist() == [-1, 0, 1, 2, -1]
            assert found.parent[:5].tolist() == [-1, 1, 1, 2, -1]
    assert launched == [4, 4]  # two fields, each with another value for the source
