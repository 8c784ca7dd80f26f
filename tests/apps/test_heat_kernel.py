"""Heat-kernel PageRank: the error bound against the dense matrix exponential."""

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


@pytest.mark.parametrize("t", [0.5, 5.0, 20.0])
@pytest.mark.parametrize("epsilon", slow([1e-2, 1e-4, 1e-6, 1e-9], 1e-4, 1e-9))
@pytest.mark.parametrize("mode", ["sc", "pc"])
def test_error_is_within_epsilon_per_edge(graph, t, epsilon, mode):
    for seed in (0, 3, 50):
        exact = reference.heat_kernel(graph, seed, t)
        lacks = exact - gpop.heat_kernel(graph, seed, t, epsilon, mode=mode).probability
        assert np.all(lacks >= -2e-5 * exact)
        assert np.all(lacks <= epsilon * np.maximum(graph.out_degree, 1) + 2e-5 * exact)


def test_smaller_epsilon_reaches_further(graph):
    sizes = [gpop.heat_kernel(graph, 0, epsilon=epsilon).vertices.size for epsilon in (1e-2, 1e-3, 1e-4)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_number_of_levels(graph):
    short = gpop.heat_kernel(graph, 0, t=5.0, levels=1)
    assert short.levels == short.run.iterations == 1
    neighbours = graph.indices[graph.indptr[0] : graph.indptr[1]]
    assert set(short.vertices) == {0, *neighbours}
    assert short.values.sum() == pytest.approx(np.exp(-5) * 6, rel=1e-5)
    assert gpop.heat_kernel(graph, 0, t=5.0).levels < gpop.heat_kernel(graph, 0, t=10.0).levels


def test_a_walk_stays_where_there_is_no_way_out():
    graph = gpop.Graph.from_edges([0], [1])
    result = gpop.heat_kernel(graph, 0, t=2.0, epsilon=1e-9)
    np.testing.assert_allclose(result.probability, [np.exp(-2), 1 - np.exp(-2)], rtol=1e-6)
