"""Every app on graphs large enough for several threads to take part: right, and the same every time.

Small frontiers run on the calling thread, so the small graphs of test_all_apps.py do not show this.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import gpop
from gpop.apps import bfs, cc, heat_kernel, nibble, pagerank, pagerank_nibble, sssp
from gpop.generate import generate
from gpop.graph.graph import Graph

QUICK = {"mode": "auto", "threads": 4, "partition_size": 256}


@cache
def rmat() -> Graph:
    return generate("rmat", scale=12, degree=16, seed=1, weights=(1, 255))


@cache
def road() -> Graph:
    return generate("road", width=80, height=80, seed=1)


@pytest.mark.parametrize("mode", ["sc", "pc", "auto"])
@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("graph", [rmat, road], ids=["rmat", "road"])
def test_right(graph, mode, threads):
    graph, setting = graph(), {"mode": mode, "threads": threads}
    source = int(np.argmax(graph.out_degree))
    assert bfs.verify(graph, gpop.bfs(graph, source, **setting), source) is None
    assert pagerank.verify(graph, gpop.pagerank(graph, iterations=10, **setting)) is None
    assert nibble.verify(graph, gpop.nibble(graph, source, **setting), source) is None
    assert heat_kernel.verify(graph, gpop.heat_kernel(graph, source, **setting), source) is None
    assert pagerank_nibble.verify(graph, gpop.pagerank_nibble(graph, source, **setting), source) is None
    for interleave in (False, True):
        setting["interleave"] = interleave
        assert sssp.verify(graph, gpop.sssp(graph, source, **setting), source) is None
        assert cc.verify(graph, gpop.connected_components(graph, **setting)) is None


ANSWERS = {
    "bfs": lambda graph, setting: gpop.bfs(graph, 0, **setting).parent,
    "sssp": lambda graph, setting: gpop.sssp(graph, 0, interleave=False, **setting).distance,
    "components": lambda graph, setting: gpop.connected_components(graph, interleave=False, **setting).label,
    "pagerank": lambda graph, setting: gpop.pagerank(graph, iterations=5, **setting).rank,
    "nibble": lambda graph, setting: gpop.nibble(graph, 0, **setting).probability,
    "heat kernel": lambda graph, setting: gpop.heat_kernel(graph, 0, **setting).probability,
    "pagerank nibble": lambda graph, setting: gpop.pagerank_nibble(graph, 0, **setting).probability,
}


@pytest.mark.parametrize("app", ANSWERS)
@pytest.mark.parametrize("mode", ["sc", "pc", "auto"])
def test_bulk_synchronous_runs_are_bitwise_repeatable(app, mode):
    setting = {"mode": mode, "partition_size": 256}
    first = ANSWERS[app](rmat(), {**setting, "threads": 1}).tobytes()
    for threads in (1, 2, 4):
        for _ in range(5):
            assert ANSWERS[app](rmat(), {**setting, "threads": threads}).tobytes() == first, threads


INTERLEAVED = {
    "sssp": lambda **setting: gpop.sssp(rmat(), 0, interleave=True, **setting),
    "components": lambda **setting: gpop.connected_components(rmat(), interleave=True, **setting),
}


@pytest.mark.parametrize("app", INTERLEAVED)
def test_interleaved_runs_reach_the_same_answer(app):
    first = ANSWERS[app](rmat(), QUICK).tobytes()
    for _ in range(20):
        result = INTERLEAVED[app](**QUICK)
        assert (result.distance if app == "sssp" else result.label).tobytes() == first
        assert result.run.interleave


def test_interleaving_saves_iterations():
    together, apart = (gpop.connected_components(road(), interleave=each).run for each in (True, False))
    assert together.iterations < apart.iterations
