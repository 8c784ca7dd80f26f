"""Programs whose bytes are counted: of each kind that the formulas of a GPU tell apart."""

from __future__ import annotations

import numpy as np

import gpop


class Heard(gpop.Program):
    """Messages are kept between scatter and gather (they depend on what is written), and change nothing."""

    low = gpop.VertexField(np.uint32)

    def scatterFunc(self, node):
        return self.low[node] + np.uint32(1)

    def gatherFunc(self, value, node):
        if value < self.low[node]:
            self.low[node] = value
        return False


class Harmless(Heard):
    inactive_message = gpop.HARMLESS


class Weighted(Heard):
    def applyWeight(self, value, weight):
        return value + weight


class Live(Heard):
    """Messages can be computed when they are delivered."""

    value = gpop.VertexField(np.uint32, 1)

    def scatterFunc(self, node):
        return self.value[node]


class LiveWeighted(Live):
    def applyWeight(self, value, weight):
        return value + weight


class Needy(Heard):
    """A value that scatter keeps; vertices 0 have no use for messages."""

    def needsFunc(self, node):
        return self.low[node] > 0

    def gatherFunc(self, value, node):
        if self.low[node] > value:
            self.low[node] = value
        return False


class NeedyLive(Needy):
    value = gpop.VertexField(np.uint32, 1)

    def scatterFunc(self, node):
        return self.value[node]


class Everywhere(Heard):
    all_active = True


class Short(Heard):
    """A field of two bytes, messages of eight."""

    low = gpop.VertexField(np.uint16)

    def scatterFunc(self, node):
        return np.int64(self.low[node]) + 1


class Lowest(Heard):
    combine = "min"
    inactive_message = gpop.HARMLESS


class LowestWeighted(Weighted):
    combine = "min"


class Sums(gpop.Program):
    """Folded, whatever the mode: float32 messages whose sums are pushed in float64."""

    heard = gpop.VertexField(np.float32)
    combine = "add"

    def scatterFunc(self, node):
        return np.float32(1.0) + self.heard[node]

    def gatherFunc(self, value, node):
        self.heard[node] += value
        return False


class SumsEverywhere(Sums):
    all_active = True


class LowestEverywhere(LowestWeighted):
    all_active = True
