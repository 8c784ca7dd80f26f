"""Runs whose edges are streamed, on the emulator: answers, the budget, what comes over the link."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

import gpop
from gpop.gpu import calibrate, device_graph, engine, kernel
from gpop.gpu import streaming as streaming_module
from gpop.gpu.streamed_graph import StreamedGraph, away_between, heat_of_pages
from gpop.graph.kept import Kind
from tests.gpu.cases import CASES, check, expected, graph_of
from tests.gpu.emulator import Module, emulated
from tests.quick import quick

PAGE = 1024
"""Bytes: the small graphs of the tests have many pages, too."""

SIZE = 256
PLENTY = 10_000_000


gpop_run = gpop.run


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(kernel, "PAGE_BYTES", PAGE)
    monkeypatch.setattr(calibrate, "link_cost", lambda engine: 40.0)
    monkeypatch.setattr(device_graph, "COUNTED_EDGES", 1024)


def streaming(patch, budget):
    """``target="gpu"`` streams; the callers of `gpop.run` know nothing of it."""
    run, options = gpop_run, {"residency": "stream", "device_memory": budget}
    patch.setattr(gpop, "run", lambda *given, **asked: run(*given, **asked, **options))


def half(link):
    """The budget with which half of the pages stay away, of a run that had room for all."""
    return (link["peak_bytes"] - link["resident_bytes"] // 2 + streaming_module.SLACK) * 64 // 63 + 1024


# Minima and sums that are folded, marks, owners of two fields, weights, needy vertices, no frontier.
PROGRAMS = ("Smallest", "MarkedSums", "Changes", "WeightedSumsCombined", "Distance", "Colours", "Countdown")


def ways():
    for name in PROGRAMS:
        for mode in ("sc", "pc", "auto", "pull"):
            kept = (name, mode) in (("Smallest", "auto"), ("WeightedSumsCombined", "pc"), ("Changes", "sc"))
            yield pytest.param(name, mode, marks=[] if kept else pytest.mark.slow)


@pytest.mark.parametrize("name, mode", [*ways()])
def test_answers_are_those_of_a_run_in_memory(name, mode, monkeypatch):
    """With room for all edges, and for half of them; nothing is allocated beyond the budget."""
    wanted, links, graph = expected(name, "big"), [], graph_of("big")
    with emulated():
        for budget in (PLENTY, None):
            streaming(monkeypatch, budget or half(links[0]))
            run = check(CASES[name], graph, wanted, mode, SIZE, "declared")
            links.append(run.trace.summary["link"])
    whole, partly = links
    assert sum(whole["bytes"]) == whole["away_bytes"] == 0
    assert set(whole["hits"]) == {1.0}
    assert len(partly["bytes"]) == len(partly["hits"]) == run.iterations
    assert 0.2 < partly["away_bytes"] / whole["resident_bytes"] < 0.8
    assert sum(partly["bytes"]) > 0
    assert partly["peak_bytes"] <= partly["budget"]
    assert partly["peak_bytes"] < whole["peak_bytes"]
    graph.drop("device")
    graph.drop("pinned")
