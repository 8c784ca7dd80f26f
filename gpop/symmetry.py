"""Whether a graph equals its reverse, without building the reverse.

The lists must ascend. Walking all edges u-v by ascending u, the turned edges out of v come up in
exactly the order of v's own list: one cursor per vertex is compared and moved on. O(n + m), the
cursor is the only memory, and the first difference ends it, so a directed graph is found out at
once. Destinations are divided among the threads; each walks the edges into its own.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gpop.parallel import blocks, for_each, worker_count


@njit(nogil=True, cache=True)
def _mirrored(indptr, indices, weights, exactly, low, high, cursor):
    """Whether the edges into low..high-1 are, as a set, the turned edges out of low..high-1.

    ``exactly``: as often, and with the same weights (none when the array is empty).
    """
    for v in range(low, high):
        cursor[v - low] = indptr[v]
    for u in range(len(indptr) - 1):
        row = indices[indptr[u] : indptr[u + 1]]
        for e in range(np.searchsorted(row, low), len(row)):
            v = np.int64(row[e])
            if v >= high:
                break
            at = cursor[v - low]
            if exactly:
                if at == indptr[v + 1] or indices[at] != u:
                    return False
                if len(weights) > 0 and weights[at] != weights[indptr[u] + e]:
                    return False
                cursor[v - low] = at + 1
            elif at < indptr[v + 1] and indices[at] == u:
                while at < indptr[v + 1] and indices[at] == u:
                    at += 1
                cursor[v - low] = at
            elif at == indptr[v] or indices[at - 1] != u:
                return False
    for v in range(low, high):
        if cursor[v - low] < indptr[v + 1]:
            return False
    return True


@njit(nogil=True, cache=True)
def _rows_sorted(indptr, indices, first, last):
    for v in range(first, last):
        for e in range(indptr[v] + 1, indptr[v + 1]):
            if indices[e] < indices[e - 1]:
                return False
    return True


def rows_sorted(indptr: np.ndarray, indices: np.ndarray) -> bool:
    """Whether every adjacency list ascends."""
    pieces = blocks(len(indptr) - 1, 1 << 18)
    results = np.zeros(len(pieces), bool)

    def check(i):
        results[i] = _rows_sorted(indptr, indices, *pieces[i])

    for_each(len(pieces), check)
    return bool(results.all())


def mirrored(
    indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None = None, exactly: bool = False
) -> bool:
    """Whether every edge u-v of a CSR with sorted lists has its v-u; O(n + m) for each worker.

    ``exactly``: as often, and with the same weight.
    """
    weights = np.empty(0, np.uint8) if weights is None else weights
    n = len(indptr) - 1
    pieces = blocks(n, max(1, -(-n // worker_count())))
    results = np.zeros(len(pieces), bool)

    def check(i):
        low, high = pieces[i]
        results[i] = _mirrored(indptr, indices, weights, exactly, low, high, np.empty(high - low, np.int64))

    for_each(len(pieces), check)
    return bool(results.all())
