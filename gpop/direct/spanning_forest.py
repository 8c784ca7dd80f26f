"""Minimum spanning forest by Boruvka: every tree takes the lightest edge that leaves it, all at once.

Of edges of equal weight the one with the smaller first vertex is lighter, then the one with the smaller
second one, so that no two are equal and the forest is the only one. Threads share the phases of a round
(`gpop.direct.phases`), until no tree has found an edge:

choose   a vertex looks for the lightest of its edges that leave its tree; the lightest of a tree's vertices
         is kept by compare-and-swap. Vertices without such an edge are never looked at again, and those of
         the largest tree of a sample not now: the others come to it by themselves.
hook     a tree is hung below the one at the other end of its edge; of two that chose the same edge, one.
flatten  every vertex points at the root of its tree.

Then the edges are hung up from the first vertex of each tree: a vertex has a parent, and the edge to it.
Encoding: weights are int64 in the order of the values (`sortable`). ``choice[v]`` is a place in the lists,
``best[root]`` the vertex whose choice is the tree's, ``taken[root]`` the vertex by whose choice it was hung.
Paper: S. Chung, A. Condon, "Parallel implementation of Boruvka's minimum spanning tree algorithm", IPPS 1996.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from gpop.common.atomics import compare_and_swap, fetch_add, load_acquire
from gpop.common.inlined import inline
from gpop.common.memory import require_memory
from gpop.common.parallel import as_many_as_pay, together
from gpop.direct.forest import find, sample_roots
from gpop.direct.phases import claim, finish, kernel, make_phases, wait_for
from gpop.graph.graph import Graph

CHOOSE, HOOK, FLATTEN = range(3)

_EDGES = 1 << 15  # of a chunk, and vertices
_SERIAL = 1 << 16  # vertices and edges that one thread does before another has started
_SAMPLES = 256


class Round(NamedTuple):
    """A round: edges looked at, seconds, and trees that were hung below others."""

    edges: int
    seconds: float
    hooked: int


class Tree(NamedTuple):
    """``parent`` of every vertex (-1: none), the place ``via`` of the edge to it in the lists, and rounds."""

    parent: np.ndarray
    via: np.ndarray
    rounds: list[Round]
    seconds: float


def sortable(weights: np.ndarray | None, m: int) -> np.ndarray:
    """int64 numbers in the order of the weights, all equal where there are none.

    Examples
    --------
    >>> keys = sortable(np.array([2.5, -1, 0, -0.0, -np.inf]), 5)
    >>> np.argsort(keys, kind="stable").tolist(), bool(keys[2] == keys[3])
    ([4, 1, 2, 3, 0], True)
    >>> np.argsort(sortable(np.array([2**64 - 1, 3, 2**63], np.uint64), 3)).tolist()
    [1, 2, 0]
    """
    if weights is None:
        return np.zeros(m, np.int64)
    if weights.dtype.kind == "f":
        bits = (weights.astype(np.float64) + 0.0).view(np.int64)  # + 0.0 makes 0.0 of -0.0
        return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)
    if weights.dtype == np.uint64:
        return (weights ^ np.uint64(2**63)).view(np.int64)
    return weights.astype(np.int64)


def span(graph: Graph, keys: np.ndarray, first: np.ndarray | None, threads: int) -> Tree:
    """The forest of a graph that equals its reverse, keys included; ``first`` is the order of its vertices.

    Examples
    --------
    >>> square = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], [1, 2, 3, 4], n=5).symmetrize()
    >>> tree = span(square, sortable(square.weights, square.m), None, threads=1)
    >>> tree.parent.tolist(), square.weights[tree.via[1:4]].tolist()
    ([-1, 0, 1, 2, -1], [1, 2, 3])
    """
    n = graph.n
    if n and not _hang.signatures:  # compiled before the clock starts
        span(Graph(np.zeros(1, np.int64), np.empty(0, np.uint32)), keys[:0], None, 1)
    start = time.perf_counter()
    threads = as_many_as_pay(n + graph.m, threads) if n + graph.m >= _SERIAL else 1
    require_memory(70 * n, f"spanning forest of {graph!r}")
    order = np.arange(n, dtype=np.uint32) if first is None else first.astype(np.uint32)
    place = np.empty(n, np.uint32)
    place[order] = np.arange(n, dtype=np.uint32)
    tree, above = np.arange(n, dtype=np.uint32), np.arange(n, dtype=np.uint32)
    open_, choice = np.ones(n, np.uint8), np.zeros(n, np.int64)
    best, taken = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    via = np.full(n, -1, np.int64)
    cuts = graph.indptr + np.arange(n + 1)
    bounds = np.searchsorted(cuts, np.arange(0, cuts[-1] + _EDGES, _EDGES))
    bounds[-1] = n
    rounds: list[Round] = []
    sample = np.empty(_SAMPLES, np.uint32)
    while not rounds or rounds[-1].hooked:
        begin = time.perf_counter()
        largest = sample_roots(tree, sample)[0] if rounds else n
        phases, totals = make_phases(3), np.zeros(2, np.int64)
        together(
            lambda worker, largest=largest, phases=phases, totals=totals: _round(
                np.uint64(largest), graph.indptr, graph.indices, keys, place, bounds, tree, above, open_,
                choice, best, taken, via, phases, totals,
            ),
            threads,
        )  # fmt: skip
        rounds.append(Round(int(totals[0]), time.perf_counter() - begin, int(totals[1])))
        if n == 0:
            break
    parent, edge_up = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    hung = int(np.count_nonzero(taken >= 0))
    _hang(
        graph.indices, order, taken, via, parent, edge_up, np.zeros(n + 1, np.int64),
        np.empty(2 * hung, np.int64), np.empty(2 * hung, np.uint32), np.empty(n, np.uint32),
    )  # fmt: skip
    return Tree(parent, edge_up, rounds, time.perf_counter() - start)


@inline
def _lighter(v, e, w, f, indices, keys, place):
    """Whether edge ``e`` of ``v`` comes before edge ``f`` of ``w``."""
    if keys[e] != keys[f]:
        return keys[e] < keys[f]
    a, b = place[v], place[indices[e]]
    c, d = place[w], place[indices[f]]
    if min(a, b) != min(c, d):
        return min(a, b) < min(c, d)
    return max(a, b) < max(c, d)


@kernel
def _round(
    largest,
    indptr,
    indices,
    keys,
    place,
    bounds,
    tree,
    above,
    open_,
    choice,
    best,
    taken,
    via,
    phases,
    totals,
):
    """One thread's share of a round; ``largest`` is a tree that does not choose."""
    one = np.uint64(1)
    chunks = len(bounds) - 1
    p = claim(phases, CHOOSE)
    while p < chunks:
        looked_at = np.uint64(0)
        for v in range(np.uint64(bounds[p]), np.uint64(bounds[p + 1])):
            mine = np.uint64(tree[v])
            if mine == largest or not open_[v]:
                continue
            found, lightest = False, np.uint64(0)
            first, end = np.uint64(indptr[v]), np.uint64(indptr[v + one])
            looked_at += end - first
            for e in range(first, end):
                if tree[indices[e]] != mine and (
                    not found or _lighter(v, e, v, lightest, indices, keys, place)
                ):
                    found, lightest = True, e
            if not found:
                open_[v] = 0
                continue
            choice[v] = lightest
            now = load_acquire(best, mine)
            while now < 0 or _lighter(
                v, lightest, np.uint64(now), np.uint64(choice[now]), indices, keys, place
            ):
                if compare_and_swap(best, mine, now, np.int64(v)):
                    break
                now = load_acquire(best, mine)
        fetch_add(totals, 0, np.int64(looked_at))
        finish(phases, CHOOSE)
        p = claim(phases, CHOOSE)
    wait_for(phases, CHOOSE, chunks)

    p = claim(phases, HOOK)
    while p < chunks:
        hooked = 0
        for root in range(np.uint64(bounds[p]), np.uint64(bounds[p + 1])):
            v = best[root]
            if v < 0:
                continue
            head = np.int64(indices[choice[v]])
            other = np.uint64(tree[head])
            w = best[other]
            if w == head and np.int64(indices[choice[w]]) == v and root < other:
                continue  # the other one has chosen the same edge, and hangs itself up
            above[root] = np.uint32(other)
            taken[root] = v
            via[root] = choice[v]
            hooked += 1
        fetch_add(totals, 1, hooked)
        finish(phases, HOOK)
        p = claim(phases, HOOK)
    wait_for(phases, HOOK, chunks)

    p = claim(phases, FLATTEN)
    while p < chunks:
        for v in range(np.uint64(bounds[p]), np.uint64(bounds[p + 1])):
            tree[v] = np.uint32(find(above, np.uint64(tree[v])))
            best[v] = -1
        finish(phases, FLATTEN)
        p = claim(phases, FLATTEN)
    wait_for(phases, FLATTEN, chunks)


@kernel
def _hang(indices, order, taken, via, parent, edge_up, begin, near, near_edge, queue):
    """Search through the edges that were taken, from the first vertex of each tree."""
    n = len(order)
    for root in range(n):
        if taken[root] >= 0:
            begin[taken[root]] += 1
            begin[indices[via[root]]] += 1
    at = 0
    for v in range(n):
        at += begin[v]
        begin[v] = at
    begin[n] = at
    for root in range(n):
        if taken[root] >= 0:
            v, e = taken[root], via[root]
            u = np.int64(indices[e])
            begin[v] -= 1
            near[begin[v]] = e
            near_edge[begin[v]] = np.uint32(u)
            begin[u] -= 1
            near[begin[u]] = e
            near_edge[begin[u]] = np.uint32(v)
    last = 0
    for i in range(n):
        start = np.int64(order[i])
        if edge_up[start] >= 0:
            continue
        queue[0], last, done = np.uint32(start), 1, 0
        while done < last:
            v = np.int64(queue[done])
            done += 1
            for j in range(begin[v], begin[v + 1]):
                u = np.int64(near_edge[j])
                if u != parent[v]:
                    parent[u] = v
                    edge_up[u] = near[j]
                    queue[last] = np.uint32(u)
                    last += 1
