"""Building blocks of in-edges (blocks.py): count, bucket by window, sort by destination, cut into pieces.

A thread builds the blocks of one source block: its edges become keys (local destination, local source and,
where there are weights, the edge), bucketed by window. The keys of a block are sorted by destination with two
stable passes of a radix sort over 8 bits, so sources stay ascending, and the runs of one destination are cut.

Bytes per edge: 4 (counting), then 4 read and 4 written (bucketing), 4 passes over keys of 4 bytes that
mostly lie in the cache, 2 written for the ref and up to 2 for the target.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gpop.atomics import fetch_add
from gpop.cpu.registry import inline

WINDOW_BITS = 16
"""Local ids of both ends of an edge are uint16."""

SOURCE, WINDOW, FIRST, FOURS, TWOS, ONES = range(6)
"""Columns of ``blocks``: first vertex of sources and of the window, first ref, pieces of 4, of 2, of 1."""

_ZERO, _ONE, _TWO, _FOUR = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(4)
_DIGIT = np.uint64(0xFF)  # of a radix sort
_OFFSET = np.uint64(0xFFFFFFFF)  # of an edge from the first of its source block


@njit(cache=True, nogil=True)
def count_edges(claim, source_bits, cell_bits, bin_bits, indptr, indices, counts, messages):
    """One thread's share of counting: edges of every source block into every cell of vertices.

    And into ``messages`` the runs of edges into one partition of ``2**bin_bits`` vertices, which bins would
    send as one message each.
    """
    n = indptr.size - 1
    none = np.uint32(0xFFFFFFFF)
    s = fetch_add(claim, 0, 1)
    while s < counts.shape[0]:
        row = counts[s]
        runs = np.int64(0)
        for v in range(np.uint64(s << source_bits), np.uint64(min(n, (s + 1) << source_bits))):
            last = none
            for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + _ONE])):
                row[indices[e] >> np.uint32(cell_bits)] += 1
                partition = np.uint32(indices[e] >> np.uint32(bin_bits))
                runs += np.int64(partition != last)
                last = partition
        messages[s] = runs
        s = fetch_add(claim, 0, 1)


@inline
def _sort(keys, first, size, spare, digits, shift):
    """Sort ``keys[first:first + size]`` by the 16 bits from ``shift`` on: two stable passes."""
    for digit in range(2):
        source, source_at = (keys, first) if digit == 0 else (spare, _ZERO)
        target, target_at = (spare, _ZERO) if digit == 0 else (keys, first)
        move = shift + np.uint64(8 * digit)
        digits[:] = 0
        for i in range(size):
            digits[(np.uint64(source[source_at + i]) >> move) & _DIGIT] += _ONE
        at = target_at
        for value in range(np.uint64(digits.size)):
            count = digits[value]
            digits[value] = at
            at += count
        for i in range(size):
            key = source[source_at + i]
            value = (np.uint64(key) >> move) & _DIGIT
            target[digits[value]] = key
            digits[value] += _ONE


@inline
def _write(keys, edge, count, at, shift, first_edge, edge_weights, refs, weights):
    """Write ``count`` edges from ``edge`` on as those from ``at`` on."""
    for j in range(count):
        key = np.uint64(keys[edge + j])
        refs[at + j] = key >> (shift - np.uint64(WINDOW_BITS))
        if weights.size > 0:
            weights[at + j] = edge_weights[first_edge + (key & _OFFSET)]


@inline
def _cut(keys, first, size, shift, runs, b, first_edge, edge_weights, blocks, refs, targets, weights):
    """Cut the sorted edges of block ``b`` into pieces and write them.

    ``runs``: first edge of every run of one destination; then, of runs with pieces of 4 left, the next.
    """
    count = np.uint64(0)
    last = np.uint64(1) << np.uint64(WINDOW_BITS)  # none
    for i in range(first, first + size):
        target = np.uint64(keys[i]) >> shift
        runs[count] = i
        count += np.uint64(target != last)
        last = target
    runs[count] = first + size
    at = piece = start = np.uint64(blocks[b, FIRST])
    waiting = np.uint64(0)
    long = runs[count + _ONE :]
    for run in range(count):
        long[_TWO * waiting], long[_TWO * waiting + _ONE] = runs[run], runs[run + _ONE]
        waiting += np.uint64(runs[run + _ONE] - runs[run] >= _FOUR)
    while waiting > 0:
        left = np.uint64(0)
        for i in range(waiting):
            edge, end = np.uint64(long[_TWO * i]), np.uint64(long[_TWO * i + _ONE])
            targets[piece] = np.uint64(keys[edge]) >> shift
            piece += _ONE
            _write(keys, edge, _FOUR, at, shift, first_edge, edge_weights, refs, weights)
            at += _FOUR
            long[_TWO * left], long[_TWO * left + _ONE] = edge + _FOUR, end
            left += np.uint64(end - edge >= _TWO * _FOUR)
        waiting = left
    blocks[b, FOURS] = piece - start
    for run in range(count):
        end = np.uint64(runs[run + _ONE])
        rest = (end - np.uint64(runs[run])) & np.uint64(3)
        if rest & _TWO:
            targets[piece] = np.uint64(keys[end - rest]) >> shift
            piece += _ONE
            _write(keys, end - rest, _TWO, at, shift, first_edge, edge_weights, refs, weights)
            at += _TWO
    blocks[b, TWOS] = piece - start - np.uint64(blocks[b, FOURS])
    before = piece
    for run in range(count):
        end = np.uint64(runs[run + _ONE])
        if (end - np.uint64(runs[run])) & _ONE:
            targets[piece] = np.uint64(keys[end - _ONE]) >> shift
            piece += _ONE
            _write(keys, end - _ONE, _ONE, at, shift, first_edge, edge_weights, refs, weights)
            at += _ONE
    blocks[b, ONES] = piece - before


@inline
def _bucket(
    base, last, first_edge, cell_bits, shift, indptr, indices, window_of, windows, cursor, keys, weighted
):
    """Keys of the edges of the vertices ``base:last``, bucketed by window at ``cursor``."""
    move = shift - np.uint64(WINDOW_BITS)
    for v in range(base, last):
        for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + _ONE])):
            w = window_of[indices[e] >> cell_bits]
            key = (np.uint64(indices[e] - windows[w]) << shift) | ((v - base) << move)
            if weighted:
                key |= e - first_edge
            keys[cursor[w]] = key
            cursor[w] += _ONE


@njit(cache=True, nogil=True)
def fill_blocks(
    claim, source_bits, cell_bits, indptr, indices, edge_weights, no_keys, window_of, windows, begins,
    block_of, blocks, refs, targets, weights,
):  # fmt: skip
    """One thread's share of writing: the blocks of a source block, bucketed by window, then sorted.

    A key holds local destination, local source and, where there are weights, the edge.
    """
    n = indptr.size - 1
    shift = np.uint64(8 * no_keys.itemsize - WINDOW_BITS)
    digits = np.empty(256, np.uint64)
    s = fetch_add(claim, 0, 1)
    while s < block_of.shape[0]:
        base, last = np.uint64(s << source_bits), np.uint64(min(n, (s + 1) << source_bits))
        first_edge = np.uint64(indptr[base])
        keys = np.empty(np.uint64(indptr[last]) - first_edge, no_keys.dtype)
        cursor = begins[s].copy()
        _bucket(
            base, last, first_edge, np.uint32(cell_bits), shift, indptr, indices, window_of, windows,
            cursor, keys, weights.size > 0,
        )  # fmt: skip
        largest = np.uint64(0)
        for w in range(block_of.shape[1]):
            largest = max(largest, begins[s, w + 1] - begins[s, w])
        spare = np.empty(largest, no_keys.dtype)
        runs = np.empty(_TWO * largest + _FOUR, np.uint64)
        for w in range(block_of.shape[1]):
            first, size = begins[s, w], begins[s, w + 1] - begins[s, w]
            if size > 0:
                _sort(keys, first, size, spare, digits, shift)
                _cut(
                    keys, first, size, shift, runs, block_of[s, w], first_edge, edge_weights, blocks, refs,
                    targets, weights,
                )  # fmt: skip
        s = fetch_add(claim, 0, 1)
