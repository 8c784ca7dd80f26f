"""Shortest paths on a GPU: lists by weight, and Dijkstra's distances, on the emulator and on a device."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.apps import sssp_methods
from gpop.apps.sssp_buckets import mean_step
from gpop.apps.sssp_methods import choose
from gpop.generate import generate
from gpop.gpu import device
from gpop.gpu.direct import by_weight, shortest_paths
from gpop.gpu.direct.shortest_paths import search
from gpop.graph.graph import Graph
from gpop.layout import partition
from gpop.layout.by_weight import lines_by_weight
from gpop.model.light_first import FARTHEST, PHASES
from tests.apps import reference
from tests.direct.test_shortest_paths import weighted
from tests.gpu.cuda_compiler import compile_cuda
from tests.gpu.emulator import emulated
from tests.graphs import small_graphs
from tests.quick import quick

GRAPHS = small_graphs()
RMAT = {
    "symmetric": {"seed": 5, "symmetrize": True, "weights": (1, 255)},
    "directed": {"seed": 6, "weights": (0, 1000)},
}


def check(graph: Graph, start: int, unit: float | None = None, times: int = 1) -> dict[str, int]:
    """Distances are right; the edges of each phase."""
    expected = reference.distances(graph, start)
    for _ in range(times):
        found = search(graph, start, unit or mean_step(graph) or 1.0)
        distance = found.distance.value
        assert np.array_equal(np.where(distance < FARTHEST, distance, np.inf), expected)
    return dict(zip(PHASES, found.edges.tolist(), strict=True))


@pytest.mark.parametrize("architecture", quick(["sm_80", "sm_90"], "sm_90"))
def test_kernels_compile(architecture, tmp_path):
    for source in (by_weight.source(), shortest_paths.source()):
        assert compile_cuda(source, architecture, tmp_path) == ""


@pytest.mark.parametrize("name", GRAPHS)
def test_small_graphs(name):
    graph = weighted(GRAPHS[name], 20)
    with emulated():
        for start in range(0, graph.n, max(1, graph.n // 3)):
            check(graph, start)


@pytest.mark.parametrize("kind", RMAT)
def test_most_edges_are_never_looked_at(kind, monkeypatch):
    monkeypatch.setattr(shortest_paths, "MANY_EDGES", 0)
    graph = generate("rmat", scale=12, degree=16, **RMAT[kind])
    with emulated():
        edges = check(graph, int(graph.out_degree.argmax()))
    assert 0 < sum(edges.values()) < graph.m / 2
    assert edges["near"] > 0 < edges["pull"]


@pytest.mark.parametrize("sizes", [(0, 1), (1, 3), (5, 64), (64, 256)])
def test_long_lists_are_walked_in_pieces(sizes, monkeypatch):
    """Those of senders, and those of vertices that ask."""
    for name, size in zip(("INLINE", "PIECE"), sizes, strict=True):
        monkeypatch.setattr(shortest_paths, name, max(size, 1))
    graph = generate("rmat", scale=9, degree=16, **RMAT["directed"])
    with emulated():
        edges = check(graph, int(graph.out_degree.argmax()))
    assert edges["near"] > 0 < edges["pull"]


def test_buckets_are_narrow_where_many_edges_meet_at_hubs(monkeypatch):
    hubs, even = (generate(kind, scale=10, degree=16, seed=1) for kind in ("rmat", "uniform"))
    assert shortest_paths._begin(hubs, 10)["width"] == 80
    monkeypatch.setattr(shortest_paths, "MANY_EDGES", hubs.m - 1)
    assert shortest_paths._begin(hubs, 10)["width"] == 20
    assert shortest_paths._begin(even, 10)["width"] == 80


def test_buckets_are_wide_where_hubs_are_far(monkeypatch):
    few = generate("rmat", scale=10, degree=4, seed=1)
    assert shortest_paths._begin(few, 10)["width"] == 640
    monkeypatch.setattr(shortest_paths, "MANY_OF_FEW", few.m - 1)
    assert shortest_paths._begin(few, 10)["width"] == 20
    web = generate("rmat", scale=10, degree=16, seed=1)
    monkeypatch.setattr(partition, "MOST_NEAR", 0.0)
    assert shortest_paths._begin(web, 10)["width"] == 640


@pytest.mark.parametrize("unit", [1e-3, 1.0, 30.0, 1e12])
def test_any_width_of_buckets(unit):
    graph = weighted(generate("rmat", scale=9, degree=8, seed=2), 99)
    with emulated():
        for start in (0, 17):
            check(graph, start, unit)


def test_a_cut_that_moves_on():
    """Long paths end in one last rest; where edges wait for a cut it is another step."""
    grid = generate("grid", width=60, height=50, weights=(1, 9), seed=1)
    uniform = generate("uniform", scale=10, degree=8, seed=1, weights=(1, 255))
    with emulated():
        assert 0 < check(grid, 0, 0.5)["rest"] < 6 * grid.m
        assert check(uniform, int(uniform.out_degree.argmax()))["rest"] > 0


def test_what_is_as_far_as_can_be_is_not_reached():
    graph = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 4], np.array([2**30, 2**30 - 2, 1, 2**31], np.uint32))
    with emulated():
        assert search(graph, 0, 1.0).distance.value.tolist() == [0, 2**30, 2**31 - 2, FARTHEST, FARTHEST]


@pytest.mark.parametrize("block", [1, 64, 1 << 24])
def test_lists_by_weight_are_those_of_the_host(block, monkeypatch):
    """Also where the device sorts a few lists at a time, and one is longer than that."""
    monkeypatch.setattr(by_weight, "BLOCK_EDGES", block)
    graph = generate("rmat", scale=7, degree=20, seed=3, weights=(1, 60))
    with emulated():
        lines, _ = by_weight.device_lines(graph, 0, "test")
    assert lines.longest == graph.out_degree.max()
    assert np.array_equal(lines.lines >> np.uint64(32), lines_by_weight(graph, 1) >> np.uint64(32))
    tails = np.repeat(np.arange(graph.n, dtype=np.uint64), graph.out_degree)
    edges = [
        np.sort(tails << np.uint64(32) | each.astype(np.uint32)) for each in (lines.lines, graph.indices)
    ]
    assert np.array_equal(*edges)


def test_lists_stay_on_the_device_until_they_are_dropped():
    graph = weighted(GRAPHS["rmat"], 20)
    with emulated():
        first = gpop.sssp(graph, 0, method="lists", target="gpu")
        kept = [each for each in graph.kept() if each.kind == "device"]
        again = gpop.sssp(graph, 0, method="lists", target="gpu")
        assert [each for each in graph.kept() if each.kind == "device"] == kept
        graph.drop("device")
        assert not [each for each in graph.kept() if each.kind == "device"]
    assert np.array_equal(first.distance, again.distance)
    assert first.trace.summary["phases"] == list(PHASES) and first.run.target == "gpu"


def test_what_does_not_fit_is_refused_or_goes_by_messages(monkeypatch):
    graph = generate("rmat", scale=9, degree=16, **RMAT["symmetric"])
    for name in ("SMALL_ON_GPU", "SMALL_AMONG_HUBS"):
        monkeypatch.setattr(sssp_methods, name, graph.m - 1)
    with emulated():
        expected = gpop.sssp(graph, 0, target="gpu", method="messages")
        graph.drop("device")
        assert gpop.sssp(graph, 0, target="gpu").trace.summary["method"] == "lists"
        graph.drop("device")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(device, "free_bytes", lambda: 8 * graph.m)
            with pytest.raises(gpop.NotEnoughMemory, match="^shortest paths of .* on the device"):
                gpop.sssp(graph, 0, target="gpu", method="lists")
        monkeypatch.setattr(shortest_paths, "device_lines", _does_not_fit)
        found = gpop.sssp(graph, 0, target="gpu")
    assert found.trace.summary["reason"] == "no memory for lists: no room"
    assert np.array_equal(found.distance, expected.distance)


def test_auto_is_lists_where_vertices_have_many_edges(monkeypatch):
    def chosen(graph, target="gpu", **options):
        return choose(graph, "auto", 9, None, {"target": target, **options})[0]

    weights = {"weights": (1, 9)}
    grid, hubs = generate("grid", width=20, height=20, **weights), generate("rmat", scale=8, **weights)
    both_ways = generate("rmat", scale=8, degree=2, symmetrize=True, **weights)
    assert both_ways.m < sssp_methods.LEAST_DEGREE * both_ways.n
    for name in ("SMALL_ON_GPU", "SMALL_AMONG_HUBS"):
        monkeypatch.setattr(sssp_methods, name, both_ways.m - 1)
    assert chosen(hubs) == "messages" and chosen(both_ways) == "lists"
    monkeypatch.setattr(sssp_methods, "SMALL_ONE_WAY", hubs.m - 1)
    assert chosen(grid) == "messages" and chosen(hubs) == "lists"
    assert chosen(hubs, mode="pc") == chosen(hubs, residency="stream") == "messages"
    monkeypatch.setattr(sssp_methods, "LEAST_DEGREE", 1)
    monkeypatch.setattr(sssp_methods, "SMALL_ON_GPU", grid.m)
    assert chosen(grid) == "messages"
    monkeypatch.setattr(sssp_methods, "SMALL_ON_GPU", min(grid.m, both_ways.m) - 1)
    assert chosen(grid) == "lists"
    monkeypatch.setattr(partition, "MOST_NEAR", 0.0)  # hubs that are near: not on a GPU either
    assert chosen(grid) == "lists" and chosen(hubs) == chosen(both_ways) == "messages"
    monkeypatch.setattr(sssp_methods, "SMALL_AMONG_HUBS", both_ways.m)
    assert chosen(both_ways) == "messages"
    with pytest.raises(gpop.UsageError, match="target means nothing to calendar"):
        gpop.sssp(grid, 0, method="calendar", target="gpu")


def _does_not_fit(*arguments):
    raise gpop.NotEnoughMemory("no room")


@pytest.mark.gpu
@pytest.mark.parametrize("name", [*GRAPHS, *RMAT, "pieces", "grid"])
def test_on_a_device(name, monkeypatch):
    if name in RMAT:
        graph = generate("rmat", scale=16, degree=16, **RMAT[name])
    elif name == "pieces":
        monkeypatch.setattr(shortest_paths, "INLINE", 1)
        monkeypatch.setattr(shortest_paths, "PIECE", 3)
        graph = generate("rmat", scale=12, degree=16, **RMAT["directed"])
    elif name == "grid":
        graph = generate("grid", width=300, height=200, weights=(1, 9), seed=1)
    else:
        graph = weighted(GRAPHS[name], 20)
    for start in sorted({0, graph.n // 2, int(graph.out_degree.argmax())}):
        check(graph, start, times=3)
