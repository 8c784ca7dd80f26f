"""Large fields travel in pieces, by several threads: all of every field arrives, whatever its size."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.gpu import exchange, staging
from gpop.gpu.device import cupy
from tests.gpu.emulator import emulated
from tests.programs import random_graph


@pytest.fixture
def small(monkeypatch):
    """Pieces of 64 bytes, for every field; five threads."""
    for name, value in (("PIECE", 64), ("LARGE", 1), ("worker_count", lambda: 5)):
        monkeypatch.setattr(staging, name, value)
    staging._lanes.cache_clear()
    yield
    staging._lanes.cache_clear()


@pytest.mark.parametrize("length", [1, 15, 16, 17, 333])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float64])
def test_all_of_it_arrives(length, dtype, small):
    field = (np.arange(length) * 7 % 251).astype(dtype)
    field.flags.writeable = False
    with emulated():
        array, found = cupy().zeros(length, np.dtype(dtype)), np.zeros(length, dtype)
        staging.send(field, array)
        assert np.array_equal(np.asarray(array), field)
        staging.fetch(array, found)
    assert np.array_equal(found, field)


def test_a_run_whose_fields_are_large(small, monkeypatch):
    monkeypatch.setattr(exchange, "SMALL", 0)
    graph = random_graph(5, 340, 1500)
    with emulated():
        level = gpop.bfs(graph, 3, target="gpu", ratio=1.0).level
        rank = gpop.pagerank(graph, target="gpu", mode="pc", ratio=1.0, iterations=3).rank
    assert np.array_equal(level, gpop.bfs(graph, 3).level)
    assert np.allclose(rank, gpop.pagerank(graph, iterations=3).rank, rtol=1e-6)
