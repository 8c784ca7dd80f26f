"""The table of a run's arrays: what it predicts is what is allocated, and is refused before, on every run."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import gpop
from gpop.common import memory
from gpop.cpu.arrays import Array, Arrays, arrays_of, table_bytes
from gpop.cpu.kept_workspace import unit_workspace, workspace_of
from gpop.cpu.workspace_tables import Needs, bins_table, blocks_table
from gpop.generate import generate
from gpop.graph import kept
from gpop.graph.kept import Kind, Store
from gpop.layout.edge_blocks import blocks_of
from gpop.layout.kept_bins import bins_of
from tests.programs import Rank, Smallest

MEGABYTE = 1 << 20
NOTHING = Needs(**dict.fromkeys(Needs._fields, False))


@pytest.fixture
def available(monkeypatch):
    """Set how many bytes there are."""

    def there_are(nbytes):
        for module in (memory, kept):
            monkeypatch.setattr(module, "available_bytes", lambda: nbytes)

    return there_are


def sparse(n=MEGABYTE):
    return gpop.Graph.from_edges([0, 1, n - 1], [1, 2, 3], n=n)


@pytest.mark.parametrize("need", [None, *Needs._fields])
def test_what_is_predicted_is_allocated(need):
    graph = generate("rmat", scale=9, degree=8, seed=1, weights=(1, 9))
    bins, needs = bins_of(graph, 4, 1)[0], NOTHING._replace(**({need: True} if need else {}))
    table = bins_table(bins, needs, np.dtype(np.float64), 3)
    before = table_bytes(table)
    space = workspace_of(graph.store, bins, needs, np.dtype(np.float64), 3)
    made = graph.store.get(Kind.WORKSPACE, 4)
    assert sum(array.nbytes for array in made.values()) == before
    assert {name for name, _ in made} == {name for name, each in table.items() if each.length}
    for name, each in table.items():
        room = {"claim", "team", "values"}
        assert name in room or getattr(space, name).nbytes == each.nbytes, name
    again = workspace_of(graph.store, bins, needs, np.dtype(np.float64), 3)
    assert all(a is b for a, b in zip(again, space, strict=True) if a is not again[-1] and a.size != 1)


def test_the_values_of_units_are_predicted_too():
    graph = generate("rmat", scale=9, degree=8, seed=1)
    blocks = blocks_of(graph, 2, 8, 4, 64, weighted=False, forced=True)[0]
    space = unit_workspace(graph.store, blocks, np.dtype(np.float32), 2, True, True)
    table = blocks_table(blocks, np.dtype(np.float32), 2, 64, True)
    made = graph.store.get(Kind.WORKSPACE, "blocks")
    assert sum(array.nbytes for array in made.values()) == table_bytes(table)
    assert space.sums.shape == (2, 64) and space.values.size == 2 * graph.n


def test_a_row_of_sums_for_each_thread_however_many_there_were():
    graph = generate("rmat", scale=9, degree=8, seed=1)
    bins, needs = bins_of(graph, 4, 1)[0], NOTHING._replace(sums=True)
    for threads in (1, 4, 3, 2, 5):
        space = workspace_of(graph.store, bins, needs, np.dtype(np.float32), threads)
        assert space.sums.shape == (threads, 16) and not space.sums.any()
        assert space.head.size == threads * int(bins.k)


def test_bins_without_end_are_refused_before_anything_is_allocated(available):
    """Cursors of k * k bins: 20 bytes each."""
    graph = sparse(1 << 15)
    bins_of(graph, 5, 1)
    available(16 * MEGABYTE)
    for counted in (
        False,
        True,
    ):  # the first one also imports what a run needs: megabytes where nothing else has
        if counted:
            tracemalloc.start()
        try:
            with pytest.raises(
                gpop.NotEnoughMemory, match="1024 partitions needs 2.* MB, but only 16.8 MB is"
            ):
                gpop.run(Smallest(graph), partition_size=32)
            assert not counted or tracemalloc.get_traced_memory()[1] < MEGABYTE
        finally:
            tracemalloc.stop()
    assert not graph.store.has(Kind.WORKSPACE)
    available(64 * MEGABYTE)
    gpop.run(Smallest(graph), partition_size=32)
    assert graph.store.has(Kind.WORKSPACE)


def test_refused_on_a_later_run_that_needs_more(available):
    graph = sparse()
    gpop.run(Rank(graph), iterations=1, mode="pc", partition_size=1 << 15)
    available(2 * MEGABYTE)
    gpop.run(Rank(graph), iterations=1, mode="pc", partition_size=1 << 15)  # nothing is missing
    with pytest.raises(gpop.NotEnoughMemory, match="messages and frontier of a run on 1048576 vertices"):
        gpop.run(Smallest(graph), [0], mode="pc", partition_size=1 << 15)
    available(1 << 30)
    gpop.run(Smallest(graph), [0], mode="pc", partition_size=1 << 15)


def test_only_what_is_missing_is_asked_for_and_made():
    store, byte = Store(()), np.dtype(np.uint8)
    asked = []
    store.require = lambda nbytes, what: asked.append((nbytes, what))

    def made(**lengths):
        table = {name: Array(length, byte, 7) for name, length in lengths.items()}
        return arrays_of(store, table, "key", "about", "this")

    first, found = made(a=5, b=3, c=0)
    assert asked == [(8, "this")] and isinstance(found, Arrays)
    second, _ = made(a=5, b=9, c=0)
    assert asked == [(8, "this"), (9, "this")]
    assert second["a"].base is first["a"] or second["a"] is first["a"]
    third, _ = made(a=2, b=2, c=2)
    assert asked[2:] == [(2, "this")]
    assert [third[name].tolist() for name in "abc"] == [[7, 7]] * 3
    assert sum(each.host_bytes for each in store.listed()) == 5 + 9 + 2


@pytest.mark.parametrize(("small", "fill"), [(True, None), (False, None), (False, 0), (False, -1)])
def test_what_an_array_first_holds(small, fill):
    made = Array(10, np.dtype(np.int64), fill, small_pages=small).make()
    assert made.dtype == np.int64 and made.size == 10 and made.flags.writeable
    if fill is not None:
        assert made.tolist() == [fill] * 10
    counted = Array(4, np.dtype(np.int32), start=lambda array: np.copyto(array, np.arange(4))).make()
    assert counted.tolist() == [0, 1, 2, 3]
