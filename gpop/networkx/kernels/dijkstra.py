"""Dijkstra's algorithm with a heap: what NetworkX's does, ties included.

An entry of the heap is a distance, a counter that says when it was found, and a vertex: of equal distances
the one found first is taken first. A vertex whose distance has improved is in the heap again; the old entry
is skipped when it comes up (in a search from both ends that is a turn, as in NetworkX). ``state`` of a
vertex: 0 not seen, SEEN, DONE. Fresh arrays are zero, and pages are taken when they are touched, so that a
search for one target costs what lies nearer.

Distances and lengths are float64, in which whole numbers up to 2**53 are exact: one type, compiled once.
Lengths are finite and not negative.
Paper: E. W. Dijkstra, "A note on two problems in connexion with graphs", 1959.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL
from gpop.interop.networkx_graph import Lists

SEEN, DONE = 1, 2
NOBODY = 0xFFFFFFFF


class Paths(NamedTuple):
    """Vertices in the order of their distance, and over this order the distances and the vertices before."""

    order: np.ndarray
    distance: np.ndarray
    parent: np.ndarray


class Side(NamedTuple):
    """What a search from one end has: over vertices, and the heap."""

    state: np.ndarray
    distance: np.ndarray
    parent: np.ndarray
    key: np.ndarray
    turn: np.ndarray
    vertex: np.ndarray


def _side(n: int, entries: int) -> Side:
    return Side(
        np.zeros(n, np.uint8),
        np.empty(n),
        np.empty(n, np.uint32),
        np.empty(entries),
        np.empty(entries, np.int64),
        np.empty(entries, np.uint32),
    )


def dijkstra(
    lists: Lists, weights: np.ndarray, sources: list[int], target: int = NOBODY, cutoff: Any = None
) -> Paths:
    """Shortest paths from the nearest of the sources, up to a target or a distance.

    A source is its own parent.

    Examples
    --------
    >>> lists = Lists(np.array([0, 2, 3, 3]), np.array([2, 1, 2], np.uint32))
    >>> dijkstra(lists, np.array([5.0, 1, 2]), [0]).distance
    array([0., 1., 3.])
    """
    n, limited = len(lists.indptr) - 1, cutoff is not None
    side, order = _side(n, len(lists.indices) + len(sources)), np.empty(n, np.uint32)
    limit = float(cutoff) if limited else 0.0
    reached = _search(*lists, weights, np.array(sources, np.uint32), target, limited, limit, side, order)
    order = order[:reached]
    return Paths(order, side.distance[order], side.parent[order])


def path_between(
    successors: Lists, weights: np.ndarray, predecessors: Lists, back: np.ndarray, source: int, target: int
) -> tuple[np.ndarray, list[int]] | None:
    """Length [1] and vertices of a path found from both ends, which take turns as NetworkX does; or None.

    Examples
    --------
    >>> ring = Lists(np.array([0, 2, 4, 6, 8]), np.array([1, 3, 0, 2, 1, 3, 0, 2], np.uint32))
    >>> lengths = np.array([5.0, 1, 5, 1, 1, 1, 1, 1])
    >>> path_between(ring, lengths, ring, lengths, 0, 2)
    (array([2.]), [0, 3, 2])
    """
    n, entries = len(successors.indptr) - 1, len(weights) + 1
    ahead, behind = (_side(n, entries) for _ in range(2))
    length = np.zeros(1)
    meeting = _meet(*successors, weights, *predecessors, back, source, target, ahead, behind, length)
    if meeting < 0:
        return None
    path = [int(meeting)]
    while path[-1] != source:
        path.append(int(ahead.parent[path[-1]]))
    path.reverse()
    while path[-1] != target:
        path.append(int(behind.parent[path[-1]]))
    return length, path


@cached(**KERNEL)
def _push(side, size, distance, turn, v):
    """Put an entry into the heap, which has room for it."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if side.key[above] < distance or (side.key[above] == distance and side.turn[above] < turn):
            break
        side.key[at], side.turn[at], side.vertex[at] = side.key[above], side.turn[above], side.vertex[above]
        at = above
    side.key[at], side.turn[at], side.vertex[at] = distance, turn, v
    return size + 1


