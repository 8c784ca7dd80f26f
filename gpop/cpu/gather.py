"""Gather: one thread reads a destination partition's column of bins and updates its vertices.

Reads ids (d_i bytes per edge), weights (d_w) and values (d_v per message) as contiguous streams; the
vertex data of the partition stays in the private cache. Bins are read in ascending order of their
source partition, so a bulk-synchronous run is bitwise repeatable for any number of threads.
"""

from __future__ import annotations

import numpy as np

from gpop.common.inlined import inline
from gpop.cpu import priority
from gpop.cpu.active import LIST_GAP, list_of, note_touched, rebuild_list
from gpop.cpu.counters import FILLED, IDS, MESSAGES, PROBED
from gpop.cpu.owed import CHANGED, IN, OWED
from gpop.cpu.own_vertices import note_whole_edges, own_range, whole_degrees
from gpop.cpu.scatter import flag_bit
from gpop.cpu.sums import HEARD
from gpop.cpu.workspace import NONE
from gpop.model.strategies import PC
from gpop.plan.hidden import MASK_SENT, MASK_VALUE

FEW_NEW = 16
"""When more than one in so many vertices of a partition have joined its frontier, the list is put in order:
what follows, filter and the next scatter, is faster in the order of memory."""

MANY_EDGES = 4
"""Edges per vertex from which on it pays to find out whether nearly all of them carry a message."""

MOST_SILENT = 4
"""And one in so many of these edges may come from a partition that does not send for all its vertices: one
small partition of a graph of people did not, and a walk over it took 1.1 times as long."""


def make_gather_bin(gatherFunc, applyWeight, weight_type, activates, mask, inactive, summing, notes):
    """Kernel: fold the messages of one bin into the vertices of its destination partition.

    ``ids[at:end]`` with the message flag in the top bit, values from ``slot`` on. Returns the new
    size of the frontier of the partition that starts at vertex ``base``. Weights may be stored in
    fewer bytes than ``weight_type``, the type that ``applyWeight`` sees (None: unweighted). Only if it
    ``activates`` vertices, they join the frontier. ``summing``: messages are added up first (sums.py).
    ``notes``: who has changed is noted (owed.py).
    """
    joined = HEARD if summing else 1
    weighted = weight_type is not None

    def gather_bin(base, at, end, slot, ids, weights, w, space, state, size):
        values = space.values[slot:]  # then what the loop needs stays in registers
        if mask == MASK_SENT:
            sent = space.sent[slot:]
        if summing:
            sums = space.sums[w]
        top = flag_bit(ids)
        local = (np.uint32(1) << top) - np.uint32(1)
        slot = np.uint64(0) - np.uint64(1)
        for j in range(at, end):
            id = np.uint32(ids[j])
            slot += np.uint64(id >> top)
            node = base + (id & local)
            value = values[slot]
            if mask == MASK_VALUE:
                if value == inactive:
                    continue
            if mask == MASK_SENT:
                if sent[slot] == 0:
                    continue
            received = True
            if summing:
                if weighted:
                    sums[id & local] += applyWeight(state, value, weight_type(weights[j]))
                else:
                    sums[id & local] += value
            elif weighted:
                heard = applyWeight(state, value, weight_type(weights[j]))
                received = gatherFunc(state, heard, np.uint32(node))
            else:
                received = gatherFunc(state, value, np.uint32(node))
            if activates and notes:
                if received:
                    flags = space.in_frontier[node]
                    space.in_frontier[node] = IN | CHANGED
                    if flags == 0:
                        space.frontier[np.uint64(base) + size] = id & local
                        size += np.uint64(1)
            elif activates:
                if bool(received) & (space.in_frontier[node] == 0):  # one branch, rarely taken
                    space.in_frontier[node] = joined
                    space.frontier[np.uint64(base) + size] = id & local
                    size += np.uint64(1)
        return size

    return gather_bin


