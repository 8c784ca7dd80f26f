"""A child of two graphs: crossover of their edges, then mutation, in one pass over sorted edges.

A graph is its edges ``source << 32 | destination`` in ascending order, which stands for the matrix of all
n (n - 1) *entries* (u, v), u != v: nothing here is as large as that matrix. What both parents have the child
has, too. Where they differ an entry is taken from one of them: ``edge`` draws for each entry, ``vertex`` for
each source, ``point`` draws one vertex, up to which sources are the first parent's. ``union`` draws for each
source whether it has the edges of either parent or only those of both, which spreads degrees. That is what
the thesis' program (Belewitte, evolve.cpp) does under the name vertex-wise. Here one child of 128 draws
for each destination instead: from sources alone only out-degrees spread, and with 1,000 vertices no degree is
ever as low as a uniform target wants some of them (a distance of .096 for good, in place of .043 after 77
generations). Where half or an eighth of them do, 100 vertices miss an exponential target with some seeds.

Mutation then changes each entry by itself: an absent edge is inserted with one probability, an edge removed
with another. Equal ones are the thesis' bit flips. Which entries these are is drawn by the geometric
gaps between them: work follows the changes. To insert an edge that is there changes nothing.

M. Verstraaten's thesis, chapter 5. Random numbers are those of (seed, child), see `gpop.common.random_bits`.
"""

from __future__ import annotations

import math

import numpy as np

from gpop.common.cached import cached
from gpop.common.random_bits import GOLDEN, below, mix, stream

VERTEX, EDGE, POINT, UNION = range(4)
CROSSOVERS = {"vertex": VERTEX, "edge": EDGE, "point": POINT, "union": UNION}

_END = np.uint64(0xFFFFFFFFFFFFFFFF)
_DESTINATION = np.uint64(0xFFFFFFFF)
_INWARD = np.uint64(128)  # one of so many children of `union` draws for destinations
_MOST = 2.0**62


@cached(inline="always")
def _gap(start, number, log_kept):
    """Entries that are passed by before the next change; ``log_kept`` is log(1 - probability)."""
    if log_kept == 0:
        return np.uint64(_MOST)
    bits = mix(start + number * GOLDEN)
    uniform = (np.float64(bits >> np.uint64(11)) + 1.0) * 2.0**-53
    return np.uint64(min(math.log(uniform) / log_kept, _MOST))


@cached(inline="always")
def _edge(entry, n):
    """The edge at a place of the matrix without its diagonal."""
    source = entry // np.uint64(n - 1)
    destination = entry - source * np.uint64(n - 1)
    destination += np.uint64(destination >= source)
    return source << np.uint64(32) | destination


@cached(inline="always")
def _log_kept(probability):
    return math.log1p(-probability) if probability < 1 else -math.inf


@cached
def _insertions(start, n, probability):
    """Edges of the entries that are drawn to be inserted, and a last one that is none."""
    entries = np.uint64(n) * np.uint64(n - 1)
    log_kept = _log_kept(probability)
    one = np.uint64(1)
    number = np.uint64(0)
    entry = _gap(start, number, log_kept)
    while entry < entries:  # how many
        number += one
        entry += one + _gap(start, number, log_kept)
    edges = np.empty(np.int64(number) + 1, np.uint64)
    entry = _gap(start, np.uint64(0), log_kept)
    for i in range(len(edges) - 1):
        edges[i] = _edge(entry, n)
        entry += one + _gap(start, np.uint64(i + 1), log_kept)
    edges[-1] = _END
    return edges


@cached
def child_of(first, second, crossover, seed, child, n, insert, remove):
    """Edges of a child; ``insert`` and ``remove`` are the probabilities of mutation."""
    one = np.uint64(1)
    start = stream(seed, child)
    picks = mix(start + GOLDEN)
    point = below(picks, np.uint64(n))
    inward = crossover == UNION and mix(picks + GOLDEN) & (_INWARD - one) == 0
    inserted = _insertions(stream(start, np.uint64(1)), n, insert)
    removals = stream(start, np.uint64(2))
    log_kept = _log_kept(remove)
    drawn = one
    removed = _gap(removals, np.uint64(0), log_kept)
    edges = np.empty(len(first) + len(second) + len(inserted), np.uint64)
    i = j = k = count = 0
    crossed = np.uint64(0)  # edges that crossover gave
    row = _END
    of_first = False
    while True:
        a = first[i] if i < len(first) else _END
        b = second[j] if j < len(second) else _END
        edge = min(a, b)
        while inserted[k] < edge:
            edges[count] = inserted[k]
            count += 1
            k += 1
        if edge == _END:
            break
        i += a == edge
        j += b == edge
        if a != b:
            source = edge >> np.uint64(32)
            if crossover == EDGE:
                of_first = stream(picks, edge) & one == 0
            elif inward:
                of_first = stream(picks, edge & _DESTINATION) & one == 0
            elif source != row:
                row = source
                of_first = source <= point if crossover == POINT else stream(picks, source) & one == 0
            if of_first != (crossover == UNION or a == edge):
                continue
        k += inserted[k] == edge
        if crossed == removed:
            removed += one + _gap(removals, drawn, log_kept)
            drawn += one
        else:
            edges[count] = edge
            count += 1
        crossed += one
    return edges[:count].copy()
