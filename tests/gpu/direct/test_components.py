"""Afforest on a GPU: the labels of the CPU on all kinds of graphs, on the emulator and on a device."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.gpu import device
from gpop.gpu.direct import components, phases
from gpop.gpu.direct.components import PHASES, grow
from gpop.graph.graph import Graph
from tests.apps import reference
from tests.direct.test_afforest import LARGE, large
from tests.gpu.cuda_compiler import compile_cuda
from tests.gpu.emulator import emulated
from tests.graphs import small_graphs
from tests.quick import quick


def check(graph: Graph, expected: np.ndarray) -> components.Forest:
    """Labels and their number, with and without the promise that the graph is symmetric."""
    for directed in sorted({True, not graph.is_symmetric()}, reverse=True):
        forest = grow(graph, directed)
        assert np.array_equal(forest.parent.value, expected), directed
        assert forest.count == np.unique(expected).size
    return forest


def edges_of(forest: components.Forest) -> dict[str, int]:
    return dict(zip(PHASES, forest.edges.tolist(), strict=True))


@pytest.mark.parametrize("architecture", quick(["sm_80", "sm_90"], "sm_90"))
def test_kernels_compile(architecture, tmp_path):
    assert compile_cuda(components.source(), architecture, tmp_path) == ""


@pytest.mark.parametrize("few", [components.FEW, 0])
@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(name, few, monkeypatch):
    monkeypatch.setattr(components, "FEW", few)  # by one block, and phase by phase
    with emulated():
        check(small_graphs()[name], reference.smallest_labels(small_graphs()[name]))


@pytest.mark.parametrize("name", quick(LARGE, "sparse shuffled", "two giants"))
def test_large_graphs(name):
    with emulated():
        check(*large(name))


def test_no_vertices():
    with emulated():
        forest = grow(Graph.from_edges([], [], n=0), False)
    assert (forest.parent.value.size, forest.count) == (0, 0)
    assert forest.phase_seconds.shape == forest.edges.shape == (len(PHASES),)


def test_hooking_finds_a_grid_and_no_other_edge_is_looked_at():
    grid, _ = large("grid")
    with emulated():
        edges = edges_of(grow(grid, False))
    assert edges == dict.fromkeys(PHASES, 0) | {"hook": grid.n, "join": 2}  # those of vertex 0


def test_edges_of_the_largest_tree_are_skipped():
    graph, _ = large("dense")
    with emulated():
        forest, whole = grow(graph, False), grow(graph, True)
    assert 2 * forest.sampled > components.SAMPLES
    assert edges_of(forest)["rest"] < graph.m / 20
    assert edges_of(whole)["rest"] == graph.m


@pytest.mark.parametrize("share", quick([1, 3, 32, 33, 64], 33))
def test_chunks_are_cut_anywhere(share, monkeypatch):
    """Every vertex and edge is in one chunk, wherever lists end: also several empty ones, and hubs."""
    monkeypatch.setattr(phases, "LEAST_SHARE", share)
    monkeypatch.setattr(phases, "MOST_SHARE", share)
    graphs = small_graphs()
    with emulated():
        for name in ("star", "isolated vertices", "odd n", "self-loops", "two components", "rmat"):
            forest = check(graphs[name], reference.smallest_labels(graphs[name]))
            assert graphs[name].is_symmetric() or edges_of(forest)["rest"] == graphs[name].m


def test_lists_stay_on_the_device_until_they_are_dropped():
    graph = Graph.from_edges([0, 1, 4], [1, 2, 3], n=6)
    with emulated():
        first = gpop.connected_components(graph, target="gpu")
        kept = [each for each in graph.kept() if each.kind == "device"]
        again = gpop.connected_components(graph, target="gpu")
        assert [each for each in graph.kept() if each.kind == "device"] == kept
        assert kept[0].device_bytes == graph.indptr.nbytes + graph.indices.nbytes
        graph.drop("device")
        assert not [each for each in graph.kept() if each.kind == "device"]
    assert np.array_equal(first.label, again.label)


def test_what_does_not_fit_is_refused_and_what_lies_there_counts_once(monkeypatch):
    graph = Graph.from_edges([0, 1, 4], [1, 2, 3], n=6)
    labels, lists = (
        4 * graph.n + 8 * (components._TOLD + components._TIMES),
        graph.indptr.nbytes + graph.indices.nbytes,
    )
    with emulated():
        for free, fits in ((labels + lists - 1, False), (labels + lists, True), (labels, True)):
            monkeypatch.setattr(device, "free_bytes", lambda free=free: free)
            if fits:
                assert grow(graph, True).count == 3
                continue
            with pytest.raises(gpop.NotEnoughMemory, match="^components of .* on the device"):
                grow(graph, True)


@pytest.mark.gpu
@pytest.mark.parametrize("name", [*small_graphs(), *LARGE])
def test_on_a_device(name):
    if name in LARGE:
        graph, expected = large(name)
    else:
        graph = small_graphs()[name]
        expected = reference.smallest_labels(graph)
    for _ in range(5):
        forest = check(graph, expected)
    assert (forest.phase_seconds > 0).all()
    found = gpop.connected_components(graph, "afforest", target="gpu")
    assert np.array_equal(found.label, gpop.connected_components(graph, "afforest").label)
