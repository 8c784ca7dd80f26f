"""What a call on a small graph does for which all is ready: asked of the driver, made, called.

Counts, not times: each was found to be what a call of microseconds consisted of.
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.apps.bfs import BFS, NOT_REACHED
from gpop.gpu import limits
from gpop.gpu.device import cupy
from gpop.gpu.direct import components
from gpop.gpu.engine import GpuEngine
from gpop.gpu.exchange import Exchange
from gpop.gpu.launch import Launch
from gpop.gpu.prepared import Prepared
from gpop.gpu.workspace import Workspace
from tests.gpu import emulator, host_kernels
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
        count(runtime, "eventRecord", "event")
        count(runtime, "memcpyAsync", "copy")
        count(runtime, "memsetAsync", "clear")
        count(runtime, "streamSynchronize", "wait")
        count(emulator.Array, "set", "copy")
        count(emulator.Array, "get", "copy and wait")
        for name in ("zeros", "empty", "asarray", "RawModule"):
            count(module, name, name)
        count(module.cuda, "alloc_pinned_memory", "pinned")
        count(runtime, "memGetInfo", "memory")
        yield calls


@pytest.fixture(params=[True, False], ids=["one block", "all blocks"])
def round_trip(request, monkeypatch):
    """What it takes to have the device at work and hear of it: of one block, and of several."""
    if request.param:
        return {"launch": 1, "wait": 1}
    monkeypatch.setattr(limits, "ONE_BLOCK", 0)
    return {"launch": 1, "event": 2, "copy": 2, "wait": 1}


def test_bfs_again_is_one_launch_with_its_copies_or_mail(round_trip, monkeypatch):
    graph = random_graph(5, 34, 150)
    expected = gpop.bfs(graph, 3).level
    with emulated():
        gpop.bfs(graph, 0, target="gpu", mode="sc", ratio=1.0)
        with counted(monkeypatch) as calls:
            found = gpop.bfs(graph, 3, target="gpu", mode="sc", ratio=1.0)
    assert np.array_equal(found.level, expected)
    assert calls == round_trip


@pytest.mark.parametrize("on_device", [False, True])
def test_ranks_that_converge_are_looked_at_where_they_are(on_device, round_trip, monkeypatch):
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
    own = {"launch": 2} if on_device else {}  # share, rank, change: nobody looks at them meanwhile
    assert calls == round_trip | own


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


@pytest.mark.parametrize("few", [components.FEW, 0])
def test_components_again_are_a_launch_or_one_a_phase_and_one_copy(few, monkeypatch):
    monkeypatch.setattr(components, "FEW", few)
    graph = random_graph(5, 34, 150)
    expected = gpop.connected_components(graph)
    with emulated():
        gpop.connected_components(graph, target="gpu")
        with counted(monkeypatch) as calls:
            found = gpop.connected_components(graph, target="gpu")
    assert np.array_equal(found.label, expected.label) and found.count == expected.count
    apart = {"clear": 1, "launch": 6, "event": 7, "copy": 1, "wait": 1}
    assert calls == ({"launch": 1, "wait": 1} if few else apart)


def test_structs_for_algorithms_on_lists_have_no_fields(monkeypatch):
    """An array with fields describes itself to CuPy anew for every launch, which takes longer than that."""
    seen, call = [], host_kernels.Kernel.__call__

    def watched(self, grid, block, arguments, **options):
        seen.extend(each.dtype for each in arguments if isinstance(each, np.ndarray))
        call(self, grid, block, arguments, **options)

    monkeypatch.setattr(host_kernels.Kernel, "__call__", watched)
    with emulated():
        gpop.triangle_count(random_graph(5, 34, 150).symmetrize(), target="gpu")
    assert np.dtype(np.void) in {np.dtype(kind.type) for kind in seen}
    assert not any(kind.names for kind in seen)


def on_arrays(graph: gpop.Graph, source: int) -> np.ndarray:
    """Levels of a search whose fields are device arrays."""
    program = BFS(graph)
    program.parent, program.level = (cupy().zeros(graph.n, dtype) for dtype in (np.uint32, np.int32))
    program.parent.fill(NOT_REACHED)
    program.level.fill(-1)
    program.parent[source], program.level[source] = source, 0
    gpop.run(program, [source], target="gpu", ratio=1.0)
    return np.array(program.level)


CALLS = {
    "bfs": lambda graph: gpop.bfs(graph, 3, target="gpu", ratio=1.0).level,
    "sssp": lambda graph: gpop.sssp(graph, 3, target="gpu", ratio=1.0).distance,
    "pagerank": lambda graph: gpop.pagerank(graph, iterations=5, target="gpu", ratio=1.0).rank,
    "cc": lambda graph: gpop.connected_components(graph, target="gpu").label,
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_again_makes_nothing_on_the_device(name, monkeypatch):
    """No arrays, no pinned memory, no launches laid out, no engine."""
    graph, made = random_graph(5, 34, 150, weights=True), Counter()

    def count(cls, method):
        real = getattr(cls, method)

        def call(*given, **options):
            made[f"{cls.__name__}.{method}"] += 1
            return real(*given, **options)

        monkeypatch.setattr(cls, method, call)

    with emulated():
        on_arrays(graph, 3)
        expected = CALLS[name](graph)
        on_arrays(graph, 3)  # of the functions of a search, with a block of its own
        for cls in (Exchange, Launch, Prepared, Workspace):
            count(cls, "__init__")
        for method in ("prepare", "load", "finish", "_work_with"):
            count(GpuEngine, method)
        with counted(monkeypatch) as calls:
            found = CALLS[name](graph)
    assert np.array_equal(found, expected)
    assert not calls.keys() & {"zeros", "empty", "asarray", "pinned", "RawModule", "memory"}
    assert not made


MOST_CALLS = {"bfs": (18, 6), "arrays": (37, 6), "sssp": (18, 6), "pagerank": (18, 16), "cc": (14, 9)}
"""Calls of functions of gpop before the launch and behind the wait, those of a look at the result too."""


@pytest.mark.parametrize("name", MOST_CALLS)
def test_a_call_again_calls_few_functions(name, monkeypatch):
    """What is called while the device is at work costs nothing."""
    again = {**CALLS, "arrays": lambda graph: on_arrays(graph, 3)}[name]
    graph, package, calls = (
        random_graph(5, 34, 150, weights=True),
        str(Path(gpop.__file__).parent),
        [Counter()],
    )

    def watch(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(package):
            calls[-1][frame.f_code.co_qualname] += 1

    def next_of(real):
        def call(*given):
            real(*given)
            calls.append(Counter())

        return call

    with emulated():
        for _ in range(3):
            again(graph)
        runtime = cupy().cuda.runtime
        monkeypatch.setattr(emulator, "run_at", next_of(emulator.run_at))
        monkeypatch.setattr(runtime, "streamSynchronize", next_of(runtime.streamSynchronize))
        sys.setprofile(watch)
        try:
            again(graph)
        finally:
            sys.setprofile(None)
    before, _, behind = calls
    assert before.total() <= MOST_CALLS[name][0], calls
    assert behind.total() <= MOST_CALLS[name][1], calls


def test_what_changes_between_calls_is_what_the_device_gets():
    """Parameters, also the sign of a zero, fields, the frontier, and where fields are."""

    class Signs(gpop.Program):
        sign = gpop.VertexField(np.int32)
        heard = gpop.VertexField(np.int64)
        factor = gpop.Parameter(np.float64, 1.0)
        step = gpop.Parameter(np.int64, 1)

        def scatterFunc(self, node):
            return self.heard[node] + self.step

        def gatherFunc(self, value, node):
            if self.heard[node] == 0:
                self.heard[node] = value
                self.sign[node] = 1 if np.copysign(1.0, self.factor) > 0 else -1
                return True
            return False

    graph = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    with emulated():
        for on_device in (False, True):
            for factor, step, source, begin in (
                (0.0, 1, 0, 1), (-0.0, 1, 0, 1), (0.0, 5, 0, 1), (0.0, 5, 1, 1), (-0.0, 5, 1, 7),
            ):  # fmt: skip
                program = Signs(graph)
                program.factor, program.step = factor, step
                if on_device:
                    program.heard = cupy().zeros(graph.n, np.int64)
                program.heard[source] = begin
                gpop.run(program, [source], target="gpu", ratio=1.0)
                expected = np.zeros(4, np.int64)
                expected[source:] = begin + step * np.arange(4 - source)
                assert np.array(program.heard).tolist() == expected.tolist()
                signs = np.where(expected > 0, np.copysign(1, factor), 0)
                signs[source] = 0
                assert program.sign.tolist() == signs.tolist()


def test_calls_of_different_arguments_in_turns():
    """They are runs of one engine that begin otherwise; those that begin alike send what was sent before."""
    graph = random_graph(5, 34, 150)
    asked = [{"damping": damping, "iterations": 4} for damping in (0.85, 0.5)]
    expected = [gpop.pagerank(graph, **each).rank for each in asked]
    with emulated():
        for at in (0, 0, 0, 1, 1, 0, 1, 1):
            found = gpop.pagerank(graph, target="gpu", ratio=1.0, **asked[at])
            assert np.allclose(found.rank, expected[at], rtol=1e-5)


def test_components_within_components_and_after_a_failure(monkeypatch):
    """What is laid out for a graph is one call's at a time; what a failed one had is not used again."""
    graph, launch, inner, made = random_graph(5, 34, 60), Launch.__call__, [], []
    lay_out = components._Ready.__init__

    def watched(self, *given):
        made.append(self)
        lay_out(self, *given)

    monkeypatch.setattr(components._Ready, "__init__", watched)
    expected = gpop.connected_components(graph).label

    def nested(self, stream):
        launch(self, stream)
        if len(inner) < 3:
            at = len(inner)
            inner.append(None)
            inner[at] = gpop.connected_components(graph, target="gpu").label

    def fails(self, stream):
        launch(self, stream)
        raise RuntimeError("of the driver")

    with emulated():
        gpop.connected_components(graph, target="gpu")
        with monkeypatch.context() as patch:
            patch.setattr(Launch, "__call__", nested)
            found = [gpop.connected_components(graph, target="gpu").label, *inner]
        with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="of the driver"):
            patch.setattr(Launch, "__call__", fails)
            gpop.connected_components(graph, target="gpu")
        found.append(gpop.connected_components(graph, target="gpu").label)
    assert len(found) == 5 and len(made) == 4  # the failed one's was lost, of four
    assert all(np.array_equal(each, expected) for each in found)
