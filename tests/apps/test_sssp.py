"""Shortest paths: weights of every type, overflow, and input that must be refused."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpop
from gpop.apps import sssp_buckets
from gpop.apps.distances import fall_short
from gpop.apps.prototype import Prototype
from gpop.apps.sssp import main, verify
from gpop.apps.sssp_buckets import default_delta
from gpop.generate import generate
from gpop.graph.transform import random_weights
from tests.apps import reference
from tests.quick import quick

TYPES = ("u1", "u4", "i8", "f8")


@pytest.mark.parametrize("dtype", quick(["f4", *TYPES], "u1"))
@pytest.mark.parametrize("mode", ["sc", "pc"])
def test_weights_of_every_type(road, dtype, mode):
    graph = reference.with_weights(road, (road.weights % 100).astype(dtype))
    expected = reference.distances(graph, 0)
    result = gpop.sssp(graph, 0, mode=mode)
    assert result.distance.dtype == (dtype if dtype in ("f4", "f8") else np.uint32)
    assert np.array_equal(result.reached, np.isfinite(expected))
    assert np.array_equal(result.distance[result.reached], expected[result.reached])
    assert verify(graph, result, 0) is None


@pytest.mark.slow
def test_fractions(road):
    graph = reference.with_weights(road, road.weights / 7)
    np.testing.assert_allclose(gpop.sssp(graph, 3).distance, reference.distances(graph, 3), rtol=1e-13)


def test_not_reached():
    graph = gpop.Graph.from_edges([0, 2], [1, 1], weights=np.array([5, 1], np.uint32))
    result = gpop.sssp(graph, 0)
    assert result.reached.tolist() == [True, True, False]
    assert result.distance.tolist() == [0, 5, 2**31 - 1]


@pytest.mark.parametrize("mode", quick(["sc", "pc"], "sc"))
@pytest.mark.parametrize(
    ("weights", "dtype"),
    [
        ([2**30, 2**30 - 2, 1], np.uint32),  # the largest distance is 2**31 - 1
        ([2**30, 2**30 - 3, 0], np.uint32),  # and one that just fits
        ([2**31, 1, 1], np.uint32),
        ([2**32 - 1, 2**32 - 1, 2**32 - 1], np.uint32),
        pytest.param([2**40, 2**41, 7], np.int64, marks=pytest.mark.slow),
        pytest.param([2**60, 2**60, 2**60], np.uint64, marks=pytest.mark.slow),
    ],
)
def test_large_distances_are_exact(weights, dtype, mode):
    graph = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=np.array(weights, dtype), n=5)
    result = gpop.sssp(graph, 0, mode=mode)
    assert result.distance[:4].tolist() == np.cumsum([0, *weights], dtype=object).tolist()
    assert result.reached.tolist() == [True] * 4 + [False]


def test_distances_are_exact_where_a_longer_way_fits_no_type():
    weights = np.array([2**61, 2**61, 3 * 2**61, 2**63], np.uint64)
    graph = gpop.Graph.from_edges([0, 1, 0, 2], [1, 2, 2, 1], weights)
    assert gpop.sssp(graph, 0, target="python").distance.tolist() == [0, 2**61, 2**62]
    with pytest.raises(gpop.UsageError, match="distances exceed"):
        gpop.sssp(gpop.Graph.from_edges([0, 1], [1, 2], weights[:2] * 2), 0, target="python")


@pytest.mark.parametrize(("last", "short"), [(6, False), (7, True), (0, False)])
def test_who_is_not_reached_may_be_too_far(last, short):
    """0 -> 1 -> 2 -> 3, the last one as far as infinity or not; 4 is out of reach, however heavy its edge."""
    graph = gpop.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 0], [1, 2, last, 10])
    distance = np.minimum(np.array([0, 1, 3, 3 + last, 10], np.uint64), 10)
    assert fall_short(graph, distance, np.uint64(10)) is short


def test_a_mean_weight_beyond_all_numbers_is_one_bucket():
    graph = gpop.Graph.from_edges([0, 0, 1], [1, 2, 2], weights=[1.5e308, 1.2e308, 1e308])
    assert default_delta(graph) == np.inf


@pytest.mark.slow
def test_distances_that_fit_no_type():
    graph = gpop.Graph.from_edges([0, 1], [1, 2], weights=np.array([2**63, 2**63], np.uint64))
    with pytest.raises(gpop.UsageError, match="distances exceed"):
        gpop.sssp(graph, 0)


@settings(max_examples=60, deadline=None)
@given(
    edges=st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19), st.integers(0, 2**31)), max_size=60),
    mode=st.sampled_from(["sc", "pc", "auto"]),
    interleave=st.booleans(),
)
@pytest.mark.slow
def test_any_graph(edges, mode, interleave):
    heavy = (19, 19, 2**31)  # weights of one width for every example, so that nothing is compiled again
    src, dst, weights = (list(column) for column in zip(heavy, *edges, strict=True))
    graph = gpop.Graph.from_edges(src, dst, np.array(weights, np.uint32), n=20)
    expected = reference.distances(graph, 0)
    result = gpop.sssp(graph, 0, mode=mode, interleave=interleave, partition_size=4)
    assert np.array_equal(np.where(result.reached, result.distance, np.inf), expected)


@pytest.mark.parametrize("dtype", quick(["u4", "f4", "f8"], "u4"))
@pytest.mark.parametrize("delta", [1, 37, 2.5e5, np.inf])
def test_distances_do_not_depend_on_delta(road, delta, dtype):
    graph = reference.with_weights(road, (road.weights % 100 * (road.weights % 3 > 0)).astype(dtype))
    expected = reference.distances(graph, 5)
    for threads, interleave, size in ((1, True, 16), (2, True, 64), (2, False, 16)):
        result = gpop.sssp(graph, 5, delta=delta, threads=threads, interleave=interleave, partition_size=size)
        assert np.array_equal(np.where(result.reached, result.distance, np.inf), expected)


def test_small_and_useless_deltas(road):
    graph = reference.with_weights(road, road.weights / 1e6)
    result = gpop.sssp(graph, 0, delta=1e-3)
    np.testing.assert_allclose(result.distance, reference.distances(graph, 0), rtol=1e-13)
    for refused in (0, -1, np.nan):
        with pytest.raises(gpop.UsageError, match=f"delta = {refused}: expected a number above 0"):
            gpop.sssp(graph, 0, delta=refused)
    with pytest.raises(gpop.UsageError, match=r"delta = 0.5: expected a number from 1 on"):
        gpop.sssp(road, 0, delta=0.5)


def test_buckets_on_a_gpu_are_wide_and_where_paths_are_long(monkeypatch):
    """Few edges, or near ones; elsewhere a bucket would hold all, and there are none, nor on small graphs."""
    weights = {"weights": (5, 5)}
    grid = generate("grid", width=30, height=30, **weights)
    assert default_delta(grid, target="gpu") == np.inf
    monkeypatch.setattr(sssp_buckets, "MOST_WITHOUT_BUCKETS", 0)
    assert default_delta(grid, target="gpu") == 400 * 5 * grid.n / grid.m
    hubs = generate("rmat", scale=12, seed=1, **weights)
    assert default_delta(hubs, target="gpu") == np.inf
    assert default_delta(hubs, target="gpu", linked=True) == 1.2 * 5 * hubs.n / hubs.m
    assert default_delta(grid, target="gpu", linked=True) == default_delta(grid, target="gpu")
    tails, steps = np.repeat(np.arange(4000), 10), np.tile(np.arange(1, 11), 4000)
    ring = gpop.Graph.from_edges(tails, (tails + steps) % 4000)
    assert default_delta(random_weights(ring, 5, 5), target="gpu") == 200


def test_default_delta():
    chain = gpop.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], np.array([0, 0, 0, 0], np.uint32))
    assert default_delta(chain) == 1
    assert default_delta(reference.with_weights(chain, np.array([1.0, 2.0, 3.0, 4.0]))) == 50
    hub = gpop.Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 0], np.array([4, 4, 4, 4], np.uint32))
    assert [default_delta(hub, together) for together in (True, False)] == [5 * 4, 3 * 4]
    assert gpop.sssp(chain, 0).distance.tolist() == [0, 0, 0, 0]
    assert gpop.sssp(gpop.Graph.from_edges([], [], np.array([], np.uint32), n=2), 0).reached.sum() == 1


def test_interleaved_by_default_on_large_graphs(monkeypatch):
    graph = generate("uniform", scale=8, degree=4, seed=1, weights=(1, 9))
    for large, interleaved in ((graph.m, True), (graph.m + 1, False)):
        monkeypatch.setattr(sssp_buckets, "LARGE", large)
        assert gpop.sssp(graph, 0, partition_size=32).run.interleave is interleaved


def test_interleaved_by_default_where_partitions_are_closed():
    """A grid in partitions of many rows; a random graph, whose edges lead anywhere."""
    rng = np.random.default_rng(5)
    grid, anywhere = generate("grid", width=40, height=80), generate("uniform", scale=9, degree=8)
    for graph, size, closed in ((grid, 1024, True), (grid, 64, False), (anywhere, 64, False)):
        graph = reference.with_weights(graph, rng.integers(1, 100, graph.m).astype(np.uint32))
        by_default = gpop.sssp(graph, 0, partition_size=size, threads=1)
        assert by_default.run.interleave is closed
        assert gpop.sssp(graph, 0, partition_size=size, interleave=not closed).run.interleave is not closed
        width = default_delta(graph, closed)
        asked = gpop.sssp(graph, 0, partition_size=size, threads=1, delta=width)
        other = gpop.sssp(graph, 0, partition_size=size, threads=1, delta=default_delta(graph, not closed))
        assert asked.run.iterations == by_default.run.iterations != other.run.iterations


def test_interleaved_by_default_on_small_graphs(road):
    found = gpop.sssp(road, 0, method="messages", threads=2)
    assert found.run.interleave and found.run.partitions == 1
    assert np.array_equal(found.distance, gpop.sssp(road, 0, interleave=False, partition_size=64).distance)


def test_delta_on_the_command_line(tmp_path, road, capsys):
    path = tmp_path / "road.bin"
    gpop.save(road, path)
    assert main([str(path), "--source", "0", "--delta", "inf", "--rounds", "1", "--verify"]) == 0
    assert main([str(path), "--source", "0", "--delta", "0", "--rounds", "1"]) == 2
    assert "delta = 0.0: expected a number from 1 on" in capsys.readouterr().err


def test_weights_are_needed():
    with pytest.raises(gpop.UsageError, match="sssp needs edge weights"):
        gpop.sssp(gpop.Graph.from_edges([0], [1]), 0)


@pytest.mark.parametrize("bad", [-1, np.nan])
def test_bad_weights(bad):
    graph = gpop.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=np.array([1, 2, bad]))
    with pytest.raises(gpop.UsageError, match=f"not negative: edge 2 -> 0 has {bad}"):
        gpop.sssp(graph, 0)


def test_verify_sees_faults(road):
    result = gpop.sssp(road, 0)
    longer, fewer = result.distance.copy(), result.reached.copy()
    longer[100] += 1
    fewer[100] = False
    assert "1 distances differ" in verify(road, replace(result, distance=longer), 0)
    assert "reaches other vertices" in verify(road, replace(result, reached=fewer), 0)


@pytest.mark.slow
def test_a_call_that_comes_while_another_resolves_finds_nothing_half_made(monkeypatch):
    """Programs are kept with the graph, the narrow one and the wide one that takes over from it."""
    graph = gpop.Graph.from_edges([0, 1], [1, 2], weights=np.array([2**30, 2**30 + 5], np.uint32))
    made, inner = [], []
    call = partial(gpop.sssp, graph, 0, method="messages")
    call(interleave=True)  # whatever else is kept with the graph is there: notes go when something comes

    def meanwhile(*given):
        made.append(given)
        if len(made) == 2:
            inner.append(call(interleave=False))
        return Prototype(*given)

    monkeypatch.setattr("gpop.apps.sssp.Prototype", meanwhile)
    for found in (call(interleave=False), *inner):
        assert found.distance.tolist() == [0, 2**30, 2**31 + 5]
    assert len(inner) == 1
