"""Oriented lists: what counting of triangles and clustering have in common.

order    vertices by descending degree, by counting, when degrees are skewed (the test of the GAP benchmark).
orient   the list of a vertex keeps its smaller neighbours only; `order_by_degree` makes room for them.
rows     the lists of the first `HUBS` vertices also as rows of bits: row b has b // 64 + 1 words and begins
         where those of the smaller ones end (`row_of`).
Paper: S. Beamer, K. Asanovic, D. Patterson, "The GAP benchmark suite", 2015 (when to reorder).
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from gpop.direct.phases import kernel

HUBS = 1 << 14
"""Vertices with rows of bits: 16 MiB for all of them."""

BITS_PER_EDGE = 32
"""Of rows: those of a small graph would else take longer to clear than the rest takes to count."""

_SAMPLES = 1000
_SKEWED = 1.3  # mean degree over median degree
_DENSE = 10  # mean degree from which ordering pays


def worth_ordering(degree: np.ndarray) -> bool:
    """Whether the mean of the degrees that are not 0 is far above their median, in a sample.

    >>> worth_ordering(np.array([100] + 99 * [12])), worth_ordering(np.array([900] + 99 * [12]))
    (False, True)
    """
    if not degree.size or degree.mean() < _DENSE:
        return False
    positive = np.flatnonzero(degree)
    sample = degree[positive[:: max(1, positive.size // _SAMPLES)]]
    return bool(sample.mean() / _SKEWED > np.median(sample))


def hub_count(n: int, edges: int, most: int) -> int:
    """How many vertices get rows of bits.

    >>> hub_count(20000, 60000, 4096), hub_count(10**6, 10**7, 4096)
    (1385, 4096)
    """
    return min(n, most, isqrt(BITS_PER_EDGE * edges))


@kernel
def order_by_degree(degree, by_degree, place, order, rank, begin):
    """Counting sort by descending degree, and room for the oriented list of each vertex."""
    if by_degree:
        for v in range(len(degree)):
            place[degree[v]] += 1
        at = 0
        for d in range(len(place) - 1, -1, -1):
            count = place[d]
            place[d] = at
            at += count
        for v in range(len(degree)):
            at = place[degree[v]]
            place[degree[v]] = at + 1
            order[at] = v
            rank[v] = at
    at = 0
    for v in range(len(degree)):
        begin[v] = at
        at += min(v, np.int64(degree[order[v]] if by_degree else degree[v]))
    begin[len(degree)] = at


@kernel
def row_of(v):
    """Where the row of bits of a vertex begins."""
    words = (v >> np.uint64(6)) + np.uint64(1)
    whole = v >> np.uint64(6)
    return np.uint64(32) * whole * (whole + np.uint64(1)) + (v & np.uint64(63)) * words
