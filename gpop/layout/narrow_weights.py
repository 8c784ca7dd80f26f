"""Weights in the smallest type that holds them all, as layouts have them.

Kernels hand a weight to ``applyWeight`` in the graph's own type, so only bytes are saved.
"""

from __future__ import annotations

import time

import numpy as np

from gpop.graph.graph import Graph
from gpop.graph.kept import Kind


def narrow_dtype(weights: np.ndarray) -> np.dtype:
    """Smallest unsigned type that holds integer weights exactly; other weights keep theirs.

    Examples
    --------
    >>> narrow_dtype(np.array([1, 255], np.uint32)), narrow_dtype(np.array([0.5]))
    (dtype('uint8'), dtype('float64'))
    """
    if weights.size == 0 or weights.dtype.kind not in "iu" or weights.min() < 0:
        return weights.dtype
    return min(np.min_scalar_type(weights.max()), weights.dtype, key=lambda dtype: dtype.itemsize)


def narrow_weights(graph: Graph, dtype: np.dtype) -> tuple[np.ndarray, float]:
    """Weights of the edges in CSR order, in the type that bins have them in, and the seconds that took.

    They are kept with the graph. SC reads them beside the edges: fewer bytes, less time.

    Raises
    ------
    NotEnoughMemory
    """
    if graph.weights.dtype == dtype:
        return graph.weights, 0.0
    kept = graph.store.get(Kind.WEIGHTS)
    if kept is not None:
        return kept, 0.0
    begin, width = time.perf_counter(), f"{dtype.itemsize * 8} bits"
    graph.store.require(graph.m * dtype.itemsize, f"{graph!r}: weights in {width}")
    kept = graph.store.put(Kind.WEIGHTS, graph.weights.astype(dtype), about=width)
    return kept, time.perf_counter() - begin
