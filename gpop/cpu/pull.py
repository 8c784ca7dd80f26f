"""Pull: a destination partition asks the sources of its in-edges instead of waiting for messages.

Two phases stand for scatter and gather, each over all partitions (where every vertex is active there is
nothing to look up: see pull_all.py):

1. prepare: every partition writes its words of the frontier bitmap, and its values if they must be kept
   (below), then calls ``initFunc``;
2. pull: the vertices that still want messages (``needsFunc``) are listed, then each walks its in-edges
   against the bitmap until it wants no more. A vertex is written by the owner of its partition only.

``scatterFunc`` may read what ``gatherFunc`` or another function writes at a vertex that is being pulled
to just now. Then the values are computed in the first phase, ``values[v]`` for vertex v in the memory of
the message slots; otherwise it is called where a value is needed, which the early exit makes rare.

A vertex receives its messages in ascending order of their sources: the order of PC.

Bytes: 8 per vertex and phase for offsets and ids, n/8 for the bitmap, which random probes keep in the
private cache; 4 (+ weight) per in-edge that is looked at. Paper: Beamer, Asanovic, Patterson,
"Direction-optimizing breadth-first search" (SC 2012), here for any program.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import popcount, prefetch
from gpop.cpu.active import WORD_BITS, list_of
from gpop.cpu.bitmap import mark
from gpop.cpu.counters import EDGES_PULLED, MESSAGES_PULLED
from gpop.cpu.exchange_in import AS_BITS, OWN_BITS, is_mirrored, list_mirrors
from gpop.model.strategies import PULL, SC

AHEAD = 16
"""Needy vertices between the prefetch of an in-edge list and its use."""


def make_prepare(scatterFunc, after_scatter, keeps_values, ranked):
    """Kernel: bitmap and values of partition ``p``, and what follows a scatter.

    Where there are other ranks (``ranked``), bits may have been made for the exchange, or have come.
    """

    def prepare(p, layout, space, state):
        values = space.values
        marked = False
        if ranked:
            marked = space.exchanged[OWN_BITS] != 0
            if is_mirrored(p, layout, state):
                marked = space.exchanged[AS_BITS] != 0
                if marked:
                    if not keeps_values:
                        space.frontier_size[p] = 0
                        return
                    list_mirrors(p, layout, space)
        if not marked:
            mark(p, layout, space)
        if keeps_values:
            base, start = np.uint64(p) << np.uint64(layout.bits), list_of(p, layout)
            for i in range(np.uint64(space.frontier_size[p])):
                v = base + np.uint64(space.frontier[start + i])
                values[v] = scatterFunc(state, np.uint32(v))
        after_scatter(p, layout, space, state)

    return prepare


def make_pull(
    scatterFunc, gatherFunc, applyWeight, needsFunc, weight_type, filter_partition,
    keeps_values, summing, counting, ranked,
):  # fmt: skip
    """Kernel: deliver to partition ``d`` along the in-edges of its needy vertices, then filter.

    Notes in ``needy`` how many vertices want messages afterwards, and their in-edges. ``summing``: messages
    are added up in float64 first, and a vertex hears their sum (sums.py). Where there are other ranks
    (``ranked``), mirrors want nothing.
    """
    weighted = weight_type is not None
    ends_early = needsFunc is not None

    def pull(d, w, layout, incoming, space, state):
        indptr, indices, bitmap, needy = incoming.indptr, incoming.indices, space.bitmap, space.queue
        one = np.uint64(1)
        base, start = np.uint64(d) << np.uint64(layout.bits), list_of(d, layout)
        capacity = min(np.uint64(layout.n) - base, one << np.uint64(layout.bits))
        if ranked:
            if not state.gpop_first <= base < state.gpop_last:
                capacity = np.uint64(0)
        wanted = np.uint64(0)
        for word in range((capacity + np.uint64(63)) >> np.uint64(6)):
            # 64 at a time, without a branch: the compiler makes vectors of it, and where few vertices are
            # needy only those cost anything more.
            at = np.uint64(word) << np.uint64(6)
            wants = np.uint64(0)
            for j in range(min(np.uint64(64), capacity - at)):
                v = base + at + j
                wanting = indptr[v] < indptr[v + one]
                if ends_early:
                    wanting = wanting & bool(needsFunc(state, np.uint32(v)))
                wants |= np.uint64(wanting) << j
            while wants > np.uint64(0):
                needy[start + wanted] = at + popcount((wants & (~wants + one)) - one)
                wanted += one
                wants &= wants - one
        size = np.uint64(space.frontier_size[d])
        looked_at = np.int64(0)
        messages = np.int64(0)
        left = np.int64(0)
        left_edges = np.int64(0)
        for i in range(wanted):
            if i + np.uint64(AHEAD) < wanted:
                later = base + np.uint64(needy[start + i + np.uint64(AHEAD)])
                prefetch(indices, indptr[later])
                if ranked:  # its edges are asked for when it has joined the frontier, and lie elsewhere
                    prefetch(state.gpop_few, later - np.uint64(state.gpop_first))
            v = base + np.uint64(needy[start + i])
            node = np.uint32(v)
            e = np.uint64(indptr[v])
            end = np.uint64(indptr[v + one])
            first = e
            satisfied = False
            activated = False
            total = 0.0
            heard = messages
            while e < end:
                u = np.uint64(indices[e])
                if (bitmap[u >> np.uint64(WORD_BITS)] >> (u & np.uint64(63))) & one:
                    value = space.values[u] if keeps_values else scatterFunc(state, np.uint32(u))
                    messages += 1
                    received = False
                    if summing:
                        if weighted:
                            total += applyWeight(state, value, weight_type(incoming.weights[e]))
                        else:
                            total += value
                    elif weighted:
                        weight = weight_type(incoming.weights[e])
                        received = gatherFunc(state, applyWeight(state, value, weight), node)
                    else:
                        received = gatherFunc(state, value, node)
                    activated |= bool(received)
                    if ends_early:
                        if not needsFunc(state, node):
                            satisfied = True
                            e += one
                            break
                e += one
            if summing:
                if messages > heard:
                    activated = bool(gatherFunc(state, total, node))
            looked_at += np.int64(e - first)
            if activated & (space.in_frontier[v] == 0):
                space.in_frontier[v] = 1
                space.frontier[start + size] = v - base
                size += one
            if not satisfied:
                left += 1
                left_edges += np.int64(end - first)
        space.needy[2 * d] = left
        space.needy[2 * d + 1] = left_edges
        space.sent_messages[d] = messages
        space.mode[d] = PULL if wanted > 0 else SC
        filter_partition(d, 0, size, layout, space, state)
        if counting:
            space.counters[w, EDGES_PULLED] += looked_at
            space.counters[w, MESSAGES_PULLED] += messages

    return pull
