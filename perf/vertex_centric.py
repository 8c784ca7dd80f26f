"""Plain vertex-centric kernels to compare with: push along out-edges, pull along in-edges, one thread.

What a straightforward program on CSR does, without partitions or bins:

==========  =====================================================  ===========================================
app         push                                                   pull
==========  =====================================================  ===========================================
pagerank    every vertex adds its share to its out-neighbours      every vertex sums its in-neighbours' shares
bfs         a queue of the newest level looks at out-edges         unreached vertices look for a parent
sssp, cc    a queue of improved vertices relaxes out-edges         every vertex takes the best of its in-edges
==========  =====================================================  ===========================================

Values lie in one array and are read and written at random: that is what partitions avoid. Push and pull of
sssp and cc use new values at once, so that they need fewer iterations than the bulk-synchronous engine.
Encodings are those of the apps: the same fields, the same types, the same infinity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import gpop
from gpop.apps.bfs import NOT_REACHED
from gpop.common.cached import cached
from gpop.common.inlined import KERNEL, inline

ITERATION, ACTIVE, HEAD = range(3)
"""Slots of ``progress``."""

APPS = ("pagerank", "bfs", "sssp", "cc")
DIRECTIONS = ("push", "pull")


class Edges(NamedTuple):
    """Out-edges for push, in-edges for pull."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray


class Vertices(NamedTuple):
    """``value`` and ``other`` are share and sum (pagerank), level and parent (bfs), distance or label.

    ``queue`` holds two queues of ``n`` vertices, one per parity of the iteration; bfs has one that grows.
    """

    value: np.ndarray
    other: np.ndarray
    per_edge: np.ndarray
    queue: np.ndarray
    queued: np.ndarray
    progress: np.ndarray
    base: np.float64
    damping: np.float64


@inline
def _finish_ranks(vertices):
    for v in range(np.uint64(vertices.value.size)):
        vertices.value[v] = (vertices.base + vertices.damping * vertices.other[v]) * vertices.per_edge[v]
        vertices.other[v] = 0


@inline
def _pagerank_push(edges, vertices):
    total = vertices.other
    for v in range(np.uint64(vertices.value.size)):
        share = vertices.value[v]
        for e in range(np.uint64(edges.indptr[v]), np.uint64(edges.indptr[v + np.uint64(1)])):
            total[edges.indices[e]] += share
    _finish_ranks(vertices)
    return vertices.value.size


@inline
def _pagerank_pull(edges, vertices):
    share = vertices.value
    for v in range(np.uint64(vertices.value.size)):
        total = np.float32(0)
        for e in range(np.uint64(edges.indptr[v]), np.uint64(edges.indptr[v + np.uint64(1)])):
            total += share[edges.indices[e]]
        vertices.other[v] = total
    _finish_ranks(vertices)
    return vertices.value.size


@inline
def _bfs_push(edges, vertices):
    level, parent, queue, progress = vertices.value, vertices.other, vertices.queue, vertices.progress
    last = np.uint64(progress[HEAD] + progress[ACTIVE])
    tail = last
    for i in range(np.uint64(progress[HEAD]), last):
        v = np.uint64(queue[i])
        for e in range(np.uint64(edges.indptr[v]), np.uint64(edges.indptr[v + np.uint64(1)])):
            u = edges.indices[e]
            if parent[u] == np.uint32(NOT_REACHED):
                parent[u] = v
                level[u] = progress[ITERATION] + 1
                queue[tail] = u
                tail += np.uint64(1)
    progress[HEAD] = last
    return np.int64(tail - last)


@inline
def _bfs_pull(edges, vertices):
    level, parent = vertices.value, vertices.other
    current = vertices.progress[ITERATION]
    found = 0
    for v in range(np.uint64(level.size)):
        if parent[v] == np.uint32(NOT_REACHED):
            for e in range(np.uint64(edges.indptr[v]), np.uint64(edges.indptr[v + np.uint64(1)])):
                u = edges.indices[e]
                if level[u] == current:
                    parent[v] = u
                    level[v] = current + 1
                    found += 1
                    break
    return found


