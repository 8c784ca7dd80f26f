"""The arrays of HYB (gpop/layout/hyb.py) that kernels/hyb.cuh reads, and what its first step leaves."""

from __future__ import annotations

import numpy as np

from gpop.common.parallel import worker_count
from gpop.graph.graph import Graph
from gpop.layout.hyb import Shape, hyb_of

ALWAYS, WEIGHTS = ("ell_source", "coo_row", "coo_source", "coo_first"), ("ell_weight", "coo_weight")
ARRAYS = {
    "ell_source": "ell", "ell_weight": "ell_weights", "coo_row": "rows", "coo_source": "columns",
    "coo_weight": "weights", "coo_first": "first",
}  # fmt: skip
"""Names on the device, and those of the layout."""

ELL_AHEAD = 4
"""Columns of ELL that a thread fetches at once."""

COO_CHUNK = 1024
"""Entries of COO that a warp takes; what a row of several chunks hears is combined by its thread."""


def host(name: str, listed: Graph) -> np.ndarray:
    """The array; ``listed`` is the graph of in-edges.

    Examples
    --------
    >>> host("ell_source", Graph.from_edges([0, 1, 2], [1, 2, 0]))[:3]
    array([1, 2, 0], dtype=uint32)
    """
    return getattr(
        hyb_of(listed, name in WEIGHTS or listed.weights is not None, worker_count()), ARRAYS[name]
    )


def nbytes(name: str, graph: Graph, shape: Shape, more: int) -> int:
    """Bytes of the array with ``more`` elements behind it, from the shape alone."""
    if name == "coo_first":
        return 8 * (graph.n + 1 + more)
    elements = shape.width * shape.pitch if name.startswith("ell") else shape.entries
    return (elements + more) * (graph.weights.itemsize if name in WEIGHTS else 4)


def partials(n: int, shape: Shape) -> int:
    """Combined messages that wait for the threads of the rows: one per row, and one per chunk.

    Examples
    --------
    >>> partials(10, Shape(width=2, pitch=32, entries=1025))
    12
    """
    return n + -(-shape.entries // COO_CHUNK)
