"""Scatter: what the active vertices of one partition write into its row of bins (GPOP section 3.2).

Source-centric (SC): for each active vertex, one message per run of out-edges that end in the same
partition; value, local ids and weights go to the insertion points of the bins. Work is proportional
to the active edges. Bytes per active edge: 4 (edge) + d_i (id) [+ 2 d_w]; per message d_v.

Partition-centric (PC): values of all vertices of the partition in PNG order, one contiguous stream;
ids and weights are static. Bytes per message: d_s (source id) + d_v, which goes past the caches where all
messages together are larger than the caches.

One thread owns the row of partition ``p`` while it scatters, so nothing here is atomic.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import prefetch, store_streaming
from gpop.common.deferred import private, when_compiling
from gpop.common.inlined import inline
from gpop.cpu.active import list_of
from gpop.cpu.counters import EDGES, MESSAGES_PC, MESSAGES_SC, VERTICES
from gpop.cpu.own_vertices import own_range
from gpop.model.strategies import PC, SC
from gpop.plan.hidden import MASK_SENT, MASK_VALUE

AHEAD = 8
"""Vertices between the prefetch of an adjacency list and its use."""


def flag_bit(ids):
    """Bit of an id that marks the first one of a message: a constant for the type of ``ids``."""


def _flag_bit(ids):
    bit = np.uint32(ids.dtype.bitwidth - 1)
    return lambda ids: bit


when_compiling(lambda: private.overload(flag_bit, inline="always")(_flag_bit))


@inline
def send(e, end, value, row, listed, weighted, layout, space):
    """Write a message: ``value`` along the run of edges from ``e`` on that end in one partition.

    Returns the edge after the run, and the end of the row's list of non-empty bins.
    """
    indices, ids, cursors = layout.indices, space.sc_ids, space.cursors
    bits = layout.bits
    local = (np.uint32(1) << bits) - np.uint32(1)
    d = indices[e] >> bits
    bin = row + d
    slot = np.uint64(cursors[np.uint64(2) * bin])
    at = np.uint64(cursors[np.uint64(2) * bin + np.uint64(1)])
    if slot == np.uint64(layout.slots[bin]):
        space.row_list[listed] = d
        listed += np.uint64(1)
    space.values[slot] = value
    cursors[np.uint64(2) * bin] = slot + np.uint64(1)
    mark = np.uint32(1) << flag_bit(ids)
    while e < end and indices[e] >> bits == d:
        ids[at] = (indices[e] & local) | mark
        if weighted:
            space.sc_weights[at] = layout.weights[e]
        mark = np.uint32(0)
        at += np.uint64(1)
        e += np.uint64(1)
    cursors[np.uint64(2) * bin + np.uint64(1)] = at
    return e, listed


def make_scatter_sc(scatterFunc, weighted, all_active, skip_own, counting):
    """Kernel: source-centric scatter of partition ``p``; lists the bins it fills in ``row_list``.

    With ``skip_own`` the bin (p, p) is left out when ``own_done`` says that the interleaved step has
    applied those edges already.
    """

    def scatter_sc(p, w, own_done, layout, space, state):
        indices = layout.indices
        bits = layout.bits
        row = np.uint64(p) * np.uint64(layout.k)
        base, start = np.uint64(p) << np.uint64(bits), list_of(p, layout)
        listed_at = np.uint64(layout.row_offsets[p])
        listed = listed_at
        own = np.uint32(p)
        messages = np.uint64(0)
        if all_active:
            count = min(np.uint64(layout.n) - base, np.uint64(1) << np.uint64(bits))
        else:
            count = np.uint64(space.frontier_size[p])
        for i in range(count):
            v = base + i
            if not all_active:
                v = base + np.uint64(space.frontier[start + i])
                # Lists of active vertices lie anywhere in CSR: ask for the offset of one that comes
                # later, and for the edges of one whose offset has arrived.
                if i + np.uint64(2 * AHEAD) < count:
                    prefetch(layout.indptr, base + space.frontier[start + i + np.uint64(2 * AHEAD)])
                    later = layout.indptr[base + np.uint64(space.frontier[start + i + np.uint64(AHEAD)])]
                    prefetch(indices, np.uint64(later))
                    if weighted:
                        prefetch(layout.weights, np.uint64(later))
            e = np.uint64(layout.indptr[v])
            end = np.uint64(layout.indptr[v + np.uint64(1)])
            if e == end:
                continue
            if counting:
                space.counters[w, EDGES] += end - e
                space.counters[w, VERTICES] += 1
            value = scatterFunc(state, np.uint32(v))
            d = indices[e] >> bits
            while e < end:
                if skip_own and own_done and d == own:
                    e += np.uint64(1)
                    while e < end and indices[e] >> bits == own:
                        e += np.uint64(1)
                    if e < end:
                        d = indices[e] >> bits
                    continue
                e, listed = send(e, end, value, row, listed, weighted, layout, space)
                messages += np.uint64(1)
                if e < end:
                    d = indices[e] >> bits
        space.mode[p] = SC
        space.row_size[p] = listed - listed_at
        space.sent_messages[p] = messages
        if counting:
            space.counters[w, MESSAGES_SC] += messages

    return scatter_sc


def make_row(scatterFunc, mask, inactive, streaming):
    """Kernel: the messages ``[first, last)`` of the partition that starts at vertex ``base``, in PNG order.

    ``streaming``: past the caches, which would not hold them until they are read.
    """

    def row(base, first, last, layout, space, state):
        sources, values = layout.sources, space.values
        for slot in range(first, last):
            v = base + np.uint32(sources[slot])
            if mask == MASK_VALUE:
                value = inactive  # of the same type, see compile.py
                if space.in_frontier[v] & np.uint8(1):
                    value = scatterFunc(state, np.uint32(v))
            else:
                value = scatterFunc(state, np.uint32(v))
            if streaming:
                store_streaming(values, slot, value)
            else:
                values[slot] = value
            if mask == MASK_SENT:
                space.sent[slot] = space.in_frontier[v] & np.uint8(1)

    return row


def make_either_row(row, streamed_row):
    """Kernel: the one or the other, as the run wants it."""

    def either_row(base, first, last, layout, space, state):
        if space.streaming[0] != 0:
            streamed_row(base, first, last, layout, space, state)
        else:
            row(base, first, last, layout, space, state)

    return either_row


def make_scatter_pc(row, mirror_row, counting):
    """Kernel: partition-centric scatter of partition ``p``: one value per PNG entry, in order.

    ``mirror_row``: for partitions of mirrors, None where there are no other ranks.
    """
    ranked = mirror_row is not None

    def scatter_pc(p, w, layout, space, state):
        base = np.uint32(np.uint64(p) << np.uint64(layout.bits))
        first = np.uint64(layout.slots[p * layout.k])
        last = np.uint64(layout.slots[(p + 1) * layout.k])
        own = True
        if ranked:
            own = state.gpop_first <= base < state.gpop_last
            if not own:
                mirror_row(base, first, last, layout, space, state)
        if own:
            row(base, first, last, layout, space, state)
        space.mode[p] = PC
        space.sent_messages[p] = last - first
        if counting:
            space.counters[w, MESSAGES_PC] += last - first

    return scatter_pc


def make_after_scatter(initFunc, all_active, ranked):
    """Kernel: ``initFunc`` for every active vertex of ``p``; those it keeps stay in the frontier.

    ``initFunc`` None stands for the default (keep nothing). Where there are other ranks (``ranked``), mirrors
    leave the frontier as they came.
    """
    calls = initFunc is not None

    def after_scatter(p, layout, space, state):
        base, start = np.uint64(p) << np.uint64(layout.bits), list_of(p, layout)
        if all_active:
            if calls:
                end = min(np.uint64(layout.n), base + (np.uint64(1) << np.uint64(layout.bits)))
                if ranked:
                    base, end = own_range(base, end, state)
                for v in range(base, end):
                    initFunc(state, np.uint32(v))
            return
        kept = np.uint64(0)
        if ranked:
            if not state.gpop_first <= base < state.gpop_last:
                space.frontier_size[p] = 0
                return
        for i in range(np.uint64(space.frontier_size[p])):
            v = base + np.uint64(space.frontier[start + i])
            keep = False
            if calls:
                keep = initFunc(state, np.uint32(v))
            if keep:
                space.frontier[start + kept] = space.frontier[start + i]
                kept += np.uint64(1)
            else:
                space.in_frontier[v] = 0
        space.frontier_size[p] = kept

    return after_scatter
