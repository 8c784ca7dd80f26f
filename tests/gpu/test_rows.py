"""Rows (kernels/rows.cuh): one phase an iteration gives what plain Python does, where it pays."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.gpu import choices, engine, limits
from gpop.gpu.choices import traits_of
from gpop.gpu.preparing import emitted_of
from gpop.model import choosers
from gpop.model.models import MODELS
from gpop.plan.plan import decide
from tests.gpu.cases import CASES, Case, check, in_plain_python
from tests.gpu.emulator import emulated
from tests.programs import Rank
from tests.quick import slow


class Nearest(gpop.Program):
    """A minimum over weighted in-edges, begun anew in each iteration; which one it is, scatter knows, too.

    Who does something twice in an iteration has done so more often than there were iterations.
    """

    low = gpop.VertexField(np.uint32, 9)
    begun = gpop.VertexField(np.uint8)
    ended = gpop.VertexField(np.uint8)
    all_active = True
    combine = "min"

    def scatterFunc(self, node):
        return self.low[node] + np.uint32(self.iteration)

    def applyWeight(self, value, weight):
        return value + weight

    def initFunc(self, node):
        self.low[node] = 1000 + node
        self.begun[node] += 1
        return True

    def gatherFunc(self, value, node):
        self.low[node] = min(self.low[node], value)
        return True

    def filterFunc(self, node):
        self.ended[node] += 1
        return True


FEW, MANY = 100, 400
"""Vertices: fewer and more than the rows that the emulator's warp takes at once by a thread each."""


