"""PageRank as the papers of `perf.paper` have it, with a division when a rank is sent, or without (NoDiv).

NoDiv keeps rank / out-degree, which every out-edge carries, so that nothing is divided on the way; what is
divided is the new rank, when it is consolidated, and in the last iteration it is not. Its first ranks are
divided as well (the papers' are not, so that their first iteration is another one). A vertex without
out-edges keeps its rank. gpop computes a message once per vertex, so either has one division per vertex and
iteration where the papers' plain version has one per edge; what differs is in which phase.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gpop


class Dividing(gpop.Program):
    """Divides what it sends."""

    rank = gpop.VertexField(np.float32)
    heard = gpop.VertexField(np.float32)
    base = gpop.Parameter(np.float64)
    damping = gpop.Parameter(np.float64, 0.85)
    last = gpop.Parameter(np.int64)
    all_active = True
    combine = "add"

    def scatterFunc(self, node):
        return np.float32(self.rank[node] / max(self.out_degree[node], 1))

    def gatherFunc(self, value, node):
        self.heard[node] += value

    def filterFunc(self, node):
        self.rank[node] = self.base + self.damping * self.heard[node]
        self.heard[node] = 0
        return True


class NoDiv(Dividing):
    """Divides when it consolidates."""

    def scatterFunc(self, node):
        return self.rank[node]

    def filterFunc(self, node):
        rank = self.base + self.damping * self.heard[node]
        self.heard[node] = 0
        if self.iteration + 1 < self.last:
            rank = rank / max(self.out_degree[node], 1)
        self.rank[node] = rank
        return True


PROGRAMS = {"Dividing": Dividing, "NoDiv": NoDiv}


def ranks(
    cls: type[Dividing], graph: gpop.Graph, damping: float, iterations: int, **options: Any
) -> tuple[np.ndarray, gpop.Run]:
    """Ranks after so many iterations (at least 1), and the run.

    Examples
    --------
    >>> ring = gpop.Graph.from_edges([0, 1, 2, 0], [1, 2, 0, 2])
    >>> divided, undivided = (ranks(cls, ring, 0.85, 2)[0] for cls in (Dividing, NoDiv))
    >>> np.allclose(divided, [0.4538, 0.1917, 0.3546], atol=1e-4), np.allclose(divided, undivided)
    (True, True)
    """
    program = cls(graph)
    program.rank = 1 / max(graph.n, 1)
    if cls is NoDiv:
        program.rank = program.rank / np.maximum(graph.out_degree, 1)
    program.base, program.damping, program.last = (1 - damping) / max(graph.n, 1), damping, iterations
    run = gpop.run(program, iterations=iterations, **options)
    return program.rank, run
