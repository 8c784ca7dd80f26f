"""PageRank-Nibble: the error bound against the dense solution."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from tests.apps import reference
from tests.quick import slow


@pytest.fixture(scope="module")
def graph():
    return generate("rmat", scale=8, degree=4, seed=9, symmetrize=True)


@pytest.mark.parametrize("alpha", [0.01, 0.15, 0.9])
@pytest.mark.parametrize("epsilon", slow([1e-2, 1e-4, 1e-6, 1e-9], 1e-4, 1e-9))
@pytest.mark.parametrize("mode", ["sc", "pc"])
def test_error_is_within_epsilon_per_edge(graph, alpha, epsilon, mode):
    for seed in (0, 3, 50):
        exact = reference.personalised_pagerank(graph, seed, alpha)
        lacks = exact - gpop.pagerank_nibble(graph, seed, alpha, epsilon, mode=mode).probability
        assert np.all(lacks >= -5e-5 * exact)
        assert np.all(lacks <= epsilon * np.maximum(graph.out_degree, 1) + 5e-5 * exact)


def test_work_is_bounded_by_epsilon_not_by_the_graph():
    """A push takes at least keep * epsilon * degree of the mass, which is 1 in all (Andersen et al.)."""
    graph = generate("grid", width=200, height=200)
    epsilon, alpha = 1e-4, 0.15
    run = gpop.pagerank_nibble(graph, 20_100, alpha, epsilon).run
    assert run.converged
    assert run.trace.column("active_edges").sum() <= 1 / (epsilon * 2 * alpha / (1 + alpha))


def test_a_walk_stays_where_there_is_no_way_out():
    result = gpop.pagerank_nibble(gpop.Graph.from_edges([0], [1]), 0, alpha=1 / 3)
    np.testing.assert_allclose(result.probability, [0.5, 0.5], rtol=1e-6)


def test_a_number_may_come_as_text():
    pair = gpop.Graph.from_edges([0, 1], [1, 0])
    found, same = (gpop.pagerank_nibble(pair, 0, alpha, epsilon="1e-4").values for alpha in ("0.1", 0.1))
    assert found.tolist() == same.tolist()
