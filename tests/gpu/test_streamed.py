"""Runs whose edges are streamed, on the emulator: answers, the budget, which pages are on the device."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.gpu import calibrate, kernel
from gpop.gpu.streamed_graph import away_between, heat_of_pages
from gpop.layout.bins import build_bins
from tests.gpu.cases import CASES, expected, graph_of, started
from tests.gpu.emulator import emulated
from tests.quick import quick

PAGE = 1024
"""Bytes: the small graphs of the tests have many pages, too."""


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(kernel, "PAGE_BYTES", PAGE)
    monkeypatch.setattr(calibrate, "link_cost", lambda engine: 40.0)
    with emulated():
        yield
    for kind in ("small", "big"):
        graph_of(kind).drop("device")
        graph_of(kind).drop("pinned")


def streamed(name, kind="big", mode="auto", memory="1MB", **options):
    case, graph = CASES[name], graph_of(kind)
    program = started(case, graph)
    run = gpop.run(
        program, case.frontier, iterations=case.iterations, mode=mode, ratio=1.0, partition_size=32,
        target="gpu", residency="stream", device_memory=memory, **options,
    )  # fmt: skip
    return program, run


def check_streamed(name, mode, memory):
    case, (correct, said) = CASES[name], expected(name, "big")
    program, run = streamed(name, mode=mode, memory=memory)
    for field in case.fields or case.cls.vertex_fields():
        ours, theirs = getattr(program, field), getattr(correct, field)
        if case.exact:
            np.testing.assert_array_equal(ours, theirs, err_msg=f"{field} of {name} {mode}")
        else:
            np.testing.assert_allclose(
                ours, theirs, rtol=1e-5, atol=1e-9, err_msg=f"{field} of {name} {mode}"
            )
    assert (run.iterations, run.converged) == (said["iterations"], said["converged"])
    return run


@pytest.mark.parametrize("name", ["Smallest"])
@pytest.mark.parametrize("mode", ["sc"])
def test_answers(name, mode):
    run = check_streamed(name, mode, "1MB")
    print(run.trace.summary)
