"""Edges -> CSR: a propagation-blocked two-level counting sort, O(n + m), parallel, deterministic.

1. Edges are cut into chunks. Each chunk counts its edges per bucket (a bucket is a range of
   2^shift source vertices); one prefix sum gives every (bucket, chunk) its place.
2. Each chunk moves its edges to their buckets as 64-bit keys ``local source << 32 | destination``.
   A bucket has about 2^17 edges, so that the rest happens in the cache.
3. Each bucket is radix-sorted by destination, then counted into the adjacency lists by source.
   Every step is stable: equal edges stay in input order, and the result depends neither on the
   number of threads nor on the size of the chunks.

Edges are asked for chunk by chunk (`Edges`), twice, so that a generator or a reversed graph never
exists as edge arrays. Peak memory is 8 bytes an edge plus weights, and one bucket for each thread: pieces
of the input are let go as the keys grow, and keys as the result does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gpop.common import spill
from gpop.common.cached import cached
from gpop.common.errors import UsageError
from gpop.common.inlined import KERNEL
from gpop.common.memory import give_back, own_pages, require_memory
from gpop.common.parallel import for_each, ranges
from gpop.common.progress import progress_bar
from gpop.graph.build_outside import build_outside

DUPLICATES = {"keep": 0, "first": 1, "min": 2, "max": 3, "sum": 4}

_CHUNK = 1 << 20  # edges asked for at a time
_BUCKET_EDGES = 1 << 17  # 1 MiB of keys
_MOST_BUCKETS = 2048  # streams that one chunk writes
_BUCKET_VERTICES = 1 << 16
_DIGIT_BITS = 11


class Edges(NamedTuple):
    """A source of edges: ``chunk(first, last)`` returns (sources, destinations, weights or None)."""

    count: int
    chunk: Callable[[int, int], tuple[np.ndarray, np.ndarray, np.ndarray | None]]

    def reversed(self) -> Edges:
        """The same edges turned round."""

        def chunk(first, last):
            source, destination, weights = self.chunk(first, last)
            return destination, source, weights

        return Edges(self.count, chunk)


@cached(**KERNEL)
def _count_buckets(source, shift, counts):
    for i in range(len(source)):
        counts[np.uint64(source[i]) >> shift] += 1


@cached(**KERNEL)
def _move_to_buckets(source, destination, weights, shift, cursor, keys, key_weights):
    mask = (np.uint64(1) << shift) - np.uint64(1)
    for i in range(len(source)):
        v = np.uint64(source[i])
        bucket = v >> shift
        at = np.uint64(cursor[bucket])
        cursor[bucket] += 1
        keys[at] = (v & mask) << np.uint64(32) | np.uint64(destination[i])
        if weights is not None:
            key_weights[at] = weights[i]


@cached(**KERNEL)
def _sort_bucket(a, b, wa, wb, place, cursor, passes, digit_bits, degrees, indices, weights):
    """Sort keys ``a`` (and their weights ``wa``) into ``indices`` (and ``weights``), by way of ``b`` (``wb``)
    where there are passes; ``degrees`` receives each vertex's degree."""
    total = len(a)
    radix = len(place)
    mask = np.uint64(radix - 1)
    for p in range(passes):
        shift = np.uint64(p) * digit_bits
        for d in range(radix):
            place[d] = 0
        for i in range(total):
            place[a[i] >> shift & mask] += 1
        position = 0
        for d in range(radix):
            count = place[d]
            place[d] = position
            position += count
        for i in range(total):
            d = a[i] >> shift & mask
            at = np.uint64(place[d])
            place[d] += 1
            b[at] = a[i]
            if weights is not None:
                wb[at] = wa[i]
        a, b = b, a
        wa, wb = wb, wa
    for i in range(total):
        degrees[a[i] >> np.uint64(32)] += 1
    position = 0
    for v in range(len(degrees)):
        cursor[v] = position
        position += degrees[v]
    for i in range(total):
        v = a[i] >> np.uint64(32)
        at = np.uint64(cursor[v])
        cursor[v] += 1
        indices[at] = np.uint32(a[i])
        if weights is not None:
            weights[at] = wa[i]


