"""Right answers agree with gpop and with every installed peer; wrong ones are found."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from perf.algorithms import ALGORITHMS
from perf.answers import compare
from perf.graphs import graph_digest, name_of, normal, open_graph, with_weights
from perf.implementations import FAMILIES, family_module, installed, registered
from tests.graphs import small_graphs

GRAPHS = (
    "rmat",
    "directed chain",
    "star",
    "self-loops",
    "duplicate edges",
    "isolated vertices",
    "rmat weighted",
)
PEERS = [family for family in FAMILIES if family not in ("gpop", "paper")]


def right_answer(algorithm, graph):
    flags = next(iter(algorithm.variants.values()))
    return flags, algorithm.right(algorithm.graph(graph), flags)


@pytest.mark.parametrize("name", ["bfs", "pagerank"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_gpop(name, graph):
    algorithm, graph = ALGORITHMS[name], small_graphs()[graph]
    flags, right = right_answer(algorithm, graph)
    answer = algorithm.answer(graph, algorithm.call(graph, flags, {"threads": 1}))
    assert compare(answer, right, algorithm.tolerance)["fault"] is None


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("family", PEERS)
def test_peers(family, graph):
    if not installed(family):
        pytest.skip(f"{family} is not installed")
    module = family_module(family)
    for name, algorithm in ALGORITHMS.items():
        for flags in module.IMPLEMENTATIONS.get(name, {}).values():
            use = algorithm.graph(small_graphs()[graph])
            variant, right = right_answer(algorithm, use)
            prepared = module.prepare(name, use, variant, flags, 2)
            for _ in range(2):  # a second call must not depend on the first
                answer = prepared.answer(prepared.call())
            assert compare(answer, right, algorithm.tolerance, prepared.scaled)["fault"] is None, name


def test_a_peer_is_marked_with_its_threads():
    assert registered("sssp")["scipy"] == {"family": "scipy", "threads": 1}
    assert "threads" not in registered("sssp")["networkit"]
    assert registered("sssp")["gpop-pc-interleaved"] == {"family": "gpop", "mode": "pc", "interleave": True}
    assert "gpop-pc-interleaved" not in registered("bfs")


@pytest.mark.parametrize("place", [0, 5])
def test_one_wrong_value_is_found(place):
    for name in ("bfs", "pagerank", "nibble"):
        algorithm, graph = ALGORITHMS[name], small_graphs()["rmat"]
        _, right = right_answer(algorithm, graph)
        place = int(np.argsort(right)[-1 - place])  # a hub; the share of a leaf is checked below
        wrong = right.copy()
        wrong[place] = wrong[place] * 1.01 if wrong.dtype.kind == "f" else wrong[place] + 1
        assert "1 of 256 values" in compare(wrong, right, algorithm.tolerance)["fault"]
    ranks = right_answer(ALGORITHMS["pagerank"], small_graphs()["rmat"])[1]
    wrong = ranks.copy()
    wrong[ranks.argmin()] = 0  # far below the tolerance of the sum
    assert compare(wrong, ranks, 1e-3)["fault"].startswith("1 of 256 values differ")


def test_what_is_no_answer_is_found():
    right = np.array([0.5, 0.25, 0.25])
    for wrong in (np.full(3, np.nan), np.zeros(3), np.ones(2), np.array([1, 0, 0])):
        assert compare(wrong, right, 1e-3)["fault"]
    far = np.array([0, 1.5, np.inf])
    assert compare(far, far, 1e-3)["fault"] is None
    assert compare(np.array([0, 1.5, 9.0]), far, 1e-3)["fault"]


def test_graphs_by_spec(tmp_path):
    spec = "rmat:scale=6,degree=4,seed=2,weights=1-9,symmetrize"
    graph = open_graph(normal(spec))
    assert graph.n == 64 and graph.is_symmetric() and 1 <= graph.weights.min() <= graph.weights.max() <= 9
    assert name_of(spec) == "rmat-scale6-degree4-seed2-weights1-9-symmetrize"
    assert graph_digest(graph) == graph_digest(open_graph(spec))
    assert graph_digest(graph) != graph_digest(open_graph(spec.replace("seed=2", "seed=3")))
    assert graph_digest(graph) != graph_digest(gpop.Graph(graph.indptr, graph.indices))
    for wrong in ("rmat:scale=six", "rmat:scale", str(tmp_path / "none.bin")):
        with pytest.raises(gpop.common.errors.UsageError):
            normal(wrong)


def test_weights_are_the_same_every_time():
    plain = gpop.Graph.from_edges([0, 1, 2], [1, 2, 0])
    again = gpop.Graph.from_edges([0, 1, 2], [1, 2, 0])
    assert np.array_equal(with_weights(plain).weights, with_weights(again).weights)
    assert with_weights(plain) is with_weights(plain)
