"""What is kept stays within a limit: what was not used for longest goes, what a run uses stays."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import gpop
from gpop.common import memory
from gpop.graph import kept as module
from gpop.graph.exclusive import exclusive
from gpop.graph.kept import Kind, Store
from gpop.graph.kept_bytes import Bytes
from gpop.layout.kept_bins import bins_of
from tests.graph.test_kept import named
from tests.programs import Smallest


def block(nbytes):
    return np.zeros(nbytes, np.uint8)


def stored(*sizes):
    store = Store(())
    for key, size in enumerate(sizes):
        store.put(Kind.BINS, block(size), key)
    return store


def keys(store):
    return [key for _, key in store._entries]


def test_the_least_recently_used_goes_first(monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 100)
    store = stored(40, 30, 30)
    assert keys(store) == [0, 1, 2]
    store.get(Kind.BINS, 0)
    store.put(Kind.BINS, block(10), 3)
    assert keys(store) == [0, 2, 3]
    store.put(Kind.BINS, block(50), 4)
    assert keys(store) == [0, 3, 4]
    store.require(module.SMALL, "nothing fits")
    assert keys(store) == []
    store.put(Kind.BINS, block(500), 5)  # what was just built stays even where it is more than the limit
    assert keys(store) == [5]


def test_what_is_shared_counts_once(monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 100)
    own, shared = block(80), block(60)
    store = Store((own,))
    for key in range(3):
        store.put(Kind.BINS, (own, shared, {"more": block(10)}), key)
    assert [each.host_bytes for each in store.listed()] == [70, 10, 10]
    store.put(Kind.BINS, Bytes(20), 3)
    assert keys(store) == [0, 1, 2, 3] or keys(store) == [1, 2, 3]
    assert sum(each.host_bytes for each in store.listed()) <= 100


def test_a_limit_is_a_share_of_what_was_available(monkeypatch):
    monkeypatch.setattr(module, "available_bytes", lambda: 6 << 20)
    store = stored(*[1 << 20] * 6)
    # The first megabyte was there when the limit was found: three quarters of 7 MB.
    assert keys(store) == [1, 2, 3, 4, 5]
    assert all(each.host_bytes == 1 << 20 for each in store.listed())


def test_small_stores_do_not_ask_the_system(monkeypatch):
    def asked():
        raise AssertionError("asked")

    monkeypatch.setattr(module, "available_bytes", asked)
    stored(*[module.SMALL // 8] * 7)
    with pytest.raises(AssertionError, match="asked"):
        stored(*[module.SMALL // 8] * 8)


def test_when_memory_is_short_what_is_not_used_goes(monkeypatch):
    store = stored(*[1 << 20] * 4)
    monkeypatch.setattr(module, "available_bytes", lambda: (8 - len(store._entries)) << 20)
    monkeypatch.setattr(memory, "available_bytes", module.available_bytes)
    store.require(5 << 20, "that")
    assert keys(store) == [1, 2, 3]
    with pytest.raises(gpop.NotEnoughMemory, match=r"^that needs 9.4 MB, but only 8.4 MB is available$"):
        store.require(9 << 20, "that")
    assert keys(store) == []


def test_what_a_run_uses_stays(monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 0)
    graph = named(6)
    store = graph.store
    bins_of(graph, 3, 1)
    with exclusive(graph):
        used = bins_of(graph, 4, 1)[0]
        bins_of(graph, 5, 1)
        assert store.get(Kind.BINS, 3) is None
        assert bins_of(graph, 4, 1)[0] is used
        kept = []

        def look():  # another thread, which is not in the run
            store.put(Kind.BINS, block(10), "more")
            kept.extend(keys(store))

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert kept == [4, 5, "more"]
    store.put(Kind.BINS, block(10), "last")
    assert keys(store) == ["last"]


def test_graphs_made_of_a_graph_count_and_stay_while_a_run_is_on_them(monkeypatch):
    graph = named(6)
    gpop.bfs(graph, 0, method="messages")
    gpop.connected_components(graph, method="labels")
    both = graph.store.get(Kind.SYMMETRIC)
    assert both.store.has(Kind.BINS) and graph.store.has(Kind.BINS)
    monkeypatch.setattr(module, "LIMIT", 0)
    program, seen = Smallest(both), []
    gpop.run(program, callback=lambda record: seen.append([str(kind) for kind, _ in graph.store._entries]))
    gpop.run(Smallest(both), partition_size=16)
    assert graph.store.get(Kind.SYMMETRIC) is both  # what its own runs wanted made room among the rest
    assert not graph.store.has(Kind.BINS) and not graph.store.has(Kind.WORKSPACE)
    bins_of(both, 2, 1)
    graph.drop("symmetric copy")
    assert both.store.has(Kind.BINS)
    bins_of(both, 3, 1)
    assert keys(both.store) == [3]  # on its own from now on
