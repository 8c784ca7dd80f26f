"""The iteration loop: what it writes into the trace beside counts, which test_counters.py looks at."""

from __future__ import annotations

import numpy as np

import gpop

STEPS = 1 << 18


class Slow(gpop.Program):
    """One function takes a hundred thousand times as long as all else: to send, or to receive."""

    seen = gpop.VertexField(np.uint32, 1)
    sending = gpop.Parameter(np.int64, 0)
    receiving = gpop.Parameter(np.int64, 0)
    inactive_message = gpop.HARMLESS

    def scatterFunc(self, node):
        value = self.seen[node]
        for _ in range(self.sending):
            value = np.uint32(value * np.uint32(1664525) + np.uint32(1013904223))
        return value

    def gatherFunc(self, value, node):
        for _ in range(self.receiving):
            value = np.uint32(value * np.uint32(1664525) + np.uint32(1013904223))
        self.seen[node] = value
        return True


def test_seconds_are_those_of_the_phase():
    """The shortest of 20 iterations: a phase in which nothing happens is not always interrupted."""
    edge = gpop.Graph.from_edges([0, 1], [1, 0])
    for sending, receiving in ((STEPS, 0), (0, STEPS)):
        program = Slow(edge)
        program.sending, program.receiving = sending, receiving
        trace = gpop.run(program, [0], iterations=20, mode="sc", partition_size=1, threads=1).trace
        scatter, gather = (trace.column(f"{phase}_seconds").min() for phase in ("scatter", "gather"))
        assert (scatter > 10 * gather) if sending else (gather > 10 * scatter)
