"""Blocks of in-edges: every edge once, in the order that was promised, and planned only where it pays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpop
from gpop.common.errors import NotEnoughMemory
from gpop.generate import generate
from gpop.layout import edge_blocks as module
from gpop.layout.bins import build_bins
from gpop.layout.edge_block_kernels import FIRST, FOURS, ONES, SOURCE, TWOS, WINDOW
from gpop.layout.edge_block_plan import Plan, plan_blocks
from gpop.layout.edge_blocks import blocks_of, build_blocks, note_ahead, note_without, plan_of
from gpop.layout.kept_bins import bins_of
from gpop.layout.partition import partition_bits


def edges_in_order(layout) -> list[tuple[int, int, int, float]]:
    """(unit, source, destination, weight) of every edge, as a unit walks them."""
    found = []
    for unit in range(layout.k):
        for b in range(layout.first_block[unit], layout.first_block[unit + 1]):
            row = layout.blocks[b].tolist()
            at = piece = row[FIRST]
            for column, length in ((FOURS, 4), (TWOS, 2), (ONES, 1)):
                for _ in range(row[column]):
                    for _ in range(length):
                        weight = layout.weights[at].item() if layout.weights.size else 0
                        target = row[WINDOW] + int(layout.targets[piece])
                        found.append((unit, row[SOURCE] + int(layout.refs[at]), target, weight))
                        at += 1
                    piece += 1
    return found


@settings(max_examples=80)
@given(data=st.data())
def test_every_edge_once_and_sources_ascend(data):
    n = data.draw(st.integers(1, 300))
    vertices = st.integers(0, n - 1) | st.integers(0, min(3, n - 1))  # some with many in-edges
    tails, heads = np.array(
        data.draw(st.lists(st.tuples(vertices, vertices), max_size=600)), np.int64
    ).reshape(-1, 2).T  # fmt: skip
    weights = np.arange(1, tails.size + 1, dtype=np.uint32) if data.draw(st.booleans()) else None
    graph = gpop.Graph.from_edges(tails, heads, n=n, weights=weights)
    unit_bits, source_bits = data.draw(st.sampled_from([1, 4, 8])), data.draw(st.sampled_from([2, 5, 9]))
    plan = plan_blocks(graph, unit_bits, source_bits, data.draw(st.sampled_from([1, 20, 10**9])), threads=2)
    layout = build_blocks(graph, plan, threads=2)
    found = edges_in_order(layout)
    bounds = layout.bounds
    assert bounds[0] == 0 and bounds[-1] == n and (np.diff(bounds) > 0).all()
    assert (np.diff(bounds) <= 1 << unit_bits).all()
    assert all(bounds[unit] <= target < bounds[unit + 1] for unit, _, target, _ in found)
    listed = graph.weights if weights is not None else np.zeros(graph.m)
    sources = np.repeat(np.arange(n), np.diff(graph.indptr))
    edges = list(zip(sources.tolist(), graph.indices.tolist(), listed.tolist(), strict=True))
    assert sorted((source, target, weight) for _, source, target, weight in found) == sorted(edges)
    for vertex in range(n):  # in the order of PC: ascending by source
        assert [(s, w) for _, s, t, w in found if t == vertex] == [(s, w) for s, t, w in edges if t == vertex]
    assert layout.pieces == layout.blocks[:, FOURS:].sum() <= graph.m


def test_units_wider_than_a_window_and_any_number_of_threads():
    graph = generate("uniform", scale=18, degree=3, seed=7)
    plan = plan_blocks(graph, 17, 16, 10**9, threads=1)
    one, four = build_blocks(graph, plan, threads=1), build_blocks(graph, plan, threads=4)
    assert one.k == 2 and len(set(one.blocks[:, WINDOW].tolist())) == 4
    for a, b in ((one.refs, four.refs), (one.blocks, four.blocks), (one.first_block, four.first_block)):
        assert np.array_equal(a, b)
    counts = np.zeros(graph.n, np.int64)
    for row in one.blocks:
        piece = row[FIRST]
        for column, length in ((FOURS, 4), (TWOS, 2), (ONES, 1)):
            part = one.targets[piece : piece + row[column]].astype(np.int64) + row[WINDOW]
            np.add.at(counts, part, length)
            piece += row[column]
    assert np.array_equal(counts, np.bincount(graph.indices, minlength=graph.n))


def test_long_runs_are_dealt_out_in_turns():
    """Pieces of 4 of two hubs alternate, so that their sums do not wait for each other."""
    tails = np.tile(np.arange(2, 18), 2)
    graph = gpop.Graph.from_edges(tails, np.repeat([0, 1], 16), n=18)
    layout = build_blocks(graph, plan_blocks(graph, 6, 6, 10**9, threads=1), threads=1)
    assert layout.blocks[0, FOURS:].tolist() == [8, 0, 0]
    assert layout.targets[:8].tolist() == [0, 1] * 4
    assert layout.refs[:8].tolist() == [2, 3, 4, 5, 2, 3, 4, 5]


def test_bins_are_thought_of_as_they_would_be():
    """Many threads have small partitions, the heaviest of which has a small part of a road's edges."""
    road = generate("road", width=300, height=300, seed=1)
    heaviest = {}
    for threads in (1, 16):
        blocks_of(road, threads, 8, 4, None, weighted=False, forced=True)
        heaviest[threads] = plan_of(road, threads, 8, 4, None).heaviest
    bins = build_bins(road, partition_bits(road.n, 16, edges=road.m), 1)
    expected = np.diff(bins.id_offsets[:: int(bins.k)]).max() / road.m
    assert expected == pytest.approx(heaviest[16], rel=0.02) and heaviest[16] < 0.1 < heaviest[1]


