"""Crossover and mutation, by what they may take from whom and how often."""

from __future__ import annotations

import numpy as np
import pytest

from gpop.generate.evolve import CHANGES, MUTATIONS, mutation_rates
from gpop.generate.offspring import CROSSOVERS, child_of
from tests.conftest import SEED

N = 40
NOTHING = np.empty(0, np.uint64)


def some_graph(number, density=0.3):
    """A random graph, made by mutation of nothing."""
    return child_of(NOTHING, NOTHING, 0, np.uint64(SEED), np.uint64(number), N, density, 0.0)


def matrix(edges):
    full = np.zeros((N, N), bool)
    full[(edges >> np.uint64(32)).astype(int), (edges & np.uint64(0xFFFFFFFF)).astype(int)] = True
    return full


def children(crossover, count=30):
    """Two parents and what crossover alone makes of them."""
    first, second = some_graph(1), some_graph(2)
    made = [
        matrix(child_of(first, second, CROSSOVERS[crossover], np.uint64(SEED), np.uint64(i), N, 0.0, 0.0))
        for i in range(count)
    ]
    return matrix(first), matrix(second), made


@pytest.mark.parametrize("crossover", CROSSOVERS)
def test_a_child_has_what_both_have_and_nothing_else_than_either(crossover):
    first, second, made = children(crossover)
    for child in made:
        assert (child | (first & second) == child).all()
        assert (child & (first | second) == child).all()
    assert len({child.tobytes() for child in made}) > len(made) // 2  # ``point`` has N of them


def test_edges_are_drawn_one_by_one():
    first, second, made = children("edge")
    different = first != second
    shares = [np.mean((child == first)[different]) for child in made]
    assert np.mean(shares) == pytest.approx(0.5, abs=0.02)
    rows = [(child == first)[v][different[v]].mean() for child in made for v in range(N)]
    assert 0.1 < np.std(rows) < 0.2  # no row is one parent's


@pytest.mark.parametrize("crossover", ["vertex", "point"])
def test_a_row_is_that_of_one_parent(crossover):
    first, second, made = children(crossover)
    chosen = np.array([(child == first).all(axis=1) for child in made])
    for child, firsts in zip(made, chosen, strict=True):
        assert (child[~firsts] == second[~firsts]).all()
    if crossover == "vertex":
        assert chosen.mean() == pytest.approx(0.5, abs=0.05)
    else:  # the first parent's up to a vertex that is drawn
        assert (np.diff(chosen.astype(int), axis=1) <= 0).all() and chosen[:, 0].all()
        assert chosen.mean() == pytest.approx(0.5, abs=0.15)


def test_all_rows_or_all_columns_have_the_edges_of_either_or_of_both():
    first, second, made = children("union", count=1500)
    inward = 0
    shares = []
    for child in made:
        for axis in (0, 1):
            wide = (child == first | second).all(axis=axis)
            narrow = (child == first & second).all(axis=axis)
            if (wide | narrow).all():
                inward += axis == 0
                shares.append(wide.mean())
                break
        else:
            raise AssertionError("neither by sources nor by destinations")
    assert np.mean(shares) == pytest.approx(0.5, abs=0.05)
    assert 2 <= inward <= 30  # 11.7 expected


@pytest.mark.parametrize(("insert", "remove"), [(0.01, 0.01), (0.002, 0.05), (0.0, 0.1), (0.3, 0.0)])
def test_every_entry_mutates_by_itself(insert, remove):
    parent = some_graph(3)
    before = matrix(parent)
    inserted, removed = np.zeros((2, N, N))
    repeats = 600
    for i in range(repeats):
        edges = child_of(parent, parent, 0, np.uint64(SEED), np.uint64(i), N, insert, remove)
        assert (np.diff(edges.astype(np.int64)) > 0).all()
        after = matrix(edges)
        inserted += after & ~before
        removed += before & ~after
    absent = ~before & ~np.eye(N, dtype=bool)
    assert inserted[~absent].sum() == removed[~before].sum() == 0  # and no self-loops
    for counts, where, rate in ((inserted, absent, insert), (removed, before, remove)):
        expected, entries = repeats * rate, where.sum()
        spread = np.sqrt(expected * (1 - rate))
        assert abs(counts[where].mean() - expected) <= 4 * spread / np.sqrt(entries)
        assert counts[where].std() == pytest.approx(spread, rel=0.12)  # none more likely than another
        assert abs(counts[where] - expected).max() <= 6 * max(spread, 1) * (rate > 0)


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_drift_of_the_density(mutation):
    """Flips lead to half of all entries, balanced mutation keeps the density, as expectations say."""
    density, generations, families = 0.1, 150, 30
    insert, remove = mutation_rates(mutation, N, density)
    assert (N * N * (density * remove + (1 - density) * insert)) == pytest.approx(CHANGES)
    final = []
    for family in range(families):
        edges = some_graph(100 + family, density)
        for i in range(generations):
            edges = child_of(edges, edges, 0, np.uint64(family), np.uint64(i), N, insert, remove)
        final.append(len(edges) / (N * (N - 1)))
    balance = insert / (insert + remove)
    expected = balance + (density - balance) * (1 - insert - remove) ** generations
    assert np.mean(final) == pytest.approx(expected, abs=0.01)
    assert (expected > 0.4) if mutation == "flip" else (abs(expected - density) < 1e-3)