@cached(**KERNEL)
def _merge_duplicates(degrees, indices, weights, policy):
    """Merge equal neighbours of each sorted list in place, lower ``degrees``, return the edges kept."""
    start = 0
    kept = 0
    for v in range(len(degrees)):
        first = kept
        for e in range(start, start + degrees[v]):
            if kept > first and indices[e] == indices[kept - 1]:
                if weights is not None:
                    if policy == 2:
                        weights[kept - 1] = min(weights[kept - 1], weights[e])
                    elif policy == 3:
                        weights[kept - 1] = max(weights[kept - 1], weights[e])
                    elif policy == 4:
                        weights[kept - 1] += weights[e]
            else:
                indices[kept] = indices[e]
                if weights is not None:
                    weights[kept] = weights[e]
                kept += 1
        start += degrees[v]
        degrees[v] = kept - first
    return kept


def check_duplicates(duplicates: str) -> None:
    """Raise UsageError when ``duplicates`` is not the name of a policy."""
    if duplicates not in DUPLICATES:
        raise UsageError(f"duplicates={duplicates!r} is unknown, expected one of {', '.join(DUPLICATES)}")


def build_csr(
    n: int,
    sources: Sequence[Edges],
    weight_dtype: np.dtype | None = None,
    duplicates: str = "keep",
    by_destination: bool = True,
    progress: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """CSR arrays of the edges of all ``sources``, in order, whose ids must be below ``n``.

    ``by_destination=False`` skips sorting each list, for edges that come by ascending destination. A
    list of sources is emptied, and each let go once its edges have been taken: their memory and that
    of the keys then do not add up. While a spill is open, ids and weights come as arrays that lie in files.
    """
    check_duplicates(duplicates)
    room = spill.active()
    if room is not None:

        def build(n: int, *ends: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
            return _build_inside(n, [array_edges(*ends)], weight_dtype, duplicates, by_destination, False)

        return build_outside(room, n, sources, weight_dtype, build, progress)
    return _build_inside(n, sources, weight_dtype, duplicates, by_destination, progress)


def _build_inside(n, sources, weight_dtype, duplicates, by_destination, progress):
    """The same in memory."""
    m = sum(edges.count for edges in sources)
    weight_bytes = 0 if weight_dtype is None else np.dtype(weight_dtype).itemsize
    require_memory(8 * (n + 1) + (8 + weight_bytes) * m, f"building a graph of {n} vertices and {m} edges")
    indptr = np.zeros(n + 1, np.int64)
    if m == 0:
        return indptr, np.empty(0, np.uint32), None if weight_dtype is None else np.empty(0, weight_dtype)
    wanted = min(_MOST_BUCKETS, n, max(1, m // _BUCKET_EDGES, n // _BUCKET_VERTICES))
    shift = ((n - 1) // wanted).bit_length()
    with progress_bar(3 * m, "building", "edge", progress) as bar:
        bounds, keys, key_weights = _fill_buckets(n, m, sources, weight_dtype, shift, bar)
        return _sort_buckets(indptr, bounds, keys, key_weights, shift, by_destination, duplicates, bar)


def _fill_buckets(n, m, sources, weight_dtype, shift, bar):
    """Steps 1 and 2: (bounds of the buckets, keys, weights in the order of the keys)."""
    buckets = ((n - 1) >> shift) + 1
    size = max(_CHUNK, m >> 10)  # at most about 1024 chunks, so that the counts stay small
    chunks = [(edges, *block) for edges in sources for block in ranges(edges.count, size)]
    cursors = np.zeros((len(chunks), buckets), np.int64)

    def count(c):
        edges, first, last = chunks[c]
        _count_buckets(edges.chunk(first, last)[0], np.uint64(shift), cursors[c])
        bar.update(last - first)

    for_each(len(chunks), count)
    if isinstance(sources, list):
        sources.clear()
    ends = np.cumsum(cursors.T).reshape(buckets, len(chunks))  # bucket by bucket, chunks in order
    cursors[:] = ends.T - cursors
    bounds = np.append(0, ends[:, -1])
    largest = int(np.diff(bounds).max())
    require_memory(8 * (m + largest), f"sorting {m} edges of {n} vertices, {largest} of them at once")
    keys = own_pages(m, np.uint64)
    key_weights = None if weight_dtype is None else own_pages(m, weight_dtype)

    def move(c):
        edges, first, last = chunks[c]
        source, destination, weights = edges.chunk(first, last)
        _move_to_buckets(source, destination, weights, np.uint64(shift), cursors[c], keys, key_weights)
        chunks[c] = None
        bar.update(last - first)

    for_each(len(chunks), move)
    return bounds, keys, key_weights


def _sort_buckets(indptr, bounds, keys, key_weights, shift, by_destination, duplicates, bar):
    """Step 3: the CSR arrays."""
    n, m = len(indptr) - 1, len(keys)
    indices = np.empty(m, np.uint32)
    weights = None if key_weights is None else np.empty(m, key_weights.dtype)
    bits = (n - 1).bit_length() if by_destination else 0
    passes = -(-bits // _DIGIT_BITS)
    digit_bits = np.uint64(-(-bits // max(passes, 1)))
    kept = np.diff(bounds)

    def sort(bucket):
        edges = slice(bounds[bucket], bounds[bucket + 1])
        degrees = indptr[1 + (bucket << shift) : min(n, (bucket + 1) << shift) + 1]
        its_weights, its_key_weights = (
            (None, None) if weights is None else (weights[edges], key_weights[edges])
        )
        size = edges.stop - edges.start if passes else 0
        spare_weights = None if weights is None else np.empty(size, key_weights.dtype)
        place, cursor = np.empty(1 << int(digit_bits), np.int64), np.empty(degrees.size, np.int64)
        _sort_bucket(
            keys[edges], np.empty(size, np.uint64), its_key_weights, spare_weights, place, cursor,
            passes, digit_bits, degrees, indices[edges], its_weights,
        )  # fmt: skip
        give_back(keys, edges.start, edges.stop)
        if weights is not None:
            give_back(key_weights, edges.start, edges.stop)
        if duplicates != "keep":
            kept[bucket] = _merge_duplicates(degrees, indices[edges], its_weights, DUPLICATES[duplicates])
        bar.update(edges.stop - edges.start)

    for_each(len(kept), sort)
    np.cumsum(indptr, out=indptr)
    if indptr[-1] < m:
        _close_gaps(indices, bounds, kept)
        if weights is not None:
            _close_gaps(weights, bounds, kept)
    return indptr, indices, weights


def _close_gaps(array, bounds, kept):
    """Move what each bucket kept to the front of ``array`` and give the rest of its memory back."""
    end = int(kept[0])
    for first, count in zip(bounds[1:-1], kept[1:], strict=True):
        array[end : end + count] = array[first : first + count]
        end += int(count)
    array.resize(end, refcheck=False)


@cached(**KERNEL)
def _expand_rows(indptr, first, v, rows):
    for i in range(len(rows)):
        while indptr[v + 1] <= first + i:
            v += 1
        rows[i] = v


def csr_edges(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> Edges:
    """The edges of a CSR, in its order; source ids are expanded chunk by chunk."""

    def chunk(first, last):
        rows = np.empty(last - first, np.uint32)
        _expand_rows(indptr, first, int(np.searchsorted(indptr, first, "right")) - 1, rows)
        return rows, indices[first:last], None if weights is None else weights[first:last]

    return Edges(len(indices), chunk)


def array_edges(source: np.ndarray, destination: np.ndarray, weights: np.ndarray | None) -> Edges:
    """The edges of three arrays of one length; ids are unsigned or known to be non-negative."""

    def chunk(first, last):
        return source[first:last], destination[first:last], None if weights is None else weights[first:last]

    return Edges(len(source), chunk)
