"""Symmetry test: against sets of pairs, on random graphs with and without duplicates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpop.generate import generate
from gpop.graph.graph import Graph
from tests.graphs import small_graphs


def by_sets(graph):
    src = np.repeat(np.arange(graph.n), graph.out_degree).tolist()
    pairs = set(zip(src, graph.indices.tolist(), strict=True))
    return pairs == {(v, u) for u, v in pairs}


@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(name):
    graph = small_graphs()[name]
    plain = Graph(graph.indptr, graph.indices)
    assert plain.is_symmetric() == by_sets(graph)
    both = graph.symmetrize()
    assert Graph(both.indptr, both.indices).is_symmetric()


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20),
    st.integers(0, 3),
    st.randoms(use_true_random=False),
)
def test_random_graphs(pairs, missing, random):
    """Mostly symmetric multigraphs with a few edges taken away, lists in any order."""
    edges = pairs + [(v, u) for u, v in pairs]
    random.shuffle(edges)
    edges = edges[missing:]
    rows = [[v for u, v in edges if u == row] for row in range(7)]
    graph = Graph.from_csr(np.cumsum([0, *map(len, rows)]), [v for row in rows for v in row])
    assert graph.is_symmetric() == by_sets(graph)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 1)), max_size=12),
    st.integers(0, 2),
    st.booleans(),
)
def test_equal_to_its_reverse(triples, extra, weighted):
    """As often and with the same weights; lists that ascend and lists that do not."""
    edges = triples + [(v, u, w) for u, v, w in triples] + triples[:extra]
    src, dst, weights = np.array(edges, np.int64).reshape(-1, 3).T
    for shuffled in (False, True):
        graph = Graph.from_edges(src, dst, weights.astype(np.uint8) if weighted else None, n=6)
        if shuffled:
            turned = [slice(a, b) for a, b in zip(graph.indptr[:-1], graph.indptr[1:], strict=True)]
            order = np.concatenate([np.arange(graph.m)[each][::-1] for each in turned] or [[]]).astype(int)
            weights_now = graph.weights[order] if weighted else None
            graph = Graph.from_csr(graph.indptr, graph.indices[order], weights_now)
        u = np.repeat(np.arange(6), graph.out_degree).tolist()
        w = graph.weights.tolist() if weighted else [0] * graph.m
        out = list(zip(u, graph.indices.tolist(), w, strict=True))
        into = [(b, a, c) for a, b, c in out]
        if sorted(out) != sorted(into):
            assert not graph.equals_reverse()
        elif not weighted or len({edge[:2] for edge in out}) == len(out):
            assert graph.equals_reverse()  # parallel edges of different weights may come in another order


def test_one_missing_edge_is_found():
    grid = generate("grid", width=60, height=50)
    src = np.repeat(np.arange(grid.n), grid.out_degree)
    for gone in (0, grid.m // 2, grid.m - 1):
        keep = np.arange(grid.m) != gone
        assert not Graph.from_edges(src[keep], grid.indices[keep], n=grid.n).is_symmetric()


def test_one_turned_weight_is_found():
    grid = generate("grid", width=30, height=20, weights=(1, 9))
    src = np.repeat(np.arange(grid.n), grid.out_degree)
    assert grid.equals_reverse()
    for at in (0, grid.m // 2, grid.m - 1):
        weights = grid.weights.astype(np.float64)
        weights[at] += 0.5
        graph = Graph.from_edges(src, grid.indices, weights, n=grid.n)
        assert graph.is_symmetric() and not graph.equals_reverse()


def test_pairs_that_exchange_ids_are_not_symmetric():
    """A ring in one direction has, as a set of ids and degrees, what the other direction has."""
    ring = np.arange(1000)
    assert not Graph.from_edges(ring, np.roll(ring, 1)).is_symmetric()
    crossed = Graph.from_edges([0, 1, 2, 3], [2, 3, 1, 0])  # 0-2, 1-3, 2-1, 3-0: the mixed pairs differ
    assert not crossed.equals_reverse()
