"""``perf gpu-calls``: the calls do what they say, and are held to their bars."""

from __future__ import annotations

import numpy as np
import pytest

from gpop.generate import generate
from gpop.gpu import exchange
from perf import gpu_calls
from perf.__main__ import main
from tests.gpu.emulator import emulated


def test_calls_answer_and_are_timed(monkeypatch):
    monkeypatch.setattr(exchange, "SMALL", 0)
    graph = generate("rmat", scale=6, symmetrize=True)
    with emulated():
        calls = gpu_calls.calls_on(graph, 0)
        found = gpu_calls.measured(calls, 1)
        fill, on_arrays = calls["arrays"]
        fill()
        assert on_arrays().iterations == calls["bfs"][1]().run.iterations
    assert list(found) == ["bfs", "program", "arrays", "sssp", "pagerank", "cc"]
    for loop, call, look in found.values():
        assert call > 0 <= look and loop >= 0


@pytest.mark.parametrize(
    ("name", "edges", "call", "says"),
    [("bfs", 1 << 26, 1.5, "met"), ("arrays", 1 << 26, 1.5, "missed"), ("bfs", 78, 1.00006, "met")],
)
def test_bars(name, edges, call, says):
    assert gpu_calls.row(name, edges, 1.0, call, 0.0).endswith(says)


def test_bad_arguments_are_refused(capsys):
    assert main(["gpu-calls", "no_such_file.bin"]) == 2
    assert np.char.count(capsys.readouterr().err, "\n") == 1
