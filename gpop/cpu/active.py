"""Two-level active lists: which partitions have messages, and which of their bins (GPOP section 3.3).

The first level is a list of partitions, ascending; the second is a linked list of source partitions
per destination (workspace.py). Everything here costs time in proportion to the active partitions and
non-empty bins, never to k*k; partitions and bins are written by one owner, so nothing is atomic
except the release store by which an interleaved scatter publishes a finished bin.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gpop.atomics import store_release
from gpop.cpu.registry import inline
from gpop.mode import PC

LIST_GAP = 32
"""Unused entries between the lists of two partitions. Lists that start at multiples of a power of two
would share a few sets of the caches, and where many partitions have short lists drive each other out."""


@inline
def list_of(p, layout):
    """Where the lists of partition ``p`` start: `LIST_GAP` after those of its predecessor end."""
    return np.uint64(p) * ((np.uint64(1) << np.uint64(layout.bits)) + np.uint64(LIST_GAP))


@inline
def _sort_list(list, size, listed, k):
    """Sort a list of distinct partitions whose ``listed`` flags are set.

    A long list is rebuilt from the flags; a short one is sorted in place (Shell, Ciura's gaps).
    """
    if size * 16 >= k:
        found = 0
        for p in range(k):
            if listed[p]:
                list[found] = p
                found += 1
        return
    gap = 701
    while gap > 0:
        for i in range(gap, size):
            p = list[i]
            j = i
            while j >= gap and list[j - gap] > p:
                list[j] = list[j - gap]
                j -= gap
            list[j] = p
        gap = 0 if gap == 1 else max(1, np.int64(gap / 2.25))


@inline
def _row_range(p, layout, space):
    """Range of ``p``'s non-empty bins: in ``layout.row_bins`` (PC) or ``space.row_list`` (SC)."""
    first = layout.row_offsets[p]
    if space.mode[p] == PC:
        return first, layout.row_offsets[p + 1]
    return first, first + space.row_size[p]


@inline
def _row_bin(position, p, layout, space):
    return layout.row_bins[position] if space.mode[p] == PC else space.row_list[position]


@inline
def publish_row(p, w, own_done, layout, space):
    """Interleaved runs: push ``p`` on thread ``w``'s list of every destination that it wrote to.

    The release store makes the bin's content visible to whoever loads the head with acquire.
    """
    k = layout.k
    first, last = _row_range(p, layout, space)
    for position in range(first, last):
        d = np.int64(_row_bin(position, p, layout, space))
        if own_done and d == p:
            continue
        space.next_source[p * k + d] = space.head[w * k + d]
        store_release(space.head, w * k + d, p)


@inline
def list_messages(scatter_size, interleaved, layout, space):
    """At the barrier after scatter: fill ``gather_list``, ascending; return its size.

    A partition is listed when it has messages or active vertices kept by ``initFunc``. Unless the
    scatter has published its rows already, sources are visited in descending order and pushed, which
    leaves every list of bins ascending.
    """
    k = layout.k
    size = 0
    for i in range(scatter_size - 1, -1, -1):
        p = space.scatter_list[i]
        if space.frontier_size[p] > 0 and space.listed[p] == 0:
            space.listed[p] = 1
            space.gather_list[size] = p
            size += 1
        first, last = _row_range(p, layout, space)
        for position in range(first, last):
            d = np.int64(_row_bin(position, p, layout, space))
            if not interleaved:
                space.next_source[p * k + d] = space.head[d]
                space.head[d] = p
            if space.listed[d] == 0:
                space.listed[d] = 1
                space.gather_list[size] = d
                size += 1
    _sort_list(space.gather_list, size, space.listed, k)
    return size


@inline
def list_active(gather_size, layout, space):
    """At the barrier after gather: the partitions to scatter next, ascending.

    Returns their number, the size of the frontier and its edges.
    """
    size = 0
    vertices = np.int64(0)
    edges = np.int64(0)
    for i in range(gather_size):
        d = space.gather_list[i]
        space.listed[d] = 0
        if space.frontier_size[d] > 0:
            space.scatter_list[size] = d
            size += 1
            vertices += space.frontier_size[d]
            edges += space.active_edges[d]
    return size, vertices, edges


@inline
def list_all(layout, space):
    """Before `list_active` when every partition may have active vertices; their number."""
    for p in range(layout.k):
        space.listed[p] = 1
        space.gather_list[p] = p
    return layout.k


@inline
def note_touched(v, p, base, layout, space):
    """Put ``v`` of partition ``p`` on the list of vertices that were ever active, once."""
    if space.ever[v] == 0:
        space.ever[v] = 1
        space.touched[list_of(p, layout) + np.uint64(space.touched_size[p])] = v - base
        space.touched_size[p] += 1


@njit(cache=True, nogil=True)
def load_frontier(sources, layout, space):
    """Make the given vertices (distinct or not) the frontier; same return values as `list_active`."""
    count = 0
    for i in range(sources.size):
        v = np.uint64(sources[i])
        if space.in_frontier[v]:
            continue
        space.in_frontier[v] = 1
        p = np.int64(v >> np.uint64(layout.bits))
        base = np.uint64(p) << np.uint64(layout.bits)
        if space.ever.size > 0:
            note_touched(v, p, base, layout, space)
        space.frontier[list_of(p, layout) + np.uint64(space.frontier_size[p])] = v - base
        space.frontier_size[p] += 1
        if space.listed[p] == 0:
            space.active_edges[p] = 0
            space.listed[p] = 1
            space.gather_list[count] = p
            count += 1
        space.active_edges[p] += layout.indptr[v + np.uint64(1)] - layout.indptr[v]
    _sort_list(space.gather_list, count, space.listed, layout.k)
    return list_active(count, layout, space)


@njit(cache=True, nogil=True)
def clear_frontier(scatter_size, layout, space):
    """Leave the workspace clean: no vertex is in the frontier any more."""
    for i in range(scatter_size):
        p = space.scatter_list[i]
        base = np.uint64(p) << np.uint64(layout.bits)
        start = list_of(p, layout)
        for j in range(np.uint64(space.frontier_size[p])):
            space.in_frontier[base + np.uint64(space.frontier[start + j])] = 0
        space.frontier_size[p] = 0


@njit(cache=True, nogil=True)
def load_all(layout, space):
    """Every vertex active: cheaper than a list of all ids."""
    for p in range(layout.k):
        first = np.int64(np.uint64(p) << np.uint64(layout.bits))
        last = min(layout.n, first + (np.int64(1) << np.int64(layout.bits)))
        start = list_of(p, layout)
        for v in range(first, last):
            space.frontier[start + np.uint64(v - first)] = v - first
            space.in_frontier[v] = 1
            if space.ever.size > 0:
                note_touched(np.uint64(v), p, np.uint64(first), layout, space)
        space.frontier_size[p] = last - first
        space.active_edges[p] = layout.indptr[last] - layout.indptr[first]
        space.scatter_list[p] = p
    return layout.k, layout.n, layout.indptr[layout.n]


@njit(cache=True, nogil=True)
def drain_touched(layout, space):
    """The touched vertices by partition; the workspace's record of them is cleared."""
    total = 0
    for p in range(layout.k):
        total += space.touched_size[p]
    out = np.empty(total, np.uint32)
    at = 0
    for p in range(layout.k):
        base = np.int64(np.uint64(p) << np.uint64(layout.bits))
        start = np.int64(list_of(p, layout))
        for i in range(space.touched_size[p]):
            v = base + np.int64(space.touched[start + i])
            space.ever[v] = 0
            out[at] = v
            at += 1
        space.touched_size[p] = 0
    return out
