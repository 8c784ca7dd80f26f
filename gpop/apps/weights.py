"""Weights of edges as the apps that use them need them: there, in range, and summed up for each vertex.

What is found is kept with the graph: a check reads every weight.
"""

from __future__ import annotations

import numpy as np

from gpop.common.errors import UsageError
from gpop.common.parallel import ranges
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind

BLOCK = 1 << 20
"""Vertices whose weights are summed up at a time."""


def edge_weights(graph: Graph, app: str) -> np.ndarray:
    """The weights, or a `UsageError` where there are none.

    Examples
    --------
    >>> edge_weights(Graph.from_edges([0], [1], [7]), "sssp").tolist()
    [7]
    """
    if graph.weights is None:
        raise UsageError(f"{app} needs edge weights: {graph.name or 'the graph'} has none")
    return graph.weights


def edge_with(graph: Graph, wanted: np.ndarray) -> str:
    """The first edge for which ``wanted`` is true, and its weight, for a message.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2], [7, -1])
    >>> edge_with(graph, graph.weights < 0)
    'edge 1 -> 2 has -1'
    """
    place = np.flatnonzero(wanted)[0]
    tail = np.searchsorted(graph.indptr, place, side="right") - 1
    return f"edge {tail} -> {graph.indices[place]} has {graph.weights[place]}"


def finite_weights(graph: Graph, app: str) -> np.ndarray:
    """The weights, or a `UsageError` where there are none, or one is infinite or no number.

    Examples
    --------
    >>> finite_weights(Graph.from_edges([0, 1], [1, 2], [1.5, -2]), "katz").tolist()
    [1.5, -2.0]
    """
    weights = edge_weights(graph, app)
    if weights.size and not (weights.min() > -np.inf and weights.max() < np.inf):  # nan is neither
        raise UsageError(f"{app} needs weights that are finite: {edge_with(graph, ~np.isfinite(weights))}")
    return weights


def out_weights(graph: Graph, app: str) -> np.ndarray:
    """Sum of the weights of every vertex's out-edges, in float64; kept with the graph.

    Raises
    ------
    UsageError
        If there are no weights, or one is negative, infinite or no number.

    Examples
    --------
    >>> out_weights(Graph.from_edges([0, 0, 2], [1, 2, 0], [0.5, 2, 3]), "pagerank").tolist()
    [2.5, 0.0, 3.0]
    """
    weights = edge_weights(graph, app)
    sums = graph.store.get(Kind.OUT_WEIGHTS)
    if sums is None:
        if weights.size and not (weights.min() >= 0 and weights.max() < np.inf):  # nan is neither
            wrong = edge_with(graph, ~((weights >= 0) & (weights < np.inf)))
            raise UsageError(f"{app} needs weights that are finite and not negative: {wrong}")
        sums = np.zeros(graph.n)
        for first, last in ranges(graph.n, BLOCK):
            begins = graph.indptr[first:last]
            sends = np.flatnonzero(begins < graph.indptr[first + 1 : last + 1])
            if sends.size:  # reduceat takes an empty range for one of length 1
                piece = weights[begins[0] : graph.indptr[last]]
                with np.errstate(over="ignore"):  # what is infinite is refused
                    sums[first + sends] = np.add.reduceat(piece, begins[sends] - begins[0], dtype=np.float64)
        graph.store.put(Kind.OUT_WEIGHTS, sums)
    return sums


def heaviest_weight(graph: Graph, app: str) -> int | float:
    """The largest weight (0 without edges), after a check of all weights; kept with the graph.

    Raises
    ------
    UsageError
        If there are no weights, or one is negative or no number.

    Examples
    --------
    >>> heaviest_weight(Graph.from_edges([0, 0, 2], [1, 2, 0], [5, 2, 3]), "sssp")
    5
    """
    weights = edge_weights(graph, app)
    if graph.facts.negative_weight is not None:
        lowest = graph.facts.negative_weight
        raise UsageError(f"{app} needs weights that are not negative: the smallest of {graph!r} is {lowest}")
    if graph.facts.heaviest_weight is None:
        lightest, heaviest = (weights.min().item(), weights.max().item()) if weights.size else (0, 0)
        if not lightest >= 0:  # true for nan as well, which min() hands on
            wrong = edge_with(graph, ~(weights >= 0))
            raise UsageError(f"{app} needs weights that are not negative: {wrong}")
        graph.facts.heaviest_weight = heaviest
    return graph.facts.heaviest_weight
