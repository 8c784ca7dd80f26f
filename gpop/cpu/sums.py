"""Sums of float32 are added up in float64: ``combine = "add"``, ``gatherFunc`` writes one field of that type.

A hub of a million neighbours adds a million small numbers to one large one, and float32 loses a hundredth of
the sum. So messages are added to the thread's own row of ``sums``, a float64 for each vertex of the partition
it has, in the order of the bins; when all are in, ``gatherFunc`` hears one message, their sum. That is one
rounding to float32 for each vertex and iteration, however many neighbours it has.

That costs up to a fifth of a PageRank iteration, so it is done on graphs with a hub only (`has_hub`):
where the largest sums have some ten thousand different addends, as in RMAT graphs, float32 rounds up and down
and stays within 1e-5. A graph has a hub or not, whatever the mode, the partitions and the threads, so results
are bitwise the same as ever.

The row is zero again when the partition is finished. It lies in the private cache, where 8 bytes of it take
the place of the field's 4 as what is touched for each edge; the field is touched once for each vertex. Pull
walks vertex by vertex and needs no row (pull.py), except in blocks (pull_all.py).

A vertex joins the frontier when it first hears something, before ``gatherFunc`` has been asked; `HEARD` in
``in_frontier`` says so. Where the answer then is no, it leaves again.
"""

from __future__ import annotations

import numpy as np

from gpop.cpu.active import list_of
from gpop.graph.graph import Graph
from gpop.program.lowering import Lowered
from gpop.program.program import Program

HEARD = 2
"""In ``in_frontier``, of a vertex that was not in the frontier before it heard something."""


LEAST_HUB, HUB_SHARE, MOST_ADDENDS = 1 << 12, 64, 1 << 20
"""A hub is a vertex with so many in-edges if they are one in so many of all edges; and any with so many."""

SAMPLES = 1 << 16
SEED = 1802


def has_hub(graph: Graph) -> bool:
    """Whether some vertex has very many in-edges, from a sample of the edges; kept with the graph.

    Examples
    --------
    >>> has_hub(Graph.from_edges(np.arange(1, 5000), np.zeros(4999, np.uint32)))
    True
    >>> has_hub(Graph.from_edges(np.zeros(4999, np.uint32), np.arange(1, 5000)))
    False
    """
    if graph.facts.has_hub is None:
        heads = graph.indices
        if graph.m > SAMPLES:
            heads = heads[np.random.default_rng(SEED).integers(0, graph.m, SAMPLES)]
        most = np.unique(heads, return_counts=True)[1].max(initial=0) * (graph.m / max(heads.size, 1))
        large = most >= LEAST_HUB and most * HUB_SHARE >= graph.m
        graph.facts.has_hub = bool(large or most >= MOST_ADDENDS)
    return graph.facts.has_hub


def sums_in_double(cls: type[Program], lowered: Lowered, message: np.dtype) -> bool:
    """Whether the messages of a program are added up in float64 before ``gatherFunc`` hears of them."""
    fields = [cls.vertex_fields()[name].dtype for name in lowered.gathered]
    return cls.combine == "add" and fields == [np.float32] and message.kind in "iuf"


def make_settle(gatherFunc):
    """Kernel: vertex ``node``, number ``local`` of its partition, hears the sum of its messages."""

    def settle(local, node, sums, state):
        value = sums[local]
        sums[local] = 0.0
        return gatherFunc(state, value, node)

    return settle


def make_settle_list(settle):
    """Kernel: the same for a whole frontier, up to position ``size`` of its list; returns the new end."""

    def settle_list(p, w, size, layout, space, state):
        base, start = np.uint64(p) << np.uint64(layout.bits), list_of(p, layout)
        sums = space.sums[w]
        kept = np.uint64(0)
        for i in range(np.uint64(size)):
            local = space.frontier[start + i]
            v = base + np.uint64(local)
            received = settle(local, np.uint32(v), sums, state)
            if space.in_frontier[v] == HEARD:
                space.in_frontier[v] = np.uint8(bool(received))
            space.frontier[start + kept] = local
            kept += np.uint64(space.in_frontier[v])
        return kept

    return settle_list
