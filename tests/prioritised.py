"""Programs with a ``priorityFunc``, for all targets."""

from __future__ import annotations

import numpy as np

import gpop


class Widest(gpop.Program):
    """Largest width of a path from the source: its narrowest edge. Wide paths first."""

    width = gpop.VertexField(np.int32, -1)
    inactive_message = gpop.HARMLESS
    step = gpop.Parameter(np.int32, 8)

    def scatterFunc(self, node):
        return self.width[node]

    def applyWeight(self, value, weight):
        return min(value, np.int32(weight))

    def gatherFunc(self, value, node):
        if value > self.width[node]:
            self.width[node] = value
            return True
        return False

    def filterFunc(self, node):
        return self.width[node] > 0  # a width of 0 leads nowhere

    def priorityFunc(self, node):
        return -self.width[node] // self.step


class LastOfAll(gpop.Program):
    """Labels spread; those above 2 have the last priority that there is."""

    label = gpop.VertexField(np.uint32, 9)
    inactive_message = gpop.HARMLESS

    def scatterFunc(self, node):
        return self.label[node]

    def gatherFunc(self, value, node):
        if value < self.label[node]:
            self.label[node] = value
            return True
        return False

    def priorityFunc(self, node):
        if self.label[node] > 2:
            return np.int64(0x7FFFFFFFFFFFFFFF)
        return np.int64(self.label[node])
