"""Who counts the next frontier together (`AGGREGATIONS`): as many global atomics as that takes."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.gpu import again, engine, kernel, prepared
from gpop.model.asked import AGGREGATIONS
from tests.gpu.cases import CASES, started
from tests.gpu.emulator import emulated
from tests.programs import random_graph
from tests.quick import quick

ADDED = "atomicAdd((uint64*)&control->head.next_frontier, vertices);"
CASE, GRAPH = CASES["Colours"], random_graph(21, 90, 400, weights=True)


def atomics(mode, monkeypatch):
    """Of one iteration: additions to the number of active vertices, and those vertices."""
    counted = []

    def compile_kernel(source):
        assert source.count(ADDED) == 1
        return kernel.compile_kernel(source.replace(ADDED, f"{ADDED} control->head.waiting += 1;"))

    class Watching(engine.GpuEngine):
        def iterate(self):
            records = super().iterate()
            counted.append(int(self.control["waiting"]))
            return records

    monkeypatch.setattr(again, "RestingEngine", Watching)
    monkeypatch.setattr(prepared, "compile_kernel", compile_kernel)
    with emulated():
        run = gpop.run(
            started(CASE, GRAPH), CASE.frontier, iterations=1, mode=mode, target="gpu", partition_size=32
        )
    return counted[-1], run.frontier


@pytest.mark.parametrize("how", quick(AGGREGATIONS, "bulk"))
def test_counters_of_the_next_frontier(how, monkeypatch):
    """On one block of one warp; a thread of the masked form has every 32nd vertex."""
    additions, frontier = atomics(f"vertex-push/masked/{how}", monkeypatch)
    lanes = np.unique(frontier % 32).size
    assert len(frontier) > lanes > 1
    assert additions == {"each": len(frontier), "bulk": lanes, "warp": 1, "block": 1}[how]