@cached(**KERNEL)
def _pop(side, size):
    """Take the first entry's vertex out of the heap; the last entry sinks from its place."""
    first, size = side.vertex[0], size - 1
    key, turn, v = side.key[size], side.turn[size], side.vertex[size]
    at, below = 0, 1
    while below < size:
        other = below + 1
        if other < size:
            if side.key[other] < side.key[below] or (
                side.key[other] == side.key[below] and side.turn[other] < side.turn[below]
            ):
                below = other
        if key < side.key[below] or (key == side.key[below] and turn < side.turn[below]):
            break
        side.key[at], side.turn[at], side.vertex[at] = side.key[below], side.turn[below], side.vertex[below]
        at = below
        below = 2 * at + 1
    side.key[at], side.turn[at], side.vertex[at] = key, turn, v
    return first, size


@cached(**KERNEL)
def _start(side, size, now, v):
    side.state[v], side.distance[v], side.parent[v] = SEEN, 0, v
    return _push(side, size, side.distance[v], now, v)


@cached(**KERNEL)
def _search(indptr, indices, weights, sources, target, limited, limit, side, order):
    """How many vertices were taken out, in ``order``."""
    size, now, reached = 0, 0, 0
    for s in sources:
        size = _start(side, size, now, s)
        now += 1
    while size > 0:
        v, size = _pop(side, size)
        if side.state[v] == DONE:
            continue
        side.state[v] = DONE
        order[reached] = v
        reached += 1
        if v == target:
            break
        for e in range(np.uint64(indptr[v]), np.uint64(indptr[np.uint64(v) + np.uint64(1)])):
            u, distance = indices[e], side.distance[v] + weights[e]
            if side.state[u] == DONE or (limited and distance > limit):
                continue
            if side.state[u] == 0 or distance < side.distance[u]:
                side.state[u], side.distance[u], side.parent[u] = SEEN, distance, v
                size = _push(side, size, distance, now, u)
                now += 1
    return reached


@cached(**KERNEL)
def _relax(indptr, indices, weights, v, now, size, side, other, meeting, length):
    """Expand a vertex of one side: (size of its heap, counter, where the best path so far is joined)."""
    for e in range(np.uint64(indptr[v]), np.uint64(indptr[np.uint64(v) + np.uint64(1)])):
        u, distance = indices[e], side.distance[v] + weights[e]
        if side.state[u] != DONE and (side.state[u] == 0 or distance < side.distance[u]):
            side.state[u], side.distance[u], side.parent[u] = SEEN, distance, v
            size = _push(side, size, distance, now, u)
            now += 1
            if other.state[u] != 0:
                joined = distance + other.distance[u]
                if meeting < 0 or length[0] > joined:
                    length[0] = joined
                    meeting = np.int64(u)
    return size, now, meeting


@cached(**KERNEL)
def _meet(
    indptr, indices, weights, back_indptr, back_indices, back_weights, source, target, ahead, behind, length
):
    """Where the shortest path is joined, -1 where there is none; the sides take an entry in turn."""
    size, back_size = _start(ahead, 0, 0, source), _start(behind, 0, 1, target)
    now, meeting, backward = 2, np.int64(-1), False
    while size > 0 and back_size > 0:
        if backward:
            v, back_size = _pop(behind, back_size)
            if behind.state[v] != DONE:
                behind.state[v] = DONE
                if ahead.state[v] == DONE:
                    return meeting
                back_size, now, meeting = _relax(
                    back_indptr, back_indices, back_weights, v, now, back_size, behind, ahead, meeting, length
                )
        else:
            v, size = _pop(ahead, size)
            if ahead.state[v] != DONE:
                ahead.state[v] = DONE
                if behind.state[v] == DONE:
                    return meeting
                size, now, meeting = _relax(
                    indptr, indices, weights, v, now, size, ahead, behind, meeting, length
                )
        backward = not backward
    return np.int64(-1)
