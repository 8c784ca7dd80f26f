"""Checks of CSR arrays: offsets start at 0, never fall and end at m; ids are below n.

NumPy reductions over pieces, one thread a piece: nothing to compile and no copy of the arrays.
Each function returns None, or what is wrong and where.
"""

from __future__ import annotations

import numpy as np

from gpop.common.parallel import for_each, ranges
from gpop.common.spill import settled

_PIECE = 1 << 21


def offsets_fault(indptr: np.ndarray, m: int) -> str | None:
    """What is wrong with the offsets of ``len(indptr) - 1`` vertices and ``m`` edges."""
    if indptr[0] != 0:
        return f"offset of vertex 0 is {indptr[0]}, expected 0"
    falls = {}

    def check(i):
        first, last = pieces[i]
        falling = indptr[first : last + 1][1:] < indptr[first:last]
        if falling.any():
            falls[i] = first + int(falling.argmax())

    pieces = ranges(len(indptr) - 1, _PIECE)
    for_each(len(pieces), check)
    if falls:
        v = falls[min(falls)]
        if v + 1 < len(indptr) - 1:
            following = f"expected at least {indptr[v]} (that of vertex {v})"
            return f"offset of vertex {v + 1} is {indptr[v + 1]}, {following}"
        if indptr[v] > m:
            return f"offset of vertex {v} is {indptr[v]}, expected at most m = {m}"
    if indptr[-1] != m:
        return f"last offset is {indptr[-1]}, expected m = {m}"
    return None


def ids_fault(indices: np.ndarray, n: int) -> str | None:
    """What is wrong with destination ids that must lie in 0 .. n-1."""
    outside = {}

    def check(i):
        first, last = pieces[i]
        block = indices[first:last]
        if block.max() >= n or block.min() < 0:
            outside[i] = first + int(np.argmax((block >= n) | (block < 0)))
        settled(block)

    pieces = ranges(len(indices), _PIECE)
    for_each(len(pieces), check)
    if not outside:
        return None
    e = outside[min(outside)]
    return f"edge {e} leads to vertex {indices[e]}, expected an id from 0 and below n = {n}"
