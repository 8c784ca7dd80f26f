"""Sets of vertices that threads fill together: lists that are cut from one array, and rows of bits.

A thread collects what it finds in a buffer of its own (`BUFFER` vertices) and puts it at the end of the
common list in one go, so that the end of the list is a line that threads seldom fight for.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import compare_and_swap, fetch_add
from gpop.common.inlined import inline

BUFFER = 512

_ONE, _SIX, _LAST_BIT = np.uint64(1), np.uint64(6), np.uint64(63)


def buffers(threads: int) -> np.ndarray:
    """A buffer for each thread."""
    return np.empty((threads, BUFFER), np.uint32)


@inline
def flush(order, ends, slot, buffer, count):
    """Put what a buffer holds at the end of a list, which is ``ends[slot]``; how many are left over: none."""
    at = np.uint64(fetch_add(ends, slot, count))
    for i in range(np.uint64(count)):
        order[at + i] = buffer[i]
    return 0


@inline
def is_in(bits, v):
    """Whether a vertex is in a set."""
    return (bits[v >> _SIX] >> (v & _LAST_BIT) & _ONE) != np.uint64(0)


@inline
def put_in(bits, v):
    """Put a vertex into a set that others write as well; whether it was not there."""
    word, bit = v >> _SIX, _ONE << (v & _LAST_BIT)
    before = bits[word]
    while not before & bit:
        if compare_and_swap(bits, word, before, before | bit):
            return True
        before = bits[word]
    return False
