"""``target="python"`` gives the answers of the compiled targets: apps and the gallery."""

from __future__ import annotations

import runpy

import numpy as np
import pytest

import gpop
from tests.quick import quick
from tests.test_reference import GRAPH, MODES, ROOT

APPS = {
    "bfs": (lambda **options: gpop.bfs(GRAPH, 3, **options), ["level"], 0),
    "sssp": (lambda **options: gpop.sssp(GRAPH, 3, interleave=False, **options), ["distance", "reached"], 0),
    "cc": (
        lambda **options: gpop.connected_components(GRAPH, "labels", interleave=False, **options),
        ["label", "count"],
        0,
    ),
    "pagerank": (lambda **options: gpop.pagerank(GRAPH, iterations=7, **options), ["rank"], 2e-6),
    "converging pagerank": (
        lambda **options: gpop.pagerank(GRAPH, dangling="uniform", dtype=np.float64, **options),
        ["rank"],
        1e-13,
    ),
    "personalized pagerank": (
        lambda **options: gpop.personalized_pagerank(GRAPH, {3: 2, 5: 1}, **options),
        ["rank"],
        1e-13,
    ),
    "hits": (lambda **options: gpop.hits(GRAPH, iterations=4, **options), ["hub", "authority"], 1e-13),
    "nibble": (lambda **options: gpop.nibble(GRAPH, 3, threshold=1e-4, **options), ["probability"], 2e-6),
    "heat kernel": (lambda **options: gpop.heat_kernel(GRAPH, 3, **options), ["probability"], 2e-6),
    "pagerank nibble": (lambda **options: gpop.pagerank_nibble(GRAPH, 3, **options), ["probability"], 2e-6),
}


@pytest.mark.parametrize("name", quick(APPS, "cc"))
def test_apps(name):
    call, fields, tolerance = APPS[name]
    expected = call(target="python")
    assert expected.run.target == "python" and expected.run.iterations > 1
    for mode in MODES:
        found = call(mode=mode, threads=2, partition_size=16)
        for field in fields:
            ours, theirs = getattr(found, field), getattr(expected, field)
            if tolerance:  # sums, in an order that depends on the partitions
                assert ours.dtype == theirs.dtype
                np.testing.assert_allclose(
                    ours, theirs, rtol=tolerance, atol=1e-12, err_msg=f"{field} {mode}"
                )
            else:
                assert np.array_equal(ours, theirs), (field, mode)
        assert found.run.iterations == expected.run.iterations, mode
        if not tolerance or mode == "sc":
            edges = expected.trace.column("active_edges")
            assert np.array_equal(found.trace.column("active_edges"), edges), mode


def k_hop(program):
    program.hops[0] = 0
    return {"frontier": [0]}


def label_spreading(program):
    graph = program.graph
    program.ties = np.bincount(graph.indices, graph.weights, graph.n)
    program.leaning[[1, 5]], program.ties[[1, 5]] = (-1, 1), 0
    return {"iterations": 9}


def nearest_landmark(program):
    program.best[[2, 9]] = 2, 9
    return {"frontier": [2, 9]}


def neighbour_sum(program):
    program.value = program.graph.out_degree
    return {"iterations": 1}


def widest_path(program):
    program.width[0] = np.iinfo(np.uint32).max
    return {"frontier": [0]}


def matrix_paths(program):
    program.distance[0] = 0
    return {"frontier": [0]}


GALLERY = {
    "k_hop": ("KHop", k_hop),
    "label_spreading": ("LabelSpreading", label_spreading),
    "matrix_paths": ("Paths", matrix_paths),
    "nearest_landmark": ("NearestLandmark", nearest_landmark),
    "neighbour_sum": ("NeighbourSum", neighbour_sum),
    "widest_path": ("WidestPath", widest_path),
}


def test_the_gallery_is_complete():
    assert sorted(GALLERY) == sorted(path.stem for path in (ROOT / "apps").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("name", GALLERY)
def test_gallery(name):
    kind, prepare = GALLERY[name]
    kind = runpy.run_path(str(ROOT / "apps" / f"{name}.py"))[kind]
    expected = kind(GRAPH)
    options = prepare(expected)
    run = gpop.run(expected, target="python", **options)
    for mode in MODES:
        program = kind(GRAPH)
        prepare(program)
        again = gpop.run(program, mode=mode, threads=2, partition_size=16, **options)
        assert (again.iterations, again.converged) == (run.iterations, run.converged)
        assert np.array_equal(again.frontier, run.frontier)
        for field in kind.vertex_fields():
            ours, theirs = getattr(program, field), getattr(expected, field)
            if ours.dtype.kind == "f":
                np.testing.assert_allclose(ours, theirs, rtol=1e-12, err_msg=f"{field} {mode}")
            else:
                assert np.array_equal(ours, theirs), (field, mode)
