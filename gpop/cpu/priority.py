"""Priorities: the engine works on the lowest bucket and sets vertices with a higher priority aside.

The frontier holds vertices whose ``priorityFunc`` is at most the limit. Every other active vertex waits
in the list of its partition, which only the partition's owner touches, so nothing is atomic. When the
frontier is empty the smallest priority that waits becomes the limit, and the partitions that have such
vertices admit them. What waits is looked at again only when its own partition admits something.

A waiting vertex that falls to the limit joins the frontier at once; its entry in the list stays behind
and is dropped when the list is read next.

Encodings
---------
``waiting[v]``  bits `LISTED` (v is in the list of its partition) and `PENDING` (its messages are owed).
``later[list_of(p) : list_of(p) + size]``  the list of p, local ids.
``buckets[8*p ...]``  `SIZE` and `PENDING_SIZE` of the list of p, and `LEAST`, a lower bound of the
    priorities of its pending vertices; ``buckets[8*k]`` is the limit.

Papers: Meyer, Sanders, "Delta-stepping" (2003); Zhang et al., "Optimizing ordered graph algorithms with
GraphIt" (2020) for going on inside a bucket without a barrier, here inside a partition (interleave.py).
"""

from __future__ import annotations

import numpy as np

from gpop.cached import cached
from gpop.cpu.active import list_of, note_touched
from gpop.program.published import KERNEL, inline

LISTED, PENDING = 1, 2
"""Bits of ``waiting``."""

SIZE, PENDING_SIZE, LEAST, SLOTS = 0, 1, 2, 8
"""Slots of a partition in ``buckets``: a cache line."""

HIGHEST = np.iinfo(np.int64).max
"""No vertex waits."""


@inline
def limit_of(layout, space):
    """Highest priority that the frontier takes."""
    return space.buckets[SLOTS * layout.k]


@inline
def defer(v, p, base, priority, layout, space):
    """Let ``v`` of partition ``p`` wait."""
    slots = SLOTS * p
    flags = space.waiting[v]
    if flags == 0:
        space.later[list_of(p, layout) + np.uint64(space.buckets[slots + SIZE])] = v - base
        space.buckets[slots + SIZE] += 1
    if flags & PENDING == 0:
        space.waiting[v] = LISTED | PENDING
        space.buckets[slots + PENDING_SIZE] += 1
    if priority < space.buckets[slots + LEAST]:
        space.buckets[slots + LEAST] = priority


@inline
def withdraw(v, p, space):
    """``v`` joins the frontier now: it waits no longer."""
    if space.waiting[v] & PENDING:
        space.waiting[v] = LISTED
        space.buckets[SLOTS * p + PENDING_SIZE] -= 1


def make_admit(priorityFunc, track):
    """Kernel: vertices of ``p`` that wait and are within the limit join its frontier."""

    def admit(p, layout, space, state):
        base, start = np.uint64(p) << np.uint64(layout.bits), list_of(p, layout)
        limit = limit_of(layout, space)
        slots = SLOTS * p
        kept = np.uint64(0)
        least = np.int64(HIGHEST)
        size = np.uint64(space.frontier_size[p])
        edges = np.int64(0)
        for i in range(np.uint64(space.buckets[slots + SIZE])):
            v = base + np.uint64(space.later[start + i])
            if space.waiting[v] & PENDING:
                priority = np.int64(priorityFunc(state, np.uint32(v)))
                if priority > limit:
                    space.later[start + kept] = v - base
                    kept += np.uint64(1)
                    least = min(least, priority)
                    continue
                space.buckets[slots + PENDING_SIZE] -= 1
                space.in_frontier[v] = 1
                space.frontier[start + size] = v - base
                size += np.uint64(1)
                edges += layout.indptr[v + np.uint64(1)] - layout.indptr[v]
                if track:
                    note_touched(v, p, base, layout, space)
            space.waiting[v] = 0
        space.buckets[slots + SIZE] = np.int64(kept)
        space.buckets[slots + LEAST] = least
        space.frontier_size[p] = np.int64(size)
        space.active_edges[p] = edges

    return admit


def make_defer_frontier(priorityFunc):
    """Kernel: all vertices of the frontier of ``p`` wait, which is how a run begins."""

    def defer_frontier(p, layout, space, state):
        base, start = np.uint64(p) << np.uint64(layout.bits), list_of(p, layout)
        for i in range(np.uint64(space.frontier_size[p])):
            v = base + np.uint64(space.frontier[start + i])
            space.in_frontier[v] = 0
            defer(v, p, base, np.int64(priorityFunc(state, np.uint32(v))), layout, space)
        space.frontier_size[p] = 0

    return defer_frontier


@inline
def count_pending(layout, space):
    """Vertices that wait."""
    pending = np.int64(0)
    for p in range(layout.k):
        pending += space.buckets[SLOTS * p + PENDING_SIZE]
    return pending


@inline
def list_next_bucket(layout, space):
    """Raise the limit to the smallest priority that waits; list the partitions that may have it.

    Returns their number and the length of their lists.
    """
    least = np.int64(HIGHEST)
    for p in range(layout.k):
        if space.buckets[SLOTS * p + PENDING_SIZE] > 0:
            least = min(least, space.buckets[SLOTS * p + LEAST])
    space.buckets[SLOTS * layout.k] = least
    size = 0
    entries = np.int64(0)
    for p in range(layout.k):
        if space.buckets[SLOTS * p + PENDING_SIZE] > 0 and space.buckets[SLOTS * p + LEAST] <= least:
            space.listed[p] = 1
            space.gather_list[size] = p
            size += 1
            entries += space.buckets[SLOTS * p + SIZE]
    return size, entries


def pending_in(buckets: np.ndarray) -> int:
    """Vertices that wait, as counted before `drain_waiting`."""
    return int(buckets[PENDING_SIZE:-SLOTS:SLOTS].sum())


@cached(**KERNEL)
def drain_waiting(out, lists, later, waiting, buckets):
    """Fill ``out`` with the vertices that still wait; the workspace's record of them is cleared."""
    at = np.uint64(0)
    for p in range(lists.k):
        base, start = np.uint64(p) << np.uint64(lists.bits), list_of(p, lists)
        for i in range(np.uint64(buckets[SLOTS * p + SIZE])):
            v = base + np.uint64(later[start + i])
            if waiting[v] & PENDING:
                out[at] = v
                at += np.uint64(1)
            waiting[v] = 0
        buckets[SLOTS * p + SIZE] = 0
        buckets[SLOTS * p + PENDING_SIZE] = 0
        buckets[SLOTS * p + LEAST] = HIGHEST
