"""Two in-neighbours of every vertex: those with most out-edges, which a search has most likely met already.

Where a search pulls, one look at these two settles nearly all vertices that the next level has: 98 to 99.9 in
100 on mail and social graphs, four in five on dense ones. What is looked at is the same for every vertex, so
that no branch of it is a surprise, and 8 bytes in order instead of a list somewhere.

Encoding: the two of vertex v are ``pairs[2 * v]`` and ``pairs[2 * v + 1]``; v itself stands where there is
none. Sets of vertices as bits: ``some`` has those with in-edges, ``more`` those with more than two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.layout.in_edges import Incoming, in_edges

ABOUT = "likely sources"

_ONE, _LAST_BIT = np.uint64(1), np.uint64(63)


class LikelySources(NamedTuple):
    """See the module's banner."""

    pairs: np.ndarray
    some: np.ndarray
    more: np.ndarray


NO_SOURCES = LikelySources(np.empty(0, np.uint32), np.empty(0, np.uint64), np.empty(0, np.uint64))
"""Of a graph that is not pulled from."""


def likely_sources(graph: Graph) -> LikelySources:
    """Those of every vertex, found once and kept with the graph, with what searches work in.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1, 1, 2, 2, 2], [3, 3, 0, 3, 0, 1])
    >>> found = likely_sources(graph)
    >>> found.pairs.reshape(-1, 2).tolist(), found.some.tolist(), found.more.tolist()
    ([[2, 1], [2, 1], [2, 2], [2, 1]], [11], [8])
    """
    kept = graph.store.get(Kind.SEARCHES, ABOUT)
    if kept is None:
        n = graph.n
        graph.store.require(9 * n, f"{ABOUT} of {graph!r}")
        words = (n + 63) // 64
        kept = LikelySources(
            np.empty(2 * n, np.uint32), np.zeros(words, np.uint64), np.zeros(words, np.uint64)
        )
        _find(in_edges(graph, weighted=False), graph.indptr, kept)
        graph.store.put(Kind.SEARCHES, kept, ABOUT, about=ABOUT)
    return kept


@cached(**KERNEL)
def _find(incoming: Incoming, indptr: np.ndarray, found: LikelySources) -> None:
    """One walk over all in-edges; of sources with as many out-edges the first."""
    for v in range(np.uint64(len(incoming.indptr) - 1)):
        first = second = np.uint32(v)
        most = next_most = np.int64(-1)
        begin, end = np.uint64(incoming.indptr[v]), np.uint64(incoming.indptr[v + _ONE])
        for e in range(begin, end):
            u = incoming.indices[e]
            degree = np.int64(indptr[np.uint64(u) + _ONE] - indptr[np.uint64(u)])
            if degree > next_most:
                if degree > most:
                    first, second, most, next_most = u, first, degree, most
                else:
                    second, next_most = u, degree
        found.pairs[np.uint64(2) * v], found.pairs[np.uint64(2) * v + _ONE] = first, second
        word, bit = v >> np.uint64(6), _ONE << (v & _LAST_BIT)
        if end > begin:
            found.some[word] |= bit
        if end > begin + np.uint64(2):
            found.more[word] |= bit
