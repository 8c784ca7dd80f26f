"""Streamed edges on a device: pages that lie in pinned memory, the pool's limit, and the link's cost."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.gpu import calibrate, limits
from tests.gpu.asking import only_pages
from tests.gpu.cases import CASES, check, expected, graph_of
from tests.gpu.test_streamed import PLENTY, SIZE, half, stream_with

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize(
    "name, mode",
    [("Smallest", "auto"), ("WeightedSumsCombined", "pc"), ("MarkedSums", "auto"), ("Changes", "sc")],
)
def test_answers_are_those_of_a_run_in_memory(name, mode, monkeypatch):
    monkeypatch.setattr(limits, "PAGE_BYTES", 1024)
    monkeypatch.setattr(calibrate, "link_cost", lambda engine: 40.0)
    only_pages(monkeypatch)
    wanted, graph = expected(name, "big"), graph_of("big")
    stream_with(monkeypatch, PLENTY)
    link = check(CASES[name], graph, wanted, mode, SIZE, "declared").trace.summary["link"]
    assert link["away_bytes"] == 0
    for _ in range(2):  # the second run finds its pages
        stream_with(monkeypatch, half(link) + 300_000 * (name == "MarkedSums"))
        run = check(CASES[name], graph, wanted, mode, SIZE, "declared")
        partly = run.trace.summary["link"]
        assert partly["peak_bytes"] <= partly["budget"]
        assert name == "MarkedSums" or partly["away_bytes"] > 0


def test_a_budget_is_kept_and_too_small_a_one_refused():
    graph = generate("rmat", scale=16, degree=16, seed=1, symmetrize=True)
    wanted = gpop.bfs(graph, 1)
    for budget in (3_000_000, 6_000_000, 20_000_000):
        found = gpop.bfs(graph, 1, target="gpu", residency="stream", device_memory=budget)
        assert np.array_equal(found.level, wanted.level)
        link = found.trace.summary["link"]
        assert link["peak_bytes"] <= budget == link["budget"]
    assert gpop.bfs(graph, 1, target="gpu", device_memory=3_000_000).trace.summary["residency"] == "stream"
    with pytest.raises(gpop.NotEnoughMemory, match="of device memory without its edges"):
        gpop.bfs(graph, 1, target="gpu", residency="stream", device_memory=300_000)
    with pytest.raises(gpop.NotEnoughMemory, match="of device memory, 3.0 MB are given"):
        gpop.bfs(graph, 1, target="gpu", residency="device", device_memory=3_000_000)
