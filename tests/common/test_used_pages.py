"""Arrays of vertices in pages of earlier ones: never in those of one that somebody still has."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import gpop
from gpop.common import memory, used_pages
from gpop.common.arrays import filled, unset
from gpop.common.used_pages import LEAST, in_used_pages
from gpop.generate import generate

BYTE = np.dtype(np.uint8)


@pytest.fixture(autouse=True)
def nothing_waits():
    used_pages.let_go()
    gc.disable()
    yield
    gc.enable()
    used_pages.let_go()


def test_pages_go_on_when_the_last_view_is_gone():
    first = filled(LEAST, BYTE, 7)
    begin, view = first.ctypes.data, first.view(np.uint32)[5:9]
    del first
    other = filled(LEAST, BYTE, 9)
    assert other.ctypes.data != begin and view.tolist() == [0x07070707] * 4
    del view
    again = unset(LEAST // 4, np.dtype(np.float32))
    assert again.ctypes.data == begin and other[0] == 9


def test_zeros_are_zeros_in_new_pages_and_in_used_ones():
    for _ in range(3):
        made = filled(LEAST, BYTE, 0)
        assert made.flags.writeable and not made.any()
        made[:] = 1
        del made
    assert filled(3, BYTE, 0).tolist() == [0, 0, 0] and filled(LEAST, np.dtype(bool), True).all()


def test_another_size_gets_other_pages_and_small_arrays_none():
    filled(LEAST, BYTE, 1)
    assert not in_used_pages(LEAST + 8, BYTE)[1]
    assert filled(LEAST - 1, BYTE, 1).flags.owndata and unset(LEAST - 1, BYTE).flags.owndata


def test_not_more_waits_than_is_said(monkeypatch):
    monkeypatch.setattr(used_pages, "MOST", 2 * LEAST)
    held = [in_used_pages(LEAST, BYTE)[0] for _ in range(4)]
    del held
    in_used_pages(LEAST + 8, BYTE)
    assert len(used_pages._waiting) == 2


def test_what_waits_goes_where_memory_is_short(monkeypatch):
    others = set(used_pages._held)  # results that somebody has, of tests before this one
    filled(LEAST, BYTE, 1)
    assert set(used_pages._held) - others
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    with pytest.raises(gpop.NotEnoughMemory):
        memory.require_memory(memory.ASKED_FROM, "an array")
    assert not used_pages._waiting and not set(used_pages._held) - others


def test_an_earlier_result_stays_what_it_was(monkeypatch):
    monkeypatch.setattr("gpop.common.arrays.LEAST", 1)
    graph = generate("rmat", scale=8, seed=2, symmetrize=True)
    options = {"method": "messages", "threads": 2}
    kept = [gpop.bfs(graph, source, **options) for source in range(4)]
    before = [(each.parent.copy(), each.level.copy()) for each in kept]
    ranks = gpop.pagerank(graph, iterations=5).rank
    expected = ranks.copy()
    for source in range(4, 12):
        gpop.bfs(graph, source, **options)
        assert np.array_equal(gpop.pagerank(graph, iterations=5).rank, expected)
    for result, (parent, level) in zip(kept, before, strict=True):
        assert np.array_equal(result.parent, parent) and np.array_equal(result.level, level)
    assert np.array_equal(ranks, expected)


def test_pages_that_another_thread_takes_first_are_left_to_it(monkeypatch):
    class Raced(list):
        def remove(self, room):
            super().remove(room)
            taken.append(room)
            super().remove(room)

    taken = []
    first = filled(LEAST, BYTE, 7)
    del first
    used_pages._collect()
    monkeypatch.setattr(used_pages, "_waiting", Raced(used_pages._waiting))
    array, used = in_used_pages(LEAST, BYTE)
    assert len(taken) == 1 and not used and array.size == LEAST
