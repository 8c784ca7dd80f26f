"""Arrays of fields wait on the device for the next run, but for those whose values somebody may want."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.gpu import exchange, left
from gpop.gpu import rooms as rooms_module
from gpop.gpu.rooms import Rooms
from tests.gpu.emulator import emulated
from tests.programs import random_graph


@pytest.fixture(autouse=True)
def large_fields(monkeypatch):
    """They do not travel with Control."""
    monkeypatch.setattr(exchange, "SMALL", 0)
    with emulated():
        yield


def search(graph: gpop.Graph, source: int) -> gpop.BFSResult:
    return gpop.bfs(graph, source, target="gpu", ratio=1.0, mode="sc")


def counted(monkeypatch, graph):
    """How many arrays searches have made."""
    made = []
    real = left.cupy().empty
    monkeypatch.setattr(left.cupy(), "empty", lambda *given: (made.append(given), real(*given))[1])
    return made


def test_the_next_run_has_the_arrays_of_the_last_one(monkeypatch):
    graph = random_graph(5, 34, 150)
    expected = [gpop.bfs(graph, source).level for source in range(4)]
    search(graph, 0)
    made = counted(monkeypatch, graph)
    for source in range(4):
        assert np.array_equal(search(graph, source).level, expected[source])
    assert not made


def test_what_nobody_has_looked_at_yet_stays_what_it_is(monkeypatch):
    graph = random_graph(5, 34, 150)
    search(graph, 0)
    made = counted(monkeypatch, graph)
    results = [search(graph, source) for source in range(4)]
    assert len(made) == 6  # the first has those that wait
    for source, result in enumerate(results):
        assert np.array_equal(result.level, gpop.bfs(graph, source).level)
        assert result.parent[source] == source


@pytest.mark.parametrize(
    "hold", [lambda array: array, lambda array: array[1:3], lambda array: array.data.mem]
)
def test_who_has_an_array_a_view_or_its_memory_keeps_it(hold):
    rooms, kind = Rooms(), (9, np.dtype(np.int32))
    first = rooms.room("level", *kind)
    held, begin = hold(first), first.data.ptr
    del first
    second = rooms.room("level", *kind)
    assert second.data.ptr != begin
    del held, second
    third = rooms.room("level", *kind).data.ptr
    assert rooms.room("level", *kind).data.ptr == third
    assert rooms.room("parent", *kind).data.ptr != third
    assert rooms.room("level", 9, np.dtype(np.uint32)).dtype == np.uint32
    assert len(rooms.room("level", 8, np.dtype(np.uint32))) == 8


def test_what_breaks_off_or_takes_the_others_away_meanwhile_leaves_them_usable(monkeypatch):
    """Ctrl-C comes anywhere, and so does a thread that wants their memory."""
    rooms, kind = Rooms(), (9, np.dtype(np.int32))
    real = rooms_module._references

    def broken_off(held):
        raise KeyboardInterrupt

    def cleared(held):
        rooms.clear()
        return real(held)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(rooms_module, "_references", broken_off)
        rooms.room("level", *kind)
    begin = rooms.room("level", *kind).data.ptr
    with monkeypatch.context() as patch:
        patch.setattr(rooms_module, "_references", cleared)
        assert rooms.room("level", *kind).data.ptr == begin
        assert len(rooms.room("level", *kind)) == 9


def test_references_are_counted_alike_when_python_knows_the_code():
    rooms, kind = Rooms(), (9, np.dtype(np.int32))
    held = rooms.room("level", *kind)
    for _ in range(500):
        assert rooms.room("level", *kind) is not held
        held = rooms.room("level", *kind)


def test_they_go_where_room_is_wanted():
    graph = random_graph(5, 34, 150)
    search(graph, 0)
    holders = [each for each in left._all_giving_way() if each.rooms._arrays]
    assert holders
    for each in holders:
        each.give_way()
        assert not each.rooms._arrays
    assert np.array_equal(search(graph, 3).level, gpop.bfs(graph, 3).level)
