"""Verifiers of the apps on graphs without edges, and on one without vertices."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.apps import (
    betweenness,
    bfs,
    cc,
    closeness,
    clustering,
    coloring,
    core_number,
    heat_kernel,
    hits,
    independent_set,
    katz,
    label_propagation,
    nibble,
    pagerank,
    pagerank_nibble,
    personalized_pagerank,
    spanning_forest,
    sssp,
    strong_components,
)

OF_ALL = {
    gpop.betweenness: betweenness,
    gpop.closeness: closeness,
    gpop.clustering: clustering,
    gpop.coloring: coloring,
    gpop.connected_components: cc,
    gpop.core_number: core_number,
    gpop.hits: hits,
    gpop.independent_set: independent_set,
    gpop.katz: katz,
    gpop.label_propagation: label_propagation,
    gpop.pagerank: pagerank,
    gpop.spanning_forest: spanning_forest,
    gpop.strong_components: strong_components,
}
FROM_ONE = {
    gpop.bfs: bfs,
    gpop.heat_kernel: heat_kernel,
    gpop.nibble: nibble,
    gpop.pagerank_nibble: pagerank_nibble,
    gpop.personalized_pagerank: personalized_pagerank,
    gpop.sssp: sssp,
}


def of(n: int) -> gpop.Graph:
    return gpop.Graph.from_edges([], [], np.empty(0, np.uint32), n=n)


@pytest.mark.parametrize("app", OF_ALL, ids=lambda app: app.__name__)
@pytest.mark.parametrize("n", [0, 1, 5])
def test_no_edges(app, n):
    assert OF_ALL[app].verify(of(n), app(of(n))) is None


@pytest.mark.parametrize("app", FROM_ONE, ids=lambda app: app.__name__)
@pytest.mark.parametrize("n", [1, 5])
def test_no_edges_from_one(app, n):
    assert FROM_ONE[app].verify(of(n), app(of(n), 0), 0) is None
