"""Nibble, heat kernel and PageRank-Nibble: what the three local apps have in common."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gpop
from gpop.apps import around_seeds, heat_kernel, nibble, pagerank_nibble
from gpop.generate import generate
from gpop.graph.kept import Kind
from tests.quick import quick

APPS = {
    "nibble": (gpop.nibble, nibble, nibble.Nibble),
    "heat_kernel": (gpop.heat_kernel, heat_kernel, heat_kernel.HeatKernel),
    "pagerank_nibble": (gpop.pagerank_nibble, pagerank_nibble, pagerank_nibble.PageRankNibble),
}


@pytest.fixture(params=quick(APPS, "nibble"))
def app(request):
    return APPS[request.param]


@pytest.fixture(scope="module")
def graph():
    """Without a hub (cpu/sums.py), like the small ones below: one kernel for all of them."""
    return generate("uniform", scale=10, degree=6, seed=4, symmetrize=True)


def test_sparse_and_dense_result_agree(app, graph):
    result = app[0](graph, 5)
    assert np.all(np.diff(result.vertices) > 0)
    assert np.all(result.values > 0)
    assert result.values.dtype == result.probability.dtype == np.float32
    assert np.array_equal(np.flatnonzero(result.probability), result.vertices)
    assert np.array_equal(result.probability[result.vertices], result.values)
    assert result.probability is result.probability


def test_a_second_run_starts_clean_and_keeps_its_program(app, graph):
    call, _, kind = app
    first = call(graph, 5)
    [room] = graph.store.get(Kind.PROGRAM, kind)
    call(graph, [1, 2, 3])
    [again] = graph.store.get(Kind.PROGRAM, kind)
    assert again is room and {*room.fields} == {*kind.vertex_fields()}
    assert not any(array.any() for array in room.fields.values())
    assert call(graph, 5).probability.tobytes() == first.probability.tobytes()


def test_seeds_ask_for_degrees_and_not_for_the_edges_of_the_whole_graph(app):
    graph = generate("uniform", scale=10, degree=6, seed=4, symmetrize=True)
    first = app[0](graph, 5)
    del graph.indptr  # as where ranks have a part each, which refuse it
    assert app[0](graph, 5).probability.tobytes() == first.probability.tobytes()


def test_an_interrupted_run_leaves_nothing_behind(app, graph):
    call, _, kind = app

    def interrupt(record):
        raise KeyboardInterrupt

    expected = call(graph, 5).probability.tobytes()
    with pytest.raises(KeyboardInterrupt):
        call(graph, 5, callback=interrupt)
    assert graph.store.get(Kind.PROGRAM, kind) is None
    assert call(graph, 5).probability.tobytes() == expected


def test_several_seeds_share_the_start(app, graph):
    call, module, _ = app
    seeds = [7, 3, 3, 90]
    result = call(graph, seeds)
    assert module.verify(graph, result, seeds) is None
    assert np.array_equal(call(graph, {3, 7, 90}).probability, result.probability)


def test_a_seed_without_out_edges_keeps_everything(app):
    call, module, _ = app
    graph = gpop.Graph.from_edges([0, 1], [1, 2], n=4)
    for seed in (2, 3):
        result = call(graph, seed)
        assert result.vertices.tolist() == [seed]
        assert result.values[0] == pytest.approx(1, abs=1e-6)
        assert module.verify(graph, result, seed) is None
    assert call(graph, 0).probability[2] > 0
    assert not call(graph, 0).probability[3]


def test_after_the_first_call_nothing_depends_on_the_size_of_the_graph(app):
    """The same neighbourhood in a graph with 100,000 more vertices: the same vertices, trace and arrays."""
    call, _, kind = app
    island = generate("grid", width=4, height=4)
    large = gpop.Graph.from_csr(np.append(island.indptr, np.full(100_000, island.m)), island.indices)
    runs = []
    for graph in (island, large):
        call(graph, 0, partition_size=1024)
        [kept] = graph.store.get(Kind.PROGRAM, kind)
        before = dict(kept.fields)
        runs.append(call(graph, 0, partition_size=1024, mode="sc").run)
        assert graph.store.get(Kind.PROGRAM, kind)[0] is kept
        assert all(kept.fields[name] is array for name, array in before.items())
    small, large = runs
    assert sorted(small.touched) == sorted(large.touched) == list(range(16))
    for column in ("frontier", "active_edges", "messages", "partitions_sc"):
        assert np.array_equal(small.trace.column(column), large.trace.column(column)), column


def test_bad_arguments(app, graph):
    call = app[0]
    for seeds, message in (
        ([], "no seed given"),
        (-1, "seed -1 is not in"),
        ([1, 5000], "seed 5000 is not in"),
        ([True, 2], "seed True: expected a vertex index"),
        ({1: 0.9, 2: 0.1}, "seeds {1: 0.9, 2: 0.1}: expected a list of vertices, which have no weights here"),
    ):
        with pytest.raises(gpop.UsageError, match=message):
            call(graph, seeds)
    with pytest.raises(gpop.UsageError, match="cannot be interleaved"):
        call(graph, 1, interleave=True)


@pytest.mark.parametrize(
    ("call", "argument", "bad", "message"),
    [
        (gpop.nibble, "threshold", 0, "threshold 0: expected a number above 0"),
        (gpop.heat_kernel, "t", -1, "t -1: expected a number above 0"),
        (gpop.heat_kernel, "t", 100, "t 100: expected at most 80"),
        (gpop.heat_kernel, "epsilon", float("nan"), "epsilon nan"),
        (gpop.pagerank_nibble, "alpha", 1, "alpha 1: expected a number between 0 and 1"),
        (gpop.pagerank_nibble, "epsilon", "x", "epsilon 'x': expected a number above 0"),
        (gpop.pagerank_nibble, "alpha", 1e-9, "alpha 1e-09, epsilon 1e-06: expected at least alpha 3e-08"),
        (gpop.pagerank_nibble, "epsilon", 1e-39, "epsilon 1e-39: expected at least .* and epsilon 1.2e-38"),
    ],
)
def test_bad_parameters(graph, call, argument, bad, message):
    with pytest.raises(gpop.UsageError, match=message):
        call(graph, 1, **{argument: bad})


def test_verify_sees_faults(app, graph):
    call, module, _ = app
    result = call(graph, 5)
    assert module.verify(graph, result, 5) is None
    for factor in (0.9, 1.1):
        wrong = result.values.copy()
        wrong[np.argmax(wrong)] *= factor
        assert module.verify(graph, replace(result, values=wrong), 5) is not None
    assert module.verify(graph, result, 6) is not None


@pytest.mark.parametrize("threshold", [3e-2, 1e-9])  # few vertices found, and most of them
def test_results_are_taken_and_fields_left_clean(graph, monkeypatch, threshold, app):
    found, take = [], around_seeds.take

    def taken(fields, touched, name):
        dense = fields[name].copy()
        vertices, values = take(fields, touched, name)
        assert vertices.tolist() == np.flatnonzero(dense).tolist()
        assert values.tobytes() == dense[vertices].tobytes()
        assert not any(array.any() for array in fields.values())
        found.append(touched.size)
        return vertices, values

    monkeypatch.setattr(around_seeds, "take", taken)
    app[0](graph, [5, 900], **{"threshold" if app[0] is gpop.nibble else "epsilon": threshold})
    assert found[0] > 2


def test_touched_vertices_ascend_however_many_they_are(graph):
    for threshold in (3e-2, 1e-2, 1e-3, 1e-9):
        for size in (8, 64, 1024):
            touched = gpop.nibble(graph, [900, 5], threshold, partition_size=size, mode="sc").run.touched
            assert np.all(np.diff(touched.astype(np.int64)) > 0)


def test_whom_only_a_message_of_zero_reaches_is_not_active(app):
    graph = generate("rmat", scale=10, degree=6, seed=4)  # vertices without out-edges have a threshold of 0
    frontiers = [
        app[0](graph, 5, mode=mode, partition_size=64).run.trace.column("frontier").tolist()
        for mode in ("sc", "pc", "auto")
    ]
    assert frontiers[0] == frontiers[1] == frontiers[2]


def test_a_room_is_one_calls_at_a_time():
    graph, own = gpop.Graph.from_edges([0, 1], [1, 0]), nibble.Nibble
    with around_seeds.CleanRoom(own, graph) as first, around_seeds.CleanRoom(own, graph) as second:
        assert second is not first
    with pytest.raises(ZeroDivisionError), around_seeds.CleanRoom(own, graph) as broken:
        assert broken is first or broken is second
        raise ZeroDivisionError
    with around_seeds.CleanRoom(own, graph) as after:
        assert after is not broken
