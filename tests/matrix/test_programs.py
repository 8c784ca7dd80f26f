"""HPGraph's algorithms: answers are those of gpop's own apps and of SciPy, in every mode and with HYB."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import gpop
from gpop.generate import generate
from gpop.matrix import programs
from tests.gpu.emulator import emulated
from tests.quick import quick

GRAPHS = {
    "skewed": generate("rmat", seed=4, scale=8, degree=6, weights=(1, 50)),
    "path": gpop.Graph.from_edges(np.arange(40), np.arange(1, 41), np.arange(1, 41, dtype=np.uint32)),
    "star": gpop.Graph.from_edges(np.zeros(99, int), np.arange(1, 100), np.full(99, 3, np.uint32)),
    "no edges": gpop.Graph.from_edges([], [], np.zeros(0, np.uint32), n=4),
}
MODES = ("auto", "sc", "pc", "pull")


def check_searches(options):
    for graph in GRAPHS.values():
        level = gpop.bfs(graph, source=0).level
        down, parents, _ = programs.bfs(graph, 0, bottom_up=False, **options)
        up, others, _ = programs.bfs(graph, 0, **options)
        assert np.array_equal(down, level) and np.array_equal(up, level)
        for v in np.flatnonzero(level > 0).tolist():
            sources = graph.reverse().indices[slice(*graph.reverse().indptr[v : v + 2])]
            before = sources[level[sources] == level[v] - 1]
            assert parents[v] == min(before) and others[v] in before
        assert np.all(parents[level < 0] == programs.NOBODY) and np.all(others[level < 0] == programs.NOBODY)


def check_distances(options):
    for graph in GRAPHS.values():
        distance, _ = programs.sssp(graph, 0, **options)
        if options.get("target") != "gpu":  # elsewhere SciPy is enough
            assert np.array_equal(distance, gpop.sssp(graph, 0).distance)
        edges = graph.weights.astype(float), graph.indices.astype(np.int64), graph.indptr
        theirs = dijkstra(csr_array(edges, shape=(graph.n, graph.n)), indices=0)
        assert np.array_equal(distance, np.where(np.isfinite(theirs), theirs, programs.FARTHEST))


def check_ranks(options):
    graph = GRAPHS["skewed"]
    rank, run = programs.pagerank(graph, d=0.2, tolerance=1e-6, iterations=30, **options)
    assert 10 < run.iterations <= 30
    matrix = gpop.Graph(graph.indptr, graph.indices).to_scipy().astype(float).T
    theirs = np.ones(graph.n)
    for _ in range(30):
        theirs = 0.2 + 0.8 * (matrix @ (theirs / np.maximum(graph.out_degree, 1)))
    np.testing.assert_allclose(rank, theirs, rtol=1e-4)


def check_triangles(options):
    for graph in (GRAPHS["skewed"], GRAPHS["star"], clique(70)):
        assert programs.triangles(graph, **options) == gpop.triangle_count(graph).count


def clique(n):
    return gpop.Graph.from_edges(*np.nonzero(np.ones((n, n))))  # self-loops included, which do not count


CHECKS = (check_searches, check_distances, check_ranks, check_triangles)


@pytest.mark.parametrize("mode", quick(MODES, "pc"))
def test_ranks_on_the_cpu(mode):
    check_ranks({"mode": mode, "partition_size": 64})


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("check", [check_searches, check_distances, check_triangles])
def test_on_the_cpu(check, mode):
    check({"mode": mode, "partition_size": 64})


@pytest.mark.parametrize("check", quick(CHECKS, check_distances))
def test_with_hyb(check):
    with emulated():
        check({"mode": "hyb", "target": "gpu", "partition_size": 64})


@pytest.mark.gpu
@pytest.mark.parametrize("mode", ["auto", "pull", "hyb"])
@pytest.mark.parametrize("check", CHECKS)
def test_on_a_device(check, mode):
    check({"mode": mode, "target": "gpu"})


def test_distances_of_weights_that_do_not_fit_are_refused():
    for weights, said in (
        (np.array([0.5, 0.7]), "whole numbers up to 2147483647: edge 0 -> 1 has 0.5"),
        (
            np.array([2, 2**33], np.uint64),
            "whole numbers up to 2147483647: edge 1 -> 2 has 8589934592",
        ),
        (np.array([2, -5]), "not negative: edge 1 -> 2 has -5"),
        (None, "needs edge weights"),
    ):
        graph = gpop.Graph.from_edges([0, 1], [1, 2], weights)
        with pytest.raises(gpop.UsageError, match=said):
            programs.sssp(graph, 0, target="python")
    far = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], np.full(3, 2**30, np.uint32))
    expected = [0, 2**30, programs.FARTHEST, programs.FARTHEST]
    assert programs.sssp(far, 0, target="python")[0].tolist() == expected


def test_a_clique_has_all_triangles():
    assert programs.triangles(clique(9), target="python") == 9 * 8 * 7 // 6
    assert programs.triangles(gpop.Graph.from_edges([], [], n=3), target="python") == 0


@pytest.mark.slow
def test_bottom_up_looks_at_fewer_edges():
    """A star from its hub: every leaf looks at one edge, and what is visited is skipped."""
    hub, leaves = np.zeros(99, int), np.arange(1, 100)
    graph = gpop.Graph.from_edges(np.append(hub, leaves), np.append(leaves, hub))
    program = programs.BottomUpBFS(graph)
    program.parent[0], program.depth[0] = 0, 0
    run = program.run([0], mode="pull", counters=True, partition_size=64)
    assert run.counters["edges_pulled"] == 99
    _, _, run = programs.bfs(graph, 0, bottom_up=False, mode="sc", partition_size=64)
    assert run.trace.column("active_edges").sum() == 2 * 99


def test_what_is_no_graph_is_refused_in_one_line():
    for function, more in (
        (programs.bfs, [0]),
        (programs.sssp, [0]),
        (programs.pagerank, []),
        (programs.triangles, []),
    ):
        with pytest.raises(
            gpop.UsageError, match=r"(?i)expected a gpop.Graph, got str: make one with gpop.load"
        ):
            function("data/road.bin", *more)


def test_numbers_that_are_none_are_refused():
    """All ranks had been NaN, or those of the beginning."""
    ring = gpop.Graph.from_edges([0, 1, 2], [1, 2, 0])
    for name, value in ("d", np.nan), ("d", 1.5), ("tolerance", np.nan), ("tolerance", -1):
        with pytest.raises(gpop.UsageError, match=f"^{name} {value}: expected a number"):
            programs.pagerank(ring, **{name: value}, target="python")
