"""What the out-degrees of a graph say of its kind."""

from __future__ import annotations

import numpy as np

from gpop.graph.graph import Graph


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
