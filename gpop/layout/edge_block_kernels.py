"""How blocks (edge_blocks.py) are built: count, bucket by window, sort by destination, cut into pieces.

A thread builds the blocks of one source block: its edges become keys (local destination, local source and,
where there are weights, the edge), bucketed by window. The keys of a block are sorted by destination with two
stable passes of a radix sort over 8 bits, so sources stay ascending, and the runs of one destination are cut.

Bytes per edge: 4 (counting), then 4 read and 4 written (bucketing), 3 passes to sort and 2 to cut keys of 4
bytes that mostly lie in the cache, 2 written for the ref and up to 2 for the target.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import fetch_add
from gpop.common.cached import cached
from gpop.common.inlined import KERNEL, inline

WINDOW_BITS = 16
"""Local ids of both ends of an edge are uint16."""

SOURCE, WINDOW, FIRST, FOURS, TWOS, ONES = range(6)
"""Columns of ``blocks``: first vertex of sources and of the window, first ref, pieces of 4, of 2, of 1."""

_ONE, _TWO, _FOUR = np.uint64(1), np.uint64(2), np.uint64(4)
_DIGIT, _BYTE = np.uint64(0xFF), np.uint64(8)  # of a radix sort
_OFFSET = np.uint64(0xFFFFFFFF)  # of an edge from the first of its source block


@cached(**KERNEL)
def count_edges(claim, source_bits, cell_bits, bin_bits, indptr, indices, old, counts, messages):
    """One thread's share of counting: edges of every source block into every cell of vertices.

    Sources are in the order ``old``, or, where that is empty, in that of their ids.

    And into ``messages`` the runs of edges into one partition of ``2**bin_bits`` vertices, which bins would
    send as one message each.
    """
    n = indptr.size - 1
    none = np.uint32(0xFFFFFFFF)
    s = fetch_add(claim, 0, 1)
    while s < counts.shape[0]:
        row = counts[s]
        runs = np.int64(0)
        for i in range(np.uint64(s << source_bits), np.uint64(min(n, (s + 1) << source_bits))):
            v = np.uint64(old[i]) if old.size > 0 else i
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
    low, high = digits[0], digits[1]
    for digit in range(np.uint64(256)):
        low[digit] = high[digit] = 0
    for i in range(first, first + size):
        value = np.uint64(keys[i]) >> shift
        low[value & _DIGIT] += np.uint32(1)
        high[(value >> _BYTE) & _DIGIT] += np.uint32(1)
    low_at, high_at = np.uint32(0), np.uint32(0)
    for digit in range(np.uint64(256)):
        count, more = low[digit], high[digit]
        low[digit], high[digit] = low_at, high_at
        low_at += count
        high_at += more
    for i in range(first, first + size):
        digit = (np.uint64(keys[i]) >> shift) & _DIGIT
        spare[low[digit]] = keys[i]
        low[digit] += np.uint32(1)
    for i in range(size):
        digit = (np.uint64(spare[i]) >> (shift + _BYTE)) & _DIGIT
        keys[first + np.uint64(high[digit])] = spare[i]
        high[digit] += np.uint32(1)


@inline
def _cut(keys, first, size, shift, runs, pieces, ordered, row):
    """Cut the sorted keys of a block into pieces; return their number, and write it to ``row`` by length.

    ``ordered`` gets the keys in the order of the pieces, ``pieces`` the destinations. ``runs``: first edge of
    every run of one destination; then, of runs with pieces of 4 left, the next. No branch depends on a
    length, so what is written after the last piece of a length is overwritten by the next.
    """
    count = np.uint64(0)
    last = np.uint64(1) << np.uint64(WINDOW_BITS)  # none
    for i in range(size):
        target = np.uint64(keys[first + i]) >> shift
        runs[count] = i
        count += np.uint64(target != last)
        last = target
    runs[count] = size
    piece = at = waiting = np.uint64(0)
    long = count + _ONE
    for run in range(count):
        runs[long + _TWO * waiting], runs[long + _TWO * waiting + _ONE] = runs[run], runs[run + _ONE]
        waiting += np.uint64(runs[run + _ONE] - runs[run] >= _FOUR)
    while waiting > 0:
        left = np.uint64(0)
        for i in range(waiting):
            edge, end = np.uint64(runs[long + _TWO * i]), np.uint64(runs[long + _TWO * i + _ONE])
            pieces[piece] = np.uint64(keys[first + edge]) >> shift
            piece += _ONE
            for j in range(_FOUR):
                ordered[at + j] = keys[first + edge + j]
            at += _FOUR
            runs[long + _TWO * left], runs[long + _TWO * left + _ONE] = edge + _FOUR, end
            left += np.uint64(end - edge >= _TWO * _FOUR)
        waiting = left
    row[FOURS] = piece
    for run in range(count):
        end, rest = (
            first + np.uint64(runs[run + _ONE]),
            np.uint64(runs[run + _ONE] - runs[run]) & np.uint64(3),
        )
        pieces[piece] = np.uint64(keys[end - _ONE]) >> shift
        ordered[at], ordered[at + _ONE] = keys[end - rest], keys[end - rest + _ONE]
        piece += rest >> _ONE
        at += rest & _TWO
    row[TWOS] = piece - np.uint64(row[FOURS])
    twos = piece
    for run in range(count):
        end, rest = first + np.uint64(runs[run + _ONE]), np.uint64(runs[run + _ONE] - runs[run]) & _ONE
        pieces[piece] = np.uint64(keys[end - _ONE]) >> shift
        ordered[at] = keys[end - _ONE]
        piece += rest
        at += rest
    row[ONES] = piece - twos
    return piece


@inline
def _write(ordered, size, pieces, count, start, shift, first_edge, edge_weights, refs, targets, weights):
    """Write a block's refs, weights and destinations from ``start`` on."""
    move = shift - np.uint64(WINDOW_BITS)
    for i in range(size):
        refs[start + i] = np.uint64(ordered[i]) >> move
    for i in range(count):
        targets[start + i] = pieces[i]
    if weights.size > 0:
        for i in range(size):
            weights[start + i] = edge_weights[first_edge + (np.uint64(ordered[i]) & _OFFSET)]


