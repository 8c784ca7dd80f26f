"""Paths from a source to a vertex, walked backwards from its end.

By parents: each vertex knows the one before it. By distances: the one before v is a u with an edge (u, v) and
distance(u) + weight <= distance(v); there is one, since the distance came along such an edge. As long as one
of them is nearer to the source the walk cannot go in circles. Over edges that add nothing (of weight 0, or
lost to rounding) it can, so there the vertices of equal distance are searched, breadth first, for the source
or one that has a nearer vertex before it.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from gpop.graph.graph import Graph


def along_parents(parent: np.ndarray, to: int) -> np.ndarray:
    """Vertices from the root of a tree, which is its own parent, to ``to``.

    Examples
    --------
    >>> along_parents(np.array([0, 0, 1, -1]), 2)
    array([0, 1, 2])
    """
    found = [to]
    while parent[found[-1]] != found[-1]:
        found.append(int(parent[found[-1]]))
    return np.array(found[::-1])


def along_distances(graph: Graph, distance: np.ndarray, source: int, to: int) -> np.ndarray:
    """Vertices of a shortest path from ``source`` to ``to``, which is reached.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1, 0], [1, 2, 2], [0, 3, 4])
    >>> along_distances(graph, np.array([0, 0, 3], np.uint32), 0, 2)
    array([0, 1, 2])
    """
    turned = graph if graph.equals_reverse() else graph.reverse()
    found = [to]
    while found[-1] != source:
        before = _nearer(turned, distance, found[-1])
        found += [before] if before is not None else _level(turned, distance, source, found[-1])
    return np.array(found[::-1])


def _before(turned: Graph, distance: np.ndarray, vertex: int) -> tuple[np.ndarray, np.ndarray]:
    """In-neighbours over which the vertex may have its distance, and the distances that they give it."""
    edges = slice(turned.indptr[vertex], turned.indptr[vertex + 1])
    neighbours = turned.indices[edges]
    reached = distance[neighbours] <= distance[vertex]  # and so neither infinite nor about to overflow
    neighbours, weights = neighbours[reached], turned.weights[edges][reached]
    along = distance[neighbours] + weights.astype(distance.dtype)
    fits = along <= distance[vertex]
    return neighbours[fits], along[fits]


def _nearer(turned: Graph, distance: np.ndarray, vertex: int) -> int | None:
    """The vertex before this one on a shortest path that is nearer to the source, if there is one."""
    neighbours, along = _before(turned, distance, vertex)
    nearer = distance[neighbours] < distance[vertex]
    if not nearer.any():
        return None
    return int(neighbours[nearer][np.argmin(along[nearer])])


def _level(turned: Graph, distance: np.ndarray, source: int, vertex: int) -> list[int]:
    """Vertices of the same distance before this one: as far as the source, or one that has a nearer one."""
    after, waiting = {vertex: vertex}, deque([vertex])
    while waiting:
        at = waiting.popleft()
        if at == source or _nearer(turned, distance, at) is not None:
            break
        for other in _before(turned, distance, at)[0].tolist():
            if other not in after:
                after[other] = at
                waiting.append(other)
    found = [at]
    while after[found[-1]] != vertex:
        found.append(after[found[-1]])
    return found[::-1]
