"""PageRank's kernels as the papers write them, with every access to global memory counted by what it is for.

Events: ``rank`` and ``degree`` of a vertex, ``own degree`` of the one whose edges are walked, ``end`` of an
edge in a list, ``neighbour`` in a list of neighbours, ``offset`` of such a list, ``argument`` of a thread
that walks; writes and atomics are counted as they are. Nothing here is fast: it counts on small graphs.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from types import ModuleType

import numpy as np

from gpop.graph.graph import Graph

ARGUMENTS = 3
"""A count and two pointers."""


class Counting:
    """One iteration by one kernel on a graph, and what it accessed."""

    def __init__(self, graph: Graph, rank: np.ndarray, damping: float = 0.85) -> None:
        self.graph, self.damping = graph, damping
        self.rank, self.new = rank.astype(float), np.zeros(graph.n)
        self.degrees = np.maximum(np.diff(graph.indptr), 1)
        self.events: Counter[str] = Counter()

    def _rank(self, v: int) -> float:
        self.events["rank"] += 1
        return self.rank[v]

    def _degree(self, v: int, own: bool = False) -> int:
        self.events["own degree" if own else "degree"] += 1
        return self.degrees[v]

    def _add(self, v: int, value: float) -> None:
        self.events["atomic"] += 1
        self.new[v] += value

    def _neighbours(self, graph: Graph, v: int):
        self.events["argument"] += ARGUMENTS
        self.events["offset"] += 2
        for u in graph.indices[graph.indptr[v] : graph.indptr[v + 1]].tolist():
            self.events["neighbour"] += 1
            yield u

    def edge(self) -> None:
        """A thread for every edge."""
        origins = np.repeat(np.arange(self.graph.n), np.diff(self.graph.indptr)).tolist()
        for origin, destination in zip(origins, self.graph.indices.tolist(), strict=True):
            self.events["argument"] += ARGUMENTS
            self.events["end"] += 2
            self._add(destination, self._rank(origin) / self._degree(origin))

    def push(self) -> None:
        """A thread for every vertex, along its out-edges."""
        for v in range(self.graph.n):
            sent = self._rank(v) / self._degree(v, own=True)
            for u in self._neighbours(self.graph, v):
                self._add(u, sent)

    def pull(self) -> None:
        """A thread for every vertex, along its in-edges."""
        inward = self.graph.reverse()
        for v in range(self.graph.n):
            heard = sum(self._rank(u) / self._degree(u) for u in self._neighbours(inward, v))
            self.events["write"] += 1
            self.new[v] = heard

    def nodiv(self) -> None:
        """The same where ranks are divided already."""
        inward = self.graph.reverse()
        for v in range(self.graph.n):
            heard = sum(self._rank(u) for u in self._neighbours(inward, v))
            self.events["write"] += 1
            self.new[v] = heard

    def consolidate(self, divide: bool) -> None:
        """New ranks, and by how much they differ; ``divide`` for the next iteration of `nodiv`."""
        for v in range(self.graph.n):
            self.events["rank"] += 2
            rank = (1 - self.damping) / self.graph.n + self.damping * self.new[v]
            if divide:
                rank /= self._degree(v)
            self.events["difference"] += 1
            self.events["write"] += 2
            self.rank[v], self.new[v] = rank, 0


def counted(model: ModuleType, kernel: str, graph: Graph) -> tuple[Fraction, Fraction, Fraction]:
    """Reads, writes and atomics of an iteration, as this model counts them.

    >>> from perf.workload import model_named, total
    >>> ring, model = Graph.from_edges([0, 1, 2, 0], [1, 2, 0, 2]), model_named("Euro-Par 2015")
    >>> counted(model, "push", ring) == total(model, "push").of(3, 4)
    True
    """
    counting = Counting(graph, np.full(graph.n, 1 / max(graph.n, 1)))
    getattr(counting, kernel)()
    counting.consolidate(divide=kernel == "nodiv")
    events = counting.events
    reads = Fraction(sum(model.READS.get(event, 0) * count for event, count in events.items()))
    together = Fraction(events["difference"], model.DIFFERENCES_TOGETHER)
    return reads, Fraction(events["write"]), events["atomic"] + together
