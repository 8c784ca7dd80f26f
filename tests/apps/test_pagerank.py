"""PageRank: the documented formula, stopping rule, dangling policy and types."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import gpop
from gpop.apps.pagerank import main, verify
from gpop.apps.shares import shares
from gpop.cpu import specialise
from gpop.generate import generate
from gpop.graph.kept import Kind
from tests.apps import reference
from tests.quick import quick, slow


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


def test_fixed_iterations_pay_for_no_convergence_check(monkeypatch):
    """No field for the change, and Python is not entered between iterations; nor is it where it converges."""
    asked, graph = [], generate("rmat", scale=9, degree=8, seed=6)  # on which nobody has called it before

    def recording(program, callback=None, **options):
        asked.append((hasattr(type(program), "change"), program.settles is not None, callback))
        return run(program, callback=callback, **options)

    run = gpop.run
    monkeypatch.setattr(gpop, "run", recording)
    gpop.pagerank(graph, iterations=3)
    assert gpop.pagerank(graph, tolerance=1e-3).converged
    assert asked == [(False, False, None), (True, True, None)]


def test_uniform_dangling_is_what_networkx_computes(graph):
    simple = gpop.Graph.from_networkx(nx.DiGraph(graph.to_networkx()))
    result = gpop.pagerank(simple, tolerance=1e-12, dangling="uniform", dtype=np.float64, max_iterations=500)
    expected = nx.pagerank(simple.to_networkx(), alpha=0.85, tol=1e-14, max_iter=500)
    assert result.converged
    np.testing.assert_allclose(result.rank, [expected[v] for v in range(simple.n)], rtol=1e-8)


MODES = ["sc", "pc", "pull", "auto"]


def with_all_zero_rows(graph: gpop.Graph, dtype) -> gpop.Graph:
    """One edge per pair, as in NetworkX, weighted; every tenth vertex has weights of 0 only."""
    tails = np.repeat(np.arange(graph.n), graph.out_degree)
    tails, heads = np.divmod(np.unique(tails * graph.n + graph.indices), graph.n)
    weights = np.random.default_rng(8).integers(0, 100, tails.size)
    weights[tails % 10 == 0] = 0
    if np.dtype(dtype).kind == "f":
        weights = weights / 7
    return gpop.Graph.from_edges(tails, heads, weights.astype(dtype), graph.n)


def of_networkx(graph: gpop.Graph, weight: str | None) -> list[float]:
    expected = nx.pagerank(graph.to_networkx(), alpha=0.85, tol=1e-14, max_iter=500, weight=weight)
    return [expected[v] for v in range(graph.n)]


@pytest.mark.parametrize("weight", quick(["u1", "i8", "u8", "f4", "f8"], "f8"))
@pytest.mark.parametrize("weighted", quick([False, True], False))  # the next test has weights in float32
def test_weights_are_what_they_are_in_networkx(graph, weighted, weight):
    graph = with_all_zero_rows(graph, weight)
    result = gpop.pagerank(
        graph, tolerance=1e-12, weighted=weighted, dangling="uniform", dtype=np.float64, max_iterations=500
    )
    expected = of_networkx(graph, "weight" if weighted else None)
    np.testing.assert_allclose(result.rank, expected, rtol=1e-8)
    assert not np.allclose(expected, of_networkx(graph, None if weighted else "weight"), rtol=1e-2)


SETTINGS = {mode: {"mode": mode} for mode in MODES} | {
    "pull in small blocks": {"mode": "pull", "partition_size": 64},
    "small bins": {"mode": "pc", "partition_size": 64},
    "python": {"target": "python"},
}


@pytest.mark.parametrize("dtype", quick([np.float32, np.float64], np.float32))
@pytest.mark.parametrize("setting", slow(SETTINGS, "small bins", "pull in small blocks", "auto"))
@pytest.mark.parametrize("iterations", quick([60, None], 60))
def test_weights_in_every_mode(graph, iterations, setting, dtype):
    graph = with_all_zero_rows(graph, np.float32)
    result = gpop.pagerank(
        graph, iterations=iterations, weighted=True, dangling="uniform", dtype=dtype, **SETTINGS[setting]
    )
    np.testing.assert_allclose(result.rank, of_networkx(graph, "weight"), rtol=1e-4)
    assert result.rank.sum(dtype=np.float64) == pytest.approx(1, rel=1e-6)
    assert verify(graph, result, dangling="uniform", weighted=True) is None
    assert "the ranks differ" in verify(graph, result, dangling="uniform")
    assert "the ranks differ" in verify(graph, result, weighted=True)


def test_without_weighted_the_weights_mean_nothing(graph):
    plain = gpop.pagerank(graph, iterations=5).rank
    for weights in (np.zeros(graph.m), np.full(graph.m, -np.inf)):
        ignored = gpop.pagerank(reference.with_weights(graph, weights), iterations=5).rank
        assert ignored.tobytes() == plain.tobytes()


@pytest.mark.slow
def test_duplicate_edges_add_their_weights():
    both = gpop.Graph.from_edges([0, 0, 0, 1], [1, 1, 2, 0], [1, 2, 1, 5])
    once = gpop.Graph.from_edges([0, 0, 1], [1, 2, 0], [3, 1, 5])
    ranks = [gpop.pagerank(each, iterations=4, weighted=True, dtype=np.float64).rank for each in (both, once)]
    np.testing.assert_allclose(*ranks, rtol=1e-14)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (None, "pagerank needs edge weights: the graph has none"),
        ([1, -2, 3], "needs weights that are finite and not negative: edge 0 -> 2 has -2"),
        ([1, 2, float("nan")], "needs weights that are finite and not negative: edge 1 -> 2 has nan"),
        ([1, float("inf"), 3], "needs weights that are finite and not negative: edge 0 -> 2 has inf"),
        ([0, 0, 1e-30], "vertex 1 sum to 1e-30: expected 0, or from 5e-20 to 2e\\+19 in float32; dtype"),
        ([1e300, 1, 1], "vertex 0 sum to 1e\\+300: expected 0, or from .* in float32; dtype float64"),
    ],
)
def test_weights_that_are_refused(weights, message):
    graph = gpop.Graph.from_edges([0, 0, 1], [1, 2, 2], weights)
    for _ in range(2):  # nothing that is kept from the first call lets the second pass
        with pytest.raises(gpop.UsageError, match=message) as caught:
            gpop.pagerank(graph, weighted=True)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("scale", slow([1e-60, 1e-15, 1, 1e15, 1e60], 1e-60, 1e60))
@pytest.mark.slow
def test_weights_of_any_size(graph, scale):
    """Ranks do not depend on the unit of the weights."""
    one = with_all_zero_rows(graph, np.float64)
    dtype = np.float32 if 1e-20 < scale < 1e20 else np.float64
    other = reference.with_weights(one, one.weights * scale)
    ranks = [gpop.pagerank(each, weighted=True, iterations=9, dtype=dtype).rank for each in (one, other)]
    np.testing.assert_allclose(*ranks, rtol=2e-6)


def test_the_command_says_what_it_does_with_weights(graph, tmp_path, capsys):
    weighted = with_all_zero_rows(graph, np.uint32)
    files = {"weighted": weighted, "plain": gpop.Graph.from_csr(weighted.indptr, weighted.indices)}
    for name, each in files.items():
        each.save(tmp_path / f"{name}.bin")

    def said(name: str, *options: str) -> tuple[str, np.ndarray]:
        out = tmp_path / "out.npy"
        usual = ["--iterations", "3", "--rounds", "1", "--verify", "--output", f"{out}"]
        assert main([f"{tmp_path / name}.bin", *usual, *options]) == 0
        return capsys.readouterr().out, np.load(out)["rank"]

    line = "weights     not used; --weighted shares ranks by them"
    (default, ignored), (used, shared) = said("weighted"), said("weighted", "--weighted")
    assert line in default and line not in used
    assert line not in said("plain")[0] and line not in said("weighted", "--no-weighted")[0]
    assert np.array_equal(shared, gpop.pagerank(weighted, iterations=3, weighted=True).rank)
    assert np.array_equal(ignored, said("plain")[1])
    assert main([f"{tmp_path / 'plain.bin'}", "--weighted"]) == 2
    assert "has no weights" in capsys.readouterr().err


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
        ({"tolerance": -1}, "tolerance -1: expected a number that is not negative"),
        ({"iterations": 2, "tolerance": float("nan")}, "tolerance nan: expected a number"),
    ):
        with pytest.raises(gpop.UsageError, match=message):
            gpop.pagerank(graph, **arguments)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("iterations", [None, 3])
def test_no_vertices(monkeypatch, iterations, mode):
    """Nothing is run: the loop, compiled for graphs with vertices, is not entered."""

    def entered(*_):
        raise AssertionError("the loop was entered")

    monkeypatch.setattr(specialise, "compile_loop", lambda *_: entered)
    graph = gpop.Graph.from_edges([], [], [], n=0)
    for weighted in (False, True):
        result = gpop.pagerank(graph, iterations=iterations, weighted=weighted, mode=mode, dangling="uniform")
        assert result.rank.size == result.iterations == 0
        assert verify(graph, result, weighted=weighted) is None
    assert gpop.connected_components(graph, mode=mode, method="labels").label.size == 0


def test_verify_sees_faults(graph):
    result = gpop.pagerank(graph, iterations=5)
    assert verify(graph, result) is None
    assert "the ranks differ" in verify(graph, replace(result, iterations=4))
    assert "the ranks differ" in verify(graph, result, dangling="uniform")
    assert "the ranks differ" in verify(graph, replace(result, rank=result.rank[::-1]))


@pytest.mark.parametrize("weighted", [False, True])
def test_what_an_edge_gets_is_kept_with_the_graph(weighted):
    graph = gpop.Graph.from_edges([0, 0, 1], [1, 2, 2], [3, 1, 2])
    first = gpop.pagerank(graph, iterations=3, weighted=weighted).rank
    kept = graph.store.get(Kind.SHARES, (np.dtype(np.float32), weighted))
    assert kept.tolist() == ([0.25, 0.5, 1] if weighted else [0.5, 1, 1]) and not kept.flags.writeable
    assert shares(graph, np.dtype(np.float32), weighted) is kept
    assert np.array_equal(gpop.pagerank(graph, iterations=3, weighted=weighted).rank, first)
