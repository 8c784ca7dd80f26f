"""Workload models: their totals and differences as printed, counting agrees, and the report says both."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from perf.__main__ import main
from perf.algorithms import ALGORITHMS
from perf.workload import MODELS, Linear, Work, chosen, kernel_of, model_named, total
from perf.workload.pseudocode import Counting, counted
from tests.perf.paper_store import fill

WARP = Fraction(1, 32)
TOTALS = {  # E-26, T-121, T-127: (reads, writes, atomics), each of (vertices, edges)
    "Euro-Par 2015": {
        "push": ((5, 0), (2, 0), (1, 1)),
        "pull": ((2, 3), (3, 0), (1, 0)),
        "nodiv": ((4, 1), (3, 0), (1, 0)),
        "edge": ((2, 3), (2, 0), (1, 1)),
    },
    "thesis, abstract": {
        "edge": ((2, 4), (2, 0), (1, 1)),
        "push": ((4, 0), (2, 0), (1, 1)),
        "pull": ((2, 2), (3, 0), (1, 0)),
        "nodiv": ((3, 1), (3, 0), (1, 0)),
    },
    "thesis, concrete": {
        "edge": ((2, 7), (2, 0), (WARP, 1)),
        "push": ((8, 1), (2, 0), (WARP, 1)),
        "pull": ((7, 3), (3, 0), (WARP, 0)),
        "nodiv": ((8, 2), (3, 0), (WARP, 0)),
    },
}


@pytest.mark.parametrize("name", MODELS)
def test_totals_are_those_of_the_papers(name):
    model = model_named(name)
    for kernel, parts in TOTALS[name].items():
        assert total(model, kernel) == Work(*(Linear(*part) for part in parts)), kernel


def test_differences_are_those_of_the_papers():
    first = model_named("Euro-Par 2015")
    reads = {kernel: total(first, kernel).reads for kernel in first.KERNELS}
    assert reads["edge"] - reads["push"] == Linear(-3, 3)  # 3 (|E| - |V|): of push, not of pull
    assert reads["edge"] - reads["nodiv"] == Linear(-2, 2)
    assert reads["edge"] == reads["pull"]
    abstract, concrete = (model_named(f"thesis, {kind}") for kind in ("abstract", "concrete"))
    more = {"edge": Linear(0, 3), "push": Linear(4, 1), "pull": Linear(5, 1), "nodiv": Linear(5, 1)}
    for kernel, reads in more.items():
        fewer = Linear(Fraction(-31, 32))
        assert total(concrete, kernel) - total(abstract, kernel) == Work(reads, Linear(), fewer)


@pytest.mark.parametrize("name", MODELS)
def test_counting_finds_what_is_predicted(name):
    graphs = [generate("rmat", scale=5), generate("star", vertices=9)]
    graphs.append(gpop.Graph.from_edges([0, 0, 0], [0, 1, 1], n=4))
    model = model_named(name)
    for graph in graphs:
        for kernel in model.KERNELS:
            assert counted(model, kernel, graph) == total(model, kernel).of(graph.n, graph.m)


@pytest.mark.parametrize("kernel", ["edge", "push", "pull", "nodiv"])
def test_the_pseudocode_is_pagerank(kernel):
    graph = generate("rmat", scale=5)
    begin = np.full(graph.n, 1 / graph.n)
    if kernel == "nodiv":
        begin = begin / np.maximum(np.diff(graph.indptr), 1)
    counting = Counting(graph, begin)
    for iteration in range(3):
        getattr(counting, kernel)()
        counting.consolidate(divide=kernel == "nodiv" and iteration < 2)
    right = ALGORITHMS["pagerank"].right(graph, {"damping": 0.85, "iterations": 3})
    assert np.allclose(counting.rank, right)


def test_models_choose():
    assert chosen(model_named("thesis, concrete"), 1000, 100) == "edge"
    assert chosen(model_named("thesis, concrete"), 1000, 100_000) == "push"
    assert {kernel_of(name) for name in ("struct-edge-list", "reverse-struct-edge-list")} == {"edge"}


def test_the_report(tmp_path, capsys):
    fill(tmp_path / "gpu.db").close()
    assert main(["workload", "--store", str(tmp_path / "gpu.db"), "--out", str(tmp_path / "out.txt")]) == 0
    said = capsys.readouterr().out
    assert said == (tmp_path / "out.txt").read_text()
    assert " no |" not in said and said.count(" yes |") == 12
    assert "thesis, concrete: the edge list has the most operations on " in said
    assert main(["workload", "--store", str(tmp_path / "none.db")]) == 2