def uneven(n=MANY):
    """Rows of no edge, of a few, of more than a thread walks alone, and of more than a warp does."""
    rng = np.random.default_rng(3)
    heads = np.repeat([7, 8, n - 1], [limits.HUB + 40, 45, limits.HUB + 1])
    heads = np.concatenate([heads, rng.integers(0, n // 2, 900)])
    assert not np.bincount(heads, minlength=n).all()
    tails = rng.integers(0, n, heads.size)
    return gpop.Graph.from_edges(tails, heads, rng.integers(1, 90, heads.size).astype(np.uint32), n=n)


def long_rows(n=FEW):
    """Rows that a warp walks alone, more of them than it looks up at once."""
    rng = np.random.default_rng(4)
    heads = np.repeat(np.arange(n), rng.integers(limits.LONG_ROW + 1, 2 * limits.LONG_ROW, n))
    tails = rng.integers(0, n, heads.size)
    return gpop.Graph.from_edges(tails, heads, rng.integers(1, 90, heads.size).astype(np.uint32), n=n)


def strategies(graph, mode="auto", **options):
    plan = decide(Rank(graph) if options.get("plain") else CASES["RankCombined"].cls(graph), target="gpu",
                  mode=mode, model=options.get("model", MODELS[0]),
                  partition_size=options.get("partition_size"))  # fmt: skip
    return [strategy.name for strategy in traits_of(plan, emitted_of(plan), None).strategies]


@pytest.mark.parametrize("graph", [uneven(FEW), uneven(MANY), long_rows()], ids=["lanes", "threads", "warps"])
@pytest.mark.parametrize(
    "case",
    slow([Case(Nearest, iterations=3), CASES["Countdown"], CASES["RankCombined"]], *CASES.values()),
    ids=lambda case: case.cls.__name__,
)
def test_iterations_of_one_phase_are_those_of_plain_python(case, graph):
    with emulated():
        run = check(case, graph, in_plain_python(case, graph), "pull", 64, "declared")
    assert run.trace.column("partitions_pull").all()


@pytest.mark.slow
def test_sums_are_the_same_every_time_and_true_at_hubs():
    graph = uneven()
    with emulated():
        ranks = [gpop.pagerank(graph, iterations=4, target="gpu", mode="pull").rank for _ in range(2)]
    assert np.array_equal(*ranks)
    exact = gpop.pagerank(graph, iterations=4, dtype=np.float64).rank
    np.testing.assert_allclose(ranks[0], exact, rtol=1e-6)


@pytest.mark.parametrize("name, value, expected", [("SLICE_NS", 1, 5), ("most_rows", 2, 3)])
def test_what_ends_a_launch_ends_no_run(name, value, expected, monkeypatch):
    """A time slice, or a full trace: the next launch scatters anew and goes on."""
    launch, launches = engine.GpuEngine._launch_of_now, []

    def counted(self, *arguments, **named):
        launches.append(name)
        return launch(self, *arguments, **named)

    with emulated():
        whole = gpop.pagerank(uneven(FEW), iterations=5, target="gpu", mode="pull")
        monkeypatch.setattr(engine if name == "SLICE_NS" else engine.GpuEngine, name, value)
        monkeypatch.setattr(engine.GpuEngine, "_launch_of_now", counted)
        cut = gpop.pagerank(uneven(FEW), iterations=5, target="gpu", mode="pull")
    assert np.array_equal(whole.rank, cut.rank) and len(cut.trace) == 5
    assert len(launches) == expected
    assert list(cut.trace.column("iteration")) == list(range(5))


@pytest.mark.gpu
@pytest.mark.parametrize("n", [FEW, 5000, 600_000])
def test_on_a_device(n, monkeypatch):
    """Of many blocks: by lanes, and by a thread each; however the run is cut into launches."""
    graph = uneven(n)
    exact = gpop.pagerank(graph, iterations=20, dtype=np.float64).rank
    whole = gpop.pagerank(graph, iterations=20, target="gpu", mode="pull").rank
    monkeypatch.setattr(engine, "SLICE_NS", 1)
    cut = gpop.pagerank(uneven(n), iterations=20, target="gpu", mode="pull").rank
    assert np.array_equal(cut, whole)
    np.testing.assert_allclose(whole, exact, rtol=1e-5)


@pytest.mark.slow
def test_what_a_callback_sets_is_heard():
    """Values are scattered anew where fields may have changed."""
    graph = uneven()
    with emulated():
        found = gpop.pagerank(graph, target="gpu", mode="pull", dangling="uniform")
    correct = gpop.pagerank(graph, dangling="uniform")
    assert found.iterations == correct.iterations
    np.testing.assert_allclose(found.rank, correct.rank, rtol=1e-5)


def test_taken_where_values_are_few_or_near_and_no_row_is_long(monkeypatch):
    grid = generate("grid", width=200, height=200)
    far = generate("uniform", scale=17, degree=12, seed=1)
    with emulated():
        assert strategies(grid) == ["rows"]
        assert strategies(far) == ["rows"] and strategies(uneven()) == ["rows"]
        assert strategies(far, partition_size=1 << 12) == ["bins-combined"]
        assert strategies(grid, "pc") == ["bins-combined"]
        assert strategies(grid, model=MODELS[1]) == ["bins-combined"]
        assert strategies(grid, plain=True) == ["bins"]
        assert strategies(grid, "pull", plain=True) == ["owner"]
        near = long_rows()
        monkeypatch.setattr(choosers, "MOST_EDGES_IN_ROWS", near.m - 1)
        assert strategies(near) == ["rows"] and strategies(far) == ["bins-combined"]
        monkeypatch.setattr(choosers, "MOST_EDGES_IN_NEAR_ROWS", near.m - 1)
        assert strategies(near) == ["bins-combined"]
        monkeypatch.setattr(choosers, "MOST_IN_ROWS", 0)
        assert strategies(grid) == ["rows"] and strategies(far, "pull") == ["rows"]
        assert strategies(far) == ["bins-combined"]


@pytest.mark.slow
def test_only_in_edges_are_on_the_device(monkeypatch):
    graph = generate("grid", width=50, height=40)  # too many for one block
    monkeypatch.setattr(choices, "prefers_rows", lambda *given: True)
    with emulated():
        gpop.pagerank(graph, iterations=1, target="gpu")
        (layout,) = [entry.value for entry in graph.store._entries.values() if hasattr(entry.value, "arrays")]
        assert set(layout.arrays) == {
            "indptr",
            "indices",
            "in_indptr",
            "in_indices",
            "hub_vertex",
            "long_vertex",
            "hub_first",
            "hub_of",
        }
