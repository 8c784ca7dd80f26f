"""Where there are other ranks: which vertices are a rank's own, and how many edges those have on all ranks.

A rank has the edges into its own vertices alone, so that its graph does not say what these send elsewhere:
``state.out_degree`` does, and ``state.gpop_few``, in a quarter of the bytes, for all but the largest. What is
active is counted by all edges, since ranks decide by that and must come to the same.
"""

from __future__ import annotations

import numpy as np

from gpop.common.inlined import inline
from gpop.cpu.active import list_of

MANY = np.uint16(0xFFFF)
"""So many edges or more (`Part.few`); how many is in an array of twice the bytes, which take longer."""


@inline
def own_range(first, last, state):
    """What is own of a range of vertices."""
    own, end = np.uint64(state.gpop_first), np.uint64(state.gpop_last)
    first = min(max(np.uint64(first), own), end)
    return first, max(min(np.uint64(last), end), first)


@inline
def whole_degree(v, state):
    """Edges of own vertex ``v``, those to other ranks included."""
    return np.int64(state.out_degree[v + np.uint64(state.gpop_shift)])


@inline
def whole_degrees(p, size, layout, space, state):
    """Edges of the first ``size`` vertices on the list of ``p``, those to other ranks included."""
    base, start = np.uint64(p) << np.uint64(layout.bits), list_of(p, layout)
    own = base - np.uint64(state.gpop_first)
    edges, most = np.int64(0), np.uint16(0)
    for i in range(size):
        degree = state.gpop_few[own + np.uint64(space.frontier[start + i])]
        edges += np.int64(degree)
        most = max(most, degree)
    if most == MANY:
        edges = np.int64(0)
        for i in range(size):
            edges += whole_degree(base + np.uint64(space.frontier[start + i]), state)
    return edges


@inline
def note_whole_edges(p, edges, space):
    """Note edges of the active vertices of ``p``, to all ranks, and about how many of them end here."""
    space.whole_edges[p] = edges
    space.active_edges[p] = np.int64(edges * space.edges_here[p])
