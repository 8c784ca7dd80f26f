"""Greedy colouring in a given order, by all threads at once: a vertex waits for its earlier neighbours.

Vertices are claimed in chunks of the order, and each takes the least colour that none of its earlier
neighbours has. Where one of these has no colour yet, another thread is about to give it one, and the vertex
waits: nobody waits for a later vertex, so the first one without a colour never waits, and there is always
somebody who goes on. The colours are those of a single thread, whatever their number.

Encoding of ``state`` (int64 [n]): a colour, or -1 - place in the order; so one load says who is earlier.
Papers: M. T. Jones, P. E. Plassmann, "A parallel graph coloring heuristic", SIAM Journal on Scientific
Computing 14, 1993; W. Hasenplaugh, T. Kaler, T. Schardl, C. Leiserson, "Ordering heuristics for parallel
graph coloring", SPAA 2014 (largest degree first). There vertices count down their earlier neighbours; here
they look at them.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from gpop.common.atomics import load_acquire, store_release
from gpop.common.memory import require_memory
from gpop.common.parallel import together
from gpop.direct.oriented import order_by_degree
from gpop.direct.phases import back_off, claim, kernel, make_phases
from gpop.graph.graph import Graph

PHASES = ("order", "color")

_CHUNK = 64  # vertices
_SERIAL = 1 << 19
"""Vertices and edges of graphs that one thread colours: on 4 and 16 threads of an Intel machine mails (.4
million) took 1.0 and 1.3 times as long, the web (3.5) .56 and .45."""
_ASKED = 4096
_MOST_CHAINED = 0.3
"""Of so many vertices, the share that follow a neighbour within a chunk, from which on one thread colours:
others would wait for it at every chunk. Two threads of an Intel machine took 1.4 times as long on a grid
(share 1.0), 1.2 and 1.1 on roads (.47 and .38), but .85 on the web (.15) and .65 on random edges (0)."""


class Colors(NamedTuple):
    """The colour of every vertex, and the seconds of ordering and of colouring."""

    color: np.ndarray
    order_seconds: float
    seconds: float


def greedy_colors(graph: Graph, first: np.ndarray | None, threads: int) -> Colors:
    """Colour a symmetric graph by descending degree; equal ones in the order ``first`` (None: as they are).

    Examples
    --------
    >>> fan = Graph.from_edges([0, 0, 0, 1, 2], [1, 2, 3, 2, 3], n=5).symmetrize()
    >>> greedy_colors(fan, None, threads=1).color.tolist()
    [0, 2, 1, 2, 0]
    """
    n = graph.n
    if n and not _color.signatures:  # compiled before the clock starts
        none = Graph(np.zeros(1, np.int64), np.empty(0, np.uint32))
        greedy_colors(none, None, 1)
        _chained(none.indptr, none.indices, np.empty(0, np.uint32), np.empty(0, np.int64))
    start = time.perf_counter()
    threads = threads if n + graph.m >= _SERIAL else 1
    degree = graph.out_degree if first is None else graph.out_degree[first]
    most = int(degree.max(initial=0))
    require_memory(28 * n + 4 * threads * (most + 2), f"colours of {graph!r}")
    order, rank = np.empty((2, n), np.uint32)
    order_by_degree(degree, True, np.zeros(most + 2, np.int64), order, rank, np.empty(n + 1, np.int64))
    if first is not None:
        order = first[order].astype(np.uint32)
    state = np.empty(n, np.int64)
    state[order] = np.arange(-1, -1 - n, -1)
    if threads > 1 and _chained(graph.indptr, graph.indices, order, state) > _MOST_CHAINED:
        threads = 1
    seen = np.zeros((threads, most + 2), np.uint32)
    phases = make_phases(1)
    ordered = time.perf_counter()
    together(lambda worker: _color(graph.indptr, graph.indices, order, state, seen[worker], phases), threads)
    color = state.astype(np.uint32)
    return Colors(color, ordered - start, time.perf_counter() - start)


@kernel
def _chained(indptr, indices, order, state):
    """Share of vertices with a neighbour that comes less than a chunk before them."""
    n, chained, asked = np.int64(len(order)), 0, 0
    for place in range(0, n, max(1, n // _ASKED)):
        v = np.int64(order[place])
        asked += 1
        for e in range(indptr[v], indptr[v + 1]):
            before = place + np.int64(1) + state[np.int64(indices[e])]  # who comes first is -1
            if 0 < before < _CHUNK:
                chained += 1
                break
    return chained / max(asked, 1)


@kernel
def _color(indptr, indices, order, state, seen, phases):
    """One thread's share; ``seen[c]`` says who has last met the colour c: its place in the order, + 1."""
    n, chunk, one = np.uint64(len(order)), np.uint64(_CHUNK), np.uint64(1)
    p = np.uint64(claim(phases, 0))
    while p * chunk < n:
        for place in range(p * chunk, min(n, (p + one) * chunk)):
            v = np.uint64(order[place])
            mark = np.uint32(place + one)
            for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + one])):
                u = np.uint64(indices[e])
                its = state[u]
                if its < 0:
                    if np.int64(-1) - its >= np.int64(place):  # later, or a loop
                        continue
                    tries = 0
                    its = load_acquire(state, u)
                    while its < 0:
                        back_off(tries)
                        tries += 1
                        its = load_acquire(state, u)
                seen[its] = mark
            color = 0
            while seen[color] == mark:
                color += 1
            store_release(state, v, color)
        p = np.uint64(claim(phases, 0))
