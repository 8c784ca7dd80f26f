"""Core numbers: the largest k so that a vertex is in a part of the graph where all have k neighbours or more.

Peeling: for k = 0, 1, ... all that has at most k neighbours left is taken away, and what has no more than
that afterwards; k is its core number. One thread does it in an order of its own (`gpop.direct.cores_alone`);
several do in steps that they share (`gpop.direct.crew`), chunk by chunk:

degrees   count the neighbours of each vertex (neither itself nor one twice), and list all vertices.
scan      of what is left in a chunk's list, those with k neighbours or fewer go to the chunk's stack.
peel      take a vertex off the stack; its neighbours have one less; one that comes down to k thereby goes to
          the stack of the same chunk, so that a cascade needs no step of its own.

A list only keeps what is left, and one k follows the next that occurs, so that all scans together look at
fewer entries than there are edges. When the lists are mostly empty they are packed into fewer chunks.

Encoding: a stack is linked through ``above``; a vertex has one entry there, since it is on one stack once.
``degree`` is int32: two threads may take the same vertex down below k, and the first one to reach k has it.
Papers: V. Batagelj, M. Zaversnik, "An O(m) algorithm for cores decomposition of networks", 2003;
H. Kabir, K. Madduri, "Parallel k-core decomposition on multicore platforms", IPDPSW 2017.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from gpop.common.atomics import fetch_add
from gpop.common.inlined import inline
from gpop.common.memory import require_memory
from gpop.common.parallel import together
from gpop.direct.cores_alone import neighbours, peel_alone
from gpop.direct.crew import KIND, announce, dismiss, end, make_crew, next_chunk
from gpop.direct.phases import kernel
from gpop.graph.graph import Graph

DEGREES, SCAN, PEEL, OVER = range(4)
K, CHUNKS, EDGES = range(3)
"""Slots of ``now``: the core number that is peeled; chunks of lists; edges that were looked at."""

_CHUNK = 1 << 11  # vertices
_SPARSE = 4  # lists are packed when so many times fewer are left
_SERIAL, _SERIAL_THIN, _THIN = 1 << 23, 1 << 18, 8
"""Vertices and edges of graphs that one thread peels, and of those with so few edges a vertex: among many,
steps are short, and what is taken from a neighbour is mostly in another core's cache. On 4 and 16 threads of
an Intel machine mails took 1.6 times as long, papers 1.9, the web (6 million) 1.2 and 1.1, RMAT 18 (of 8)
1.1 and .9; but roads .44 and .17, RMAT 20 .75 and .5."""
_FEWEST = 3
"""Threads that are faster than one: two have to add with atomics, and to branch, and gain nothing by that."""
_LIGHT = 1 << 14  # vertices or edges of a step that the leader does alone
_NOBODY = np.uint32(0xFFFFFFFF)
_ONE = np.uint64(1)


class Cores(NamedTuple):
    """``core`` of every vertex, uint32; edges that were looked at, and seconds."""

    core: np.ndarray
    edges: int
    seconds: float


class _PeelSpace(NamedTuple):
    """Per vertex: ``core``, ``degree``, ``left`` (the chunks' lists), ``above`` (below which one on a stack).

    Per chunk: ``size`` of its list, ``top`` of its stack, ``edges`` of what is there, ``least`` degree in the
    list.
    """

    core: np.ndarray
    degree: np.ndarray
    left: np.ndarray
    above: np.ndarray
    size: np.ndarray
    top: np.ndarray
    edges: np.ndarray
    least: np.ndarray
    now: np.ndarray


def core_numbers(graph: Graph, simple: bool, threads: int) -> Cores:
    """Core numbers of a symmetric graph with ascending lists; loops and duplicates are left out.

    ``simple`` promises that there are none, so that nobody has to look.

    Examples
    --------
    >>> kite = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3]).symmetrize()
    >>> core_numbers(kite, True, threads=1).core.tolist()
    [2, 2, 2, 1]
    """
    n, indptr, indices = graph.n, graph.indptr, graph.indices
    require_memory(16 * n, f"core numbers of {graph!r}")
    if threads < _FEWEST or n + graph.m < (_SERIAL_THIN if graph.m <= _THIN * n else _SERIAL):
        peel_alone(simple, indptr[:1], indices)  # compiled before the clock starts
        start = time.perf_counter()
        core, edges = peel_alone(simple, indptr, indices)
        return Cores(core, edges, time.perf_counter() - start)
    over = make_crew(1)
    dismiss(over)
    _peel_all(1, simple, indptr, indices, _space(0), over)
    start = time.perf_counter()
    space, crew = _space(n), make_crew(threads)
    together(
        lambda worker: _peel_all(worker, simple, indptr, indices, space, crew),
        threads,
        lambda: dismiss(crew),
    )
    return Cores(space.core, int(space.now[EDGES]), time.perf_counter() - start)


def _space(n: int) -> _PeelSpace:
    chunks = (n + _CHUNK - 1) // _CHUNK
    core, left, above = np.empty((3, n), np.uint32)
    size, edges, least = np.empty((3, chunks), np.int64)
    top = np.empty(chunks, np.uint32)
    return _PeelSpace(
        core, np.empty(n, np.int32), left, above, size, top, edges, least, np.array([-1, chunks, 0, 0])
    )


@inline
def _count(chunk, simple, indptr, indices, space):
    """Neighbours of the vertices of a chunk."""
    first = np.uint64(chunk * _CHUNK)
    last = min(np.uint64(len(space.core)), first + np.uint64(_CHUNK))
    for v in range(first, last):
        space.degree[v] = neighbours(v, simple, indptr, indices)
        space.left[v] = v
    space.size[chunk] = last - first


@inline
def _scan(chunk, k, indptr, space):
    """Put what has at most k neighbours on the stack of its chunk, and keep what has more in the list.

    What has fewer was peeled before, from the stack of any chunk.
    """
    degree, left, above = space.degree, space.left, space.above
    at = first = np.uint64(chunk * _CHUNK)
    top, edges, least = _NOBODY, np.int64(0), np.int64(1) << 40
    for i in range(first, first + np.uint64(space.size[chunk])):
        v = left[i]
        d = degree[v]
        if d > k:
            left[at] = v
            at += _ONE
            least = min(least, np.int64(d))
        elif d == k:
            above[v] = top
            top = v
            edges += indptr[np.uint64(v) + _ONE] - indptr[np.uint64(v)]
    space.edges[chunk] = edges
    space.size[chunk], space.top[chunk], space.least[chunk] = at - first, top, least


@inline
def _peel(chunk, k, indptr, indices, space):
    """Peel what is on the stack of a chunk, and what comes down to k neighbours by that."""
    core, degree, above = space.core, space.degree, space.above
    top, edges = space.top[chunk], 0
    while top != _NOBODY:
        v = np.uint64(top)
        top = above[v]
        core[v] = k
        begin, stop = np.uint64(indptr[v]), np.uint64(indptr[v + _ONE])
        edges += np.int64(stop - begin)
        before = v
        for e in range(begin, stop):
            u = np.uint64(indices[e])
            if degree[u] > k and u != before:
                if fetch_add(degree, u, np.int32(-1)) == k + 1:
                    above[u] = top
                    top = np.uint32(u)
            before = u
    fetch_add(space.now, EDGES, edges)


@inline
def _pack(space):
    """Put the lists of the chunks together; how many vertices are left."""
    left, size, now = space.left, space.size, space.now
    total = 0
    for chunk in range(now[CHUNKS]):
        total += size[chunk]
    if total * _SPARSE < now[CHUNKS] * _CHUNK and now[CHUNKS] > 1:
        at = 0
        for chunk in range(now[CHUNKS]):
            for i in range(chunk * _CHUNK, chunk * _CHUNK + size[chunk]):
                left[at] = left[i]
                at += 1
        now[CHUNKS] = (total + _CHUNK - 1) // _CHUNK
        for chunk in range(now[CHUNKS]):
            size[chunk] = min(_CHUNK, total - chunk * _CHUNK)
    return total


@inline
def _next(kind, space):
    """The step after one of this kind, and about how many vertices or edges it looks at."""
    now = space.now
    if kind == SCAN:
        found, edges, least = False, np.int64(0), np.int64(1) << 40
        for chunk in range(now[CHUNKS]):
            found = found or space.top[chunk] != _NOBODY
            edges += space.edges[chunk]
            least = min(least, space.least[chunk])
        if found:
            return PEEL, edges
        now[K] = least
    else:
        now[K] += 1
    left = _pack(space)
    return SCAN if left > 0 else OVER, left


@kernel
def _peel_all(worker, simple, indptr, indices, space, crew):
    """All steps: what the leader does, worker 0, and who follows."""
    kind = DEGREES
    if worker == 0 and len(space.core) > 0:
        announce(crew, DEGREES, len(space.size), False)
    owed = 0
    while True:
        chunk, owed = next_chunk(crew, worker, owed)
        if chunk < 0:
            if worker > 0 or len(space.core) == 0:
                return
            kind, work = _next(kind, space)
            if kind == OVER:
                end(crew)
                return
            announce(crew, kind, space.now[CHUNKS], work < _LIGHT)
            continue
        step, k = crew[KIND], space.now[K]
        if step == DEGREES:
            _count(chunk, simple, indptr, indices, space)
        elif step == SCAN:
            _scan(chunk, k, indptr, space)
        else:
            _peel(chunk, k, indptr, indices, space)
