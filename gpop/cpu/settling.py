"""When the changes of an iteration sum to less than a tolerance, a run in which all are active is over.

``settles = ("change", "tolerance")`` of a program names the field and the parameter. The sum is taken where
the changes are made: whoever has gathered a partition (or unit) adds up `CHUNK` vertices at a time, which are
in the cache then, and the chunks of each `BLOCK` that is whole in it. The main thread adds up blocks before
the next iteration begins; first, those in which one unit ends and another begins. To add up all chunks, half
of them fetched from another core, took it 10 us on 114,000 vertices, while the others waited. Chunks and
blocks are the same whatever the partitions and the threads, and so is the sum. Python is not entered; workers
stay in the loop.

Bytes: what the field takes, from the cache, and 8 for each chunk.
Encoding: ``changes`` has a sum for each chunk, then one for each block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.common.inlined import inline
from gpop.common.vectors import LANES, ROWS, sum_of_rows

CHUNK = ROWS * LANES
CHUNK_BITS = CHUNK.bit_length() - 1
"""Vertices; a whole number of them is in each partition but the last, unless these are smaller. Units are cut
anywhere."""

BLOCK = CHUNK * ROWS * LANES
BLOCK_BITS = BLOCK.bit_length() - 1
"""Vertices whose chunks are added up together."""


def sums_of(n: int) -> int:
    """How many sums there are of n vertices.

    >>> sums_of(64), sums_of(65), sums_of(4097)
    (2, 3, 67)
    """
    return -(-n // CHUNK) + -(-n // BLOCK)


def make_read(what: str):
    """Kernel: ``what`` there is in the state, of vertex ``v``. Numba takes no name from a variable."""
    namespace: dict[str, Any] = {"sum_of_rows": sum_of_rows}
    exec(f"def read(state, v):\n    return {what}\n", namespace)
    return namespace["read"]


def make_sum_changes(change_of, chunk_from):
    """Kernel: the sums of the chunks from vertex ``first``, where one begins, to ``last``."""

    def sum_changes(first, last, space, state):
        begin = np.uint64(first)
        while begin < last:
            end = min(begin + np.uint64(CHUNK), np.uint64(last))
            if end - begin == np.uint64(CHUNK):
                total = chunk_from(state, begin)
            else:
                total = np.float64(0)
                for v in range(begin, end):
                    total += change_of(state, v)
            space.changes[begin >> np.uint64(CHUNK_BITS)] = total
            begin += np.uint64(CHUNK)

    return sum_changes


@inline
def up_to(vertex, bits):
    """The next vertex, this one or later, with which a chunk or block of so many bits begins."""
    return (vertex + (np.uint64(1) << np.uint64(bits)) - np.uint64(1)) >> np.uint64(bits) << np.uint64(bits)


@inline
def add_up(block, n, changes):
    """The sum of a block, of its chunks."""
    chunks = up_to(np.uint64(n), CHUNK_BITS) >> np.uint64(CHUNK_BITS)
    first = np.uint64(block) << np.uint64(BLOCK_BITS - CHUNK_BITS)
    end = min(first + np.uint64(ROWS * LANES), chunks)
    if end - first == np.uint64(ROWS * LANES):
        total = sum_of_rows(changes, first)
    else:
        total = np.float64(0)
        for chunk in range(first, end):
            total += changes[chunk]
    changes[chunks + np.uint64(block)] = total


def make_note_changes(sum_changes, blocked):
    """Kernel: sums of what is whole in partition (``blocked``: unit) ``d``; the rest is `make_decide`'s."""

    def note_changes(d, layout, space, state):
        if layout.bits >= CHUNK_BITS:
            n = np.uint64(layout.n)
            if blocked:
                first, last = np.uint64(layout.bounds[d]), np.uint64(layout.bounds[d + 1])
            else:
                first = np.uint64(d) << np.uint64(layout.bits)
                last = min(n, first + (np.uint64(1) << np.uint64(layout.bits)))
            whole = last if last == n else last >> np.uint64(CHUNK_BITS) << np.uint64(CHUNK_BITS)
            sum_changes(up_to(first, CHUNK_BITS), whole, space, state)
            begin, end = up_to(first, BLOCK_BITS), up_to(n, BLOCK_BITS) if last == n else last
            for block in range(begin >> np.uint64(BLOCK_BITS), end >> np.uint64(BLOCK_BITS)):
                add_up(block, n, space.changes)

    return note_changes


def make_decide(sum_changes, tolerance_of, blocked):
    """Kernel: no vertex is active any more if the changes of all sum to less than the tolerance."""

    def decide(layout, space, state):
        n = np.uint64(layout.n)
        chunks = up_to(n, CHUNK_BITS) >> np.uint64(CHUNK_BITS)
        blocks = up_to(n, BLOCK_BITS) >> np.uint64(BLOCK_BITS)
        if layout.bits < CHUNK_BITS:
            sum_changes(np.uint64(0), n, space, state)
        if layout.bits < (CHUNK_BITS if blocked else BLOCK_BITS):
            for block in range(blocks):
                add_up(block, n, space.changes)
        elif blocked:
            for d in range(1, layout.k):
                border = np.uint64(layout.bounds[d])
                begin = border >> np.uint64(CHUNK_BITS) << np.uint64(CHUNK_BITS)
                if begin < border:
                    sum_changes(begin, min(begin + np.uint64(CHUNK), n), space, state)
                if border < up_to(border, BLOCK_BITS):
                    add_up(border >> np.uint64(BLOCK_BITS), n, space.changes)
        total = np.float64(0)
        for block in range(blocks):
            total += space.changes[chunks + block]
        if total < tolerance_of(state, 0):
            for d in range(layout.k):
                space.frontier_size[d] = 0

    return decide
