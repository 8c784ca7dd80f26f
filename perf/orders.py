"""Orders of vertices by their degree, best and worst for warps that take 32 vertices side by side (T-130).

``absolute``, ``in-degree`` and ``out-degree`` descend, equal ones in their old order. Their ``-pessimal``
has W warps, as many as there are, of the most uneven vertices: warp i has the i-th highest, the i-th of the W
lowest, and 30 of those between. ``unordered`` is the graph as it is.

Paper: Verstraaten, "Analysis and prediction of GPU graph algorithm performance" (2022), chapter 6.
"""

from __future__ import annotations

import numpy as np

from gpop.graph.graph import Graph

WARP = 32
UNORDERED, PESSIMAL = "unordered", "-pessimal"
DEGREES = ("absolute", "in-degree", "out-degree")
ORDERS = (UNORDERED, *(f"{degree}{end}" for degree in DEGREES for end in ("", PESSIMAL)))


def order_of(graph: Graph, name: str) -> np.ndarray:
    """The vertices in their new order; ``name`` is one of `ORDERS`.

    Examples
    --------
    >>> star = Graph.from_edges([2, 2, 0], [0, 1, 2])
    >>> order_of(star, "out-degree").tolist(), order_of(star, "in-degree").tolist()
    ([2, 0, 1], [0, 1, 2])
    """
    if name == UNORDERED:
        return np.arange(graph.n)
    inward, outward = np.bincount(graph.indices, minlength=graph.n), np.diff(graph.indptr)
    degree = {"absolute": inward + outward, "in-degree": inward, "out-degree": outward}
    best = np.argsort(-degree[name.removesuffix(PESSIMAL)], kind="stable")
    return pessimal(best) if name.endswith(PESSIMAL) else best


def pessimal(descending: np.ndarray) -> np.ndarray:
    """The most uneven warps of vertices that are given by descending degree.

    Examples
    --------
    >>> pessimal(np.arange(66))[[0, 1, 2, 31, 32, 33, 34, 64, 65]].tolist()
    [0, 63, 3, 32, 1, 64, 33, 2, 65]
    """
    n = len(descending)
    warps = -(-n // WARP)
    if n < 2:
        return descending
    middle, found = descending[warps : n - warps], []
    for warp in range(warps):
        ends = descending[[warp, n - warps + warp]]
        found += [ends, middle[warp * (WARP - 2) : (warp + 1) * (WARP - 2)]]
    return np.concatenate(found)
