"""Sparse vertex ids -> 0 .. n-1 in ascending order; ids that are dense enough are kept.

Dense enough means largest + 1 <= 4 * (number of distinct ids) + 1024. Whether that can hold is
known from the number of edges; then one byte per id finds out and numbers them, else sorting does.
"""

from __future__ import annotations

import numpy as np

from gpop.graph import MOST_VERTICES
from gpop.memory import require_memory
from gpop.parallel import for_each


def _dense_enough(largest: int, distinct: int) -> bool:
    return largest + 1 <= min(4 * distinct + 1024, MOST_VERTICES)


def dense_ids(arrays: list[np.ndarray], largest: int, stated: int) -> tuple[int, np.ndarray | None]:
    """Number of vertices, and None or the original ids; the arrays in the list are then replaced.

    ``stated`` vertices, when more, are taken on trust under the same rule: the last ones have no edges.
    """
    total = sum(map(len, arrays))
    if largest + 1 <= 4 * total + 1024:
        require_memory(9 * (largest + 1), f"numbering ids up to {largest}")
        present = np.zeros(largest + 1, np.bool_)
        for ids in arrays:
            present[ids] = True
        distinct = int(np.count_nonzero(present))
        if _dense_enough(largest, distinct):
            return (stated if stated > largest and _dense_enough(stated - 1, distinct) else largest + 1), None
        original = np.flatnonzero(present)
        number = np.empty(largest + 1, np.uint32)
        number[original] = np.arange(distinct, dtype=np.uint32)

        def rename(i):
            arrays[i] = number[arrays[i]]
    else:
        require_memory(24 * total, f"numbering {total} ids")
        original = np.unique(np.concatenate([np.unique(ids) for ids in arrays])).astype(np.int64)

        def rename(i):
            arrays[i] = np.searchsorted(original, arrays[i]).astype(np.uint32)

    for_each(len(arrays), rename)
    return len(original), original