def make_gather_one(gather_bin, gather_dense, marked, counting):
    """Kernel: gather bin (source, d) in the mode that wrote it, and leave the bin empty.

    ``gather_dense`` (or None) takes its place: for bins written partition-centric where messages are
    ``marked`` there, else in a column that is ``full``.
    """
    special = gather_dense is not None

    def gather_one(source, d, w, full, layout, space, state, size):
        bin = np.uint64(source) * np.uint64(layout.k) + np.uint64(d)
        column = np.uint64(d) * np.uint64(layout.k) + np.uint64(source)
        base = np.uint32(np.uint64(d) << np.uint64(layout.bits))
        slot = np.uint64(layout.slots[bin])
        at = np.uint64(layout.id_offsets[column])
        ids, weights = layout.ids, layout.id_weights
        dense = space.mode[source] == PC
        if dense:
            end = np.uint64(layout.id_offsets[column + np.uint64(1)])
            last = np.uint64(layout.slots[bin + np.uint64(1)])
        else:
            end = np.uint64(space.cursors[np.uint64(2) * bin + np.uint64(1)])
            last = np.uint64(space.cursors[np.uint64(2) * bin])
            ids, weights = space.sc_ids, space.sc_weights
            space.cursors[np.uint64(2) * bin] = slot
            space.cursors[np.uint64(2) * bin + np.uint64(1)] = at
        if counting:
            space.counters[w, MESSAGES] += last - slot
            space.counters[w, PROBED] += 1
            if end > at:
                space.counters[w, FILLED] += 1
            space.counters[w, IDS] += end - at
        if special:
            if full or (dense and marked):
                return gather_dense(base, at, end, slot, ids, weights, w, space, state, size)
        return gather_bin(base, at, end, slot, ids, weights, w, space, state, size)

    return gather_one


def make_filter(filterFunc, priorityFunc, track, ranked, owes):
    """Kernel: ``filterFunc`` for frontier entries of ``d`` from position ``first`` on; sums their edges.

    Entries with a priority above the limit wait (priority.py). None stands for the default function: keep
    everything, no priorities. Where there are other ranks (``ranked``), edges of a vertex are those to all of
    them. ``owes``: some are only there for the others (owed.py), and were kept before.
    """
    calls = filterFunc is not None
    prioritised = priorityFunc is not None

    def filter_frontier(d, first, size, layout, space, state):
        base, start = np.uint64(d) << np.uint64(layout.bits), list_of(d, layout)
        kept = np.uint64(first)
        for i in range(np.uint64(first), size):
            v = base + np.uint64(space.frontier[start + i])
            if track:
                note_touched(v, d, base, layout, space)
            keep, asked = True, True
            if owes:
                asked = space.in_frontier[v] & OWED == 0
            if calls:
                if asked:
                    keep = filterFunc(state, np.uint32(v))
            if prioritised:
                if keep and asked:
                    bucket = np.int64(priorityFunc(state, np.uint32(v)))
                    keep = bucket <= priority.limit_of(layout, space)
                    if keep:
                        priority.withdraw(v, d, space)
                    else:
                        priority.defer(v, d, base, bucket, layout, space)
            if keep:
                space.frontier[start + kept] = space.frontier[start + i]
                kept += np.uint64(1)
            else:
                space.in_frontier[v] = 0
        space.frontier_size[d] = kept
        if ranked:
            note_whole_edges(d, whole_degrees(d, kept, layout, space, state), space)
        else:
            edges = np.int64(0)
            for i in range(kept):
                v = base + np.uint64(space.frontier[start + i])
                edges += layout.indptr[v + np.uint64(1)] - layout.indptr[v]
            space.active_edges[d] = edges

    return filter_frontier


@inline
def is_full(d, capacity, layout, space):
    """Whether nearly every edge into ``d`` carries a message, and there are many for a vertex.

    Messages of inactive vertices do no harm, whether they are there (PC) or not.
    """
    k = layout.k
    edges = layout.id_offsets[(d + 1) * k] - layout.id_offsets[d * k]
    if edges < MANY_EDGES * np.int64(capacity):
        return False
    source, silent = np.int64(space.head[d]), edges
    while source != NONE:
        if space.mode[source] == PC:
            silent -= layout.id_offsets[d * k + source + 1] - layout.id_offsets[d * k + source]
        source = np.int64(space.next_source[source * k + d])
    return silent * MOST_SILENT <= edges


