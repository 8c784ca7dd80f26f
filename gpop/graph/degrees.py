"""What the degrees of a graph say of its kind."""

from __future__ import annotations

import numpy as np

from gpop.graph.graph import Graph

UNEVEN = 1.5
"""`unevenness` of graphs with hubs: mail, votes, friends, citations, RMAT; roads and meshes are below."""


def squared_degrees(graph: Graph) -> int:
    """The sum of the squares of the out-degrees; kept with the graph.

    Examples
    --------
    >>> squared_degrees(Graph.from_edges([0, 0, 1], [1, 2, 2]))
    5
    """
    if graph.facts.squared_degrees is None:
        degree = graph.out_degree.astype(np.int64)
        graph.facts.squared_degrees = int(degree @ degree)
    return graph.facts.squared_degrees


def unevenness(graph: Graph) -> float:
    """The mean squared out-degree over the square of the mean: 1 where all are alike, more where hubs are.

    Examples
    --------
    >>> unevenness(Graph.from_edges([0, 1, 2], [1, 2, 0])), unevenness(Graph.from_edges([0, 0], [1, 0]))
    (1.0, 2.0)
    """
    return squared_degrees(graph) * graph.n / max(graph.m, 1) ** 2


def share_in_long_lists(graph: Graph, length: int) -> float:
    """Share of the edges that go to vertices with more than ``length`` in-edges; kept with the graph.

    Examples
    --------
    >>> share_in_long_lists(Graph.from_edges([0, 1, 2, 0], [3, 3, 3, 1]), length=2)
    0.75
    """
    shares = graph.facts.in_long_lists
    if length not in shares:
        degree = np.bincount(graph.indices, minlength=graph.n)
        shares[length] = float(degree[degree > length].sum() / max(graph.m, 1))
    return shares[length]
