"""The in-edges that pull walks: the graph's own arrays where it is its own reverse, else its reverse.

Found or built when a run first wants to pull. What is kept is the reverse, with the graph; where the graph is
its own, nothing is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.graph.graph import Graph
from gpop.graph.kept import Kind


class Incoming(NamedTuple):
    """CSC: the sources of v's in-edges, ascending, are ``indices[indptr[v]:indptr[v + 1]]``."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray


NO_WEIGHTS = np.empty(0, np.uint32)


def kept_in_edges(graph: Graph, weighted: bool) -> Incoming:
    """In-edges if they are there, or empty arrays of their types."""
    turned = graph if graph.facts.equals_reverse else graph.store.get(Kind.REVERSE)
    if turned is not None:
        return _incoming(turned, weighted)
    weights = graph.weights[:0] if weighted else NO_WEIGHTS
    return Incoming(np.empty(0, np.int64), np.empty(0, np.uint32), weights)


def _incoming(turned: Graph, weighted: bool) -> Incoming:
    return Incoming(turned.indptr, turned.indices, turned.weights if weighted else NO_WEIGHTS)


def in_edges(graph: Graph, weighted: bool) -> Incoming:
    """In-edges of every vertex.

    Raises
    ------
    NotEnoughMemory
        If the reverse would not fit; found out before it is allocated.

    Examples
    --------
    >>> in_edges(Graph.from_edges([0, 2, 2], [1, 1, 0]), weighted=False).indices.tolist()
    [2, 0, 2]
    """
    return _incoming(graph if graph.equals_reverse() else graph.reverse(), weighted)


def receivers(graph: Graph, incoming: Incoming) -> int:
    """Vertices with in-edges; all, as long as in-edges are not there.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 2, 2], [1, 1, 0])
    >>> receivers(graph, in_edges(graph, weighted=False))
    2
    """
    if graph.facts.receivers is None and incoming.indptr.size:
        graph.facts.receivers = int(np.count_nonzero(incoming.indptr[1:] != incoming.indptr[:-1]))
    return graph.n if graph.facts.receivers is None else graph.facts.receivers
