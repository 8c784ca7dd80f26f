"""Shortest paths from a vertex on lists that begin with the lightest edge: push light edges, pull the rest.

Delta-stepping, bucket by bucket, but a vertex sends no further than a *cut*: edges that lead beyond it wait.
Where degrees are not small most vertices are settled within a short stretch of distances, and then nearly all
edges that wait lead from one settled vertex to another: they are never looked at. Steps, which threads share
(`gpop.direct.crew`), chunk by chunk:

near      vertices of this bucket send along their edges up to the cut. What that brings into the bucket is
          near next, what lies beyond is far. A long list is walked as bits, in the order of memory.
split     the next bucket begins: those of the far vertices that are in it become near.
rest      the cut moves on: what is settled sends on from where it stopped, up to the new cut.
pull      once, when `FULL` of all edges are those of settled vertices: what is not settled takes the best
          of its in-edges. From then on there is no cut, and buckets are wide.

A bucket ends where the cut is at most. Where no edge is as short as that, the cut jumps; where the rests come
to as much as all edges (a graph of long paths), the pull, or a last rest of all, comes early.

Encoding: distances are uint32; `FARTHEST` is that of what is not reached, or is as far or farther.
Papers: U. Meyer, P. Sanders, "Delta-stepping", 2003; V. Chakaravarthy, F. Checconi, P. Murali, F. Petrini,
Y. Sabharwal, "Scalable single source shortest path algorithms for massively parallel systems", IPDPS 2014.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from gpop.common.arrays import unset
from gpop.common.atomics import clock_ns
from gpop.common.by_reference import Reference, reference_of
from gpop.common.inlined import inline
from gpop.common.memory import require_memory
from gpop.common.standby import call_together
from gpop.direct.crew import KIND, announce, apart, end, make_crew, next_chunk
from gpop.direct.frontier import BUFFER, flush
from gpop.direct.shared_job import entry
from gpop.direct.shortest_paths_steps import (
    CUT,
    DENSE,
    EDGES,
    ENDS,
    FAR_ROW,
    FIRST,
    HELD,
    HIGH,
    LAST,
    LATER,
    LEAST,
    MASS,
    NEAR,
    NEAR_ROW,
    NEXT,
    OVER,
    PULL,
    REST,
    SETTLED,
    SIZE,
    SLOTS,
    SPLIT,
    STARTED,
    TIMES,
    WALKED,
    WIDTH,
    WINDOW,
    LineSpace,
    LineWays,
    do_step,
    put_on_list,
)
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.layout.by_weight import lines_by_weight
from gpop.model.light_first import FARTHEST, FEW, FULL, NEVER, PHASES, VISIT

VERTEX_BYTES = 28
"""Of the arrays of a search."""

KEPT = "Shortest paths"
"""Under which what searches work in stays with the graph."""

STRETCH, LATER_WIDTH = 4, 20
"""Distances up to a cut, and of a bucket after the pull, in mean weights over the mean degree, which is a
bucket before it: the best or near it on RMAT, random and social graphs."""

_DENSE = 8  # a list of more than one in so many vertices is walked as bits
_CHUNK = 1 << 12  # edges
_SERIAL = 1 << 15  # vertices and edges that one thread does before another has started
_UINT32 = np.dtype(np.uint32)


class Distances(NamedTuple):
    """``distance`` of every vertex: `FARTHEST`, or less than ``below``; ``edges`` and seconds of each phase;
    ``threads`` that were called."""

    distance: np.ndarray
    below: int
    edges: np.ndarray
    phase_seconds: np.ndarray
    seconds: float
    prepare_seconds: float
    threads: int


class _Search(NamedTuple):
    """What threads share; ``alone``: there is but one."""

    alone: np.bool_
    source: np.uint64
    ways: Reference
    space: Reference
    crew: np.ndarray


class _Room:
    """What a search works in: all but the source and the distances is there, and is as it begins."""

    def __init__(self, ways: Reference, n: int, unit: float, threads: int) -> None:
        space, crew = _space(n, unit, threads), make_crew(threads)
        self.space, table = space, Reference(space)
        self.job = Reference(_Search(np.bool_(threads == 1), np.uint64(0), ways, table, crew))
        self.function = entry(_search, self.job.kind)
        self.crew, self.first = crew, (crew.copy(), space.now.copy())
        self.distances, self.distance_at = table.table, table.kind.places["distance"]
        self.source_at = self.job.kind.places["source"]

    def search(self, source: int, distance: np.ndarray, threads: int) -> None:
        """Set the distances from a vertex."""
        self.crew[:], self.space.now[:] = self.first
        at, table = self.distance_at, self.distances
        table[at], table[at + 1] = distance.__array_interface__["data"][0], len(distance)
        self.job.table[self.source_at] = source
        call_together(self.function, self.job.address, threads)


def search(graph: Graph, source: int, unit: float, threads: int) -> Distances:
    """Distances from a vertex of a graph with whole-number weights; ``unit``: mean weight over mean degree.

    What it works in is kept with the graph: to make it takes as long as 100,000 edges.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 0, 1], [1, 2, 2], np.array([2, 9, 3]))
    >>> search(graph, 0, 1.0, threads=1).distance.tolist()
    [0, 2, 5]
    """
    n, begin = graph.n, time.perf_counter()
    threads = threads if n + graph.m >= _SERIAL else 1
    key = KEPT, unit, threads
    found = graph.store.noted(key)
    if found is None:
        found = _prepare(graph, unit, threads)
        graph.store.note(key, found)
    _, ways, spare = found
    try:
        room = spare.pop()
    except IndexError:  # another search has it
        room = _Room(ways, n, unit, threads)
    distance = unset(n, _UINT32)
    start = time.perf_counter()
    room.search(source, distance, threads)
    now = room.space.now
    tallies, below = now[EDGES : TIMES + OVER].copy(), int(now[HIGH])
    spare[:] = [room]
    tallies[NEAR :: TIMES - EDGES] += tallies[DENSE :: TIMES - EDGES]
    edges, times = tallies[: len(PHASES)], tallies[TIMES - EDGES :][: len(PHASES)] / 1e9
    seconds = time.perf_counter() - start
    return Distances(distance, below, edges, times, seconds, start - begin, threads)


def _prepare(graph: Graph, unit: float, threads: int) -> tuple[LineWays, Reference, list[_Room]]:
    """The lists, where they lie in memory, and the list of spare rooms, with one room."""
    lines = lines_by_weight(graph, threads)
    back = graph if graph.equals_reverse() else graph.reverse()
    in_lines = lines if back is graph else lines_by_weight(back, threads)
    ways = LineWays(graph.indptr, lines, back.indptr, in_lines)
    require_memory(VERTEX_BYTES * graph.n, f"shortest paths of {graph!r}")
    room = _Room(reference_of(ways), graph.n, unit, threads)
    spare = graph.store.put(Kind.PROGRAM, [room], (KEPT, threads), about=KEPT, holds=tuple(room.space))
    return ways, reference_of(ways), spare


def _space(n: int, unit: float, threads: int) -> LineSpace:
    """All but the distances; most of it is cleared by who begins a search."""
    width, stretch, later = (min(NEVER, max(1, int(unit * each))) for each in (1, STRETCH, LATER_WIDTH))
    now = apart(SLOTS)
    now[HIGH], now[CUT], now[LEAST], now[NEXT] = width, max(width, stretch), NEVER, NEVER
    now[WIDTH], now[WINDOW], now[LATER], now[FAR_ROW] = width, stretch, later, 2
    words = (n + 63) // 64
    return LineSpace(
        np.empty(0, np.uint32), np.empty(n, np.uint32), np.empty((4, n), np.uint32),
        np.empty((4, words), np.uint64), np.empty(words, np.uint64), np.empty(words, np.uint64),
        np.empty((threads, 2, BUFFER), np.uint32), np.empty((threads, HELD), np.int64), now,
    )  # fmt: skip


@inline
def _next(kind, ways, space):
    """The step after one of this kind, its range and about how many edges it has; `OVER` at the end."""
    now, words, m = space.now, len(space.settled), len(ways.lines)
    n = len(space.distance)
    close, away = now[ENDS + now[NEAR_ROW]], now[ENDS + now[FAR_ROW]]
    if close > 0:
        if kind == SPLIT and now[CUT] == NEVER and FEW * close < away:
            now[WIDTH] = min(2 * now[WIDTH], NEVER)
        now[NEAR_ROW] = 1 - now[NEAR_ROW]
        now[ENDS + now[NEAR_ROW]] = 0
        dense = _DENSE * close > n
        return DENSE if dense else NEAR, words if dense else close, max(close, close * m // n)
    if now[HIGH] >= now[CUT] or away == 0 or FULL[1] * now[MASS] >= FULL[0] * m:
        if min(now[NEXT], now[LEAST] if away > 0 else NEVER) == NEVER:
            return OVER, 0, 0
        if now[CUT] < NEVER:
            now[WALKED] += words + VISIT * now[SETTLED]
            if FULL[1] * now[MASS] >= FULL[0] * m or now[WALKED] > m:
                now[CUT], now[WIDTH] = NEVER, now[LATER]
                if 2 * now[MASS] > m:
                    now[NEXT] = NEVER
                    return PULL, words, words + m - now[MASS]
            else:
                least = now[NEXT] if away == 0 else min(now[NEXT], now[LEAST])
                now[CUT] = min(NEVER, max(now[CUT], least) + now[WINDOW])
            if now[NEXT] < now[CUT]:
                now[NEXT] = NEVER
                return REST, words, words + now[MASS] // VISIT
    if away == 0:
        return OVER, 0, 0
    now[HIGH] = min(now[CUT], max(now[HIGH], now[LEAST]) + now[WIDTH])
    now[LEAST] = NEVER
    now[FAR_ROW] = 5 - now[FAR_ROW]
    now[ENDS + now[FAR_ROW]] = 0
    return SPLIT, away, away


@inline
def _search(worker, job):
    """A search: what the leader does, worker 0, and who follows."""
    alone, source, ways, space, crew = job.alone, job.source, job.ways, job.space, job.crew
    now, kind = space.now, REST
    if worker == 0:
        space.distance[:] = FARTHEST
        space.listed[:], space.settled[:], space.through[:], space.held[:] = 0, 0, 0, 0
        space.distance[source] = 0
        put_on_list(0, source, worker, space)
        space.held[0, 0] = flush(space.lists[0], now, ENDS, space.found[0, 0], 1)
        now[STARTED] = clock_ns()
    owed = 0
    while True:
        chunk, owed = next_chunk(crew, worker, owed)
        if chunk >= 0:
            do_step(worker, crew[KIND], chunk, ways, space)
        elif worker > 0:
            return
        else:
            before = now[STARTED]
            now[STARTED] = clock_ns()
            now[TIMES + kind] += now[STARTED] - before
            kind, length, edges = _next(kind, ways, space)
            if kind == OVER:
                end(crew)
                return
            chunks = max(1, min(length, edges // _CHUNK))
            now[FIRST], now[LAST], now[SIZE] = 0, length, (length + chunks - 1) // chunks
            announce(crew, kind, (length + now[SIZE] - 1) // now[SIZE], alone)
