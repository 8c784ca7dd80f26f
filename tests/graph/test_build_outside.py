"""CSR of edges that do not fit: the same arrays as in memory, from files."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from gpop.common import spill
from gpop.common.errors import NotEnoughMemory
from gpop.common.memory import own_copy, own_pages
from gpop.common.parallel import together
from gpop.common.spill import Spill, copied, lies_in_file, settled
from gpop.generate import generate
from gpop.graph import build_outside
from gpop.graph.graph import Graph


def same(one: Graph, other: Graph) -> bool:
    arrays = zip(
        (one.indptr, one.indices, one.weights), (other.indptr, other.indices, other.weights), strict=True
    )
    return all((a is None and b is None) or (a.dtype == b.dtype and np.array_equal(a, b)) for a, b in arrays)


@pytest.fixture
def room(tmp_path) -> Spill:
    return Spill(tmp_path, 1)  # 16384 edges at once


@pytest.mark.parametrize("options", [{}, {"weights": (1, 255)}, {"symmetrize": True, "weights": (1, 9)}])
def test_generated_outside(room, options):
    with room.begin():
        graph = generate("rmat", scale=12, degree=16, **options)
    assert lies_in_file(graph.indices)
    assert same(graph, generate("rmat", scale=12, degree=16, **options))
    ours = {room.path_of(array) for array in (graph.indices, graph.weights) if array is not None}
    assert {path for path in room.folder.iterdir() if path.stat().st_size} == ours  # no bucket is left


def test_turned_outside(room):
    graph = generate("rmat", scale=12, degree=16, weights=(1, 255))
    expected = Graph(graph.indptr, graph.indices, graph.weights).reverse()
    with room.begin():
        assert same(graph.reverse(), expected)


def test_files_are_limited(room, monkeypatch):
    monkeypatch.setattr(build_outside, "MOST_FILES", 3)
    with room.begin(), pytest.raises(NotEnoughMemory, match="expected at least"):
        generate("rmat", scale=12, degree=16)


def test_arrays_lie_in_files_while_a_spill_is_open(room):
    before = own_pages(5, np.int64)
    before[:] = 7
    with room.begin():
        inside = own_copy(np.arange(10_000))
        settled(before)  # no file has its bytes
        settled(inside)
        with room.paused():
            assert not lies_in_file(own_pages(5, np.int64))
        assert copied(inside, 9_000, 9_003).tolist() == [9_000, 9_001, 9_002]
    assert lies_in_file(inside)
    assert not lies_in_file(before)
    assert before.tolist() == [7] * 5
    assert spill.active() is None
    assert not list(room.folder.iterdir())  # the file has no name


def test_other_threads_go_on_in_memory(room, tmp_path):
    """Of two spills that ended in the order in which they began the first was left open, its folder gone."""
    other, begun, found = Spill(tmp_path / "gone", 1), threading.Barrier(2), []

    def beside():
        with other.begin():
            begun.wait()
            begun.wait()
        found.append(spill.active())

    thread = threading.Thread(target=beside)
    thread.start()
    begun.wait()
    assert spill.active() is None
    with room.begin():
        begun.wait()
        thread.join()
        together(lambda part: found.append(spill.active()), 3)  # parts of work that was begun here
    assert found == [None] + 3 * [room]
    assert spill.active() is None
