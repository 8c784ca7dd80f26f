"""Two-level active lists: which partitions have messages, and which of their bins (GPOP section 3.3).

The first level is a list of partitions, ascending; the second is a linked list of source partitions
per destination (workspace.py). Everything here costs time in proportion to the active partitions and
non-empty bins, never to k*k; partitions and bins are written by one owner, so nothing is atomic
except the release store by which an interleaved scatter publishes a finished bin.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpop.common.atomics import store_release
from gpop.common.cached import cached
from gpop.common.inlined import KERNEL, inline
from gpop.common.kinds import ArrayKind
from gpop.common.shell import shell_sort
from gpop.common.vectors import word_at
from gpop.model.strategies import PC

LIST_GAP = 32
"""Unused entries between the lists of two partitions. Lists that start at multiples of a power of two
would share a few sets of the caches, and where many partitions have short lists drive each other out."""

FEW_TOUCHED = 512
"""Fewer than one in so many vertices of a partition are listed as they were met; to sort them takes less than
to look at all marks. On a web graph 7,735 of 325,557 are found in 10 us, and were sorted in 40."""

WORD_BITS = 6
"""A word of a bitmap holds ``2**6`` vertices; a smaller partition shares its word with others."""


@inline
def list_of(p, layout):
    """Where the lists of partition ``p`` start: `LIST_GAP` after those of its predecessor end."""
    return np.uint64(p) * ((np.uint64(1) << np.uint64(layout.bits)) + np.uint64(LIST_GAP))


@inline
def sort_list(list, size, listed, k):
    """Sort a list of distinct partitions whose ``listed`` flags are set.

    A long list is rebuilt from the flags; a short one is sorted in place.
    """
    if size * 16 >= k:
        found = 0
        for p in range(k):
            if listed[p]:
                list[found] = p
                found += 1
        return
    shell_sort(list, np.uint64(0), np.uint64(size))


@inline
def rebuild_list(list, start, listed, first, capacity):
    """Make ``list[start:]`` the numbers below ``capacity`` with bit 0 in ``listed[first:]``, ascending.

    Returns where the list ends.
    """
    at = np.uint64(start)
    for number in range(np.uint64(capacity)):  # without a branch, which would be hard to predict
        list[at] = number
        at += np.uint64(listed[np.uint64(first) + number] & np.uint8(1))
    return at


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
    sort_list(space.gather_list, size, space.listed, k)
    return size


@inline
def list_active(gather_size, space):
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


SOURCES = ArrayKind("uint32")
"""Vertices, as the kernels below take them."""


class Lists(NamedTuple):
    """What the kernels below need of layout and workspace; they take it by reference or as it is."""

    n: np.integer
    k: np.integer
    bits: np.integer
    indptr: np.ndarray
    frontier: np.ndarray
    in_frontier: np.ndarray
    frontier_size: np.ndarray
    active_edges: np.ndarray
    listed: np.ndarray
    scatter_list: np.ndarray
    gather_list: np.ndarray
    ever: np.ndarray
    touched: np.ndarray
    touched_size: np.ndarray


def lists_of(layout: Any, space: Any) -> Lists:
    """The lists of a layout and workspace."""
    return Lists(*(getattr(layout if hasattr(layout, name) else space, name) for name in Lists._fields))


@cached(**KERNEL)
def load_frontier(sources, lists):
    """Make the given vertices (distinct or not) the frontier; same return values as `list_active`."""
    count = 0
    for i in range(sources.size):
        v = np.uint64(sources[i])
        if lists.in_frontier[v]:
            continue
        lists.in_frontier[v] = 1
        p = np.int64(v >> np.uint64(lists.bits))
        base = np.uint64(p) << np.uint64(lists.bits)
        if lists.ever.size > 0:
            note_touched(v, p, base, lists, lists)
        lists.frontier[list_of(p, lists) + np.uint64(lists.frontier_size[p])] = v - base
        lists.frontier_size[p] += 1
        if lists.listed[p] == 0:
            lists.active_edges[p] = 0
            lists.listed[p] = 1
            lists.gather_list[count] = p
            count += 1
        lists.active_edges[p] += lists.indptr[v + np.uint64(1)] - lists.indptr[v]
    sort_list(lists.gather_list, count, lists.listed, lists.k)
    return list_active(count, lists)


@cached(**KERNEL)
def drain_frontier(out, scatter_size, lists):
    """Fill ``out`` with the vertices of the frontier, by partition; the workspace is left clean."""
    at = np.uint64(0)
    for i in range(scatter_size):
        p = lists.scatter_list[i]
        base, start = np.uint64(p) << np.uint64(lists.bits), list_of(p, lists)
        for j in range(np.uint64(lists.frontier_size[p])):
            v = base + np.uint64(lists.frontier[start + j])
            lists.in_frontier[v] = 0
            out[at] = v
            at += np.uint64(1)
        lists.frontier_size[p] = 0


@cached(**KERNEL)
def load_all(lists):
    """Every vertex active: cheaper than a list of all ids."""
    for p in range(lists.k):
        first = np.int64(np.uint64(p) << np.uint64(lists.bits))
        last = min(lists.n, first + (np.int64(1) << np.int64(lists.bits)))
        start = list_of(p, lists)
        for v in range(first, last):
            lists.frontier[start + np.uint64(v - first)] = v - first
            lists.in_frontier[v] = 1
            if lists.ever.size > 0:
                note_touched(np.uint64(v), p, np.uint64(first), lists, lists)
        lists.frontier_size[p] = last - first
        lists.active_edges[p] = lists.indptr[last] - lists.indptr[first]
        lists.scatter_list[p] = p
    return lists.k, lists.n, lists.indptr[lists.n]


@cached(**KERNEL)
def drain_touched(out, lists):
    """Fill ``out`` with the touched vertices, by partition, and one more; clear the record of them.

    Returns whether they ascend: where a partition has more than a few, its marks are looked at, in words.
    """
    at, ascending = np.uint64(0), True
    for p in range(lists.k):
        size = np.uint64(lists.touched_size[p])
        base, start = np.uint64(p) << np.uint64(lists.bits), list_of(p, lists)
        last = min(np.uint64(lists.n), base + (np.uint64(1) << np.uint64(lists.bits)))
        if size * np.uint64(FEW_TOUCHED) < last - base:
            ascending = ascending and size <= np.uint64(1)
            for i in range(size):
                v = base + np.uint64(lists.touched[start + i])
                lists.ever[v] = 0
                out[at] = v
                at += np.uint64(1)
        else:
            whole = base + (last - base & ~np.uint64(7))
            for v in range(base, whole, np.uint64(8)):
                if word_at(lists.ever, v) != 0:
                    for u in range(v, v + np.uint64(8)):
                        out[at] = u
                        at += np.uint64(lists.ever[u])
            for v in range(whole, last):
                out[at] = v
                at += np.uint64(lists.ever[v])
            for v in range(base, last):
                lists.ever[v] = 0
        lists.touched_size[p] = 0
    return ascending