def _make_relax_push(weighted: bool) -> Callable:
    def relax_push(edges, vertices):
        value, queue, queued, progress = vertices.value, vertices.queue, vertices.queued, vertices.progress
        n = np.uint64(value.size)
        now = np.uint64(progress[ITERATION] & 1) * n
        later = n - now
        count = np.uint64(0)
        for i in range(now, now + np.uint64(progress[ACTIVE])):
            v = np.uint64(queue[i])
            queued[v] = 0
            own = value[v]
            for e in range(np.uint64(edges.indptr[v]), np.uint64(edges.indptr[v + np.uint64(1)])):
                u = edges.indices[e]
                offer = own
                if weighted:
                    offer = own + edges.weights[e]
                if offer < value[u]:
                    value[u] = offer
                    if queued[u] == 0:
                        queued[u] = 1
                        queue[later + count] = u
                        count += np.uint64(1)
        return np.int64(count)

    return inline(relax_push)


def _make_relax_pull(weighted: bool) -> Callable:
    def relax_pull(edges, vertices):
        value = vertices.value
        changed = 0
        for v in range(np.uint64(value.size)):
            own = value[v]
            best = own
            for e in range(np.uint64(edges.indptr[v]), np.uint64(edges.indptr[v + np.uint64(1)])):
                offer = value[edges.indices[e]]
                if weighted:
                    offer = offer + edges.weights[e]
                best = min(best, offer)
            if best < own:
                value[v] = best
                changed += 1
        return changed

    return inline(relax_pull)


def _make_loop(iterate: Callable, name: str) -> Callable:
    def loop(limit, edges, vertices):
        progress = vertices.progress
        while progress[ITERATION] < limit and progress[ACTIVE] > 0:
            progress[ACTIVE] = iterate(edges, vertices)
            progress[ITERATION] += 1

    loop.__qualname__ = name
    return cached(**KERNEL)(loop)


_ITERATE = {
    ("pagerank", "push"): _pagerank_push,
    ("pagerank", "pull"): _pagerank_pull,
    ("bfs", "push"): _bfs_push,
    ("bfs", "pull"): _bfs_pull,
    ("sssp", "push"): _make_relax_push(True),
    ("sssp", "pull"): _make_relax_pull(True),
    ("cc", "push"): _make_relax_push(False),
    ("cc", "pull"): _make_relax_pull(False),
}

LOOPS = {key: _make_loop(iterate, "_".join(key)) for key, iterate in _ITERATE.items()}
"""(app, direction) -> compiled ``loop(limit, edges, vertices)``: until ``limit`` or nothing is active."""


def edges_of(graph: gpop.Graph, direction: str, weighted: bool) -> Edges:
    """The edges that a baseline walks; the reverse is kept with the graph."""
    if direction == "pull":
        graph = graph.reverse()
    weights = graph.weights if weighted else np.empty(0, np.uint32)
    return Edges(graph.indptr, graph.indices, weights)


def start(app: str, graph: gpop.Graph, source: int, damping: float = 0.85) -> Vertices:
    """The vertices before the first iteration."""
    n = graph.n
    frontier = app != "pagerank"
    queue = np.zeros(2 * n if frontier else 0, np.uint32)
    progress = np.zeros(4, np.int64)
    other = np.zeros(n if app == "pagerank" else 0, np.float32)
    per_edge = other[:0]
    if app == "pagerank":
        per_edge = (1 / np.maximum(np.diff(graph.indptr), 1)).astype(np.float32)
        value = per_edge / np.float32(n)
        progress[ACTIVE] = n
    elif app == "bfs":
        value, other = np.full(n, -1, np.int32), np.full(n, NOT_REACHED, np.uint32)
        value[source], other[source] = 0, source
    elif app == "sssp":
        whole = graph.weights.dtype.kind != "f"
        value = np.full(n, 2**31 - 1 if whole else np.inf, np.uint32 if whole else graph.weights.dtype)
        value[source] = 0
    else:
        value = np.arange(n, dtype=np.uint32)
        queue[:n] = value
        progress[ACTIVE] = n
    if app in ("bfs", "sssp"):
        queue[0], progress[ACTIVE] = source, 1
    # All are queued in components: marked, so that none is queued twice for the next iteration.
    queued = np.full(n if frontier else 0, app == "cc", np.uint8)
    return Vertices(
        value, other, per_edge, queue, queued, progress, np.float64((1 - damping) / n), np.float64(damping)
    )


def answer(app: str, vertices: Vertices) -> np.ndarray:
    """Ranks, levels, distances or labels."""
    return vertices.value / vertices.per_edge if app == "pagerank" else vertices.value
