"""Pull where every vertex is active: values are read where they lie, through blocks of in-edges.

Two phases stand for scatter and gather, each over the units of the layout (edge_blocks.py):

1. prepare: one value per vertex, from ``scatterFunc``;
2. pull: ``initFunc`` for the vertices of a unit, then its blocks, each in pieces of 4, 2 and 1 edges of
   one destination, then ``filterFunc``, and the vertex's value in the next iteration, which therefore has
   no first phase. A vertex is written by the thread that has its unit.

Every vertex gets every message, in ascending order of the sources: bitwise what PC computes. Where hubs go
first (hubs_first.py) values and sums have other places, and messages come in that order. The values of a
piece are loaded before the first is gathered: the compiler may then keep the destination in a register.

Bytes: per edge 2 (+ weight), per piece 2 and one access to the destination, which a unit passes through
from its first vertex to its last; the values of a source block stay in the private cache, into which they are
fetched while the edges of the block before are read.
Encoding: ``values`` has a half for iterations of even number, and one for the others.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import prefetch
from gpop.common.inlined import inline
from gpop.common.vectors import word_at
from gpop.cpu.counters import EDGES_PULLED, MESSAGES_PULLED
from gpop.cpu.own_vertices import own_range
from gpop.layout.edge_block_kernels import FIRST, FOURS, ONES, SOURCE, TWOS, WINDOW, WINDOW_BITS
from gpop.layout.edge_block_plan import FAR_BYTES
from gpop.model.strategies import PULL

LINE_BYTES = 64
"""Of a cache line."""

STRETCH = 64
"""Pieces between two of the times at which values and edges are asked for."""

FAR_EDGES, EDGES_AHEAD = 1 << 22, 1 << 10
"""From so many edges on they are not in a cache that cores share, and those of short pieces asked for so long
before they are walked: PageRank takes .94 of the time on random edges, 32 a vertex, and .95 with 8."""

HALF, SECOND, THIRD, FOURTH = (np.uint64(number) for number in (0xFFFF, 16, 32, 48))
ONE, TWO, THREE, FOUR = (np.uint64(number) for number in (1, 2, 3, 4))
"""Parts of a word of four refs, and numbers of edges."""


@inline
def half_of(values, iteration):
    """Where those of an iteration begin."""
    return np.uint64(len(values) >> 1) if iteration & 1 else np.uint64(0)


@inline
def note(array, index, number):
    """``array[index] = number``, but where it is so already its line stays in the caches of all."""
    if array[index] != number:
        array[index] = number


@inline
def ask_for(first, end, values):
    """Ask for the values of vertices from ``first`` on, up to ``end``; the first that was not asked for."""
    while first < end:
        prefetch(values, first)
        first += np.uint64(LINE_BYTES) // np.uint64(values.itemsize)
    return first


@inline
def look_ahead(b, last, asked, layout, values):
    """Up to which vertex values are asked for while block ``b`` is walked, and of how many in a stretch.

    Those of the next block of the unit, which ends before block ``last``, come while this one is walked, a
    few at a time; its own are asked for at once if they were not before (``asked``). Only where most lines of
    a block are wanted. The third number is the ``asked`` of now.

    In order they come at the memory's bandwidth; by the edges each one waits for its line. And all at once
    the core waits for the cache that it shares with others: with the whole block before its first edge an
    iteration on RMAT 20 took 12.6 ms in some processes and 17 to 22 in others, in large pages and small ones
    alike; so 12.2 in both.
    """
    size, n = np.uint64(values.itemsize), np.uint64(layout.n)
    block, base = layout.blocks[b], np.uint64(layout.blocks[b, SOURCE])
    pieces = np.uint64(block[FOURS] + block[TWOS] + block[ONES])
    lines = pieces + np.uint64(3 * block[FOURS] + block[TWOS])  # at most, one for each edge
    next = b + 1
    while next < last and layout.blocks[next, SOURCE] == block[SOURCE]:  # of another window
        next += 1
    width = np.uint64(1) << np.uint64(WINDOW_BITS)
    if next < last:
        width = min(width, np.uint64(layout.blocks[next, SOURCE]) - base)
    if n * size < FAR_BYTES or lines * np.uint64(LINE_BYTES) < width * size:
        return np.uint64(0), np.uint64(0), asked
    asked = ask_for(max(asked, base), min(base + width, n), values)
    end = min(base + np.uint64(2) * width, n) if next < last else asked
    stretches = pieces // np.uint64(STRETCH) + np.uint64(1)
    return end, width // stretches + np.uint64(LINE_BYTES) // size, asked


def make_prepare_all(scatterFunc):
    """Kernel: the values of unit ``u`` in an iteration, also of who has no out-edges: without a branch the
    compiler makes vectors of it."""

    def prepare(u, iteration, layout, space, state):
        values = space.values[half_of(space.values, iteration) :]
        first, last = np.uint64(layout.bounds[u]), np.uint64(layout.bounds[u + 1])
        if layout.place.size == 0:
            for v in range(first, last):
                values[v] = scatterFunc(state, np.uint32(v))
        else:
            for v in range(first, last):
                values[layout.place[v]] = scatterFunc(state, np.uint32(v))

    return prepare


def make_message(applyWeight, weight_type):
    """Kernel: the message along the edge at ``at``, whose source is vertex ``base + ref``."""
    weighted = weight_type is not None

    def message(ref, at, base, layout, values, state):
        value = values[base + ref]
        if weighted:
            value = applyWeight(state, value, weight_type(layout.weights[at]))
        return value

    return message


def make_four(message):
    """Kernel: the messages along four edges from ``at`` on. Their refs are one load: with one for each edge
    PageRank takes 1.06 of the time on a web graph and 1.1 on a road, whose values are in the cache."""

    def four(at, base, layout, values, state):
        refs = word_at(layout.refs, at)
        return (
            message(refs & HALF, at, base, layout, values, state),
            message(refs >> SECOND & HALF, at + ONE, base, layout, values, state),
            message(refs >> THIRD & HALF, at + TWO, base, layout, values, state),
            message(refs >> FOURTH, at + THREE, base, layout, values, state),
        )

    return four


def make_deliver(gatherFunc, summing):
    """Kernel: a message for ``node`` of the unit that starts at ``first``; ``summing``: see sums.py."""

    def deliver(value, node, first, sums, state):
        if summing:
            sums[np.uint64(node) - first] += value
        else:
            gatherFunc(state, value, np.uint32(node))

    return deliver


def make_finish(settle, initFunc, filterFunc):
    """Kernel: what is left to do for vertex ``v``, whose sum has number ``local`` in its unit; 0 if it
    settles, else 1."""
    begins = initFunc is not None
    filters = filterFunc is not None
    summing = settle is not None

    def finish(v, local, sums, state):
        if summing:
            if begins:
                initFunc(state, np.uint32(v))
            settle(local, np.uint32(v), sums, state)
        return np.int64(bool(filterFunc(state, np.uint32(v)))) if filters else np.int64(1)

    return finish


@inline
def ask_for_edges(at, piece, edges, layout):
    """Ask for the edges of a stretch of pieces of so many ``edges``."""
    line = np.uint64(LINE_BYTES // layout.refs.itemsize)
    for i in range(np.uint64(STRETCH * edges) // line):
        prefetch(layout.refs, at + np.uint64(EDGES_AHEAD) + i * line)
    for i in range(np.uint64(STRETCH) // line):
        prefetch(layout.targets, piece + np.uint64(EDGES_AHEAD) + i * line)


def make_pull_all(message, four, deliver, finish, initFunc, prepare, summing, counting, ranked):
    """Kernel: deliver to unit ``u`` along all its in-edges, filter, and ``prepare`` for the next iteration.

    ``frontier_size[u]`` becomes the number of vertices for which ``filterFunc`` returned True. Where there
    are other ranks (``ranked``), these have to send what is prepared. ``after``: the next iteration's state.
    """
    begins = initFunc is not None

    def pull(u, w, iteration, layout, space, state, after):
        targets, values = layout.targets, space.values[half_of(space.values, iteration) :]
        first, last = np.uint64(layout.bounds[u]), np.uint64(layout.bounds[u + 1])
        own, end_of_own = first, last
        if ranked:
            own, end_of_own = own_range(first, last, state)
        if begins and not summing:  # else what arrives does not touch the fields, and one pass is enough
            for v in range(own, end_of_own):
                initFunc(state, np.uint32(v))
        edges = np.uint64(0)
        asked, far = np.uint64(0), len(layout.refs) >= FAR_EDGES
        sums = space.sums[w]
        last_block = layout.first_block[u + 1]
        for b in range(layout.first_block[u], last_block):
            base, window = np.uint64(layout.blocks[b, SOURCE]), np.uint32(layout.blocks[b, WINDOW])
            at = np.uint64(layout.blocks[b, FIRST])
            edges -= at
            end_ahead, step, asked = look_ahead(b, last_block, asked, layout, values)
            piece = at
            end = piece + np.uint64(layout.blocks[b, FOURS])
            while piece < end:
                asked = ask_for(asked, min(end_ahead, asked + step), values)
                if far:
                    ask_for_edges(at, piece, 4, layout)
                stop = min(end, piece + np.uint64(STRETCH))
                while piece < stop:
                    node = window + targets[piece]
                    x, y, z, t = four(at, base, layout, values, state)
                    deliver(x, node, first, sums, state)
                    deliver(y, node, first, sums, state)
                    deliver(z, node, first, sums, state)
                    deliver(t, node, first, sums, state)
                    piece += ONE
                    at += FOUR
            end += np.uint64(layout.blocks[b, TWOS])
            while piece < end:
                asked = ask_for(asked, min(end_ahead, asked + step), values)
                if far:
                    ask_for_edges(at, piece, 2, layout)
                stop = min(end, piece + np.uint64(STRETCH))
                while piece + ONE < stop:
                    node, other = window + targets[piece], window + targets[piece + ONE]
                    x, y, z, t = four(at, base, layout, values, state)
                    deliver(x, node, first, sums, state)
                    deliver(y, node, first, sums, state)
                    deliver(z, other, first, sums, state)
                    deliver(t, other, first, sums, state)
                    piece += TWO
                    at += FOUR
                if piece < stop:
                    node, ref, next_ref = window + targets[piece], layout.refs[at], layout.refs[at + ONE]
                    x = message(np.uint64(ref), at, base, layout, values, state)
                    y = message(np.uint64(next_ref), at + ONE, base, layout, values, state)
                    deliver(x, node, first, sums, state)
                    deliver(y, node, first, sums, state)
                    piece += ONE
                    at += TWO
            end += np.uint64(layout.blocks[b, ONES])
            while piece < end:
                asked = ask_for(asked, min(end_ahead, asked + step), values)
                if far:
                    ask_for_edges(at, piece, 1, layout)
                stop = min(end, piece + np.uint64(STRETCH))
                while piece + THREE < stop:
                    nodes = word_at(targets, piece)
                    x, y, z, t = four(at, base, layout, values, state)
                    deliver(x, window + np.uint32(nodes & HALF), first, sums, state)
                    deliver(y, window + np.uint32(nodes >> SECOND & HALF), first, sums, state)
                    deliver(z, window + np.uint32(nodes >> THIRD & HALF), first, sums, state)
                    deliver(t, window + np.uint32(nodes >> FOURTH), first, sums, state)
                    piece += FOUR
                    at += FOUR
                while piece < stop:
                    x = message(np.uint64(layout.refs[at]), at, base, layout, values, state)
                    deliver(x, window + targets[piece], first, sums, state)
                    piece += ONE
                    at += ONE
            edges += at
        unsettled = np.int64(end_of_own - own)
        if finish is not None:
            unsettled = np.int64(0)
            if layout.slot.size == 0:  # of this loop the compiler makes vectors: PageRank .8 on a web graph
                for v in range(own, end_of_own):
                    unsettled += finish(v, v - first, sums, state)
            else:
                for v in range(own, end_of_own):
                    local = (v - first & ~HALF) | np.uint64(layout.slot[v])
                    unsettled += finish(v, local, sums, state)
        if not ranked:
            prepare(u, iteration + 1, layout, space, after)
        note(space.frontier_size, u, unsettled)
        note(space.mode, u, PULL)
        note(space.sent_messages, u, np.int64(edges))
        note(space.needy, 2 * u, np.int64(last - first))
        note(space.needy, 2 * u + 1, np.int64(edges))
        if counting:
            space.counters[w, EDGES_PULLED] += edges
            space.counters[w, MESSAGES_PULLED] += edges

    return pull
