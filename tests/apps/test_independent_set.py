"""Independent sets: the set of a serial scan by priority, in every mode, for every number of threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gpop
from gpop.apps.independent_set import priorities, verify
from gpop.generate import generate
from gpop.graph.transform import relabel
from tests.graphs import small_graphs

SETTINGS = [
    {"mode": "sc", "threads": 1},
    {"mode": "pc", "threads": 4, "partition_size": 32},
    {"mode": "auto", "threads": 2},
    {"target": "python"},
]


def scanned(graph: gpop.Graph, seed: int) -> list[int]:
    """Vertices by priority; each joins that has no neighbour in the set."""
    both = graph.symmetrize()
    member = np.zeros(graph.n, bool)
    for v in np.argsort(priorities(graph.n, seed)):
        row = both.indices[both.indptr[v] : both.indptr[v + 1]]
        member[v] = not member[row[row != v]].any()
    return np.flatnonzero(member).tolist()


@pytest.mark.parametrize("name", small_graphs())
def test_small_graphs(name):
    graph = small_graphs()[name]
    for seed in (1, 5):
        expected = scanned(graph, seed)
        for setting in SETTINGS:
            result = gpop.independent_set(graph, seed=seed, **setting)
            assert result.vertices.tolist() == expected, setting
            assert result.count == len(expected)
            assert verify(graph, result) is None


def test_every_vertex_sends_twice():
    graph = generate("rmat", scale=12, degree=8, seed=3, symmetrize=True)
    result = gpop.independent_set(graph, mode="sc", threads=4)
    assert result.vertices.tolist() == scanned(graph, 1)
    assert result.trace.column("active_edges").sum() == 2 * graph.m
    assert result.run.converged and result.run.iterations < 40


def test_seeds_and_ids_decide():
    graph = generate("uniform", scale=8, degree=4, seed=2)
    found = gpop.independent_set(graph, seed=3)
    assert found.vertices.tolist() != gpop.independent_set(graph, seed=4).vertices.tolist()
    shuffled = relabel(graph, "random", seed=4)
    for order in ("none", "degree"):
        other = gpop.independent_set(shuffled, seed=3, reorder=order)
        assert sorted(shuffled.original_ids[other.vertices]) == found.vertices.tolist()


@pytest.mark.parametrize("seed", [0, 1, 2**40])
def test_priorities_are_different_numbers_in_no_order(seed):
    n = 100_000
    drawn = priorities(n, seed).astype(np.int64)
    assert np.unique(drawn).size == n and drawn.max() < 2**31
    for lag in (1, 2, 64):
        rises = np.mean(drawn[lag:] > drawn[:-lag])
        assert abs(rises - 0.5) < 0.01
    assert abs(np.corrcoef(drawn, np.arange(n))[0, 1]) < 0.02
    assert np.mean(drawn > np.median(priorities(n, seed + 1))) == pytest.approx(0.5, abs=0.01)


def test_there_are_no_more_priorities():
    with pytest.raises(
        gpop.UsageError, match="independent_set of 2147483649 vertices: expected at most 214748"
    ):
        priorities(2**31 + 1, 1)


def test_it_is_not_interleaved():
    with pytest.raises(gpop.UsageError, match="independent_set cannot be interleaved"):
        gpop.independent_set(gpop.Graph.from_edges([0], [1]), interleave=True)


def test_verify_sees_a_fault():
    graph = generate("rmat", scale=7, degree=8, seed=1)
    result = gpop.independent_set(graph)
    isolated = result.vertices[graph.symmetrize().out_degree[result.vertices] == 0][0]
    less = result.vertices[result.vertices != isolated]
    assert verify(graph, replace(result, vertices=less)) == "1 more vertices could be in the set"
    more = np.arange(graph.n)
    assert "of the set have a neighbour in it" in verify(graph, replace(result, vertices=more))
