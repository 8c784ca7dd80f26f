"""Source-centric scatter of a partition most of whose edges stay inside it: those need no bins.

Between a partition and itself there is nobody to be kept apart from, so the thread that scatters it
delivers the messages along its own edges at once; what leaves the partition goes through bins. The
iteration remains bulk-synchronous: all values are computed, and ``initFunc`` is called for all active
vertices, before the first message is delivered. A vertex receives the messages of its own partition
before those of others, for any number of threads.

Bytes per active edge inside: 4 (edge) and one access to the destination in the private cache, instead of
4 + 2 d_i and 2 d_v per message.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import prefetch
from gpop.cpu.active import list_of
from gpop.cpu.counters import EDGES, INTRA, MESSAGES_SC, VERTICES
from gpop.cpu.scatter import send
from gpop.cpu.sums import HEARD
from gpop.model.strategies import SC


def make_scatter_inside(
    scatterFunc, gatherFunc, applyWeight, after_scatter, settle_list, weight_type, keeps_values, counting
):
    """Kernel: scatter partition ``p``, edges inside it applied directly; includes what follows a scatter."""
    weighted = weight_type is not None
    summing = settle_list is not None
    joined = HEARD if summing else 1

    def scatter_inside(p, w, layout, space, state):
        indices, frontier, in_frontier, senders = (
            layout.indices, space.frontier, space.in_frontier, space.queue
        )  # fmt: skip
        bits = layout.bits
        own = np.uint32(p)
        if summing:
            sums = space.sums[w]
        row = np.uint64(p) * np.uint64(layout.k)
        base, start = np.uint64(p) << np.uint64(bits), list_of(p, layout)
        listed_at = np.uint64(layout.row_offsets[p])
        listed = listed_at
        count = np.uint64(space.frontier_size[p])
        for i in range(count):
            senders[start + i] = frontier[start + i]
            v = base + np.uint64(frontier[start + i])
            prefetch(indices, np.uint64(layout.indptr[v]))
            if keeps_values:
                if layout.indptr[v] < layout.indptr[v + np.uint64(1)]:
                    space.own_values[v] = scatterFunc(state, np.uint32(v))
        after_scatter(p, layout, space, state)
        size = np.uint64(space.frontier_size[p])
        messages = np.int64(0)
        intra = np.int64(0)
        edges = np.int64(0)
        vertices = np.int64(0)
        for i in range(count):
            v = base + np.uint64(senders[start + i])
            e = np.uint64(layout.indptr[v])
            end = np.uint64(layout.indptr[v + np.uint64(1)])
            if e == end:
                continue
            edges += np.int64(end - e)
            vertices += 1
            value = space.own_values[v] if keeps_values else scatterFunc(state, np.uint32(v))
            before = own + np.uint32(1)
            while e < end:
                node = indices[e]
                if node >> bits != own:
                    e, listed = send(e, end, value, row, listed, weighted, layout, space)
                    messages += 1
                    before = own + np.uint32(1)
                    continue
                messages += before != own
                before = own
                intra += 1
                received = True
                if summing:
                    local = np.uint64(node) - base
                    if weighted:
                        sums[local] += applyWeight(state, value, weight_type(layout.weights[e]))
                    else:
                        sums[local] += value
                elif weighted:
                    weight = weight_type(layout.weights[e])
                    received = gatherFunc(state, applyWeight(state, value, weight), node)
                else:
                    received = gatherFunc(state, value, node)
                e += np.uint64(1)
                if bool(received) & (in_frontier[node] == 0):
                    in_frontier[node] = joined
                    frontier[start + size] = np.uint64(node) - base
                    size += np.uint64(1)
        if summing:
            size = settle_list(p, w, size, layout, space, state)
        space.frontier_size[p] = size
        space.mode[p] = SC
        space.row_size[p] = listed - listed_at
        space.sent_messages[p] = messages
        if counting:
            space.counters[w, EDGES] += edges
            space.counters[w, VERTICES] += vertices
            space.counters[w, MESSAGES_SC] += messages
            space.counters[w, INTRA] += intra

    return scatter_inside
