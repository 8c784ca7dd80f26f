"""Priorities: the same results in any mode, lower buckets first, and no vertex that waits is lost."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpop
from gpop.apps.sssp import SSSP
from gpop.generate import generate
from gpop.graph.kept import Kind
from gpop.program.lowering import lower
from tests.apps import reference
from tests.prioritised import LastOfAll, Widest
from tests.quick import quick

OPTIONS = [
    {"mode": mode, "interleave": interleave}
    for mode in ("auto", "sc", "pc", "pull")
    for interleave in (False, True)
]


def widths(graph, source):
    """Best-first search with a heap."""
    width = np.full(graph.n, -1)
    width[source] = 1000
    heap = [(-1000, source)]
    while heap:
        negative, v = heapq.heappop(heap)
        if -negative < width[v] or negative == 0:
            continue
        for e in range(graph.indptr[v], graph.indptr[v + 1]):
            through = min(-negative, int(graph.weights[e]))
            if through > width[graph.indices[e]]:
                width[graph.indices[e]] = through
                heapq.heappush(heap, (-through, graph.indices[e]))
    return width


def widened(graph, source, step=8, **options):
    program = Widest(graph)
    program.width[source] = 1000
    program.step = step
    return program, gpop.run(program, [source], **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        options if options == OPTIONS[0] else pytest.param(options, marks=pytest.mark.slow)
        for options in OPTIONS
    ],
)
def test_widest_paths(options):
    graph = generate("rmat", scale=8, seed=3)
    graph = reference.with_weights(graph, np.random.default_rng(1).integers(0, 50, graph.m).astype(np.uint32))
    source = int(graph.out_degree.argmax())
    expected = widths(graph, source)
    for threads, size, step in ((1, 256, 8), (2, 16, 8), (3, 64, 1), (2, 32, 10**6)):
        program, run = widened(graph, source, step, threads=threads, partition_size=size, **options)
        assert np.array_equal(program.width, expected), (threads, size, step)
        assert run.converged
        assert run.frontier.size == 0


@settings(max_examples=60, deadline=None)
@given(
    edges=st.lists(st.tuples(*[st.integers(0, 19)] * 2, st.integers(0, 40)), max_size=80),
    frontier=st.lists(st.integers(0, 19), max_size=6),
    options=st.sampled_from([{"interleave": True}, {"mode": "sc"}]),
    size=st.sampled_from([1, 4, 32]),
    step=st.sampled_from([1, 5, 1000]),
    iterations=st.integers(1, 6),
)
def test_stopped_anywhere_it_goes_on(edges, frontier, options, size, step, iterations):
    """A limit of iterations hands back everything that waits, and leaves the engine clean."""
    tails, heads, weights = (np.array(column) for column in zip((19, 19, 0), *edges, strict=True))
    graph = gpop.Graph.from_edges(tails, heads, weights.astype(np.uint32), n=20)
    whole, parts = Widest(graph), Widest(graph)
    for program in (whole, parts):
        program.step = step
        program.width[frontier] = np.arange(len(frontier)) * 7 + 1
    options = {**options, "partition_size": size, "threads": 2}
    gpop.run(whole, frontier, **options)
    left = np.array(frontier, np.int64)
    for _ in range(100):
        run = gpop.run(parts, left, iterations=iterations, **options)
        left = run.frontier
        assert np.unique(left).size == left.size
        assert run.converged == (left.size == 0)
        if run.converged:
            break
    assert np.array_equal(parts.width, whole.width)


def relaxed(graph, delta):
    program = SSSP(graph)
    program.distance[0] = 0
    program.delta = delta
    run = gpop.run(program, [0], interleave=True, counters=True, mode="sc", threads=1, partition_size=256)
    edges = run.counters["intra_edges"] + run.counters["ids_gathered"]
    return edges / graph.m, program.distance, run


@pytest.mark.slow  # the order of buckets is seen below and in test_counters.py
def test_few_edges_are_followed_twice():
    grid = generate("grid", width=60, height=60)
    grid = reference.with_weights(grid, np.random.default_rng(2).integers(1, 256, grid.m).astype(np.uint32))
    expected = reference.distances(grid, 0)
    edges = {}
    for delta in (1, 100, 2**31 - 1):
        edges[delta], distance, run = relaxed(grid, delta)
        assert np.array_equal(distance, expected)
        assert (np.diff(run.trace.column("iteration")) == 1).all()
        assert (run.trace.column("frontier") > 0).all()
    assert edges[1] == 1  # buckets of one distance: Dijkstra's order
    assert edges[100] < 1.1
    assert edges[2**31 - 1] > 1.5


def fan():
    """0 -> 1 (10), 2 (30), 3 (50); 1 -> 2 (5), so that 2 is improved while it waits."""
    return gpop.Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], np.array([10, 30, 50, 5], np.uint32), n=4)


def test_lowest_bucket_first_and_each_vertex_once():
    graph = fan()
    for size in (1, 4):
        program = SSSP(graph)
        program.distance[0] = 0
        program.delta = 10
        run = gpop.run(program, [0], mode="sc", counters=True, threads=1, partition_size=size)
        assert program.distance.tolist() == [0, 10, 15, 50]
        assert run.trace.column("frontier").tolist() == [1, 1, 1, 1]
        assert run.trace.column("active_edges").tolist() == [3, 1, 0, 0]
        assert run.counters["vertices_scattered"] == 2


def test_all_vertices_at_the_start_are_put_in_order():
    program = SSSP(fan())
    program.distance[:] = [0, 40, 40, 90]
    program.delta = 10
    run = gpop.run(program, mode="sc", threads=1, counters=True)
    assert program.distance.tolist() == [0, 10, 15, 50]
    assert run.trace.column("frontier").tolist() == [1, 1, 1, 1]


@pytest.mark.slow
def test_a_callback_may_move_the_buckets():
    graph = generate("road", width=20, height=20, seed=2)
    expected = reference.distances(graph, 0)
    for interleave in (False, True):
        program = SSSP(graph)
        program.distance[0] = 0
        program.delta = 1

        def wider(record, program=program):
            program.delta = 1 + record["iteration"] * 40

        run = gpop.run(program, [0], callback=wider, interleave=interleave, partition_size=64, threads=2)
        assert np.array_equal(program.distance, expected)
        assert run.converged


def test_stopped_by_a_callback_the_workspace_is_clean():
    graph = generate("road", width=20, height=20, seed=2)
    for _ in range(2):
        program = SSSP(graph)
        program.distance[0] = 0
        program.delta = 500
        run = gpop.run(program, [0], callback=lambda record: record["iteration"] == 5, partition_size=64)
        assert not run.converged
        assert (program.distance[run.frontier] < 2**31 - 1).all()
        again = gpop.run(program, run.frontier, partition_size=64)
        assert again.converged
        assert np.array_equal(program.distance, reference.distances(graph, 0))


def test_programs_without_priorities_have_no_arrays_for_them():
    graph = generate("road", width=5, height=5, seed=2)
    run = gpop.bfs(graph, 0, method="messages").run
    bits = run.partition_size.bit_length() - 1
    names = {name for name, _ in graph.store.get(Kind.WORKSPACE, bits)}
    assert "frontier" in names
    assert not names & {"later", "waiting", "buckets"}


class Tracked(Widest):
    """Every vertex whose width has changed was activated, though one of width 0 does not stay active."""

    track_touched = True


@pytest.mark.parametrize("interleave", quick([False, True], True))
def test_vertices_that_wait_or_are_dropped_were_touched(interleave):
    grid = generate("grid", width=24, height=16)
    weights = np.random.default_rng(7).integers(0, 6, grid.m).astype(np.uint32)
    graph = reference.with_weights(grid, weights)
    for size in (16, 128, 512):
        for iterations in (1, 2, 3, 5, 9, 1000):
            program = Tracked(graph)
            program.width[5], program.step = 1000, 1
            run = gpop.run(
                program, [5], interleave=interleave, partition_size=size, threads=2, iterations=iterations
            )
            assert run.touched.tolist() == np.flatnonzero(program.width != -1).tolist(), (size, iterations)
            assert np.isin(run.frontier, run.touched).all()
    assert (program.width == 0).any()


@pytest.mark.slow
def test_the_last_priority_that_there_is():
    program = LastOfAll(generate("chain", vertices=50))
    program.label[::7] = np.arange(8)
    run = gpop.run(program, range(0, 50, 7), partition_size=4, threads=1)
    assert run.converged
    assert not program.label.any()


def test_the_rules():
    class Writes(Widest):
        def priorityFunc(self, node):
            self.width[node] = 0
            return 0

    class Other(Widest):
        def priorityFunc(self, node):
            return self.width[node]

    with pytest.raises(gpop.ProgramError, match="priorityFunc must be pure"):
        lower(Writes)
    assert lower(Other).key != lower(Widest).key
    with pytest.raises(gpop.ProgramError, match="priorityFunc needs a frontier"):

        class Everywhere(Widest):
            all_active = True
