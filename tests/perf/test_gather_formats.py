"""``perf gather-formats``: bytes and lanes are those of the layouts; answers of all steps agree."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.gpu import calibrate
from gpop.layout.hyb import build_hyb, shape_of
from perf import gather_formats
from perf.gather_formats import formats, lanes_alone, lanes_of_hyb, main, print_steps
from tests.gpu.emulator import emulated
from tests.programs import random_graph


def test_bytes_are_those_of_the_arrays():
    graph = random_graph(3, 300, 3000)
    listed, found = graph.reverse(), formats(graph)
    csr = (listed.indptr.nbytes + listed.indices.nbytes) / graph.m
    assert found["CSR"].layout == found[gather_formats.SHARED].layout == csr
    held = sum(array.nbytes for array in build_hyb(listed, 1) if isinstance(array, np.ndarray))
    assert found["HYB"].layout == held / graph.m
    assert 2 < found["bins"].layout < csr
    # what is read of HYB is what there is of it; then a message is kept and read for every edge
    shape, n, m = shape_of(listed), graph.n, graph.m
    assert found["HYB"].moved == pytest.approx((4 * (n + n * shape.width + 2 * shape.entries) + 4 * m) / m)


def test_lanes_by_brute_force():
    degrees = np.random.default_rng(2).integers(0, 20, 75)
    taken = sum(32 * max(degrees[first : first + 32]) for first in range(0, 75, 32))
    assert lanes_alone(degrees) == degrees.sum() / taken
    graph = gpop.Graph.from_edges(np.repeat(np.arange(75), degrees), np.zeros(degrees.sum(), int), n=75)
    shape = shape_of(graph)
    slots = 3 * 32 * shape.width + 32 * sum(-(-len(chunk) // 32) for chunk in [range(shape.entries)])
    assert lanes_of_hyb(75, graph.m, shape) == graph.m / slots


def test_a_table_without_a_gpu(capsys, monkeypatch):
    def none():
        raise gpop.UsageError("there is none")

    monkeypatch.setattr(gather_formats, "cupy", none)
    assert main(["rmat:scale=7"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "no times: there is none" in lines
    assert sum(line.startswith(tuple(gather_formats.MODES)) for line in lines) >= 5
    assert main(["rmat:scale=7", "--rounds", "0"]) == 2
    assert "--rounds 0: expected 1 or more" in capsys.readouterr().err


@pytest.mark.slow
def test_steps_have_one_answer(capsys, monkeypatch):
    monkeypatch.setattr(calibrate, "device_ratio", lambda engine: 1.0)  # nothing to measure on the emulator
    with emulated():
        same, gains = print_steps(random_graph(3, 90, 500, weights=True), 1, 1, "gpu", {("bfs", "HYB"): 0.5})
    assert same and gains.keys() == {"bfs", "sssp", "pagerank"}
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 4 + 3 + 3 + 3
    assert "lanes at work: HYB 50.0% (the paper: 86 to 99.9 %)" in lines[-3]
    assert [line.split()[-1] for line in lines[1:5]].count("50.0%") == 1
    assert "another" not in "".join(lines)
