"""HITS on the adjacency lists, by one thread: all iterations of a small graph in compiled code.

Authorities are sums of hubs along the edges into a vertex, hubs of authorities along those out of it, each
scaled to a sum of 1. A sum is added up in four parts, since an addition takes as long as four that do not
wait for each other; in which part a neighbour is depends on its place in the list only, so that an answer is
bitwise the same every time. float64.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import clock_ns
from gpop.common.inlined import inline
from gpop.direct.phases import kernel
from gpop.graph.graph import Graph

SLICE_NS = 250_000_000
"""The kernel returns to Python after so many nanoseconds, for progress and Ctrl-C."""

PHASES = "authorities", "hubs"

_ONE, _FOUR = np.uint64(1), np.uint64(4)


class Hits:
    """Scores of a graph, all equal at first; ``edges`` and ``phase_seconds`` of both `PHASES`.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 0, 1], [1, 2, 2])
    >>> hits = Hits(graph, graph.reverse())
    >>> hits.iterate(50, 1e-8)
    10
    >>> hits.hub.round(3), hits.authority.round(3), hits.converged
    (array([0.618, 0.382, 0.   ]), array([0.   , 0.382, 0.618]), True)
    """

    def __init__(self, graph: Graph, turned: Graph) -> None:
        n = graph.n
        self.lists = graph.indptr, graph.indices, turned.indptr, turned.indices
        self.hub, self.authority = np.full(n, 1 / max(n, 1)), np.full(n, 1 / max(n, 1))
        self.sums, self.spent = np.empty(n), np.zeros(2, np.int64)
        self.iterations, self.converged = 0, False
        self.iterate(0, 0.0)  # compiled or loaded before a clock starts

    def iterate(self, limit: int, tolerance: float) -> int:
        """Up to so many iterations, fewer where hubs change by less than the tolerance or Python is due.

        Returns how many.
        """
        done, self.converged = _iterate(
            *self.lists, self.hub, self.authority, self.sums, limit, tolerance, self.spent
        )
        self.iterations += done
        return done

    @property
    def edges(self) -> np.ndarray:
        """Each half of an iteration looks at all of them."""
        return np.full(2, self.iterations * self.lists[1].size)

    @property
    def phase_seconds(self) -> np.ndarray:
        """All that the halves took."""
        return self.spent / 1e9


@inline
def _add_up(indptr, indices, values, sums):
    """For each vertex the values of its neighbours; the sum of all that."""
    total, begin = 0.0, np.uint64(0)
    for v in range(len(sums)):
        end = np.uint64(indptr[v + 1])
        a, b, c, d, e = 0.0, 0.0, 0.0, 0.0, begin
        while e + _FOUR <= end:
            a += values[indices[e]]
            b += values[indices[e + _ONE]]
            c += values[indices[e + np.uint64(2)]]
            d += values[indices[e + np.uint64(3)]]
            e += _FOUR
        while e < end:
            a += values[indices[e]]
            e += _ONE
        found = (a + b) + (c + d)
        sums[v] = found
        total += found
        begin = end
    return total


@kernel
def _iterate(indptr, indices, into, sources, hub, authority, sums, limit, tolerance, spent):
    """Iterations done, and whether the hubs have settled."""
    began = before = clock_ns()
    for i in range(limit):
        total = _add_up(into, sources, hub, authority)
        scale = total if total > 0 else 1.0
        for v in range(len(authority)):
            authority[v] /= scale
        half = clock_ns()
        total = _add_up(indptr, indices, authority, sums)
        scale, changed = total if total > 0 else 1.0, 0.0
        for v in range(len(hub)):
            now = sums[v] / scale
            changed += abs(now - hub[v])
            hub[v] = now
        after = clock_ns()
        spent[0] += half - before
        spent[1] += after - half
        before = after
        if changed < tolerance or after - began > SLICE_NS:
            return i + 1, changed < tolerance
    return limit, False
