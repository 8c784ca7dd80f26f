"""HYB as a strategy (kernels/hyb.cuh): y = A x is SciPy's, and rows of several chunks are whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.gpu import engine
from gpop.gpu.hyb_arrays import ARRAYS, COO_CHUNK
from gpop.layout.hyb import shape_of
from gpop.plan.plan import decide
from tests.gpu.cases import CASES, Case, check, in_plain_python, started
from tests.gpu.emulator import emulated
from tests.programs import random_graph


class Product(gpop.Program):
    """y = A x, once; A's row is a vertex's in-edges."""

    x = gpop.VertexField(np.float64)
    y = gpop.VertexField(np.float64)
    all_active = True
    combine = "add"

    def scatterFunc(self, node):
        return self.x[node]

    def applyWeight(self, value, weight):
        return value * weight

    def gatherFunc(self, value, node):
        self.y[node] += value
        return True


class Latest(gpop.Program):
    """What a vertex heard last: messages must be taken in the order of their sources."""

    heard = gpop.VertexField(np.uint32)

    def scatterFunc(self, node):
        return node + np.uint32(1)

    def gatherFunc(self, value, node):
        self.heard[node] = self.heard[node] * np.uint32(31) + value
        return True


def with_hubs():
    """Two vertices with the in-edges of more than two chunks each, which share some with others."""
    rng = np.random.default_rng(8)
    n, hubs = 700, np.repeat([5, 650], COO_CHUNK * 2 + 300)
    tails = np.concatenate([rng.integers(0, n, hubs.size), rng.integers(0, n, 3000)])
    heads = np.concatenate([hubs, rng.integers(0, n, 3000)])
    return gpop.Graph.from_edges(tails, heads, rng.integers(1, 90, tails.size).astype(np.uint32), n=n)


GRAPHS = {
    "hubs": with_hubs(),
    "skewed": generate("rmat", seed=4, scale=7, degree=9, weights=(1, 50)),
    "few edges": gpop.Graph.from_edges([3, 9, 9], [70, 70, 2], np.array([2, 5, 7], np.uint32), n=99),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_product_is_that_of_scipy(name):
    graph = GRAPHS[name]
    program = Product(graph)
    program.x = np.random.default_rng(2).random(graph.n)
    with emulated():
        run = gpop.run(program, iterations=1, mode="hyb", target="gpu", partition_size=64)
    assert (run.mode, run.trace.column("partitions_pull").sum()) == ("hyb", -(-graph.n // 64))
    theirs = graph.to_scipy().T @ program.x
    np.testing.assert_allclose(program.y, theirs, rtol=1e-12)


@pytest.mark.parametrize(
    "case",
    [
        CASES["DistanceCombined"],
        CASES["WeightedSumsCombined"],
        Case(Latest, frontier=(1, 3, 5, 650), iterations=2),
    ],
    ids=lambda case: case.cls.__name__,
)
def test_rows_of_several_chunks(case):
    graph = GRAPHS["hubs"]
    assert shape_of(graph.reverse()).entries > 4 * COO_CHUNK
    with emulated():
        check(case, graph, in_plain_python(case, graph), "hyb", 64, "declared")


def test_only_what_it_reads_is_on_the_device_and_predicted():
    graph, case = random_graph(6, 70, 300, weights=True), CASES["DistanceCombined"]
    with emulated():
        plan = decide(started(case, graph), target="gpu", mode="hyb", partition_size=32)
        made = engine.GpuEngine(plan)
        made.prepare()
        assert set(made.layout.arrays) == {"indptr", *ARRAYS}
        for name in ARRAYS:
            assert made.layout.arrays[name].nbytes == made.layout._size(name), name


def test_nothing_is_atomic():
    """A row is written by its thread, or by the warp that takes what it has in COO."""
    text = (Path(engine.__file__).parent / "kernels/hyb.cuh").read_text()
    code = "\n".join(line.split("//")[0] for line in text.splitlines())
    assert "gatherFunc" in code and "atomic" not in code.lower()
