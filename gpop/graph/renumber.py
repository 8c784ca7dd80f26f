"""Sparse vertex ids -> 0 .. n-1 in ascending order; ids that are dense enough are kept.

Dense enough means largest + 1 <= 4 * (number of distinct ids) + 1024. Whether that can hold is
known from the number of edges; then one byte per id finds out and numbers them, else sorting does.
Ids that lie in parts on several processes are numbered by the same rule, as if they lay in one.
"""

from __future__ import annotations

import numpy as np

from gpop.common.memory import own_pages, require_memory
from gpop.common.others import Others
from gpop.common.parallel import for_each, ranges
from gpop.common.spill import settled
from gpop.graph.arguments import MOST_VERTICES

_IDS = 1 << 20  # treated at a time


def dense_enough(largest: int, distinct: int) -> bool:
    """Whether ids up to this one stay as they are, with so many different ones among them."""
    return largest + 1 <= min(4 * distinct + 1024, MOST_VERTICES)


def dense_ids(
    arrays: list[np.ndarray], largest: int, stated: int, others: Others | None = None
) -> tuple[int, np.ndarray | None]:
    """Number of vertices, and None or the original ids; the arrays in the list are then replaced.

    ``stated`` vertices, when more, are taken on trust under the same rule: the last ones have no edges.
    ``others`` have arrays of the same graph: all call it together, with the ``largest`` of all.
    """
    total = sum(map(len, arrays))
    if others is not None:
        total = int(others.sum(np.array([total]))[0])
    if largest + 1 <= 4 * total + 1024:
        require_memory(9 * (largest + 1), f"numbering ids up to {largest}")
        present = np.zeros(largest + 1, np.bool_)
        for ids in arrays:
            present[ids] = True
            settled(ids)
        if others is not None:
            present = others.most(present.view(np.uint8)).view(np.bool_)
        distinct = int(np.count_nonzero(present))
        if dense_enough(largest, distinct):
            return (stated if stated > largest and dense_enough(stated - 1, distinct) else largest + 1), None
        original = np.flatnonzero(present)
        number = np.empty(largest + 1, np.uint32)
        number[original] = np.arange(distinct, dtype=np.uint32)

        def numbers(ids):
            return number[ids]
    else:
        original = _distinct(arrays).astype(np.int64)
        if others is not None:
            original = np.unique(others.joined(original))

        def numbers(ids):
            return np.searchsorted(original, ids)

    def rename(i):
        renamed = own_pages(len(arrays[i]), np.uint32)
        for first, last in ranges(len(renamed), _IDS):
            renamed[first:last] = numbers(arrays[i][first:last])
        settled(renamed)
        arrays[i] = renamed

    for_each(len(arrays), rename)
    return len(original), original


def _distinct(arrays: list[np.ndarray]) -> np.ndarray:
    """The distinct ids in ascending order."""
    found = np.empty(0, np.uint32)
    new, waiting = [], 0
    for ids in arrays:
        for first, last in ranges(len(ids), _IDS):
            new.append(np.unique(ids[first:last]))
            settled(ids[first:last])
            waiting += len(new[-1])
            if waiting > max(len(found), _IDS):  # seldom enough that merging costs little
                require_memory(24 * (len(found) + waiting), f"numbering {len(found) + waiting} ids")
                found = np.unique(np.concatenate([found, *new]))
                new, waiting = [], 0
    return np.unique(np.concatenate([found, *new]))