@inline
def activate_receivers(d, base, start, capacity, layout, space):
    """All vertices of ``d`` with in-edges join the frontier; the end of its list."""
    if space.receivers_known[d] == 0:
        space.receivers_known[d] = 1
        local = (np.uint32(1) << flag_bit(layout.ids)) - np.uint32(1)
        for j in range(layout.id_offsets[d * layout.k], layout.id_offsets[(d + 1) * layout.k]):
            space.receivers[base + np.uint64(layout.ids[j] & local)] = 1
    for v in range(base, base + capacity):
        space.in_frontier[v] |= space.receivers[v]
    return rebuild_list(space.frontier, start, space.in_frontier, base, capacity)


def make_gather(gather_one, filter_frontier, settle_list, lists, certain):
    """Kernel: gather partition ``d`` from the ``lists`` lists of non-empty bins, then filter.

    A list is read up to ``consumed``: what lies behind was read by the interleaved gather. ``certain``: a
    vertex that hears something joins the frontier, so who does is known of a full column beforehand.
    """
    summing = settle_list is not None

    def gather(d, w, threads, layout, space, state):
        k = layout.k
        base, start = np.uint64(d) << np.uint64(layout.bits), list_of(d, layout)
        capacity = min(np.uint64(layout.n) - base, np.uint64(1) << np.uint64(layout.bits))
        gap = np.uint64(d) * np.uint64(LIST_GAP)
        before = gap + np.uint64(space.frontier_size[d])
        size = before
        full = False
        if certain:
            full = is_full(d, capacity, layout, space)
        for list in range(threads if lists else 1):
            source = space.head[list * k + d]
            stop = space.consumed[list * k + d]
            while source != stop:
                size = gather_one(source, d, w, full, layout, space, state, size)
                source = np.int64(space.next_source[source * k + d])
            space.head[list * k + d] = NONE
            space.consumed[list * k + d] = NONE
        if full:
            size = gap + activate_receivers(d, base, start, capacity, layout, space) - start
        if summing:
            size = gap + settle_list(d, w, size - gap, layout, space, state)
        if not full and (size - before) * np.uint64(FEW_NEW) > capacity:
            rebuild_list(space.frontier, start, space.in_frontier, base, capacity)
        filter_frontier(d, 0, size - gap, layout, space, state)

    return gather


def make_filter_all(filterFunc, settle, ranked):
    """Kernel for ``all_active`` programs: filter every vertex of ``d``.

    ``frontier_size[d]`` becomes the number of vertices for which ``filterFunc`` returned True, of own ones
    where there are other ranks (``ranked``).
    """
    calls = filterFunc is not None
    summing = settle is not None

    def filter_all(d, w, layout, space, state):
        first = np.uint64(d) << np.uint64(layout.bits)
        base = first
        last = min(np.uint64(layout.n), first + (np.uint64(1) << np.uint64(layout.bits)))
        if ranked:
            first, last = own_range(first, last, state)
        unsettled = np.int64(last - first)
        if summing:
            sums = space.sums[w]
        if calls or summing:
            unsettled = np.int64(0)
            for v in range(first, last):
                if summing:
                    settle(v - base, np.uint32(v), sums, state)
                unsettled += np.int64(bool(filterFunc(state, np.uint32(v)))) if calls else np.int64(1)
        space.frontier_size[d] = unsettled

    return filter_all


def make_gather_all(gather_one, filter_all):
    """Kernel for ``all_active`` programs: every non-empty bin of the column, then filter every vertex."""

    def gather_all(d, w, threads, layout, space, state):
        for i in range(layout.column_offsets[d], layout.column_offsets[d + 1]):
            gather_one(layout.column_bins[i], d, w, False, layout, space, state, np.uint64(0))
        filter_all(d, w, layout, space, state)

    return gather_all
