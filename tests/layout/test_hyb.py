"""HYB holds every entry once, in ELL up to K and in COO beyond; K is the one-third rule's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array

import gpop
from gpop.generate import generate
from gpop.graph.kept import Kind
from gpop.layout import hyb as layout
from gpop.layout.hyb import NO_ENTRY, build_hyb, hyb_of, shape_of, width_of
from tests.programs import random_graph


def by_brute_force(degrees):
    """Count rows for every k, as the rule is written."""
    most = max(degrees, default=0)
    fits = [k for k in range(most + 1) if 3 * sum(d >= k for d in degrees) >= len(degrees)]
    return max(fits, default=0) if degrees else 0


def test_width_is_that_of_the_rule():
    rng = np.random.default_rng(5)
    cases = [[], [0], [7], [0, 0], [3, 0, 0], [3, 3, 0, 0, 0, 0], [3, 0, 0, 0], [2, 2, 2, 9, 9, 9]]
    cases += [rng.integers(0, most, n).tolist() for n in range(1, 60) for most in (1, 2, 5, 40)]
    cases += [rng.zipf(1.7, n).clip(0, 500).tolist() for n in (10, 99, 300)]
    for degrees in cases:
        assert width_of(np.array(degrees, np.uint32)) == by_brute_force(degrees), degrees


def test_ties_at_exactly_one_third():
    assert width_of(np.array([4, 1, 1])) == 4
    assert width_of(np.array([4, 1, 1, 1])) == 1
    assert width_of(np.array([4, 4, 1, 1, 1, 1])) == 4


GRAPHS = {
    "skewed": generate("rmat", seed=3, scale=8, degree=7),
    "even, weights": random_graph(5, 300, 3000, weights=True),
    "hub": gpop.Graph.from_edges(np.zeros(500, np.int64), np.arange(500), n=500),
    "all in COO": gpop.Graph.from_edges([0, 0, 5], [1, 1, 2], n=40),
    "no edges": gpop.Graph.from_edges([], [], n=3),
    "nothing": gpop.Graph.from_edges([], [], n=0),
}


def decoded(hyb, n, weighted):
    """All entries (row, column, weight), in the order of the rows, ELL first."""
    ell = hyb.ell.reshape(hyb.width, hyb.pitch)
    there = ell[:, :n].T != NO_ENTRY
    row, column = np.nonzero(there)
    assert np.all(there[:, :-1] >= there[:, 1:]) or hyb.width < 2  # nothing behind what is empty
    rows = np.concatenate([row, hyb.rows.astype(np.int64)])
    columns = np.concatenate([ell[column, row], hyb.columns])
    values = np.ones(rows.size)
    if weighted:
        values = np.concatenate([hyb.ell_weights.reshape(hyb.width, hyb.pitch)[column, row], hyb.weights])
    order = np.argsort(rows, kind="stable")
    return rows[order], columns[order], values[order]


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("threads", [1, 3])
def test_nothing_is_lost(name, threads, monkeypatch):
    """Rows in pieces of 64, so that threads share them; and y = A x is SciPy's."""
    monkeypatch.setattr(layout, "ROWS", 64)
    graph = GRAPHS[name]
    hyb = build_hyb(graph, threads)
    weighted = graph.weights is not None
    rows, columns, values = decoded(hyb, graph.n, weighted)
    assert np.array_equal(rows, np.repeat(np.arange(graph.n), graph.out_degree))
    assert np.array_equal(columns, graph.indices)
    assert not weighted or np.array_equal(values, graph.weights)
    assert np.array_equal(np.diff(hyb.first), np.bincount(hyb.rows, minlength=graph.n)[: graph.n])
    x = np.random.default_rng(1).random(graph.n)
    y = np.zeros(graph.n)
    np.add.at(y, rows, values * x[columns])
    shape = (graph.n, graph.n)
    theirs = coo_array((values, (rows, columns.astype(np.int64))), shape=shape) @ x if graph.n else y
    np.testing.assert_allclose(y, theirs, rtol=1e-12)


@pytest.mark.parametrize("name", GRAPHS)
def test_bytes_are_predicted(name):
    graph = GRAPHS[name]
    shape, hyb = shape_of(graph), build_hyb(graph, 1)
    assert (shape.width, shape.pitch, shape.entries) == (hyb.width, hyb.pitch, hyb.rows.size)
    weight_bytes = 0 if graph.weights is None else graph.weights.itemsize
    held = sum(array.nbytes for array in hyb if isinstance(array, np.ndarray))
    assert held == shape.nbytes(graph.n, weight_bytes)
    assert shape.width * graph.n <= 3 * (graph.m - shape.entries)  # two of three words are empty at most


def test_too_little_memory_is_found_out_before(monkeypatch):
    from gpop.common import memory
    from gpop.graph import kept

    graph = random_graph(5, 30_000, 200_000)
    monkeypatch.setattr(kept, "available_bytes", lambda: 1 << 19)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 19)
    with pytest.raises(gpop.NotEnoughMemory, match="as HYB of"):
        build_hyb(graph, 1)


def test_it_is_kept_with_the_graph():
    graph = random_graph(5, 300, 3000, weights=True)
    assert hyb_of(graph, True, 2) is hyb_of(graph, True, 2)
    assert hyb_of(graph, False, 2).weights.size == 0
    assert [kept.kind for kept in graph.kept() if kept.kind == Kind.HYB] == ["hyb", "hyb"]
    graph.drop("hyb")
    assert not graph.store.has(Kind.HYB)
