"""When the changes of an iteration sum to less than a tolerance, a run in which all are active is over.

``settles = ("change", "tolerance")`` of a program names the field and the parameter. The sum is taken where
the changes are made: whoever has gathered a partition (or unit) adds up `CHUNK` vertices at a time, which are
in the cache then. The main thread adds up chunks before the next iteration begins; first, those in which one
unit ends and another begins. Chunks are the same whatever the partitions and the threads, and so is the sum.
Python is not entered; workers stay in the loop.

Bytes: what the field takes, from the cache, and 8 for each chunk.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CHUNK_BITS = 6
CHUNK = 1 << CHUNK_BITS
"""Vertices; a whole number of them is in each partition but the last, unless these are smaller. Units are cut
anywhere."""

_INSIDE = np.uint64(CHUNK - 1)


def chunks_of(n: int) -> int:
    """How many chunks n vertices have.

    >>> chunks_of(64), chunks_of(65)
    (1, 2)
    """
    return -(-n // CHUNK)


def make_read(what: str):
    """Kernel: a value of the state: ``tolerance``, or ``change[v]``. Numba takes no name from a variable."""
    namespace: dict[str, Any] = {}
    exec(f"def read(state, v):\n    return state.{what}\n", namespace)
    return namespace["read"]


def make_sum_changes(change_of):
    """Kernel: the sums of the chunks from vertex ``first``, where one begins, to ``last``."""

    def sum_changes(first, last, space, state):
        eight = np.uint64(8)
        begin = np.uint64(first)
        while begin < last:
            end = min(begin + np.uint64(CHUNK), np.uint64(last))
            a = b = c = d = e = f = g = h = np.float64(0)
            v = begin
            while v + eight <= end:  # eight sums, so that no addition waits for the one before
                a += change_of(state, v)
                b += change_of(state, v + np.uint64(1))
                c += change_of(state, v + np.uint64(2))
                d += change_of(state, v + np.uint64(3))
                e += change_of(state, v + np.uint64(4))
                f += change_of(state, v + np.uint64(5))
                g += change_of(state, v + np.uint64(6))
                h += change_of(state, v + np.uint64(7))
                v += eight
            while v < end:
                a += change_of(state, v)
                v += np.uint64(1)
            space.changes[begin >> np.uint64(CHUNK_BITS)] = ((a + b) + (c + d)) + ((e + f) + (g + h))
            begin += np.uint64(CHUNK)

    return sum_changes


def make_note_changes(sum_changes, blocked):
    """Kernel: the sums of partition (``blocked``: unit) ``d``; `make_decide` is left the rest of chunks."""

    def note_changes(d, layout, space, state):
        if layout.bits >= CHUNK_BITS:
            if blocked:
                first = (np.uint64(layout.bounds[d]) + _INSIDE) & ~_INSIDE
                last = np.uint64(layout.bounds[d + 1])
                if last < np.uint64(layout.n):
                    last &= ~_INSIDE
            else:
                first = np.uint64(d) << np.uint64(layout.bits)
                last = min(np.uint64(layout.n), first + (np.uint64(1) << np.uint64(layout.bits)))
            sum_changes(first, last, space, state)

    return note_changes


def make_decide(sum_changes, tolerance_of, blocked):
    """Kernel: no vertex is active any more if the changes of all sum to less than the tolerance."""

    def decide(layout, space, state):
        if layout.bits < CHUNK_BITS:
            sum_changes(np.uint64(0), np.uint64(layout.n), space, state)
        elif blocked:
            for d in range(1, layout.k):
                border = np.uint64(layout.bounds[d])
                if border & _INSIDE:
                    begin = border & ~_INSIDE
                    sum_changes(begin, min(begin + np.uint64(CHUNK), np.uint64(layout.n)), space, state)
        total = np.float64(0)
        for chunk in range((layout.n + CHUNK - 1) >> CHUNK_BITS):
            total += space.changes[chunk]
        if total < tolerance_of(state, 0):
            for d in range(layout.k):
                space.frontier_size[d] = 0

    return decide
