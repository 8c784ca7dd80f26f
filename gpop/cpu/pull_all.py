"""Pull where every vertex is active: values are read where they lie, through blocks of in-edges.

Two phases stand for scatter and gather, each over the units of the layout (edge_blocks.py):

1. prepare: one value per vertex, from ``scatterFunc``;
2. pull: ``initFunc`` for the vertices of a unit, then its blocks, each in pieces of 4, 2 and 1 edges of
   one destination, then ``filterFunc``. A vertex is written by the thread that has its unit.

Every vertex gets every message, in ascending order of the sources: bitwise what PC computes. The values of
a piece are loaded before the first is gathered: the compiler may then keep the destination in a register.

Bytes: per edge 2 (+ weight), per piece 2 and one access to the destination, which a unit passes through
from its first vertex to its last; the values of a source block stay in the private cache, where they are
fetched before its edges are read.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import prefetch
from gpop.common.inlined import inline
from gpop.cpu.exchange import own_range
from gpop.layout.edge_block_kernels import FIRST, FOURS, ONES, SOURCE, TWOS, WINDOW
from gpop.model.strategies import PULL

EDGES_PULLED, MESSAGES_PULLED = 10, 11
"""Columns of the instrumented counters (workspace.COUNTERS)."""

FAR_BYTES = 1 << 21
"""From so many bytes of values on they are not in the private cache."""

FETCHED_BYTES, LINE_BYTES = 1 << 16, 64
CHUNK = 64
"""Of a block of sources; of a cache line."""


@inline
def fetch_some(line, goal, count, space):
    """Ask for the values of the next ``count`` vertices, up to ``goal``; the first that was not asked for."""
    end = min(line + count, goal)
    while line < end:
        prefetch(space.values, line)
        line += np.uint64(LINE_BYTES) // np.uint64(space.values.itemsize)
    return line


def make_prepare_all(scatterFunc):
    """Kernel: the values of unit ``u``."""

    def prepare(u, layout, space, state):
        indptr, values = layout.indptr, space.values
        for v in range(np.uint64(layout.bounds[u]), np.uint64(layout.bounds[u + 1])):
            if indptr[v] < indptr[v + np.uint64(1)]:
                values[v] = scatterFunc(state, np.uint32(v))

    return prepare


def make_message(applyWeight, weight_type):
    """Kernel: the message along the edge at ``at``, whose source block begins at vertex ``base``."""
    weighted = weight_type is not None

    def message(at, base, layout, space, state):
        value = space.values[base + np.uint64(layout.refs[at])]
        if weighted:
            value = applyWeight(state, value, weight_type(layout.weights[at]))
        return value

    return message


def make_deliver(gatherFunc, summing):
    """Kernel: a message for ``node`` of the unit that starts at ``first``; ``summing``: see sums.py."""

    def deliver(value, node, first, sums, state):
        if summing:
            sums[np.uint64(node) - first] += value
        else:
            gatherFunc(state, value, node)

    return deliver


def make_pull_all(message, deliver, settle, initFunc, filterFunc, counting, ranked):
    """Kernel: deliver to unit ``u`` along all its in-edges, then filter.

    ``frontier_size[u]`` becomes the number of vertices for which ``filterFunc`` returned True.
    """
    begins = initFunc is not None
    filters = filterFunc is not None
    summing = settle is not None

    def pull(u, w, layout, incoming, space, state):
        targets = layout.targets
        one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
        first, last = np.uint64(layout.bounds[u]), np.uint64(layout.bounds[u + 1])
        own, end_of_own = first, last
        if ranked:
            own, end_of_own = own_range(first, last, state)
        if begins and not summing:  # else what arrives does not touch the fields, and one pass is enough
            for v in range(own, end_of_own):
                initFunc(state, np.uint32(v))
        edges = np.uint64(0)
        fetched = goal = np.uint64(0)
        sums = space.sums[w]
        for b in range(layout.first_block[u], layout.first_block[u + 1]):
            base, window = np.uint64(layout.blocks[b, SOURCE]), np.uint32(layout.blocks[b, WINDOW])
            at = np.uint64(layout.blocks[b, FIRST])
            edges -= at
            size = np.uint64(space.values.itemsize)
            span = np.uint64(FETCHED_BYTES) // size
            total = 4 * layout.blocks[b, FOURS] + 2 * layout.blocks[b, TWOS] + layout.blocks[b, ONES]
            ahead = layout.n * size >= FAR_BYTES and total * LINE_BYTES >= FETCHED_BYTES
            step = np.uint64(0)
            if ahead:
                if b == layout.first_block[u]:
                    fetched = fetch_some(base, min(base + span, layout.n), span, space)
                goal = min(base + np.uint64(2) * span, layout.n)
                if b + 1 == layout.first_block[u + 1]:
                    goal = fetched
                pieces = np.uint64(layout.blocks[b, FOURS] + layout.blocks[b, TWOS] + layout.blocks[b, ONES])
                lv = np.uint64(LINE_BYTES) // size
                chunks = pieces // np.uint64(CHUNK) + one
                step = (span // lv // chunks + one) * lv
            piece = at
            end = piece + np.uint64(layout.blocks[b, FOURS])
            while piece < end:
                if fetched < goal:
                    fetched = fetch_some(fetched, goal, step, space)
                stop = min(end, piece + np.uint64(CHUNK))
                while piece < stop:
                    node = window + targets[piece]
                    x = message(at, base, layout, space, state)
                    y = message(at + one, base, layout, space, state)
                    z = message(at + two, base, layout, space, state)
                    t = message(at + three, base, layout, space, state)
                    deliver(x, node, first, sums, state)
                    deliver(y, node, first, sums, state)
                    deliver(z, node, first, sums, state)
                    deliver(t, node, first, sums, state)
                    piece += one
                    at += np.uint64(4)
            end += np.uint64(layout.blocks[b, TWOS])
            while piece < end:
                if fetched < goal:
                    fetched = fetch_some(fetched, goal, step, space)
                stop = min(end, piece + np.uint64(CHUNK))
                while piece < stop:
                    node = window + targets[piece]
                    x = message(at, base, layout, space, state)
                    y = message(at + one, base, layout, space, state)
                    deliver(x, node, first, sums, state)
                    deliver(y, node, first, sums, state)
                    piece += one
                    at += two
            end += np.uint64(layout.blocks[b, ONES])
            while piece < end:
                if fetched < goal:
                    fetched = fetch_some(fetched, goal, step, space)
                stop = min(end, piece + np.uint64(CHUNK))
                while piece < stop:
                    x = message(at, base, layout, space, state)
                    deliver(x, window + targets[piece], first, sums, state)
                    piece += one
                    at += one
            edges += at
        unsettled = np.int64(end_of_own - own)
        if filters or summing:
            unsettled = np.int64(0)
            for v in range(own, end_of_own):
                if summing:
                    if begins:
                        initFunc(state, np.uint32(v))
                    settle(v - first, np.uint32(v), sums, state)
                unsettled += np.int64(filterFunc(state, np.uint32(v))) if filters else np.int64(1)
        space.frontier_size[u] = unsettled
        space.mode[u] = PULL
        space.sent_messages[u] = edges
        space.needy[2 * u] = last - first
        space.needy[2 * u + 1] = edges
        if counting:
            space.counters[w, EDGES_PULLED] += edges
            space.counters[w, MESSAGES_PULLED] += edges

    return pull
