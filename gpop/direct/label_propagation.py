"""Label propagation: every vertex takes the most frequent label of its neighbours, all at the same time.

Of several most frequent labels it is the smallest; a vertex without neighbours keeps its own. Neighbours are
those of the out-list and of the in-list, each as often as it is there. Threads share two phases per
iteration (`gpop.direct.phases`):

choose   a vertex counts the labels of its neighbours, unless more than half of them have its own, its first
         neighbour's, or that which the vertex before it took. At first all labels are different: it takes
         the least of them.
take     labels that have changed are written.

A vertex chooses anew only where a neighbour's label has changed: while few change, they say so to their
neighbours, else everybody chooses.

A thread counts in an array with a place for every label. Nothing is cleared between two lists: the next one
counts on from the largest count of the one before. Chunks have about as many edges each, so that a hub is
one.
Paper: U. N. Raghavan, R. Albert, S. Kumara, "Near linear time algorithm to detect community structures in
large-scale networks", Physical Review E 76, 2007 (there one vertex after the other, ties at random).
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from gpop.common.atomics import fetch_add
from gpop.common.errors import UsageError
from gpop.common.memory import require_memory
from gpop.common.parallel import as_many_as_pay, together
from gpop.direct.phases import claim, finish, kernel, make_phases, wait_for
from gpop.graph.graph import Graph

CHOOSE, TAKE = range(2)

_EDGES = 1 << 15  # of a chunk, and vertices
_SERIAL = 1 << 16  # vertices and edges that one thread does before another has started
_FEW = 8  # neighbours that are counted at once
_NONE = np.uint32(0xFFFFFFFF)  # larger than any label
_MOST = 1 << 30  # of counts, and of a list: the sum has 31 bits


class Step(NamedTuple):
    """An iteration: edges looked at, seconds, and the number of vertices whose label has changed."""

    edges: int
    seconds: float
    changed: int


def propagate(outward: Graph, inward: Graph, label: np.ndarray, iterations: int, threads: int) -> list[Step]:
    """Change the labels, at most so often; less where nothing changes any more.

    At first they are different (uint32 [n], a permutation of the vertices).

    ``inward`` is the reverse of the graph, or the graph itself where that has the same edges: then each
    neighbour counts once.

    Examples
    --------
    >>> chain = Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 1])
    >>> label = np.array([2, 0, 1], np.uint32)
    >>> [step.changed for step in propagate(chain, chain, label, 3, threads=1)], label.tolist()
    ([3, 3, 3], [0, 1, 0])
    """
    n, both = outward.n, inward is not outward
    lists = (outward.indptr, outward.indices, inward.indptr, inward.indices)
    if not _step.signatures:  # compiled before the clock starts
        _share(lists, both, 0, np.zeros(1, np.int64), label, *_state(0, 1), 0, 1)
    threads = as_many_as_pay(n + outward.m, threads) if n + outward.m >= _SERIAL else 1
    degree = outward.out_degree.astype(np.int64) + (inward.out_degree if both else 0)
    if degree.max(initial=0) > _MOST:
        raise UsageError(
            f"labels of {outward!r}: a vertex has {degree.max()} neighbours, expected at most {_MOST}"
        )
    require_memory((15 + 4 * threads) * n, f"labels of {outward!r}")
    cuts = np.append(0, np.cumsum(degree + 1))
    bounds = np.searchsorted(cuts, np.arange(0, cuts[-1] + _EDGES, _EDGES))
    bounds[-1] = n
    edges = int(degree.sum())
    state = _state(n, threads)
    steps: list[Step] = []
    while len(steps) < iterations and not (steps and steps[-1].changed == 0):
        start = time.perf_counter()
        totals = _share(lists, both, edges, bounds, label, *state, len(steps), threads)
        steps.append(Step(int(totals[0]), time.perf_counter() - start, int(totals[1])))
    return steps


def _state(n: int, threads: int) -> tuple[np.ndarray, ...]:
    """Chosen labels, who chooses, who has changed, and the counts of all threads."""
    counts = np.zeros((threads, n + 1), np.uint32)
    return np.empty(n, np.uint32), np.ones(n, np.uint8), np.zeros(n, np.uint8), counts


def _share(lists, both, edges, bounds, label, chosen, chooses, changed, counts, iteration, threads):
    """One iteration of all threads; edges looked at, vertices changed, and the edges of these."""
    phases, totals = make_phases(2), np.zeros(3, np.int64)
    together(
        lambda worker: _step(
            iteration == 0, both, edges, *lists, bounds, label, chosen, chooses, changed, counts[worker],
            phases, totals,
        ),
        threads,
    )  # fmt: skip
    return totals


@kernel
def _larger(a, b):
    """The larger of two numbers, without a branch that could not be foreseen."""
    more = b - a
    return a + (more & ~(more >> np.int64(63)))


@kernel
def _count(first, end, indices, label, counts, none, best):
    """Count the labels of a list, and return the best yet: how often it came, above `_NONE` minus the label.

    Counts of an earlier list are at most ``none``, and mean nothing.
    """
    for e in range(first, end):
        found = label[indices[e]]
        count = _larger(none, np.int64(counts[found])) + np.int64(1)
        counts[found] = np.uint32(count)
        best = _larger(best, count << np.int64(32) | np.int64(_NONE - found))
    return best


@kernel
def _alike(first, end, indices, label, own, other, third):
    """How many of a list have each of three labels."""
    owns, others, thirds = np.uint32(0), np.uint32(0), np.uint32(0)
    for e in range(first, end):
        found = label[indices[e]]
        owns += np.uint32(found == own)
        others += np.uint32(found == other)
        thirds += np.uint32(found == third)
    return np.uint64(owns), np.uint64(others), np.uint64(thirds)


@kernel
def _least(first, end, indices, label):
    """The least label of a list whose labels are all different; `_NONE` if a neighbour may be there twice."""
    least, before, ascend = _NONE, np.int64(-1), True
    for e in range(first, end):
        u = indices[e]
        ascend &= np.int64(u) > before
        before = np.int64(u)
        least = min(least, label[u])
    return least if ascend else _NONE


@kernel
def _step(
    at_first, both, edges, indptr, indices, in_indptr, in_indices, bounds, label, chosen, chooses, changed,
    counts, phases, totals,
):  # fmt: skip
    """One thread's share of an iteration; at first no two vertices have the same label."""
    one = np.uint64(1)
    chunks = len(bounds) - 1
    none, last = np.int64(counts[len(counts) - 1]), _NONE
    p = claim(phases, CHOOSE)
    while p < chunks:
        looked_at, moved, moved_edges = np.uint64(0), np.uint64(0), np.uint64(0)
        for v in range(np.uint64(bounds[p]), np.uint64(bounds[p + 1])):
            if not chooses[v]:
                continue
            chooses[v] = 0
            e, end = np.uint64(indptr[v]), np.uint64(indptr[v + one])
            i, stop = np.uint64(0), np.uint64(0)
            if both:
                i, stop = np.uint64(in_indptr[v]), np.uint64(in_indptr[v + one])
            degree = end - e + stop - i
            if degree == 0:
                continue
            looked_at += degree
            own, best = label[v], _NONE
            if at_first and not both:
                best = _least(e, end, indices, label)
            elif degree > np.uint64(_FEW):
                near = label[indices[e]] if e < end else label[in_indices[i]]
                owns, others, thirds = _alike(e, end, indices, label, own, last, near)
                if both:
                    more, more_others, more_thirds = _alike(i, stop, in_indices, label, own, last, near)
                    owns, others, thirds = owns + more, others + more_others, thirds + more_thirds
                if np.uint64(2) * owns > degree:
                    continue
                if np.uint64(2) * others > degree:
                    best = last
                elif np.uint64(2) * thirds > degree:
                    best = near
            if best == _NONE:
                leads = _count(e, end, indices, label, counts, none, np.int64(0))
                if both:
                    leads = _count(i, stop, in_indices, label, counts, none, leads)
                best, none = _NONE - np.uint32(leads), leads >> np.int64(32)
                if none > _MOST:
                    counts[:] = 0
                    none = np.int64(0)
            last = best
            if best != own:
                chosen[v] = best
                changed[v] = 1
                moved += one
                moved_edges += degree
        fetch_add(totals, 0, np.int64(looked_at))
        fetch_add(totals, 1, np.int64(moved))
        fetch_add(totals, 2, np.int64(moved_edges))
        finish(phases, CHOOSE)
        p = claim(phases, CHOOSE)
    counts[len(counts) - 1] = np.uint32(none)
    wait_for(phases, CHOOSE, chunks)

    tell = 4 * totals[2] < edges
    p = claim(phases, TAKE)
    while p < chunks:
        for v in range(np.uint64(bounds[p]), np.uint64(bounds[p + 1])):
            if not tell:
                chooses[v] = 1
            if changed[v]:
                changed[v] = 0
                label[v] = chosen[v]
                if tell:
                    for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + one])):
                        chooses[indices[e]] = 1
                    if both:
                        for e in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + one])):
                            chooses[in_indices[e]] = 1
        finish(phases, TAKE)
        p = claim(phases, TAKE)
    wait_for(phases, TAKE, chunks)