def test_built_once_it_pays(monkeypatch):
    """Iterations asked for before count; bins that are there need not be built; what is kept is free."""
    monkeypatch.setattr(module, "SMALL_EDGES", 0)
    graph = generate("rmat", scale=10, seed=5)

    def built(gain, iterations=10**9):
        monkeypatch.setattr(Plan, "gain", lambda plan, threads, costs: gain)
        return blocks_of(graph, 2, 8, 4, None, weighted=False, forced=False, iterations=iterations)[0]

    price = module.BLOCKS_BUILD - module.BINS_BUILD
    assert built(0.99 * price / module.ITERATIONS) is None and built(0.49 * price, iterations=1) is None
    bins_of(graph, 8, 1)
    assert built(1.01 * price / module.ITERATIONS) is None
    gain = 1.01 * module.BLOCKS_BUILD / (module.ITERATIONS + 30)
    assert built(gain) is None
    note_without(graph, 10)
    note_without(graph, 19)
    assert built(gain) is None
    note_without(graph, 1)
    assert built(gain) is not None
    assert built(1e-9, iterations=1) is not None and built(-1e-9) is None


def test_iterations_that_an_app_knows_of_count_once(monkeypatch):
    monkeypatch.setattr(module, "SMALL_EDGES", 0)
    price = module.BLOCKS_BUILD - module.BINS_BUILD
    monkeypatch.setattr(Plan, "gain", lambda plan, threads, costs: 1.01 * price / 22)
    graph = generate("rmat", scale=10, seed=5)

    def built():
        return blocks_of(graph, 2, 8, 4, None, weighted=False, forced=False, iterations=1)[0]

    note_ahead(graph, 9)
    note_ahead(graph, 9)
    assert built() is None
    note_ahead(graph, 10)
    assert built() is not None
    note_ahead(graph, 10**9)
    assert graph.facts.iterations_without_blocks == module.ITERATIONS


def test_kept_until_another_is_wanted(monkeypatch):
    graph = generate("rmat", scale=10, seed=3, weights=(1, 9))
    assert blocks_of(graph, 2, 8, 4, None, weighted=True, forced=False) == (None, 0.0)
    first, seconds = blocks_of(graph, 2, 8, 4, None, weighted=True, forced=True)
    again, none = blocks_of(graph, 2, 8, 4, None, weighted=True, forced=True)
    assert again is first and none == 0.0 < seconds
    assert blocks_of(graph, 2, 8, 4, None, weighted=False, forced=True)[0].weights.size == 0
    other, _ = blocks_of(graph, 2, 8, 4, 64, weighted=True, forced=True)
    assert other is not first and other.k == graph.n // 64
    assert [each.kind for each in graph.kept()].count("blocks") == 1

    def refuse(*_):
        raise NotEnoughMemory("too large")

    monkeypatch.setattr(graph.store, "require", refuse)
    with pytest.raises(NotEnoughMemory):
        blocks_of(graph, 2, 8, 4, 32, weighted=True, forced=True)
