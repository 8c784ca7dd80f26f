"""Features: the plain numbers about a graph and an iteration from which a strategy can be predicted.

What M. Verstraaten's thesis takes: sizes, degree distributions as five-number summaries with mean and
standard deviation, frontier and visited vertices, absolute and as a share of all. To those come the active
edges, what the order of the vertices does to messages, which eq. (1) of GPOP knows and the thesis does not,
and the bytes of a message and of a weight and whether vertices may pull, which tell programs apart. Those of
a graph are computed once, from counts of degrees, and kept with it; those of an iteration are arithmetic that
engines compile into their loops. A vector of features holds `FEATURES` in their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.common.parallel import worker_count
from gpop.graph.graph import Graph
from gpop.layout.partition import messages_per_edge, partition_bits, share_inside

SUMMARY = ("min", "lower quartile", "median", "upper quartile", "max", "mean", "stddev")
DEGREES = ("out degree", "in degree", "degree")
"""The last is the sum of the two before it."""

OF_ORDER = ("messages per edge", "edges inside")
"""What the order of the vertices makes of the graph, in the partitions of a run on all cores: the messages
that its edges take (the paper's r), and the share of edges inside a partition. From a sample of the edges."""

OF_DEGREES = tuple(f"{degree} {part}" for degree in DEGREES for part in SUMMARY)
OF_GRAPH = ("vertices", "edges", *OF_DEGREES, *OF_ORDER)
OF_RUN = ("message bytes", "weight bytes", "pulls")
"""Of the program; ``pulls`` is 1 where its vertices may pull in some iterations, `ALWAYS_ALL` where every
vertex is always active, so that all may in all, else 0."""

ALWAYS_ALL = 2

OF_STEP = ("frontier abs", "frontier rel", "visited abs", "visited rel", "edges abs", "edges rel")
"""Of an iteration; ``visited`` counts every vertex as often as it was in an earlier frontier."""

FEATURES = (*OF_GRAPH, *OF_RUN, *OF_STEP)
STEP_AT = len(OF_GRAPH) + len(OF_RUN)
"""Where those of an iteration begin."""


def summary_of(counts: np.ndarray) -> list[float]:
    """`SUMMARY` of values given by how often each of 0, 1, 2 ... is there.

    Quartiles are Tukey's: medians of the lower and of the upper half, without the middle of an odd number.
    The standard deviation is that of a sample. All are 0 where there are no values.

    Examples
    --------
    >>> summary_of(np.bincount([1, 2, 3, 4, 5]))[:6]
    [1.0, 1.5, 3.0, 4.5, 5.0, 3.0]
    """
    n = int(counts.sum())
    if n == 0:
        return [0.0] * len(SUMMARY)
    up_to = np.cumsum(counts)

    def middle(first: int, size: int) -> float:
        """Median of ``size`` values in ascending order, from this one on."""
        places = first + (size - 1) // 2, first + size // 2
        return float(np.searchsorted(up_to, places, side="right").mean())

    half = max(n // 2, 1)
    values = np.arange(counts.size)
    mean = float(values @ counts) / n
    spread = float(np.sqrt(np.square(values - mean) @ counts / (n - 1))) if n > 1 else 0.0
    quartiles = [middle(0, 1), middle(0, half), middle(0, n), middle(n - half, half), middle(n - 1, 1)]
    return [*quartiles, mean, spread]


def graph_features(graph: Graph) -> tuple[float, ...]:
    """`OF_GRAPH` of a graph; counted once, and kept with it.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 0, 1], [1, 2, 2])
    >>> dict(zip(OF_GRAPH, graph_features(graph)))["out degree max"]
    2.0
    """
    if graph.facts.features is None:
        outward = np.diff(graph.indptr)
        inward = np.bincount(graph.indices, minlength=graph.n)
        counted = (np.bincount(degrees) for degrees in (outward, inward, outward + inward))
        parts = [value for counts in counted for value in summary_of(counts)]
        bits = partition_bits(graph.n, worker_count(), edges=graph.m)
        of_order = messages_per_edge(graph, bits), share_inside(graph, bits)
        graph.facts.features = (float(graph.n), float(graph.m), *parts, *of_order)
    return graph.facts.features


def step_feature(
    which: int, vertices: float, edges: float, frontier: float, active_edges: float, visited: float
) -> float:
    """One of `OF_STEP`, of an iteration, or of arrays of them.

    Examples
    --------
    >>> [step_feature(which, 100, 1000, 10, 50, 20) for which in range(len(OF_STEP))]
    [10, 0.1, 20, 0.2, 50, 0.05]
    """
    if which == 0:
        return frontier
    if which == 1:
        return frontier / vertices
    if which == 2:
        return visited
    if which == 3:
        return visited / vertices
    if which == 4:
        return active_edges
    return active_edges / edges


def run_features(graph: Graph, of_run: tuple[float, float], frontier: Any, active_edges: Any) -> np.ndarray:
    """Feature vectors of all iterations of a run.

    Parameters
    ----------
    graph : Graph
    of_run : tuple of float
        `OF_RUN`.
    frontier, active_edges : array of int, [iterations]
        Of every iteration, from the first one.

    Returns
    -------
    ndarray of float64, [iterations, len(FEATURES)]

    Examples
    --------
    >>> graph = Graph.from_edges([0, 0, 1], [1, 2, 2])
    >>> run_features(graph, (4, 0, 1), [1, 2], [2, 1])[:, FEATURES.index("visited abs")]
    array([0., 1.])
    """
    frontier = np.asarray(frontier, np.float64)
    found = np.empty((frontier.size, len(FEATURES)))
    found[:, :STEP_AT] = (*graph_features(graph), *of_run)
    before = np.cumsum(frontier) - frontier
    sizes = max(graph.n, 1), max(graph.m, 1)
    numbers = *sizes, frontier, np.asarray(active_edges, np.float64), before
    for which in range(len(OF_STEP)):
        found[:, STEP_AT + which] = step_feature(which, *numbers)
    return found
