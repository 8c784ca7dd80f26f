"""Sums of float32 are added up in float64: ``combine = "add"``, ``gatherFunc`` writes one field of that type.

A hub of a million neighbours adds a million small numbers to one large one, and float32 loses a hundredth of
the sum. So messages are added to the thread's own row of ``sums``, a float64 for each vertex of the partition
it has, in the order of the bins; when all are in, ``gatherFunc`` hears one message, their sum. That is one
rounding to float32 for each vertex and iteration, however many neighbours it has.

It is done on graphs with a hub (`has_hub`): a vertex with so many in-edges that a float32 sum of them may be
off by more than 1e-5. The sum of n numbers of one sign is off by at most n * 2**-24 of it, and equal
ones, what a star sends, come near a quarter of that; only numbers of all sizes, rounded up as often as
down, stay near the square root. In float32 the largest hubs of RMAT 20 and 22 (69,804 and 160,513 in-edges)
are off by 1.2e-5 and 2.9e-5 after ten iterations of PageRank, and that of RMAT 20 by 6e-4 when it adds up
0.1; in float64 no vertex is off by more than 2e-7. A graph has a hub or not, whatever the mode, the
partitions and the threads, so results are bitwise the same as ever.

The row is zero again when the partition is finished. It lies in the private cache, where 8 bytes of it take
the place of the field's 4 as what is touched for each edge; the field is touched once for each vertex. Pull
walks vertex by vertex and needs no row (pull.py), except in blocks (pull_all.py), which call `initFunc` when
the sums are in: one pass over the fields instead of two.

A vertex joins the frontier when it first hears something, before ``gatherFunc`` has been asked; `HEARD` in
``in_frontier`` says so. Where the answer then is no, it leaves again.
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL
from gpop.cpu.active import list_of
from gpop.graph.graph import Graph
from gpop.program.lowering import Lowered
from gpop.program.program import Program

HEARD = 2
"""In ``in_frontier``, of a vertex that was not in the frontier before it heard something."""


SUM_BYTES = 8
"""Of a vertex in ``sums``."""

MOST_ADDENDS = 168
"""Of one sign, their sum in float32 is right to 1e-5: all but the first may be off by 2**-24 of it."""


@cached(**KERNEL)
def _reaches(heads, counts, most):
    """Whether a vertex is more than ``most`` (below 255) times in ``heads``; ``counts`` are zero, uint8."""
    for j in range(len(heads)):
        v = np.uint64(heads[j])
        counts[v] += np.uint8(1)
        if counts[v] > most:
            return True
    return False


def has_hub(graph: Graph) -> bool:
    """Whether some vertex has more than `MOST_ADDENDS` in-edges; kept with the graph.

    In graphs with large hubs that is known after a few edges; the others are read once, 4 bytes an edge.

    Examples
    --------
    >>> has_hub(Graph.from_edges(np.arange(1, 200), np.zeros(199, np.uint32)))
    True
    >>> has_hub(Graph.from_edges(np.zeros(199, np.uint32), np.arange(1, 200)))
    False
    """
    if graph.facts.has_hub is None and graph.facts.most_in_edges is not None:
        graph.facts.has_hub = graph.facts.most_in_edges > MOST_ADDENDS
    if graph.facts.has_hub is None:
        graph.facts.has_hub = bool(_reaches(graph.indices, np.zeros(graph.n, np.uint8), MOST_ADDENDS))
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
