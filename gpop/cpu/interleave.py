"""Interleaved scatter-gather (GPOP section 3.4).

Before partition ``p`` scatters, its thread

1. gathers the bins for ``p`` that other partitions have finished in this iteration (acquire load of
   each thread's list, so a bin is read only after it was completely written);
2. applies the edges that stay inside ``p`` directly, first in, first out, until no vertex changes or
   the budget is spent. All edges inside the partition are applied, so the bin (p, p) need not be
   sent; when the budget runs out first it is sent, and nothing is lost.

For programs whose result is a fixpoint whatever the order (distances, labels). ``in_frontier`` bits:
1 in the frontier, 2 waiting in the queue, 4 has edges that leave the partition; and where there are other
ranks those of owed.py, which says how they hear what is passed on here.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import load_acquire, prefetch
from gpop.common.inlined import inline
from gpop.cpu import priority
from gpop.cpu.active import LIST_GAP, list_of, note_touched
from gpop.cpu.counters import IDS, INTERLEAVED, INTRA
from gpop.cpu.owed import CHANGED, IN, drop_owed, is_mirrored_elsewhere

NEAR, FAR = np.uint64(4), np.uint64(8)
"""Places further on in the queue where an adjacency list is asked for, and before that its offset: what comes
next lies anywhere, and whether a vertex is improved, which nobody can foresee, is known when it is there."""

LOCAL_BUDGET = 8
"""Vertices applied inside a partition at most, as a multiple of its size."""


@inline
def _first_own_edge(indices, first, last, bits, p):
    """First edge in ``[first, last)`` whose destination partition is not before ``p`` (lists ascend)."""
    while first < last:
        middle = (first + last) >> np.uint64(1)
        if indices[middle] >> bits < p:
            first = middle + np.uint64(1)
        else:
            last = middle
    return first


@inline
def is_local(p, space):
    """Whether at least half of the edges of ``p`` stay inside it, so that applying them directly pays."""
    return space.inside[p] != 0


def make_gather_published(gather_one, counting):
    """Kernel: gather what other partitions have published for ``p`` so far; returns the frontier size."""

    def gather_published(p, w, threads, layout, space, state):
        k = layout.k
        gap = np.uint64(p) * np.uint64(LIST_GAP)
        size = gap + np.uint64(space.frontier_size[p])
        before = space.counters[w, IDS]
        for list in range(threads):
            head = load_acquire(space.head, list * k + p)
            source = head
            stop = space.consumed[list * k + p]
            while source != stop:
                size = gather_one(source, p, w, False, layout, space, state, size)
                source = np.int64(space.next_source[source * k + p])
            space.consumed[list * k + p] = head
        if counting:
            space.counters[w, INTERLEAVED] += space.counters[w, IDS] - before
        return size - gap

    return gather_published


def make_apply_own_edges(
    scatterFunc, gatherFunc, applyWeight, filterFunc, priorityFunc, weight_type, drops, track, counting, owes
):
    """Kernel: apply the edges inside ``p`` from its frontier on; True when nothing is left to apply.

    Vertices with a priority above the limit are left to wait (priority.py). With ``drops`` a vertex all of
    whose edges have been applied leaves the frontier, so that what follows need not walk its edges again,
    unless it is owed to others (``owes``).
    """
    weighted = weight_type is not None
    filters = filterFunc is not None
    prioritised = priorityFunc is not None

    def apply_own_edges(p, w, layout, space, state, wire):
        indices, frontier, in_frontier, queue = layout.indices, space.frontier, space.in_frontier, space.queue
        bits = layout.bits
        own = np.uint32(p)
        local = (np.uint32(1) << bits) - np.uint32(1)
        base, start = np.uint64(p) << np.uint64(bits), list_of(p, layout)
        capacity = np.uint64(1) << np.uint64(bits)
        capacity = min(capacity, np.uint64(layout.n) - base)
        size = np.uint64(space.frontier_size[p])
        for i in range(size):
            queue[start + i] = frontier[start + i]
            in_frontier[base + np.uint64(frontier[start + i])] |= np.uint8(2)
        read = np.uint64(0)
        waiting = size
        budget = np.int64(capacity) * LOCAL_BUDGET
        edges = np.int64(0)
        limit = priority.limit_of(layout, space) if prioritised else np.int64(0)
        while waiting > 0 and budget > 0:
            v = base + np.uint64(queue[start + read])
            read += np.uint64(1)
            if read == capacity:
                read = np.uint64(0)
            if waiting > FAR and read + FAR < capacity:
                prefetch(layout.indptr, base + np.uint64(queue[start + read + FAR]))
                later = np.uint64(layout.indptr[base + np.uint64(queue[start + read + NEAR])])
                prefetch(indices, later)
                if weighted:
                    prefetch(layout.weights, later)
            waiting -= np.uint64(1)
            budget -= 1
            in_frontier[v] &= np.uint8(0xFD)
            e = np.uint64(layout.indptr[v])
            end = np.uint64(layout.indptr[v + np.uint64(1)])
            if e == end:
                continue
            leaves = False
            if layout.sorted:
                leaves = indices[e] >> bits < own
                if leaves and end - e > np.uint64(8):
                    e = _first_own_edge(indices, e, end, bits, own)
            value = scatterFunc(state, np.uint32(v))
            while e < end:
                u = indices[e]
                if u >> bits != own:
                    leaves = True
                    if layout.sorted and u >> bits > own:
                        break
                    e += np.uint64(1)
                    continue
                edges += 1
                if weighted:
                    weight = weight_type(layout.weights[e])
                    received = gatherFunc(state, applyWeight(state, value, weight), u)
                else:
                    received = gatherFunc(state, value, u)
                e += np.uint64(1)
                if received:
                    flags = in_frontier[u]
                    if track:
                        note_touched(np.uint64(u), p, base, layout, space)
                    if filters:
                        if flags & np.uint8(1) == 0 and not filterFunc(state, u):
                            continue
                    if prioritised:
                        bucket = np.int64(priorityFunc(state, u))
                        if bucket > limit:
                            priority.defer(np.uint64(u), p, base, bucket, layout, space)
                            continue
                        priority.withdraw(u, p, space)
                    if flags & np.uint8(1) == 0:
                        frontier[start + size] = u & local
                        size += np.uint64(1)
                    if flags & np.uint8(2) == 0:
                        to = read + waiting
                        if to >= capacity:
                            to -= capacity
                        queue[start + to] = u & local
                        waiting += np.uint64(1)
                    in_frontier[u] = flags | (np.uint8(3) | CHANGED if owes else np.uint8(3))
            if leaves:
                in_frontier[v] |= np.uint8(4)
        done = waiting == np.uint64(0)
        while waiting > 0:
            in_frontier[base + np.uint64(queue[start + read])] &= np.uint8(0xFD)
            read += np.uint64(1)
            if read == capacity:
                read = np.uint64(0)
            waiting -= np.uint64(1)
        kept = np.uint64(0)
        total = np.int64(0)
        for i in range(size):
            v = base + np.uint64(frontier[start + i])
            changed = in_frontier[v] & CHANGED
            if drops and done and in_frontier[v] & np.uint8(4) == 0:
                dropped = True
                if owes:
                    dropped = changed == 0 or not is_mirrored_elsewhere(v, wire, state)
                if dropped:
                    in_frontier[v] = 0
                    continue
            in_frontier[v] = IN | changed
            frontier[start + kept] = frontier[start + i]
            kept += np.uint64(1)
            total += layout.indptr[v + np.uint64(1)] - layout.indptr[v]
        space.frontier_size[p] = kept
        space.active_edges[p] = total
        if counting:
            space.counters[w, INTRA] += edges
        return done

    return apply_own_edges


def make_interleaved_step(gather_published, filter_frontier, apply_own_edges, owes):
    """Kernel: what happens to ``p`` before it scatters in an interleaved run; ``owes``: see owed.py."""

    def step(p, w, threads, layout, space, state, wire):
        if owes:
            drop_owed(p, layout, space)
        before = space.frontier_size[p]
        size = gather_published(p, w, threads, layout, space, state)
        filter_frontier(p, before, size, layout, space, state)
        if is_local(p, space):
            return apply_own_edges(p, w, layout, space, state, wire)
        return False

    return step
