"""THE layout: partitions, PNG and message bins of a graph. CPU, GPU and files share it.

``k`` partitions of ``q = 2**bits`` vertices; bin ``(p, d)`` holds what partition ``p`` sends to ``d``.
A *message* is one value for a maximal run of consecutive out-edges of one source vertex that end in
the same partition; with adjacency sorted by destination there is one message per source and
destination partition.

Two streams, each contiguous for the thread that walks it:

``sources``, message slots   by source partition:      bin (p, d) starts at ``slots[p*k + d]``
``ids``, ``id_weights``      by destination partition: bin (p, d) starts at ``id_offsets[d*k + p]``

and ends where the next one in that order starts.

Integer weights are stored in the smallest unsigned type that holds them all (narrow_weights.py).

``sources`` is the PNG: local source ids of the messages of a bin, ascending. A partition-centric
scatter of ``p`` writes one value per entry, one after the other. ``ids`` are local destination ids;
the top bit is set on the first id of every message. With ``q <= 2**15`` an id is uint16, otherwise
uint32: half the bytes of the global 32-bit ids of the original. A message's value is found while
reading ids: ``slot += id >> top_bit``.

``row_bins[row_offsets[p]:row_offsets[p+1]]`` lists the non-empty bins of source partition ``p``
(destinations, ascending), ``column_bins`` those of destination ``d`` (sources, ascending).

Bytes: ``m*d_i + r*m*d_s`` (+ weights) and ``16*k*k`` for the offsets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.atomics import fetch_add
from gpop.common.cached import cached
from gpop.common.inlined import KERNEL, inline
from gpop.common.parallel import for_each
from gpop.graph.graph import Graph
from gpop.layout.narrow_weights import narrow_dtype
from gpop.layout.partition import SMALL_ID_BITS, partition_count


class Bins(NamedTuple):
    """Arrays of the layout; passed to kernels as it is. Scalars are NumPy scalars of fixed type."""

    n: np.int64
    bits: np.uint32
    k: np.int64
    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    slots: np.ndarray
    sources: np.ndarray
    id_offsets: np.ndarray
    ids: np.ndarray
    id_weights: np.ndarray
    row_offsets: np.ndarray
    row_bins: np.ndarray
    column_offsets: np.ndarray
    column_bins: np.ndarray
    sorted: np.bool_

    @property
    def messages(self) -> int:
        """Messages of a full scatter: ``r * m``."""
        return int(self.slots[-1])

    @property
    def nbytes(self) -> int:
        """Bytes of the layout beyond the graph's own arrays."""
        own = (self.slots, self.sources, self.id_offsets, self.ids, self.id_weights)
        lists = (self.row_offsets, self.row_bins, self.column_offsets, self.column_bins)
        return sum(array.nbytes for array in own + lists)


def id_dtype(bits: int) -> type:
    """Type of a destination id with its message flag."""
    return np.uint16 if bits <= SMALL_ID_BITS else np.uint32


def source_dtype(bits: int) -> type:
    """Type of a local source id in the PNG (no flag, so one bit more fits)."""
    return np.uint16 if bits <= SMALL_ID_BITS + 1 else np.uint32


@inline
def _count_partition(p, n, bits, k, indptr, indices, id_counts, message_counts):
    """Edges and messages of every bin of source partition ``p``; whether its lists ascend by partition."""
    row = np.uint64(p * k)
    first = np.uint64(p) << np.uint64(bits)
    last = min(np.uint64(n), (np.uint64(p) + np.uint64(1)) << np.uint64(bits))
    ascending = True
    for v in range(first, last):
        e = np.uint64(indptr[v])
        end = np.uint64(indptr[v + np.uint64(1)])
        if e == end:
            continue
        d = indices[e] >> bits
        while e < end:  # a message: the run of edges into partition d
            current = d
            start = e
            while d == current:
                e += np.uint64(1)
                if e == end:
                    break
                d = indices[e] >> bits
            id_counts[row + current] += e - start
            message_counts[row + current] += 1
            if d < current:
                ascending = False
    return ascending


@inline
def _fill_partition(
    p, n, bits, k, slot_cursor, id_cursor,
    indptr, indices, weights, slots, sources, id_offsets, ids, id_weights,
):  # fmt: skip
    """Write the PNG row, destination ids and weights of source partition ``p`` (reads 4 B per edge).

    The cursors, of k entries, belong to the thread.
    """
    first = np.uint64(p) << np.uint64(bits)
    last = min(np.uint64(n), (np.uint64(p) + np.uint64(1)) << np.uint64(bits))
    for d in range(k):
        slot_cursor[d] = slots[p * k + d]
        id_cursor[d] = id_offsets[d * k + p]
    local = (np.uint32(1) << bits) - np.uint32(1)
    flag = np.uint32(1) << np.uint32(8 * ids.itemsize - 1)
    weighted = weights.size > 0
    for v in range(first, last):
        e = np.uint64(indptr[v])
        end = np.uint64(indptr[v + np.uint64(1)])
        if e == end:
            continue
        d = indices[e] >> bits
        while e < end:
            current = d
            sources[slot_cursor[d]] = np.uint32(v) & local
            slot_cursor[d] += np.uint64(1)
            at = id_cursor[d]
            mark = flag
            while d == current:
                ids[at] = (indices[e] & local) | mark
                if weighted:
                    id_weights[at] = weights[e]
                mark = np.uint32(0)
                at += np.uint64(1)
                e += np.uint64(1)
                if e == end:
                    break
                d = indices[e] >> bits
            id_cursor[current] = at


