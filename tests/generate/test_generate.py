"""Generators: known shapes, the same graph every time and for any number of threads, options."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gpop.graph.build
from gpop.common.errors import UsageError
from gpop.generate import GENERATORS, generate
from gpop.graph.graph import Graph
from tests.graphs import same

SMALL = {
    "rmat": {"scale": 10, "degree": 8},
    "uniform": {"scale": 10, "degree": 8},
    "grid": {"width": 30, "height": 20},
    "grid3": {"width": 9, "height": 8, "depth": 7},
    "torus": {"width": 30, "height": 20},
    "torus3": {"width": 9, "height": 8, "depth": 7},
    "degree4": {"side": 20},
    "degree6": {"side": 8},
    "constant_degree": {"dimensions": 4, "side": 5},
    "chain": {"vertices": 500},
    "star": {"vertices": 500},
    "road": {"width": 30, "height": 20},
    "small_world": {"vertices": 500, "degree": 6, "probability": 0.2},
    "barabasi_albert": {"vertices": 500, "degree": 3},
    "geometric": {"vertices": 500, "degree": 6},
    "evolve": {"vertices": 60, "target": "normal:9:3", "generations": 3},
}
RANDOM = ("rmat", "uniform", "road", "small_world", "barabasi_albert", "geometric", "evolve")


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
        ("grid3", {"width": 5, "height": 4, "depth": 3}, nx.grid_graph((5, 4, 3))),
        ("grid3", {"width": 1, "height": 1, "depth": 3}, nx.path_graph(3)),
        ("torus", {"width": 7, "height": 5}, nx.grid_graph((7, 5), periodic=True)),
        ("torus3", {"width": 5, "height": 4, "depth": 3}, nx.grid_graph((5, 4, 3), periodic=True)),
        ("degree4", {"side": 5}, nx.grid_graph((5, 5), periodic=True)),
        ("degree6", {"side": 3}, nx.grid_graph((3, 3, 3), periodic=True)),
        ("constant_degree", {"dimensions": 4, "side": 3}, nx.grid_graph((3,) * 4, periodic=True)),
        ("small_world", {"vertices": 9, "degree": 4, "probability": 0.0}, nx.watts_strogatz_graph(9, 4, 0)),
        ("small_world", {"vertices": 1, "degree": 0}, nx.path_graph(1)),
        ("barabasi_albert", {"vertices": 2, "degree": 1}, nx.path_graph(2)),
        ("geometric", {"vertices": 1}, nx.path_graph(1)),
    ],
)
def test_known_shapes(kind, sizes, expected):
    assert same(generate(kind, **sizes), Graph.from_networkx(expected))


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize("options", [{}, {"symmetrize": True, "weights": (1, 9), "permute": True}])
def test_repeatable(monkeypatch, kind, options):
    graph = generate(kind, seed=5, **SMALL[kind], **options)
    for threads, chunk in (("1", 1 << 20), ("2", 97), ("4", 301)):
        monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
        monkeypatch.setattr(gpop.graph.build, "_CHUNK", chunk)
        assert same(generate(kind, seed=5, **SMALL[kind], **options), graph)
    if kind in RANDOM or options:
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


def test_rmat_parameters():
    graph = generate("rmat", scale=10, degree=64, parameters=(0.25, 0.25, 0.4))
    top = np.bincount(2 * (np.repeat(np.arange(1024), graph.out_degree) >> 9) + (graph.indices >> 9))
    assert np.allclose(top / graph.m, [0.25, 0.25, 0.4, 0.1], atol=0.01)
    assert graph.name == "rmat-10-64-0.25,0.25,0.4"
    assert generate("rmat", scale=3, degree=1).name == "rmat-3-1"
    assert set(generate("rmat", scale=5, degree=9, parameters=(0, 0, 0)).indices) == {31}


@pytest.mark.parametrize(
    ("kind", "sizes", "n", "degree"),
    [
        ("degree4", {"side": 30}, 900, 4),
        ("degree6", {"side": 10}, 1000, 6),
        ("constant_degree", {"dimensions": 5, "side": 4}, 1024, 10),
        ("constant_degree", {"dimensions": 10, "side": 2}, 1024, 20),
        ("constant_degree", {"dimensions": 3, "side": 1}, 1, 6),
        ("torus", {"width": 2, "height": 9}, 18, 4),
    ],
)
def test_constant_degree(kind, sizes, n, degree):
    graph = generate(kind, **sizes)
    assert (graph.n, graph.m) == (n, n * degree)
    assert set(graph.out_degree.tolist()) == {degree}
    assert same(graph.reverse(), graph)


def test_side_of_two_doubles_every_edge():
    graph = generate("constant_degree", dimensions=3, side=2)
    cube = Graph.from_networkx(nx.grid_graph((2, 2, 2)))
    assert np.array_equal(graph.indices, np.repeat(cube.indices, 2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "sizes", "n", "m"),
    [  # Table 1 of Verstraaten et al. counts one vertex less in each
        ("chain", {"vertices": 1_000_001}, 1_000_001, 2_000_000),
        ("star", {"vertices": 1_000_001}, 1_000_001, 2_000_000),
        ("degree4", {"side": 1000}, 1_000_000, 4_000_000),
        ("degree6", {"side": 100}, 1_000_000, 6_000_000),
        ("constant_degree", {"dimensions": 5, "side": 16}, 1_048_576, 10_485_760),
        ("constant_degree", {"dimensions": 10, "side": 4}, 1_048_576, 20_971_520),
        ("constant_degree", {"dimensions": 20, "side": 2}, 1_048_576, 41_943_040),
    ],
)
def test_sizes_of_the_paper(kind, sizes, n, m):
    graph = generate(kind, **sizes)
    assert (graph.n, graph.m) == (n, m)


def test_small_world_rewires_a_share():
    n, degree = 4000, 10
    graph = generate("small_world", vertices=n, degree=degree, probability=0.2, seed=2)
    assert graph.m == n * degree
    source = np.repeat(np.arange(n), graph.out_degree)
    assert (source != graph.indices).all()
    distance = np.abs(source - graph.indices.astype(int))
    far = np.minimum(distance, n - distance) > degree // 2
    assert abs(far.mean() - 0.2) < 0.02
    ring = generate("small_world", vertices=n, degree=degree, probability=0.0).to_networkx()
    plain = generate("small_world", vertices=n, degree=degree, probability=0.2, symmetrize=True)
    assert nx.average_clustering(plain.to_networkx().to_undirected()) < nx.average_clustering(
        ring.to_undirected()
    )


def test_barabasi_albert_has_a_power_law():
    graph = generate("barabasi_albert", vertices=20_000, degree=4, seed=3)
    assert graph.m == 2 * 4 * 19_999
    assert graph.out_degree.min() == 4
    assert (np.repeat(np.arange(graph.n), graph.out_degree) != graph.indices).all()
    # P(degree >= x) = d (d + 1) / (x (x + 1)) in the limit (Bollobas et al. 2001)
    for x in (8, 16, 32):
        assert np.mean(graph.out_degree >= x) == pytest.approx(20 / (x * (x + 1)), rel=0.12)
    assert graph.out_degree.max() > 200
    assert nx.is_connected(graph.to_networkx().to_undirected())


def test_barabasi_albert_tree_is_older_first():
    graph = generate("barabasi_albert", vertices=300, degree=1)
    older = [np.sum(graph.indices[graph.indptr[v] : graph.indptr[v + 1]] < v) for v in range(300)]
    assert older == [0] + [1] * 299


@pytest.mark.parametrize(("vertices", "degree"), [(400, 6), (400, 0), (50, 200), (3, 1)])
def test_geometric_is_networkx_of_the_same_points(vertices, degree):
    from gpop.generate.geometric import points, radius_of

    x, y, _, _ = points(7, vertices, degree)
    assert ((x >= 0) & (x < 1) & (y >= 0) & (y < 1)).all()
    places = dict(enumerate(zip(x.tolist(), y.tolist(), strict=True)))
    expected = nx.random_geometric_graph(vertices, radius_of(vertices, degree), pos=places)
    assert same(
        generate("geometric", vertices=vertices, degree=degree, seed=7), Graph.from_networkx(expected)
    )


def test_geometric_degree():
    graph = generate("geometric", vertices=20_000, degree=12)
    assert graph.m / graph.n == pytest.approx(12, rel=0.05)


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
    assert graph.weights.min() > 30
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


@pytest.mark.parametrize("weights", [(1, 1), (1, 10), (0, 2**32 - 1), (-5, 5)])
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
        ({"kind": "rmat", "parameters": (0.6, 0.3, 0.2)}, "parameters .* are not possible, expected a,b,c"),
        ({"kind": "rmat", "parameters": (0.6, 0.3)}, "parameters .* are not possible"),
        ({"kind": "rmat", "parameters": (0.6, 0.3, -0.1)}, "parameters .* are not possible"),
        ({"kind": "constant_degree", "dimensions": 40}, "dimensions 40 are not possible"),
        ({"kind": "degree6", "side": 4096}, "a graph of 68719476736 vertices"),
        ({"kind": "torus", "height": 0}, "height 0 is not possible"),
        ({"kind": "small_world", "degree": 3}, "degree 3 is not possible, expected an even number below"),
        ({"kind": "small_world", "degree": 8, "vertices": 8}, "degree 8 is not possible"),
        ({"kind": "small_world", "probability": 1.5}, "probability 1.5 is not possible"),
        ({"kind": "barabasi_albert", "degree": 0}, "degree 0 is not possible"),
        ({"kind": "geometric", "degree": -1}, "degree -1 is not possible"),
        ({"kind": "evolve", "vertices": 1}, "vertices 1 is not possible"),
        ({"kind": "evolve", "vertices": 20}, "a mean degree of 50 is not possible, expected at most 38"),
        ({"kind": "evolve", "generations": -1}, "generations -1 is not possible"),
        ({"kind": "evolve", "crossover": "row"}, "crossover 'row' is unknown, expected one of vertex, edge"),
        (
            {"kind": "evolve", "mutation": "none"},
            "mutation 'none' is unknown, expected one of flip, balanced",
        ),
        ({"kind": "evolve", "target": "zipf"}, "target 'zipf' is not possible, expected uniform:LOW:HIGH"),
        ({"kind": "evolve", "target": "uniform:9:3"}, "target 'uniform:9:3' is not possible"),
        ({"kind": "evolve", "target": "normal:9"}, "target 'normal:9' is not possible"),
        ({"kind": "evolve", "target": "exponential:0"}, "target 'exponential:0' is not possible"),
        ({"kind": "evolve", "target": "exponential:nan"}, "target 'exponential:nan' is not possible"),
        ({"kind": "grid", "width": 0}, "width 0 is not possible, expected at least 1"),
        ({"kind": "grid", "width": 2**20, "height": 2**20}, "a graph of 1099511627776 vertices"),
        ({"kind": "road", "width": 2**20, "height": 2**20}, "1099511627776 vertices"),
        ({"kind": "chain", "seed": -1}, "seed -1 is not possible"),
        ({"kind": "chain", "seed": "a"}, "seed 'a': expected a whole number"),
        ({"kind": "chain", "vertices": 10.0}, "vertices 10.0: expected a whole number"),
        ({"kind": "rmat", "scale": None}, "scale None: expected a whole number"),
        ({"kind": "rmat", "parameters": 5}, "parameters 5: expected 3 numbers"),
        ({"kind": "rmat", "parameters": (0.5, "a", 0)}, "parameters 'a': expected a number"),
        ({"kind": "small_world", "probability": "0.5"}, "probability '0.5': expected a number"),
        ({"kind": "evolve", "crossover": 5}, "crossover 5: expected vertex, edge, point or union"),
        ({"kind": ["rmat"]}, "is unknown, expected one of rmat"),
        ({"kind": "chain", "weights": 5}, r"weights 5: expected \(LOW, HIGH\)"),
        ({"kind": "chain", "weights": (1,)}, r"weights \(1,\): expected \(LOW, HIGH\)"),
        ({"kind": "chain", "weights": (1.5, 3)}, "weights 1.5: expected a whole number"),
        ({"kind": "chain", "weights": (5, 1)}, "weights 5:1 are not possible"),
        ({"kind": "chain", "weights": (0, 2**32)}, r"weights 0:4294967296 .* within -2\^31..2\^32-1"),
        ({"kind": "chain", "weights": (-1, 2**32 - 1)}, r"weights -1:4294967295 .* at most 2\^32 different"),
    ],
)
def test_impossible(arguments, message):
    with pytest.raises(UsageError, match=message):
        generate(**arguments)


def test_largest_seed():
    assert generate("road", seed=2**64 - 1, width=5, height=5, weights=(1, 3), permute=True).m > 0
