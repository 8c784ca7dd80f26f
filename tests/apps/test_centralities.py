"""Personalised PageRank, Katz and HITS against NetworkX or NumPy, in all modes and types."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.apps import hits, katz, personalized_pagerank
from gpop.direct.hits import Hits
from gpop.generate import generate
from gpop.graph.kept import Kind
from gpop.layout import edge_blocks
from tests.apps.reference import weighted as with_weights
from tests.graphs import small_graphs

GRAPHS = (
    "rmat",
    "rmat symmetric",
    "odd n",
    "star",
    "duplicate edges",
    "isolated vertices",
    "one vertex",
    "no edges",
)
MODES = [{}, {"mode": "sc", "threads": 2}, {"mode": "pc", "threads": 1}]


def of_networkx(graph, weighted=False) -> nx.DiGraph:
    """One edge for each pair of vertices, its weight the sum: what parallel edges come to here."""
    return nx.from_scipy_sparse_array(matrix(graph, weighted), create_using=nx.DiGraph)


def matrix(graph, weighted=False):
    from scipy.sparse import coo_array

    tails = np.repeat(np.arange(graph.n), graph.out_degree)
    data = graph.weights.astype(float) if weighted else np.ones(graph.m)
    return coo_array((data, (tails, graph.indices)), shape=(graph.n, graph.n)).tocsr()


def values(of: dict) -> np.ndarray:
    return np.array([of[v] for v in range(len(of))])


@pytest.mark.parametrize("name", GRAPHS)
def test_personalized_pagerank(name):
    graph = small_graphs()[name]
    last = graph.n - 1
    for seeds, said in (([0, last], {0: 1, last: 1}), ({last: 3.0, 0: 0.5}, {last: 3.0, 0: 0.5})):
        expected = values(nx.pagerank(of_networkx(graph), personalization=said, tol=1e-14, max_iter=1000))
        for options in MODES:
            result = gpop.personalized_pagerank(graph, seeds, tolerance=1e-12, max_iterations=1000, **options)
            np.testing.assert_allclose(result.rank, expected, atol=1e-10)
            assert result.converged and result.rank.sum() == pytest.approx(1)
        assert personalized_pagerank.verify(graph, result, seeds) is None


@pytest.mark.parametrize("reorder", ["none", "degree"])
def test_weights_of_a_seed_that_is_named_twice_are_added(reorder):
    graph = gpop.read_edges({"from": ["anna", "bo", "cy", "bo"], "to": ["bo", "cy", "anna", "anna"]})
    bo, cy = graph.vertex_of("bo"), graph.vertex_of("cy")
    twice = gpop.personalized_pagerank(graph, {"bo": 1, cy: 2, bo: 3}, reorder=reorder)
    assert np.array_equal(twice.rank, gpop.personalized_pagerank(graph, {bo: 4, cy: 2}, reorder=reorder).rank)
    assert twice.rank.sum() == pytest.approx(1)
    for weights in ({"bo": 3, bo: -1}, {"bo": "x"}, {"bo": np.inf}, {"bo": 0}, {}):
        with pytest.raises(gpop.UsageError, match=r"^seeds \{.*\}: expected weights that are finite and not"):
            gpop.personalized_pagerank(graph, weights, reorder=reorder)


@pytest.mark.slow
def test_walks_that_come_to_an_end_go_on_from_the_seeds():
    """Where an edge leads to a vertex that sends nothing, and where such a vertex is a seed."""
    path = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3])
    both_ways = gpop.Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 1], n=5)
    for graph, seeds in ((path, 0), (path, 3), (both_ways, 4), (both_ways, [1, 4]), (both_ways, 1)):
        for _ in range(3):
            result = gpop.personalized_pagerank(graph, seeds)
            assert personalized_pagerank.verify(graph, result, seeds) is None
            assert result.rank.sum() == pytest.approx(1)


def test_without_an_iteration_scores_are_what_they_begin_with():
    graph = gpop.Graph.from_edges([0, 1, 2], [1, 2, 0])
    for _ in range(3):
        np.full(1 << 12, np.nan)  # what fields that nobody has set may lie in
        assert gpop.katz(graph, max_iterations=0, normalized=False).score.tolist() == [1, 1, 1]
        found = gpop.personalized_pagerank(graph, 1, max_iterations=0)
        assert found.rank.tolist() == [0, 1, 0] and found.iterations == 0 and not found.converged
    for options in ({}, {"mode": "sc"}):
        both = gpop.hits(graph, iterations=0, **options)
        assert (
            both.hub.tolist() == both.authority.tolist() == [1 / 3] * 3 and hits.verify(graph, both) is None
        )


@pytest.mark.slow
def test_personalized_pagerank_with_weights_of_edges():
    graph = small_graphs()["rmat weighted"]
    expected = values(nx.pagerank(of_networkx(graph, True), personalization={3: 1}, tol=1e-14, max_iter=1000))
    result = gpop.personalized_pagerank(graph, 3, tolerance=1e-12, weighted=True, max_iterations=1000)
    np.testing.assert_allclose(result.rank, expected, atol=1e-10)
    assert personalized_pagerank.verify(graph, result, 3, weighted=True) is None
    assert personalized_pagerank.verify(graph, result, 3) is not None


@pytest.mark.parametrize("name", GRAPHS)
def test_katz(name):
    graph = small_graphs()[name]
    dense = matrix(graph).toarray()
    alpha = 0.5 / max(1.0, np.abs(np.linalg.eigvals(dense)).max())
    for beta in (1.0, np.linspace(0, 2, graph.n)):
        exact = np.linalg.solve(np.eye(graph.n) - alpha * dense.T, np.zeros(graph.n) + beta)
        for options in MODES:
            result = gpop.katz(graph, alpha, beta, tolerance=1e-12, normalized=False, **options)
            np.testing.assert_allclose(result.score, exact, rtol=1e-9, atol=1e-9)
        assert katz.verify(graph, result, alpha, beta, normalized=False) is None


def test_katz_is_that_of_networkx():
    graph = small_graphs()["rmat weighted"]
    expected = nx.katz_centrality(of_networkx(graph, True), 1e-4, weight="weight", tol=1e-10)
    result = gpop.katz(graph, 1e-4, weighted=True, tolerance=1e-10)
    np.testing.assert_allclose(result.score, values(expected), rtol=1e-8)
    assert katz.verify(graph, result, 1e-4, weighted=True) is None
    with pytest.raises(gpop.UsageError, match="katz: the values grow without end"):
        gpop.katz(graph, 0.5, weighted=True)
    expected = gpop.katz(graph, 1e-4, iterations=3).score
    for beta in (2.0**700, 2.0**-700):  # whose squares are infinite, and 0
        assert np.array_equal(gpop.katz(graph, 1e-4, beta, iterations=3).score, expected)


@pytest.mark.parametrize("name", ["rmat", "rmat symmetric", "odd n"])
def test_hits(name):
    graph = small_graphs()[name]
    left, _, right = np.linalg.svd(matrix(graph).toarray())
    hub, authority = np.abs(left[:, 0]), np.abs(right[0])
    for options in MODES:
        result = gpop.hits(graph, tolerance=1e-12, max_iterations=1000, **options)
        np.testing.assert_allclose(result.hub, hub / hub.sum(), atol=1e-9)
        np.testing.assert_allclose(result.authority, authority / authority.sum(), atol=1e-9)
        assert result.converged and hits.verify(graph, result) is None
        alone = result.trace.summary.get("method") == "direct"
        assert alone == (not options) and (alone or len(result.trace) == 2 * result.iterations)


@pytest.mark.parametrize("iterations", [None, 0, 1, 9])
@pytest.mark.parametrize("name", ["rmat", "rmat symmetric", "directed chain", "no edges"])
def test_hits_without_messages_are_those_with_them(name, iterations):
    graph = small_graphs()[name]
    direct, messages = (gpop.hits(graph, iterations, mode=mode) for mode in ("auto", "pc"))
    np.testing.assert_allclose(direct.hub, messages.hub, rtol=1e-12)
    np.testing.assert_allclose(direct.authority, messages.authority, rtol=1e-12)
    assert direct.iterations == messages.iterations and direct.converged == messages.converged
    assert direct.trace.column("active_edges").tolist() == [graph.m * direct.iterations] * 2
    assert np.array_equal(direct.hub, gpop.hits(graph, iterations, threads=1).hub)


def test_hits_may_come_back_between_iterations():
    graph = small_graphs()["rmat"]
    stepped, at_once = Hits(graph, graph.reverse()), Hits(graph, graph.reverse())
    assert [stepped.iterate(2, 0.0), stepped.iterate(3, 0.0), at_once.iterate(5, 0.0)] == [2, 3, 5]
    assert np.array_equal(stepped.hub, at_once.hub) and stepped.iterations == at_once.iterations == 5


@pytest.mark.parametrize("options", [{"weighted": True}, {"partition_size": 64}, {"target": "python"}])
def test_hits_send_messages_where_these_are_asked_for(options):
    result = gpop.hits(with_weights(small_graphs()["rmat"]), iterations=1, **options)
    assert "method" not in result.trace.summary


def test_hits_send_messages_on_large_graphs(monkeypatch):
    monkeypatch.setattr(hits, "MOST_OF_BOTH", 0)
    assert "method" not in gpop.hits(small_graphs()["rmat"], iterations=1).trace.summary


def test_hits_with_weights():
    graph = with_weights(small_graphs()["rmat"])
    result = gpop.hits(graph, iterations=7, weighted=True)
    assert hits.verify(graph, result, weighted=True) is None and hits.verify(graph, result) is not None
    assert (result.iterations, result.converged, result.run.iterations) == (7, None, 14)


@pytest.mark.slow
def test_hits_builds_one_layout_for_its_many_runs(monkeypatch):
    """Each run of it is one iteration, for which alone blocks would not pay."""
    graph = generate("uniform", scale=12, degree=16, seed=1)
    monkeypatch.setattr(edge_blocks, "SMALL_EDGES", 0)
    monkeypatch.setattr(hits, "MOST_OF_BOTH", 0)
    price = edge_blocks.BLOCKS_BUILD - edge_blocks.BINS_BUILD
    monkeypatch.setattr(edge_blocks.Plan, "gain", lambda plan, threads, costs: price / 9)
    run = gpop.hits(graph, iterations=5).run
    assert run.trace.column("partitions_pc").sum() == 0 and not graph.store.has(Kind.BINS)
    once = generate("uniform", scale=12, degree=16, seed=1)
    assert gpop.hits(once, iterations=1).run.mode != "pull"


@pytest.mark.parametrize("name", ["no edges", "one vertex", "directed chain"])
def test_hits_of_hardly_anything(name):
    graph = small_graphs()[name]
    assert hits.verify(graph, gpop.hits(graph, iterations=3)) is None


@pytest.mark.slow  # another program to compile; PageRank's tests have the like
def test_float32():
    graph = small_graphs()["rmat"]
    ranks = gpop.personalized_pagerank(graph, 3, iterations=10, dtype=np.float32)
    assert ranks.rank.dtype == np.float32 and personalized_pagerank.verify(graph, ranks, 3) is None
    scores = gpop.katz(graph, 0.01, iterations=10, dtype=np.float32)
    assert scores.score.dtype == np.float32 and katz.verify(graph, scores, 0.01) is None
    both = gpop.hits(graph, iterations=10, dtype=np.float32)
    assert both.hub.dtype == np.float32 and hits.verify(graph, both) is None


def test_other_orders_of_the_vertices():
    """Seeds with weights and values for each vertex go along."""
    graph, beta = small_graphs()["rmat"], np.linspace(0, 2, 256)
    for call, name in (
        (lambda **order: gpop.personalized_pagerank(graph, {3: 1, 9: 5}, iterations=5, **order), "rank"),
        (lambda **order: gpop.katz(graph, 0.01, beta, iterations=5, **order), "score"),
        (lambda **order: gpop.hits(graph, iterations=5, **order), "hub"),
    ):
        expected = getattr(call(), name)
        np.testing.assert_allclose(getattr(call(reorder="degree"), name), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda graph: gpop.personalized_pagerank(graph, 0, damping=2), "damping 2: expected a number"),
        (lambda graph: gpop.personalized_pagerank(graph, 0, tolerance=-1), "tolerance -1: expected a number"),
        (lambda graph: gpop.katz(graph, tolerance=-1), "tolerance -1: expected a number"),
        (lambda graph: gpop.hits(graph, tolerance="x"), "tolerance 'x': expected a number"),
        (lambda graph: gpop.personalized_pagerank(graph, {}), "expected weights that are finite"),
        (lambda graph: gpop.personalized_pagerank(graph, {0: -1}), "expected weights that are finite"),
        (lambda graph: gpop.personalized_pagerank(graph, {0: "x"}), "expected weights that are finite"),
        (lambda graph: gpop.personalized_pagerank(graph, {999: 1}), "seed 999 is not in the graph"),
        (lambda graph: gpop.personalized_pagerank(graph, {999: 1}, reorder="degree"), "seed 999 is not"),
        (lambda graph: gpop.katz(graph, beta=[1, 2]), "beta of type int64, .*: expected a number, or 256"),
        (lambda graph: gpop.katz(graph, beta=np.inf), "beta holds inf: expected finite numbers"),
        (lambda graph: gpop.katz(graph, beta=np.r_[np.nan, graph.out_degree[1:]]), "beta holds nan"),
        (lambda graph: gpop.katz(graph, weighted=True), "katz needs edge weights"),
        (lambda graph: gpop.katz(graph, dtype=np.int32), "dtype .*int32.*: expected float32 or float64"),
        (lambda graph: gpop.hits(graph, weighted=True), "hits needs edge weights"),
        (lambda graph: gpop.hits(graph, callback=print), "callback means nothing to hits"),
        (lambda graph: gpop.hits(graph, interleave=True), "hits cannot be interleaved"),
    ],
)
def test_refused(call, said):
    with pytest.raises(gpop.UsageError, match=said):
        call(small_graphs()["rmat"])


@pytest.mark.parametrize("call", [gpop.katz, gpop.hits])
@pytest.mark.parametrize("weight", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_finite_numbers(call, weight):
    graph = gpop.Graph.from_edges([0, 0, 1], [1, 2, 2], [1, weight, 1])
    with pytest.raises(gpop.UsageError, match=f"needs weights that are finite: edge 0 -> 2 has {weight}"):
        call(graph, weighted=True)


def test_verify_sees_a_fault():
    graph = small_graphs()["rmat"]

    def off(result, name):
        wrong = getattr(result, name).copy()
        wrong[np.argmax(wrong)] *= 1 + 1e-7
        return replace(result, **{name: wrong})

    assert personalized_pagerank.verify(graph, off(gpop.personalized_pagerank(graph, 3), "rank"), 3)
    for beta in (1, 1e200, 1e-200, 0):
        right = gpop.katz(graph, 0.01, beta, iterations=9)
        assert katz.verify(graph, right, 0.01, beta) is None
        assert beta == 0 or katz.verify(graph, off(right, "score"), 0.01, beta)
    for name in ("hub", "authority"):
        assert f"the {name} scores" in hits.verify(graph, off(gpop.hits(graph, iterations=9), name))
