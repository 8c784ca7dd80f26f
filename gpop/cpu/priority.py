"""Priorities: the engine works on the lowest bucket and sets vertices with a higher priority aside.

The frontier holds vertices whose ``priorityFunc`` is at most the limit. Every other active vertex waits
in the list of its partition, which only the partition's owner touches, so nothing is atomic. When the
frontier is empty the smallest priority that waits becomes the limit, and the partitions that have such
vertices admit them. What waits is looked at again only when its own partition admits something, and which
partitions those are a tournament says (tournament.py), so that a bucket costs nothing for the others.

A waiting vertex that falls to the limit joins the frontier at once; its entry in the list stays behind
and is dropped when the list is read next.

Encodings
---------
``waiting[v]``  bits `LISTED` (v is in the list of its partition) and `PENDING` (its messages are owed).
``later[list_of(p) : list_of(p) + size]``  the list of p, local ids.
``buckets[8*p ...]``  `SIZE` and `PENDING_SIZE` of the list of p, and `LEAST`, a lower bound of the
    priorities of its pending vertices. What the main thread knows of p since the last barrier: `KNOWN`, its
    pending vertices, and `KEY`, its key in the tournament: `LEAST`, `HIGHEST` where nothing is pending.
``buckets[8*k]``, ``[8*k + 1]``  the limit, and the pending vertices of all partitions.

Papers: Meyer, Sanders, "Delta-stepping" (2003); Zhang et al., "Optimizing ordered graph algorithms with
GraphIt" (2020) for going on inside a bucket without a barrier, here inside a partition (interleave.py).
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL, inline
from gpop.cpu.active import list_of
from gpop.cpu.counters import BUCKET_STEPS, WAITING_READ
from gpop.cpu.own_vertices import note_whole_edges, whole_degree
from gpop.cpu.tournament import HIGHEST, change_key, list_smallest

LISTED, PENDING = 1, 2
"""Bits of ``waiting``."""

SIZE, PENDING_SIZE, LEAST, KNOWN, KEY, SLOTS = 0, 1, 2, 3, 4, 8
"""Slots of a partition in ``buckets``: a cache line."""


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


def make_admit(priorityFunc, ranked):
    """Kernel: vertices of ``p`` that wait and are within the limit join its frontier.

    ``ranked``: see `gpop.cpu.gather.make_filter`.
    """

    def admit(p, layout, space, state):
        base, start = np.uint64(p) << np.uint64(layout.bits), list_of(p, layout)
        limit = limit_of(layout, space)
        slots = SLOTS * p
        kept = np.uint64(0)
        least = np.int64(HIGHEST)
        size = np.uint64(space.frontier_size[p])
        edges = np.int64(0)
        joined = size
        for i in range(np.uint64(space.buckets[slots + SIZE])):
            # Without a branch: which of them are within the limit nobody can foresee. Who waits no longer is
            # asked, too, and one who does not join is written behind the frontier, at most into its gap.
            v = base + np.uint64(space.later[start + i])
            flags = space.waiting[v]
            pending = flags & np.uint8(PENDING) != 0
            priority = np.int64(priorityFunc(state, np.uint32(v)))
            stays = pending & (priority > limit)
            joins = pending & (priority <= limit)
            space.later[start + kept] = v - base
            kept += np.uint64(stays)
            least = min(least, priority if stays else np.int64(HIGHEST))
            space.waiting[v] = flags if stays else np.uint8(0)
            space.in_frontier[v] |= np.uint8(joins)
            space.frontier[start + size] = v - base
            size += np.uint64(joins)
            if ranked:
                edges += whole_degree(v, state) * np.int64(joins)
            else:
                edges += (layout.indptr[v + np.uint64(1)] - layout.indptr[v]) * np.int64(joins)
        space.buckets[slots + PENDING_SIZE] -= np.int64(size - joined)
        space.buckets[slots + SIZE] = np.int64(kept)
        space.buckets[slots + LEAST] = least
        space.frontier_size[p] = np.int64(size)
        space.active_edges[p] = edges
        if ranked:
            note_whole_edges(p, edges, space)

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
def note_changes(list, size, counting, layout, space):
    """At a barrier: what has become of the waiting vertices of these partitions."""
    for i in range(size):
        slots = SLOTS * np.int64(list[i])
        pending = space.buckets[slots + PENDING_SIZE]
        key = np.int64(HIGHEST)
        if pending > 0:
            key = min(space.buckets[slots + LEAST], np.int64(HIGHEST - 1))
        else:
            space.buckets[slots + LEAST] = HIGHEST
        space.buckets[SLOTS * layout.k + PENDING_SIZE] += pending - space.buckets[slots + KNOWN]
        space.buckets[slots + KNOWN] = pending
        if key != space.buckets[slots + KEY]:
            space.buckets[slots + KEY] = key
            steps = change_key(space.tournament, list[i], key)
            if counting:
                space.counters[0, BUCKET_STEPS] += steps


@inline
def count_pending(layout, space):
    """Vertices that wait."""
    return space.buckets[SLOTS * layout.k + PENDING_SIZE]


@inline
def least_waiting(space):
    """The smallest priority that waits, or a lower bound; `HIGHEST` where nothing does."""
    return space.tournament[1]


@inline
def list_next_bucket(least, counting, layout, space):
    """Raise the limit to ``least``, the smallest priority that waits; list the partitions that may have it.

    Returns their number and the length of their lists. Where there are other ranks, it may wait there only.
    """
    space.buckets[SLOTS * layout.k] = least if least < HIGHEST - 1 else HIGHEST  # the last two are one
    size = steps = 0
    if least_waiting(space) == least:
        size, steps = list_smallest(space.tournament, space.gather_list)
    entries = np.int64(0)
    for i in range(size):
        p = space.gather_list[i]
        space.listed[p] = 1
        entries += space.buckets[SLOTS * p + SIZE]
    if counting:
        space.counters[0, BUCKET_STEPS] += steps
        space.counters[0, WAITING_READ] += entries
    return size, entries


def pending_in(buckets: np.ndarray) -> int:
    """Vertices that wait, as counted before `drain_waiting`."""
    return int(buckets[PENDING_SIZE - SLOTS])


@cached(**KERNEL)
def drain_waiting(out, lists, later, waiting, buckets, tournament):
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
        for slot in (SIZE, PENDING_SIZE, KNOWN):
            buckets[SLOTS * p + slot] = 0
        for slot in (LEAST, KEY):
            buckets[SLOTS * p + slot] = HIGHEST
    buckets[SLOTS * lists.k + PENDING_SIZE] = 0
    tournament[:] = HIGHEST
