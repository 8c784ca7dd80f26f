"""Generators: known shapes, the same graph every time and for any number of threads, options."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gpop.build
from gpop.errors import UsageError
from gpop.generate import GENERATORS, generate
from gpop.graph import Graph
from tests.graphs import same

SMALL = {
    "rmat": {"scale": 10, "degree": 8},
    "uniform": {"scale": 10, "degree": 8},
    "grid": {"width": 30, "height": 20},
    "chain": {"vertices": 500},
    "star": {"vertices": 500},
    "road": {"width": 30, "height": 20},
}


def test_every_generator_is_tested():
    assert SMALL.keys() == GENERATORS.keys()


@pytest.mark.parametrize(
    ("kind", "sizes", "expected"),
    [
        ("grid", {"width": 7, "height": 5}, nx.grid_2d_graph(5, 7)),
        ("grid", {"width": 1, "height": 5}, nx.path_graph(5)),
        ("grid", {"width": 5, "height": 1}, nx.path_graph(5)),
        ("grid", {"width": 1, "height": 1}, nx.path_graph(1)),
        ("chain", {"vertices": 6}, nx.path_graph(6)),
        ("chain", {"vertices": 1}, nx.path_graph(1)),
        ("star", {"vertices": 6}, nx.star_graph(5)),
        ("star", {"vertices": 1}, nx.path_graph(1)),
    ],
)
def test_known_shapes(kind, sizes, expected):
    assert same(generate(kind, **sizes), Graph.from_networkx(expected))


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize("options", [{}, {"symmetrize": True, "weights": (1, 9), "permute": True}])
def test_repeatable(monkeypatch, kind, options):
    graph = generate(kind, seed=5, **SMALL[kind], **options)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    monkeypatch.setattr(gpop.build, "_CHUNK", 97)
    assert same(generate(kind, seed=5, **SMALL[kind], **options), graph)
    if kind in ("rmat", "uniform", "road") or options:
        assert not same(generate(kind, seed=6, **SMALL[kind], **options), graph)


def test_rmat_is_what_it_was():
    """The edges of a seed are fixed: figures measured with different versions can be compared."""
    graph = generate("rmat", scale=5, degree=1, seed=1)
    edges = np.repeat(np.arange(32), graph.out_degree) * 100 + graph.indices
    assert edges[:12].tolist() == [0, 0, 0, 0, 8, 8, 16, 16, 20, 108, 200, 200]
    assert edges[12:22].tolist() == [206, 216, 216, 400, 400, 500, 600, 612, 812, 820]
    assert edges[22:].tolist() == [1024, 1619, 1700, 1700, 1809, 1900, 1909, 2009, 2024, 2408]


def test_rmat_quadrants():
    """Shares of the four quadrants at the top level and at the lowest one."""
    graph = generate("rmat", scale=12, degree=64, seed=2)
    src = np.repeat(np.arange(graph.n), graph.out_degree)
    for bit in (11, 0):
        counts = np.bincount(2 * (src >> bit & 1) + (graph.indices >> bit & 1), minlength=4)
        assert np.allclose(counts / graph.m, [0.57, 0.19, 0.19, 0.05], atol=0.004)
    assert (graph.n, graph.m) == (4096, 4096 * 64)


def test_uniform_is_uniform():
    graph = generate("uniform", scale=8, degree=1000, seed=3)
    for ids in (np.repeat(np.arange(256), graph.out_degree), graph.indices):
        counts = np.bincount(ids, minlength=256)
        assert abs(counts - 1000).max() < 6 * 1000**0.5


def test_road_is_road_like():
    graph = generate("road", seed=1)
    assert graph.n > 20_000
    assert graph.out_degree.max() <= 4
    assert graph.weights.dtype == np.uint32
    assert 30 < graph.weights.min()
    assert graph.weights.max() < 180
    assert same(graph.reverse(), graph)  # streets have one length both ways
    largest = max(nx.connected_components(graph.to_networkx().to_undirected()), key=len)
    assert len(largest) > 0.95 * graph.n


@pytest.mark.parametrize("kind", SMALL)
def test_symmetrize(kind):
    graph = generate(kind, symmetrize=True, weights=(1, 1000), **SMALL[kind])
    assert Graph(graph.indptr, graph.indices).is_symmetric()
    assert same(graph.reverse(), graph)  # weights too
    assert same(graph.symmetrize(), graph)


@pytest.mark.parametrize("weights", [(1, 1), (1, 10), (0, 2**32 - 3), (-5, 5)])
def test_weights(weights):
    low, high = weights
    graph = generate("uniform", scale=10, degree=32, weights=weights)
    assert graph.weights.min() >= low
    assert graph.weights.max() <= high
    assert graph.weights.dtype == (np.uint32 if low >= 0 else np.int64)
    if high - low < 100:
        counts = np.bincount((graph.weights - low).astype(int), minlength=high - low + 1)
        assert counts.min() > 0.9 * graph.m / (high - low + 1)


def test_permute_renames():
    graph = generate("rmat", scale=10, degree=8)
    renamed = generate("rmat", scale=10, degree=8, permute=True)
    assert not np.array_equal(renamed.out_degree, graph.out_degree)
    assert np.array_equal(np.sort(renamed.out_degree), np.sort(graph.out_degree))
    assert nx.faster_could_be_isomorphic(graph.to_networkx(), renamed.to_networkx())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "tree"}, "graph kind 'tree' is unknown, expected one of rmat, uniform"),
        ({"kind": "rmat", "width": 3}, "rmat has no width, expected scale and degree"),
        ({"kind": "rmat", "scale": 32}, r"scale 32 is not possible, expected 0\.\.31"),
        ({"kind": "uniform", "degree": -1}, "degree -1 is not possible, expected at least 0"),
        ({"kind": "grid", "width": 0}, "width 0 is not possible, expected at least 1"),
        ({"kind": "grid", "width": 2**20, "height": 2**20}, "a graph of 1099511627776 vertices"),
        ({"kind": "road", "width": 2**20, "height": 2**20}, "1099511627776 vertices"),
        ({"kind": "chain", "seed": -1}, "seed -1 is not possible"),
        ({"kind": "chain", "weights": (5, 1)}, "weights 5:1 are not possible"),
        ({"kind": "chain", "weights": (0, 2**32)}, "weights 0:4294967296 are not possible"),
    ],
)
def test_impossible(arguments, message):
    with pytest.raises(UsageError, match=message):
        generate(**arguments)


def test_largest_seed():
    assert generate("road", seed=2**64 - 1, width=5, height=5, weights=(1, 3), permute=True).m > 0
