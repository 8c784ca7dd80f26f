"""PageRank: the documented formula, stopping rule, dangling policy and types."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.apps.pagerank import verify
from gpop.generate import generate
from tests.apps import reference


@pytest.fixture(scope="module")
def graph():
    return generate("rmat", scale=9, degree=8, seed=5)


def test_formula_by_hand():
    # 0 -> 1, 0 -> 2, 1 -> 2; 2 is dangling and loses its rank
    graph = gpop.Graph.from_edges([0, 0, 1], [1, 2, 2])
    rank = gpop.pagerank(graph, damping=0.5, iterations=2).rank
    first = np.array([1 / 6, 1 / 6 + 0.5 / 6, 1 / 6 + 0.5 * (1 / 6 + 1 / 3)])
    second = [1 / 6, 1 / 6 + 0.5 * first[0] / 2, 1 / 6 + 0.5 * (first[0] / 2 + first[1])]
    np.testing.assert_allclose(rank, second, rtol=1e-6)


@pytest.mark.parametrize("iterations", [1, 2, 3, 10])
@pytest.mark.parametrize("dangling", ["none", "uniform"])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-6), (np.float64, 1e-13)])
def test_fixed_iterations(graph, iterations, dangling, dtype, rtol):
    result = gpop.pagerank(graph, iterations=iterations, dangling=dangling, dtype=dtype)
    assert result.rank.dtype == dtype
    assert result.iterations == iterations
    assert result.converged is None
    expected = reference.pagerank(graph, iterations, dangling=dangling)
    np.testing.assert_allclose(result.rank, expected, rtol=rtol)
    if dangling == "uniform":
        assert result.rank.sum(dtype=np.float64) == pytest.approx(1, rel=1e-6)


def test_fixed_iterations_pay_for_no_convergence_check(graph, monkeypatch):
    """No field for the change, and Python is not entered between iterations."""
    callbacks = []

    def recording(program, callback=None, **options):
        callbacks.append(callback)
        assert hasattr(type(program), "change") == (callback is not None)
        return run(program, callback=callback, **options)

    run = gpop.run
    monkeypatch.setattr(gpop, "run", recording)
    gpop.pagerank(graph, iterations=3)
    assert callbacks == [None]
    gpop.pagerank(graph, tolerance=1e-3)
    assert callbacks[1] is not None


def test_uniform_dangling_is_what_networkx_computes(graph):
    simple = gpop.Graph.from_networkx(nx.DiGraph(graph.to_networkx()))
    result = gpop.pagerank(simple, tolerance=1e-12, dangling="uniform", dtype=np.float64, max_iterations=500)
    expected = nx.pagerank(simple.to_networkx(), alpha=0.85, tol=1e-14, max_iter=500)
    assert result.converged
    np.testing.assert_allclose(result.rank, [expected[v] for v in range(simple.n)], rtol=1e-8)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
def test_stops_when_the_change_is_below_the_tolerance(graph, tolerance):
    result = gpop.pagerank(graph, tolerance=tolerance, dtype=np.float64)
    ranks = [reference.pagerank(graph, result.iterations - back) for back in range(3)]
    assert np.abs(ranks[0] - ranks[1]).sum() < tolerance <= np.abs(ranks[1] - ranks[2]).sum()
    assert result.converged
    np.testing.assert_allclose(result.rank, ranks[0], rtol=1e-12)


def test_says_when_it_did_not_converge(graph):
    result = gpop.pagerank(graph, tolerance=1e-9, max_iterations=4)
    assert (result.converged, result.iterations) == (False, 4)


def test_callback_sees_every_iteration_and_may_stop(graph):
    seen = []
    gpop.pagerank(graph, iterations=5, callback=lambda record: seen.append(record["iteration"]))
    assert seen == [0, 1, 2, 3, 4]
    stopped = gpop.pagerank(graph, tolerance=0, callback=lambda record: record["iteration"] == 2)
    assert stopped.iterations == 3


def test_bad_arguments(graph):
    for arguments, message in (
        ({"damping": 1.5}, "damping 1.5: expected a number from 0 to 1"),
        ({"dangling": "drop"}, "dangling 'drop': expected none or uniform"),
        ({"dtype": np.int32}, "dtype int32: expected float32 or float64"),
        ({"iterations": 2, "interleave": True}, "interleave"),
    ):
        with pytest.raises(gpop.UsageError, match=message):
            gpop.pagerank(graph, **arguments)


def test_no_vertices():
    assert gpop.pagerank(gpop.Graph.from_edges([], [], n=0)).rank.size == 0


def test_verify_sees_faults(graph):
    result = gpop.pagerank(graph, iterations=5)
    assert verify(graph, result) is None
    assert "the ranks differ" in verify(graph, replace(result, iterations=4))
    assert "the ranks differ" in verify(graph, result, dangling="uniform")
    assert "the ranks differ" in verify(graph, replace(result, rank=result.rank[::-1]))
