"""PageRank as programs: one for each type of ranks, with a tolerance or without, with weights or without.

Encoding: ``share`` is rank/outdegree, so a message costs no division; the result is multiplied back. With
weights it is rank/(sum of weights), and a message costs one multiplication.
"""

from __future__ import annotations

import numpy as np

import gpop


class PageRank(gpop.Program):
    """A fixed number of iterations."""

    share = gpop.VertexField(np.float32)  # rank / out-degree, what every out-edge carries
    per_edge = gpop.VertexField(np.float32)  # 1 / out-degree; with weights, 1 / sum of the out-edges'
    base = gpop.Parameter(np.float64)
    damping = gpop.Parameter(np.float64, 0.85)
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
        self.share[node] = (self.base + self.damping * self.share[node]) * self.per_edge[node]
        return True


class ConvergingPageRank(PageRank):
    """Also keeps the rank itself and by how much it changed, until that is less than a tolerance in all."""

    rank = gpop.VertexField(np.float32)
    change = gpop.VertexField(np.float32)
    tolerance = gpop.Parameter(np.float64)
    settles = "change", "tolerance"

    def filterFunc(self, node):
        rank = self.base + self.damping * self.share[node]
        self.change[node] = abs(rank - self.rank[node])
        self.rank[node] = rank
        self.share[node] = rank * self.per_edge[node]
        return True


class DoublePageRank(PageRank):
    """`PageRank` in float64."""

    share = gpop.VertexField(np.float64)
    per_edge = gpop.VertexField(np.float64)


class ConvergingDoublePageRank(ConvergingPageRank, DoublePageRank):
    """`ConvergingPageRank` in float64."""

    rank = gpop.VertexField(np.float64)
    change = gpop.VertexField(np.float64)


class WeightedPageRank(PageRank):
    """Out-edges share the rank in the proportion of their weights."""

    def applyWeight(self, value, weight):
        return value * weight


class WeightedConvergingPageRank(WeightedPageRank, ConvergingPageRank):
    """`ConvergingPageRank` with weights."""


class WeightedDoublePageRank(WeightedPageRank, DoublePageRank):
    """`DoublePageRank` with weights."""


class WeightedConvergingDoublePageRank(WeightedPageRank, ConvergingDoublePageRank):
    """`ConvergingDoublePageRank` with weights."""


PROGRAMS = {
    (np.dtype(np.float32), False): (PageRank, WeightedPageRank),
    (np.dtype(np.float32), True): (ConvergingPageRank, WeightedConvergingPageRank),
    (np.dtype(np.float64), False): (DoublePageRank, WeightedDoublePageRank),
    (np.dtype(np.float64), True): (ConvergingDoublePageRank, WeightedConvergingDoublePageRank),
}
"""By the type of ranks and whether a tolerance ends them: without weights, with them."""
