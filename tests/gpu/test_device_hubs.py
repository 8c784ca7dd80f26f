"""Vertices with many in-edges: gathered by owners and through queues, in every mode, as the CPU does it."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.gpu import limits, preparing
from gpop.graph.graph import Graph
from tests.gpu.cases import CASES, MODES, Case, Sums, check, in_plain_python, run_device
from tests.gpu.hub_programs import Bytes, Counted, Degree, Enough, FiveCounted, Order
from tests.programs import Colours, Flag, Rumours

pytestmark = pytest.mark.gpu

LEAVES = 3000


def hub_graph(leaves: int = LEAVES) -> Graph:
    """Stars into vertices 0, 5 and 7, one back out of 0; many edges from 11 to 3."""
    spokes = np.arange(10, leaves)
    tails = [spokes, spokes[::2], np.zeros(leaves - 10, np.int64), spokes[::3], np.full(700, 11)]
    heads = [np.zeros_like(spokes), np.full(len(spokes[::2]), 7), spokes, np.full(len(spokes[::3]), 5),
             np.full(700, 3)]  # fmt: skip
    weights = np.random.default_rng(6).integers(1, 50, sum(map(len, tails))).astype(np.uint32)
    return Graph.from_edges(np.concatenate(tails), np.concatenate(heads), weights, n=leaves)


@pytest.fixture(scope="module")
def skewed():
    return generate("rmat", scale=13, degree=16, seed=5, weights=(1, 255))


HUBS = hub_graph()
SOME = tuple(range(0, LEAVES, 3))
NEW = {
    "Degree": Case(Degree, iterations=2),
    "Bytes": Case(Bytes, frontier=SOME, iterations=3),
    "Enough": Case(Enough, iterations=4),
}
OLD = {
    name: CASES[name]._replace(frontier=SOME, iterations=3) for name in ("Sums", "WeightedSums", "Rumours")
}
OLD |= {name: CASES[name] for name in ("Smallest", "Distance", "Changes", "SumsCombined")}


@pytest.mark.parametrize("name", [*NEW, *OLD])
def test_hubs(name):
    case = (NEW | OLD)[name]
    wanted = in_plain_python(case, HUBS)
    for mode in MODES:
        check(case, HUBS, wanted, mode, 256, "declared")


SWAPPED = ("Sums", "MarkedSums", "WeightedSums", "Letters", "Colours")
OWNED = ("Rumours", "Diary")


@pytest.mark.parametrize("name", SWAPPED + OWNED)
def test_many_small_hubs(name, monkeypatch):
    """Nearly every vertex is a hub, and block 0 alone takes small frontiers."""
    monkeypatch.setattr(limits, "HUB", 3)
    rng = np.random.default_rng(8)
    for n, m in ((90, 400), (3000, 30000)):
        if n > 90 and CASES[name].small_only:
            continue
        edges = rng.integers(0, n, (2, m))
        graph = Graph.from_edges(*edges, rng.integers(0, 50, m).astype(np.uint32), n=n)
        wanted = in_plain_python(CASES[name], graph)
        for mode in MODES:
            check(CASES[name], graph, wanted, mode, 32, "declared")


@pytest.mark.parametrize("hubs", [0, 1, 2])
def test_queues_that_do_not_fit(hubs, monkeypatch):
    """Hubs without a queue swap."""
    graph = hub_graph()  # a graph keeps what was laid out for it
    room = int(np.sort(np.bincount(graph.indices))[::-1][:hubs].sum()) * 8 + 7
    seen = []

    def shapes(*arguments):
        found = layouts(*arguments[:3], room)
        seen.append(found["called"][0])
        return found

    layouts = preparing.queue_shapes
    monkeypatch.setattr(preparing, "queue_shapes", shapes)
    wanted = in_plain_python(OLD["Sums"], graph)
    for mode in ("sc", "pc"):
        check(OLD["Sums"], graph, wanted, mode, 256, "declared")
    assert seen == [hubs, hubs]


@pytest.mark.parametrize("mode", MODES)
def test_skewed_graph_in_the_order_of_the_cpu(skewed, mode):
    """Owners take in-edges in ascending order: two fields of float32 end with the CPU's bits."""
    on_cpu, on_gpu = Order(skewed), Order(skewed)
    gpop.run(on_cpu, iterations=1, mode="pull")
    gpop.run(on_gpu, iterations=1, mode=mode, target="gpu")
    assert np.array_equal(on_gpu.sum, on_cpu.sum)
    assert np.array_equal(on_gpu.folded, on_cpu.folded)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cls", [Degree, Sums, Rumours, Enough, Colours, Flag])
def test_skewed_graph(skewed, cls, mode):
    on_cpu, on_gpu = cls(skewed), cls(skewed)
    start = None if cls.all_active else np.arange(0, skewed.n, 5, dtype=np.uint32)
    for program in (on_cpu, on_gpu):
        if cls is Colours:
            program.mask = np.uint8(1) << (np.arange(skewed.n) % 4).astype(np.uint8)
    run = gpop.run(on_cpu, start, iterations=3, mode="pull")
    found = run_device(on_gpu, start, 3, mode, None)
    for field in cls.vertex_fields():
        assert np.array_equal(getattr(on_gpu, field), getattr(on_cpu, field)), field
    assert np.array_equal(found.frontier, run.frontier)
    if cls is Degree:
        assert np.array_equal(on_gpu.degree, 3 * np.bincount(skewed.indices, minlength=skewed.n))


@pytest.mark.parametrize("cls", [Counted, FiveCounted])
def test_pull_ends_early_where_a_vertex_needs_no_more(skewed, cls):
    """Calls that needsFunc forbids would show."""
    program, even = cls(skewed), np.arange(skewed.n) % 2 == 0
    program.count[even] = 5
    gpop.run(program, iterations=1, mode="pull", target="gpu")
    wanted = np.bincount(skewed.indices, minlength=skewed.n)
    if cls is FiveCounted:
        wanted = np.where(even, 0, np.minimum(wanted, 5))
    assert np.array_equal(program.count - 5 * even, wanted)
    assert np.array_equal(program.other, 2 * wanted)
