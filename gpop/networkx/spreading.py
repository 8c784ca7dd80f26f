"""The power iteration of PageRank and Katz centrality: one program, and NetworkX's rule for when it is done.

    new(v) = start(v) + factor * (sum over edges (u, v) of weight * value(u) / total(u)  +  lost * given(v))

``lost`` is the sum of the values of vertices that send nothing (dangling), ``given`` how it is spread. It has
converged when the absolute changes sum up to less than ``tolerance``. float64, as in NetworkX.
"""

from __future__ import annotations

import networkx as nx
import numpy as np

import gpop


class Spreading(gpop.Program):
    """Every edge carries as much as any other of its vertex."""

    share = gpop.VertexField(np.float64)  # what every out-edge carries; while gathering, what has arrived
    per_edge = gpop.VertexField(np.float64)  # 1 / total
    value = gpop.VertexField(np.float64)
    change = gpop.VertexField(np.float64)
    start = gpop.VertexField(np.float64)
    given = gpop.VertexField(np.float64)
    factor = gpop.Parameter(np.float64)
    lost = gpop.Parameter(np.float64)
    all_active = True
    combine = "add"

    def scatterFunc(self, node):
        return self.share[node]

    def initFunc(self, node):
        self.share[node] = 0
        return True

    def gatherFunc(self, value, node):
        self.share[node] += value
        return True

    def filterFunc(self, node):
        value = self.start[node] + self.factor * (self.share[node] + self.lost * self.given[node])
        self.change[node] = abs(value - self.value[node])
        self.value[node] = value
        self.share[node] = value * self.per_edge[node]
        return True


class WeightedSpreading(Spreading):
    """An edge carries its weight times as much."""

    def applyWeight(self, value, weight):
        return value * weight


def spread(
    graph: gpop.Graph,
    value: np.ndarray,
    start: np.ndarray,
    factor: float,
    per_edge: np.ndarray,
    silent: np.ndarray,
    given: np.ndarray,
    tolerance: float,
    iterations: int,
) -> np.ndarray:
    """Iterate from ``value``; ``silent`` are the vertices whose values are lost.

    Raises
    ------
    networkx.PowerIterationFailedConvergence
        If it has not converged after so many iterations.

    Examples
    --------
    >>> ring, third = gpop.Graph.from_edges([0, 1, 2], [1, 2, 0], np.full(3, 5.0)), np.full(3, 1 / 3)
    >>> spread(ring, third, 0.15 * third, 0.85, np.full(3, 0.2), np.arange(0), third, 1e-6, 9).round(3)
    array([0.333, 0.333, 0.333])
    """
    program = (Spreading if graph.weights is None else WeightedSpreading)(graph)
    program.value, program.start, program.factor = value, start, factor
    program.per_edge, program.given = per_edge, given
    program.share = value * per_edge
    converged = False

    def lose() -> None:
        program.lost = program.value[silent].sum()

    def after(record: dict) -> bool:
        nonlocal converged
        if silent.size:
            lose()
        converged = bool(program.change.sum() < tolerance)
        return converged

    if iterations > 0:
        lose()
        gpop.run(program, iterations=iterations, callback=after)
    if not converged:
        raise nx.PowerIterationFailedConvergence(iterations)
    return program.value
