"""Distance of degrees from a distribution, and connectivity, against SciPy and NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from gpop.generate.degree_fit import CRITICAL, critical_distance, fit, target_of
from tests.conftest import SEED

KNOWN = {
    "uniform:3:20": stats.uniform(3, 17),
    "exponential:0.2": stats.expon(scale=5),
    "normal:9:2.5": stats.norm(9, 2.5),
}


@pytest.mark.parametrize("text", KNOWN)
def test_a_target_is_the_distribution_of_its_name(text):
    target, known = target_of(text), KNOWN[text]
    assert target.mean == pytest.approx(known.mean())
    assert target.table(30) == pytest.approx(known.cdf(np.arange(59)))


@pytest.mark.parametrize("text", KNOWN)
@pytest.mark.parametrize("density", [0.005, 0.02, 0.1, 0.6])
def test_fit(text, density):
    """Graphs with isolated vertices, with several parts, and connected ones."""
    n = 50
    graph = nx.gnp_random_graph(n, density, seed=SEED, directed=True)
    edges = np.array(sorted(u << 32 | v for u, v in graph.edges), np.uint64)
    distance, connectivity = fit(edges, n, target_of(text).table(n))
    degrees = [degree for _, degree in graph.degree]
    # kstest looks at both sides of every value; ties make no difference to the largest distance
    assert distance == pytest.approx(stats.kstest(degrees, KNOWN[text].cdf).statistic)
    assert connectivity == len(nx.node_connected_component(graph.to_undirected(), 0)) / n


def test_both_sides_of_a_jump_count():
    """All degrees are 2: at the jump the distances are 1 - F(2) and F(2)."""
    ring = np.array([v << 32 | (v + 1) % 40 for v in range(40)], np.uint64)
    for text, below in (("uniform:0:10", 0.2), ("uniform:0:2.5", 0.8)):
        assert fit(ring, 40, target_of(text).table(40)) == (pytest.approx(max(below, 1 - below)), 1)


def test_critical_distances_are_quantiles():
    """Of Kolmogorov's distribution, to the two digits that Massey gives."""
    for significance in CRITICAL:
        assert critical_distance(significance, 1) == pytest.approx(
            stats.kstwobign.isf(significance), abs=0.006
        )
