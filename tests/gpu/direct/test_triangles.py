"""Triangles on a GPU: lists are oriented, short ones searched and long ones hashed, in pieces if need be."""

from __future__ import annotations

from math import comb

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.gpu.direct import phases, triangles
from gpop.gpu.direct.triangles import PHASES, count_triangles
from gpop.graph.graph import Graph
from tests.direct.test_clustering import dense_links
from tests.direct.test_triangles import dense_count
from tests.gpu.cuda_compiler import compile_cuda
from tests.gpu.emulator import emulated
from tests.graphs import small_graphs
from tests.quick import quick

WAYS = {"searched": (1 << 30, 12), "hashed": (1, 12), "both": (8, 12), "in pieces": (1, 4)}
"""Vertices with longer lists are hashed; bits of a table's places."""


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    long, bits = WAYS[request.param]
    monkeypatch.setattr(triangles, "LONG", long)
    monkeypatch.setattr(triangles, "TABLE_BITS", bits)
    return request.param


@pytest.mark.parametrize("architecture", quick(["sm_80", "sm_90"], "sm_90"))
def test_kernels_compile(architecture, tmp_path):
    for links in (False, True):
        assert compile_cuda(triangles.source(links), architecture, tmp_path) == ""


def test_small_graphs(way):
    with emulated():
        for name, graph in small_graphs().items():
            found = count_triangles(graph.symmetrize())
            assert found.count == dense_count(graph), name
            assert way != "searched" or found.edges[-1] == 0
            assert way != "both" or name != "rmat" or found.edges.all()


def test_links_of_small_graphs(way):
    """Directed ones, and those that are symmetric; loops and duplicates among them."""
    with emulated():
        for name, graph in small_graphs().items():
            links, neighbours = dense_links(graph)
            found = gpop.clustering(graph, target="gpu")
            assert np.array_equal(found.links, links), name
            assert np.array_equal(found.neighbours, neighbours), name


@pytest.mark.parametrize("n", [1, 2, 3, 33, 100])
def test_complete_graphs(n, way):
    with emulated():
        found = count_triangles(Graph.from_networkx(nx.complete_graph(n)))
        links = gpop.clustering(Graph.from_networkx(nx.complete_graph(n)), target="gpu").links
    assert found.count == comb(n, 3)
    assert found.edges.tolist()[0] == n * (n - 1) and found.edges[1:].sum() == comb(n, 2)
    assert (links == 2 * comb(n - 1, 2)).all()


def test_loops_and_duplicates_do_not_count(way):
    ends = [0, 1, 1, 2, 2, 0, 0, 1, 3, 3]
    others = [1, 0, 2, 1, 0, 2, 1, 0, 3, 3]  # a triangle, one side twice, and a loop twice
    with emulated():
        found = count_triangles(Graph.from_edges(ends, others, n=5))
    assert (found.count, found.edges[1:].sum()) == (1, 3)


@pytest.mark.parametrize("share", quick([1, 2, 31, 32, 33], 33))
def test_chunks_are_cut_anywhere(share, way, monkeypatch):
    monkeypatch.setattr(phases, "LEAST_SHARE", share)
    monkeypatch.setattr(phases, "MOST_SHARE", share)
    with emulated():
        for name in ("star", "isolated vertices", "odd n", "self-loops", "duplicate edges", "rmat"):
            graph = small_graphs()[name]
            assert count_triangles(graph.symmetrize()).count == dense_count(graph), name
            assert np.array_equal(gpop.clustering(graph, target="gpu").links, dense_links(graph)[0]), name


def test_no_vertices_and_no_edges():
    with emulated():
        for n in (0, 7):
            found = count_triangles(Graph.from_edges([], [], n=n))
            assert (found.count, found.edges.tolist()) == (0, [0, 0, 0])
            assert found.phase_seconds.shape == (len(PHASES),)


@pytest.mark.gpu
@pytest.mark.parametrize("name", small_graphs())
def test_on_a_device(name, way):
    graph = small_graphs()[name]
    found = gpop.triangle_count(graph, target="gpu")
    assert found.count == dense_count(graph)
    assert found.run.target == "gpu" and found.seconds > 0
    for each in (graph, graph.symmetrize()):
        links, neighbours = dense_links(each)
        local = gpop.clustering(each, target="gpu")
        assert np.array_equal(local.links, links) and np.array_equal(local.neighbours, neighbours)


@pytest.mark.gpu
def test_a_large_graph_on_a_device(way):
    graph = generate("rmat", scale=14, degree=16, seed=1, symmetrize=True, permute=True)
    assert gpop.triangle_count(graph, target="gpu").count == gpop.triangle_count(graph).count
    directed = generate("rmat", scale=12, degree=16, seed=1, permute=True)
    for each in (graph, directed):
        found, expected = gpop.clustering(each, target="gpu"), gpop.clustering(each)
        assert np.array_equal(found.coefficient, expected.coefficient)
        assert np.array_equal(found.neighbours, expected.neighbours)
