"""How often a call on a small graph, for which all is ready, asks something of the driver."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest

import gpop
from gpop.gpu.device import cupy
from tests.gpu import emulator
from tests.gpu.emulator import emulated
from tests.programs import random_graph


@contextmanager
def counted(patch: pytest.MonkeyPatch):
    """What is asked of the emulated driver meanwhile."""
    calls, module = Counter(), cupy()

    def count(holder, name, said):
        real = getattr(holder, name)

        def call(*given, **options):
            calls[said] += 1
            return real(*given, **options)

        patch.setattr(holder, name, call)

    runtime = module.cuda.runtime
    with patch.context() as patch:
        count(emulator, "run_at", "launch")
        count(emulator.Event, "record", "event")
        count(runtime, "memcpyAsync", "copy")
        count(runtime, "memsetAsync", "clear")
        count(runtime, "streamSynchronize", "wait")
        count(emulator.Array, "set", "copy")
        count(emulator.Array, "get", "copy and wait")
        for name in ("zeros", "empty", "asarray", "RawModule"):
            count(module, name, name)
        count(runtime, "memGetInfo", "memory")
        yield calls


def test_bfs_again_is_two_launches_and_two_copies_and_waits_once(monkeypatch):
    graph = random_graph(5, 34, 150)
    expected = gpop.bfs(graph, 3).level
    with emulated():
        gpop.bfs(graph, 0, target="gpu", ratio=1.0)
        with counted(monkeypatch) as calls:
            found = gpop.bfs(graph, 3, target="gpu", ratio=1.0)
    assert np.array_equal(found.level, expected)
    assert calls == {"launch": 2, "event": 2, "copy": 2, "wait": 1}


@pytest.mark.parametrize("on_device", [False, True])
def test_ranks_that_converge_are_looked_at_where_they_are(on_device, monkeypatch):
    """One launch, however many iterations; fields that do not travel with Control stay there."""
    from gpop.gpu import exchange

    graph = random_graph(5, 34, 150)
    expected = gpop.pagerank(graph)
    with emulated():
        if on_device:
            monkeypatch.setattr(exchange, "SMALL", 0)
        gpop.pagerank(graph, target="gpu", ratio=1.0)
        with counted(monkeypatch) as calls:
            found = gpop.pagerank(graph, target="gpu", ratio=1.0)
    assert np.allclose(found.rank, expected.rank, rtol=1e-5)
    assert found.converged and abs(found.iterations - expected.iterations) <= 1
    own = {"zeros": 3} if on_device else {}  # share, rank and change; nobody looks at them meanwhile
    assert calls == {"launch": 1, "event": 2, "copy": 2, "wait": 1} | own


def test_ranks_that_do_not_converge_say_so():
    graph = random_graph(5, 34, 150)
    with emulated():
        found = gpop.pagerank(graph, target="gpu", ratio=1.0, max_iterations=3)
        assert (found.iterations, found.converged) == (3, False)
        seen = []
        options = {"target": "gpu", "ratio": 1.0}
        found = gpop.pagerank(graph, callback=lambda row: seen.append(row["iteration"]), **options)
        assert found.converged and len(seen) == found.iterations
        stopped = gpop.pagerank(graph, callback=lambda row: row["iteration"] == 1, **options)
        assert (stopped.iterations, stopped.converged) == (2, False)


def test_components_again_are_a_launch_a_phase_and_one_copy(monkeypatch):
    graph = random_graph(5, 34, 150)
    expected = gpop.connected_components(graph)
    with emulated():
        gpop.connected_components(graph, target="gpu")
        with counted(monkeypatch) as calls:
            found = gpop.connected_components(graph, target="gpu")
    assert np.array_equal(found.label, expected.label) and found.count == expected.count
    assert calls == {"clear": 1, "launch": 6, "event": 7, "copy": 1, "wait": 1}


def test_structs_for_algorithms_on_lists_have_no_fields(monkeypatch):
    """An array with fields describes itself to CuPy anew for every launch, which takes longer than that."""
    seen, call = [], emulator.Kernel.__call__

    def watched(self, grid, block, arguments, **options):
        seen.extend(each.dtype for each in arguments if isinstance(each, np.ndarray))
        call(self, grid, block, arguments, **options)

    monkeypatch.setattr(emulator.Kernel, "__call__", watched)
    with emulated():
        gpop.triangle_count(random_graph(5, 34, 150).symmetrize(), target="gpu")
    assert np.dtype(np.void) in {np.dtype(kind.type) for kind in seen}
    assert not any(kind.names for kind in seen)
