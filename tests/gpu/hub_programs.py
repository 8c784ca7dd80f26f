"""Programs that show how messages reach a vertex of many in-edges: which, how often, in which order."""

from __future__ import annotations

import numpy as np

import gpop


class Degree(gpop.Program):
    """Counts in-edges; nothing is declared about how messages combine."""

    degree = gpop.VertexField(np.uint32)
    all_active = True

    def scatterFunc(self, node):
        return np.uint32(1)

    def gatherFunc(self, value, node):
        self.degree[node] += value


class Bytes(gpop.Program):
    """A field of one byte, messages of one byte; every seventh message activates."""

    total = gpop.VertexField(np.uint8)

    def scatterFunc(self, node):
        return np.uint8(node % 251)

    def gatherFunc(self, value, node):
        self.total[node] += value
        return value % 7 == 3


class Order(gpop.Program):
    """Two float32 fields in which the order of the messages shows in the last bits."""

    sum = gpop.VertexField(np.float32)
    folded = gpop.VertexField(np.float32)
    all_active = True

    def scatterFunc(self, node):
        return np.float32(1) / np.float32(node + 1)

    def gatherFunc(self, value, node):
        self.sum[node] += value
        self.folded[node] = self.folded[node] * np.float32(0.75) + value


class Enough(gpop.Program):
    """Two fields; a vertex has enough after three messages, and keeps the sum of exactly those."""

    heard = gpop.VertexField(np.int64)
    count = gpop.VertexField(np.int32)

    def scatterFunc(self, node):
        return np.int64(node) + 1

    def needsFunc(self, node):
        return self.count[node] < 3

    def gatherFunc(self, value, node):
        if self.count[node] >= 3:
            return False
        self.heard[node] += value
        self.count[node] += 1
        return self.count[node] == 3


class Counted(gpop.Program):
    """Counts the calls of gatherFunc twice."""

    count = gpop.VertexField(np.int64)
    other = gpop.VertexField(np.int64)

    def scatterFunc(self, node):
        return np.int64(1)

    def gatherFunc(self, value, node):
        self.count[node] += value
        self.other[node] += 2 * value
        return False


class FiveCounted(Counted):
    """As if it had no use for more than five; gatherFunc counts on, so that calls are seen."""

    def needsFunc(self, node):
        return self.count[node] < 5
