"""Hubs first: vertices grouped by the number of their edges, for blocks of in-edges (edge_blocks.py).

On a large graph of hubs a block of sources as they are numbered has a hub here and there, and a vertex few
edges from it. Grouped, the first block of sources has most of the edges: its values stay in the private
cache, a vertex has long runs of edges from it, and the values that units read of all others are half as
many. Sums of destinations are grouped within their window: those of hubs, which each block adds to, are few
lines.

Groups are powers of two of the degree, those of most edges first; inside one the order of ids stays, so to
write the values of a range of vertices is to write to some twenty streams. Fields stay where they are.

Encoding: ``old[place[v]]`` is v, of sources; ``slot[v]`` is the number of destination v in its window.
What arrives at a vertex comes in the order of ``old``, whatever the threads: so that is a fact of the graph,
and who adds up in float64 (sums.py) minds it least. Paper: Faldu, Diamond, Grot, "A closer look at
lightweight graph reordering" (IISWC 2019), where vertices themselves are renumbered.
"""

from __future__ import annotations

import numpy as np

from gpop.common.parallel import for_each
from gpop.graph.graph import Graph

SMALLEST = 1 << 17
"""Fewer vertices have their values in the private cache in any order."""

UNIT_BITS, SOURCE_BITS, SAMPLES, LESS = 16, 14, 1 << 18, 0.6
"""Values that units of ``2**UNIT_BITS`` vertices read from blocks of ``2**SOURCE_BITS``, told by so many
edges: hubs go first where they are so large a part of those that are read in the order of ids. .3 to .5 on
R-MAT graphs of 2**18 to 2**22 vertices, 1.0 on a random one, 1.3 and 1.6 on roads and a web graph, whose
neighbours are near each other."""

EACH = 8
"""In-edges are counted from one edge in so many."""


def groups_of(degree: np.ndarray) -> np.ndarray:
    """uint8 for each vertex, ascending from those with most edges.

    >>> groups_of(np.array([0, 1, 2, 3, 4, 1000])).tolist()
    [64, 63, 62, 62, 61, 54]
    """
    return (64 - np.frexp(degree)[1]).astype(np.uint8)


def by_group(groups: np.ndarray) -> np.ndarray:
    """The vertices by group, each group in the order of ids.

    >>> by_group(np.array([63, 61, 64, 61], np.uint8)).tolist()
    [1, 3, 0, 2]
    """
    return np.argsort(groups, kind="stable").astype(np.uint32)


def hubs_first(degree: np.ndarray) -> np.ndarray:
    """The vertices by group (uint32), each group in the order of ids.

    >>> hubs_first(np.array([1, 5, 0, 7, 1])).tolist()
    [1, 3, 0, 4, 2]
    """
    return by_group(groups_of(degree))


def places_of(old: np.ndarray) -> np.ndarray:
    """``place`` to ``old``.

    >>> places_of(np.array([1, 3, 0, 4, 2], np.uint32)).tolist()
    [2, 0, 4, 1, 3]
    """
    place = np.empty_like(old)
    place[old] = np.arange(old.size, dtype=old.dtype)
    return place


def slots_of(graph: Graph, windows: np.ndarray, threads: int) -> np.ndarray:
    """``slot`` (uint16) of every vertex; ``windows``: first vertices, of at most ``2**16`` each.

    By in-edges; where it is not known that these are the out-edges, by a sample of them.

    >>> graph = Graph.from_edges([0, 1, 2, 4, 4], [4, 2, 1, 0, 4], n=8)
    >>> graph.facts.symmetric = True
    >>> slots_of(graph, np.array([0, 2, 5]), 1).tolist()     # vertices 0-1, 2-4, 5-7
    [0, 1, 1, 2, 0, 0, 1, 2]
    """
    if graph.facts.symmetric:
        groups = groups_of(graph.out_degree)
    else:
        groups = groups_of(np.bincount(graph.indices[::EACH], minlength=graph.n))
    slot, ends = np.empty(graph.n, np.uint16), np.append(windows[1:], graph.n)

    def number(w: int) -> None:
        of_window = slice(int(windows[w]), int(ends[w]))
        slot[of_window] = places_of(by_group(groups[of_window]))

    for_each(len(windows), number, threads)
    return slot


def go_first(graph: Graph) -> bool:
    """Whether hubs go first among sources; found out once and kept with the graph.

    >>> go_first(Graph.from_edges([0, 1], [1, 2]))
    False
    """
    if graph.facts.hubs_first is None:
        fits = graph.n < graph.m < 1 << 32  # so does an edge in a key of 32 bits beside both of its ends
        graph.facts.hubs_first = graph.n >= SMALLEST and fits and _read_less(graph)
    return graph.facts.hubs_first


def _read_less(graph: Graph) -> bool:
    each = max(1, graph.m // SAMPLES)
    edges = np.arange(0, graph.m, each)
    sources = np.searchsorted(graph.indptr, edges, side="right") - 1
    units, number = graph.indices[edges].astype(np.int64) >> UNIT_BITS, -(-graph.n >> UNIT_BITS)
    read = []
    for order in (sources, places_of(hubs_first(graph.out_degree))[sources].astype(np.int64)):
        counts = each * np.bincount((order >> SOURCE_BITS) * number + units)
        read.append(np.minimum(counts, 1 << SOURCE_BITS).sum())
    return bool(read[1] < LESS * read[0])
