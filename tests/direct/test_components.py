"""The largest component against NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from gpop.direct.components import largest_component
from gpop.graph.graph import Graph
from tests.graphs import same, small_graphs

GRAPHS = small_graphs()


@pytest.mark.parametrize("name", GRAPHS)
def test_largest_component(name):
    graph = GRAPHS[name]
    part = largest_component(graph)
    components = list(nx.weakly_connected_components(graph.to_networkx()))
    best = sorted(max(components, key=lambda vertices: (len(vertices), -min(vertices))))
    names = np.arange(graph.n) if part.original_ids is None else part.original_ids
    assert names.tolist() == best
    inside = np.repeat(np.isin(np.arange(graph.n), best), graph.out_degree)
    source = np.repeat(np.arange(graph.n), graph.out_degree)[inside]
    weights = None if graph.weights is None else graph.weights[inside]
    ends = (np.searchsorted(best, source), np.searchsorted(best, graph.indices[inside]))
    assert same(part, Graph.from_edges(*ends, weights, n=len(best)))


def test_component_of_nothing():
    assert largest_component(Graph.from_edges([], [], n=0)).n == 0