@inline
def _bucket(
    base,
    last,
    first_edge,
    cell_bits,
    shift,
    indptr,
    indices,
    old,
    slot,
    window_of,
    windows,
    cursor,
    keys,
    weighted,
):
    """Keys of the edges of the sources ``base:last``, bucketed by window at ``cursor``."""
    move = shift - np.uint64(WINDOW_BITS)
    for i in range(base, last):
        v = np.uint64(old[i]) if old.size > 0 else i
        for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + _ONE])):
            w = window_of[indices[e] >> cell_bits]
            local = np.uint64(slot[indices[e]]) if slot.size > 0 else np.uint64(indices[e] - windows[w])
            key = (local << shift) | ((i - base) << move)
            if weighted:
                key |= e - first_edge
            keys[cursor[w]] = key
            cursor[w] += _ONE


def room_for(keys: int, spare: int, windows: int, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """What a thread of `fill_blocks` works in, for so many edges of a source block and of a block.

    Kernels allocate nothing: what counts references would take this one a quarter longer to compile.
    """
    runs, pieces = np.empty(2 * spare, np.uint32), np.empty(spare, np.uint16)
    cursor, digits = np.empty(windows, np.uint64), np.empty((2, 256), np.uint32)
    return np.empty(keys, dtype), np.empty(spare, dtype), runs, pieces, cursor, digits


@cached(**KERNEL)
def fill_blocks(
    claim, keys, spare, runs, pieces, cursor, digits, source_bits, cell_bits, indptr, indices, edge_weights,
    old, slot, window_of, windows, begins, block_of, blocks, refs, targets, weights,
):  # fmt: skip
    """One thread's share of writing: the blocks of a source block, bucketed by window, sorted, cut.

    A key holds local destination, local source and, where there are weights, the edge. `room_for` has what
    this thread works in. ``old``, ``slot``: see hubs_first.py; empty where all are in the order of ids.
    """
    n = indptr.size - 1
    shift = np.uint64(8 * keys.itemsize - WINDOW_BITS)
    s = fetch_add(claim, 0, 1)
    while s < block_of.shape[0]:
        base, last = np.uint64(s << source_bits), np.uint64(min(n, (s + 1) << source_bits))
        first_edge = np.uint64(0) if old.size > 0 else np.uint64(indptr[base])
        for w in range(cursor.size):
            cursor[w] = begins[s, w]
        _bucket(
            base, last, first_edge, np.uint32(cell_bits), shift, indptr, indices, old, slot, window_of,
            windows, cursor, keys, weights.size > 0,
        )  # fmt: skip
        for w in range(block_of.shape[1]):
            first, size = begins[s, w], begins[s, w + 1] - begins[s, w]
            if size > 0:
                row = blocks[block_of[s, w]]
                _sort(keys, first, size, spare, digits, shift)
                count = _cut(keys, first, size, shift, runs, pieces, spare, row)
                _write(
                    spare, size, pieces, count, np.uint64(row[FIRST]), shift, first_edge, edge_weights, refs,
                    targets, weights,
                )  # fmt: skip
        s = fetch_add(claim, 0, 1)
