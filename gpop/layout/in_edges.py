"""The in-edges that pull walks: the graph's own arrays where it is its own reverse, else its reverse.

Found or built when a run first wants to pull, and kept with the graph.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.graph.graph import Graph


class Incoming(NamedTuple):
    """CSC: the sources of v's in-edges, ascending, are ``indices[indptr[v]:indptr[v + 1]]``."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray


NO_WEIGHTS = np.empty(0, np.uint32)


def kept_in_edges(graph: Graph, weighted: bool) -> Incoming:
    """In-edges kept with the graph, or empty arrays of their types."""
    weights = graph.weights[:0] if weighted else NO_WEIGHTS
    return graph.cache.get(
        ("in-edges", weighted), Incoming(np.empty(0, np.int64), np.empty(0, np.uint32), weights)
    )


def in_edges(graph: Graph, weighted: bool) -> Incoming:
    """In-edges of every vertex, kept with the graph.

    Raises
    ------
    NotEnoughMemory
        If the reverse would not fit; found out before it is allocated.

    Examples
    --------
    >>> in_edges(Graph.from_edges([0, 2, 2], [1, 1, 0]), weighted=False).indices.tolist()
    [2, 0, 2]
    """
    key = ("in-edges", weighted)
    if key not in graph.cache:
        turned = graph if graph.equals_reverse() else graph.reverse()
        graph.cache[key] = Incoming(turned.indptr, turned.indices, turned.weights if weighted else NO_WEIGHTS)
    return graph.cache[key]