@cached(**KERNEL)
def count_bins(claim, rows, n, bits, k, indptr, indices, id_counts, message_counts, ascending):
    """One thread's share of the counting: claim one of the first ``rows`` partitions until none is left."""
    p = fetch_add(claim, 0, 1)
    while p < rows:
        ascending[p] = _count_partition(p, n, bits, k, indptr, indices, id_counts, message_counts)
        p = fetch_add(claim, 0, 1)


@cached(**KERNEL)
def fill_bins(
    claim, rows, cursors, n, bits, k, indptr, indices, weights, slots, sources, id_offsets, ids, id_weights
):  # fmt: skip
    """One thread's share of the writing."""
    p = fetch_add(claim, 0, 1)
    while p < rows:
        _fill_partition(
            p, n, bits, k, cursors[0], cursors[1],
            indptr, indices, weights, slots, sources, id_offsets, ids, id_weights,
        )  # fmt: skip
        p = fetch_add(claim, 0, 1)


def nonempty(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and columns of the non-zero entries of each row of a square matrix."""
    rows, columns = np.nonzero(counts)
    offsets = np.zeros(counts.shape[0] + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=counts.shape[0]), out=offsets[1:])
    return offsets, columns.astype(np.uint32)


def _one_bin(graph: Graph, bits: int) -> Bins:
    """The layout of one partition: the edges as they are. No kernel has to be compiled for it."""
    degrees, m = np.diff(graph.indptr), graph.m
    weights = graph.weights if graph.weights is not None else np.empty(0, np.uint32)
    width, weight_dtype = np.dtype(id_dtype(bits)), narrow_dtype(weights)
    graph.store.require(m * (width.itemsize + weight_dtype.itemsize), f"{graph!r}: 1 x 1 bins")
    sources = np.flatnonzero(degrees).astype(source_dtype(bits))
    ids = graph.indices.astype(width)
    ids[graph.indptr[:-1][degrees > 0]] |= width.type(1 << (8 * width.itemsize - 1))
    slots, id_offsets = np.array([0, len(sources)], np.int64), np.array([0, m], np.int64)
    row, column = nonempty(id_offsets[1:, None]), nonempty(id_offsets[1:, None])
    return Bins(
        np.int64(graph.n), np.uint32(bits), np.int64(1), graph.indptr, graph.indices, weights,
        slots, sources, id_offsets, ids, weights.astype(weight_dtype), *row, *column, np.bool_(True),
    )  # fmt: skip


def build_bins(graph: Graph, bits: int, threads: int) -> Bins:
    """Build the layout of ``graph`` with ``2**bits`` vertices per partition, in parallel.

    Two passes over the edges: count every bin, then write it. Each partition is built by one thread,
    so the result does not depend on the number of threads.

    Parameters
    ----------
    graph : Graph
    bits : int
        Local bits of a vertex id (see `gpop.layout.partition.partition_bits`).
    threads : int
        Threads to build with.

    Raises
    ------
    NotEnoughMemory
        If the layout would not fit; found out before it is allocated.

    Returns
    -------
    Bins

    Examples
    --------
    >>> import gpop
    >>> chain = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> bins = build_bins(chain, bits=1, threads=1)
    >>> int(bins.k), bins.messages, bins.ids.tolist()      # 0x8000 marks the first id of a message
    (2, 3, [32769, 32768, 32769])
    """
    n, k = graph.n, partition_count(graph.n, bits)
    if k == 1:
        return _one_bin(graph, bits)
    indptr, indices = graph.indptr, graph.indices
    weights = graph.weights if graph.weights is not None else np.empty(0, np.uint32)
    shape = (np.int64(n), np.uint32(bits), np.int64(k))
    graph.store.require(
        4 * 8 * k * k, f"{graph!r}: offsets of {k} x {k} bins (a larger partition size needs less)"
    )
    id_counts = np.zeros(k * k, np.int64)
    message_counts = np.zeros(k * k, np.int64)
    ascending = np.ones(k, np.bool_)
    claim = np.zeros(2, np.int64)
    counts = (indptr, indices, id_counts, message_counts, ascending)
    for_each(threads, lambda _: count_bins(claim[:1], shape[2], *shape, *counts), threads)

    slots = np.zeros(k * k + 1, np.int64)
    np.cumsum(message_counts, out=slots[1:])
    id_offsets = np.zeros(k * k + 1, np.int64)
    np.cumsum(id_counts.reshape(k, k).T.ravel(), out=id_offsets[1:])
    row_offsets, row_bins = nonempty(id_counts.reshape(k, k))
    column_offsets, column_bins = nonempty(id_counts.reshape(k, k).T)

    weight_dtype = narrow_dtype(weights)
    sizes = (
        int(slots[-1]) * np.dtype(source_dtype(bits)).itemsize,
        graph.m * np.dtype(id_dtype(bits)).itemsize,
    )
    graph.store.require(sum(sizes) + weights.size * weight_dtype.itemsize, f"{graph!r}: {k} x {k} bins")
    sources = np.empty(slots[-1], source_dtype(bits))
    ids = np.empty(graph.m, id_dtype(bits))
    id_weights = np.empty(weights.size, weight_dtype)
    written = (slots, sources, id_offsets, ids, id_weights)

    def fill(_: int) -> None:
        cursors = np.empty((2, k), np.uint64)
        fill_bins(claim[1:], shape[2], cursors, *shape, indptr, indices, weights, *written)

    for_each(threads, fill, threads)
    lists = (row_offsets, row_bins, column_offsets, column_bins)
    return Bins(
        *shape, indptr, indices, weights, slots, sources, id_offsets, ids, id_weights, *lists,
        np.bool_(ascending.all()),
    )  # fmt: skip
