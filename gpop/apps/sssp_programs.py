"""Shortest paths as programs: one for each type of distances (`gpop.apps.sssp`).

Encoding: a vertex that is not reached has the largest distance, which may be sent along any edge: it never
improves anything.
"""

from __future__ import annotations

import numpy as np

import gpop

MOST_BUCKETS = 2.0**62
"""Buckets of floating-point distances are counted in int64; what lies beyond is the last one."""


class SSSP(gpop.Program):
    """Distances below 2**31-1 for whole-number weights up to 2**31."""

    distance = gpop.VertexField(np.uint32, 2**31 - 1)
    delta = gpop.Parameter(np.uint32, 1)
    inactive_message = gpop.HARMLESS
    combine = "min"

    def scatterFunc(self, node):
        return self.distance[node]

    def applyWeight(self, value, weight):
        return np.uint32(value + np.uint32(weight))

    def gatherFunc(self, value, node):
        if value < self.distance[node]:
            self.distance[node] = value
            return True
        return False

    def priorityFunc(self, node):
        return self.distance[node] // self.delta


class WideSSSP(SSSP):
    """Distances below 2**63-1 for whole-number weights up to 2**63."""

    distance = gpop.VertexField(np.uint64, 2**63 - 1)
    delta = gpop.Parameter(np.uint64, 1)

    def applyWeight(self, value, weight):
        return value + np.uint64(weight)


class FloatSSSP(SSSP):
    """float32 weights."""

    distance = gpop.VertexField(np.float32, np.inf)
    delta = gpop.Parameter(np.float64, 1)

    def applyWeight(self, value, weight):
        return value + weight

    def priorityFunc(self, node):
        return np.int64(min(self.distance[node] / self.delta, MOST_BUCKETS))


class DoubleSSSP(FloatSSSP):
    """float64 weights."""

    distance = gpop.VertexField(np.float64, np.inf)


UNORDERED = {
    kind: type(
        f"Unordered{kind.__name__}",
        (kind,),
        {"priorityFunc": gpop.Program.priorityFunc, "__module__": __name__, "__doc__": "Without buckets."},
    )
    for kind in (SSSP, WideSSSP, FloatSSSP, DoubleSSSP)
}
"""On a GPU, where even one bucket costs a look at each vertex that is improved."""
