"""Programs and checks of runs that are asked for again: a class that has changed meanwhile is noticed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpop
from gpop.apps.bfs import BFS, BFSResult
from gpop.gpu.device import cupy
from tests.programs import random_graph

GPU = {"target": "gpu", "ratio": 1.0}


class Hops(gpop.Program):
    hops = gpop.VertexField(np.int64, -1)
    heard = gpop.VertexField(np.int32, -1)  # in which iteration; nobody looks at it before a run

    def scatterFunc(self, node):
        return self.hops[node] + 1

    def gatherFunc(self, value, node):
        if self.hops[node] < 0:
            self.hops[node] = value
            return True
        return False

    def filterFunc(self, node):
        self.heard[node] = self.iteration
        return True


def twice_as_far(self, node):
    return self.hops[node] + 2


def hops_of(graph: gpop.Graph, on_device: bool = False, source: int = 3) -> tuple[gpop.Run, Hops]:
    program = Hops(graph)
    if on_device:
        program.hops = cupy().zeros(graph.n, np.int64)
        program.hops.fill(-1)
    program.hops[source] = 0
    return gpop.run(program, [source], **GPU), program


def watched(patch: pytest.MonkeyPatch, cls: type, method: str) -> list[bool]:
    """Of each run again by this method, whether anything of it was seen."""
    real, seen = getattr(cls, method), []

    def call(self: Any, *given: Any) -> Any:
        left = real(self, *given)
        seen.append(left is not None)
        return left

    patch.setattr(cls, method, call)
    return seen


def check_program(on_device: bool, seen: list[bool], patch: pytest.MonkeyPatch) -> None:
    """A program whose function was edited for one run among others."""
    graph = random_graph(5, 34, 150)
    wanted = gpop.bfs(graph, 3).level
    for _ in range(3):
        assert np.array(hops_of(graph, on_device)[1].hops).tolist() == wanted.tolist()
    with patch.context() as edit:
        edit.setattr(Hops, "scatterFunc", twice_as_far)
        found = np.array(hops_of(graph, on_device)[1].hops)
    assert np.array_equal(found, np.where(wanted > 0, 2 * wanted, wanted))
    assert np.array(hops_of(graph, on_device)[1].hops).tolist() == wanted.tolist()
    assert {True, False} <= set(seen)


def check_app(seen: list[bool], patch: pytest.MonkeyPatch) -> None:
    """The same of an app."""

    def never(self, node):
        return False

    graph = random_graph(5, 34, 150)
    wanted = gpop.bfs(graph, 3).level
    for _ in range(3):
        assert np.array_equal(gpop.bfs(graph, 3, **GPU).level, wanted)
    with patch.context() as edit:
        edit.setattr(BFS, "needsFunc", never)
        edit.setattr(BFS, "filterFunc", never)
        assert gpop.bfs(graph, 3, **GPU).level.max() == 0
    for source in (3, 4):
        assert np.array_equal(gpop.bfs(graph, source, **GPU).level, gpop.bfs(graph, source).level)
    assert {True, False} <= set(seen)


def check_interrupted(patch: pytest.MonkeyPatch) -> None:
    """What fails while the device works leaves it done: it would write where the next run begins."""
    graph = random_graph(5, 34, 150)
    wanted = gpop.bfs(graph, 3).level
    for _ in range(2):
        gpop.bfs(graph, 3, **GPU)
    runtime, waits = cupy().cuda.runtime, []
    patch.setattr(runtime, "streamSynchronize", waits.append)

    def interrupted(attributes):
        assert not waits
        raise KeyboardInterrupt

    with patch.context() as failing, pytest.raises(KeyboardInterrupt):
        failing.setattr(BFSResult, "_of_both", interrupted)
        gpop.bfs(graph, 3, **GPU)
    assert len(waits) == 1
    assert np.array_equal(gpop.bfs(graph, 3, **GPU).level, wanted)
