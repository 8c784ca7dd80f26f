"""Plans of blocks: threads have equal work, and blocks are expected to gain where they do."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.layout import edge_block_plan as module
from gpop.layout.edge_block_kernels import FIRST, FOURS
from gpop.layout.edge_block_plan import VERTEX_WORK, plan_blocks
from gpop.layout.edge_blocks import Blocks, build_blocks


def layout_for(graph: gpop.Graph, threads: int, far: bool) -> Blocks:
    """Units for so many threads, 4 turns each; none is cut by its width."""
    most = (graph.m + VERTEX_WORK * graph.n) // (4 * threads)
    return build_blocks(graph, plan_blocks(graph, 17, 10 if far else 16, most, threads=1), threads=1)


def work_of_units(graph: gpop.Graph, layout: Blocks, far: bool) -> np.ndarray:
    """Of each unit, counted in the layout."""
    pieces = layout.blocks[:, FOURS:].sum(axis=1)
    of_blocks = zip(layout.blocks[:, FIRST], pieces, strict=True)
    runs = [np.unique(layout.targets[first : first + count]).size for first, count in of_blocks]
    edges = np.diff(layout.blocks[:, FIRST], append=graph.m)
    work = np.add.reduceat(edges + (module.RUN_WORK if far else 0) * np.array(runs), layout.first_block[:-1])
    return work * (graph.m / work.sum()) + VERTEX_WORK * np.diff(layout.bounds)


def hubs_side_by_side() -> gpop.Graph:
    """A graph of 60,000 vertices, 40 neighbours among which have a fifth of all in-edges."""
    rng = np.random.default_rng(1)
    tails, heads = rng.integers(0, 60_000, (2, 400_000))
    heads[:80_000] = rng.integers(1000, 1040, 80_000)
    return gpop.Graph.from_edges(tails, heads, n=60_000)


GRAPHS = {
    "hubs anywhere": lambda: generate("rmat", scale=14, seed=2, permute=True),
    "hubs first": lambda: generate("rmat", scale=14, seed=2),
    "hubs side by side": hubs_side_by_side,
    "road": lambda: generate("road", width=300, height=200, seed=1),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("threads", [2, 16])
@pytest.mark.parametrize("far", [False, True])
def test_units_have_about_equal_work(name, threads, far, monkeypatch):
    """Where values are far, a run of edges into one vertex is work, too, and the last units are small."""
    monkeypatch.setattr(module, "FAR_BYTES", 0 if far else 1 << 40)
    graph = GRAPHS[name]()
    work = work_of_units(graph, layout_for(graph, threads, far), far)
    ends, each = np.cumsum(work), work.sum() / (4 * threads)
    last = ends - work > work.sum() * (1 - 1 / module.LAST)
    assert len(work[~last]) <= 4 * threads, "a thread would have a turn more than others"
    assert work.max() <= 1.2 * each
    if far:
        assert work[last].max() <= 1.5 * each / module.FINER
        assert last.sum() >= threads / 2 * module.FINER / 2


def test_the_heaviest_units_are_first_where_values_are_far(monkeypatch):
    graph = GRAPHS["hubs first"]()
    monkeypatch.setattr(module, "FAR_BYTES", 0)
    layout = layout_for(graph, 4, far=True)
    work = work_of_units(graph, layout, far=True)[layout.heaviest]
    assert work.size == layout.k > 16 and np.unique(layout.heaviest).size == layout.k
    assert (work[1:] < 1.1 * work[:-1]).all() and work[-1] < work[0] / 3
    monkeypatch.setattr(module, "FAR_BYTES", 1 << 40)
    assert layout_for(graph, 4, far=False).heaviest.size == 0


def test_expected_to_gain_where_it_does():
    random = generate("uniform", scale=18, degree=16, seed=1)
    spread = plan_blocks(random, 17, 12, random.m, threads=2)
    assert spread.gain(threads=2) > 0.2  # a message for most edges, and full blocks
    assert spread._replace(messages=spread.messages // 10).gain(threads=2) < 0.2  # few messages
    hubs = generate("rmat", scale=16, seed=1)
    plan = plan_blocks(hubs, 13, 10, hubs.m // 64, threads=2)
    assert plan.heaviest > 0.7 and plan.gain(threads=1) < 0.2 and plan.gain(threads=16) > 1
    thin = spread._replace(edges=spread.edges // 100, messages=spread.messages // 100)
    assert thin.gain(threads=2) < 0  # a cache line for each edge
    vertices = np.zeros((module.FAR_VERTICES >> spread.source_bits, 1), np.int64)
    vertices[0] = random.m
    near, far = spread._replace(edges=vertices), spread._replace(edges=np.append(vertices, [[0]], axis=0))
    lost = module.COSTS.pull_value * spread.values_read / random.m  # what is read again is in no cache
    assert near.gain(threads=2) - far.gain(threads=2) == pytest.approx(lost * (module.FAR_VALUE - 1))


def test_where_values_are_at_hand_many_small_units_make_no_block_sparse():
    """On 16 threads a unit of a small graph has fewer edges than a source block could have cache lines."""
    small, large = generate("uniform", scale=13, degree=12), generate("uniform", scale=20, degree=1)
    plans = [plan_blocks(graph, 16, 16, graph.m // 64, threads=2) for graph in (small, large)]
    assert plans[0].edges.max() < 4096 and plans[0].sparse == 0
    assert plans[0].gain(16) > 0
    assert plans[1].sparse == large.m


def test_no_unit_reads_more_values_than_there_are():
    """On 7,000 vertices and 104,000 votes each edge counted as a value that is read, and PC was taken."""
    graph = generate("uniform", scale=10, degree=64)
    plan = plan_blocks(graph, 16, 9, graph.m // 8, threads=1)
    units = len(plan.units) - 1
    assert plan.values_read == units * graph.n < graph.m
    whole = plan_blocks(graph, 16, 16, graph.m // 8, threads=1)
    assert whole.values_read == plan.values_read
