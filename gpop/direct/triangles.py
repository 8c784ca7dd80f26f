"""Triangles of a simple undirected graph: each once, as a > b > c after ordering the vertices.

order    by descending degree when degrees are skewed (the test of the GAP benchmark), else as they are.
orient   the list of a vertex keeps its smaller neighbours only: the smaller id is the larger degree, so
         that no list is longer than about sqrt(2 m).
rows     the lists of the first `HUBS` vertices also as rows of bits.
count    a vertex a marks its list in a thread's bitmap. For each b of the list, the common neighbours are
         counted by and and popcount with the row of b, if it has one; by looking the list of a up in that
         row, if this is shorter; else by looking the list of b up in the bitmap.

Where all lists are short (the squares of their lengths add up to few times the edges: roads, grids) there
is only one phase, *merge*: the lists of a and b are merged as they are.

Lists are uint32 and need not be sorted; they are cut from one array at ``begin``, ``size`` long. Threads
share the vertices of each phase (`gpop.direct.phases`); one alone does the order. Row b has b // 64 + 1 words
and begins where those of the smaller ones end. What all of it is done in is kept with the graph: to make a
dozen arrays takes longer than to count in a small one.
Papers: T. Schank, D. Wagner, "Finding, counting and listing all triangles in large graphs", WEA 2005;
S. Beamer, K. Asanovic, D. Patterson, "The GAP benchmark suite", 2015 (when to reorder).
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from gpop.common.by_reference import Reference
from gpop.common.memory import require_memory
from gpop.common.standby import call_together
from gpop.direct.oriented import HUBS, hub_count, row_of, worth_ordering
from gpop.direct.phases import make_phases
from gpop.direct.shared_job import entry
from gpop.direct.triangles_steps import BEGUN, EDGES, TriangleJob, count, merge
from gpop.direct.triangles_steps import PHASES as PHASES
from gpop.graph.degrees import squared_degrees
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind

_SHORT = 16  # sum of squared degrees for each edge, up to which lists are merged
_SERIAL = 1 << 16  # vertices and edges that one thread does before another has come
_KEPT_BYTES = 1 << 26  # of arrays; more are made in a moment beside the time that they are used


class Triangles(NamedTuple):
    """How many, whether vertices were ordered by degree, and the seconds that it took."""

    count: int
    by_degree: bool
    counts: np.ndarray
    """As in `TriangleJob`."""
    seconds: float

    @property
    def edges(self) -> np.ndarray:
        """Of each of `PHASES`."""
        return self.counts[EDGES:BEGUN]

    @property
    def phase_seconds(self) -> np.ndarray:
        """The same."""
        return np.diff(self.counts[BEGUN:]) / 1e9


class _CountingRoom(NamedTuple):
    """A job, its table, what is called with it, and what is zero when that begins."""

    job: TriangleJob
    table: Reference
    entry: int
    zeros: np.ndarray


def count_triangles(graph: Graph, threads: int, share: int = 0, shares: int = 1) -> Triangles:
    """Count the triangles of a symmetric graph with ascending lists; loops and duplicates are left out.

    With ``shares`` only one share of them, so that several processes count all together.

    Examples
    --------
    >>> square = Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], n=4).symmetrize()
    >>> count_triangles(square, threads=1).count
    2
    """
    if graph.n + graph.m < _SERIAL:
        threads = 1
    spare, room = _borrowed(graph, threads)
    start = time.perf_counter()
    table, places = room.table.table, room.table.kind.places
    table[places["share"]], table[places["shares"]] = share, shares
    room.zeros[:] = 0
    call_together(room.entry, room.table.address, threads)
    counts = room.job.counts.copy()
    if spare is not None:
        spare[:] = [room]
    return Triangles(int(counts[0]), bool(room.job.by_degree), counts, time.perf_counter() - start)


def _borrowed(graph: Graph, threads: int) -> tuple[list[_CountingRoom] | None, _CountingRoom]:
    """The list of spare rooms that is kept with a graph, if one is, and a room that nobody else has."""
    spare = graph.store.get(Kind.PROGRAM, TriangleJob)
    if spare is not None:
        try:
            room = spare.pop()
        except IndexError:  # another call has it
            return spare, _room(graph, threads)
        if len(room.job.marks) >= threads:
            return spare, room
    room = _room(graph, threads)
    own = room.job[room.job._fields.index("place") :]
    if sum(array.nbytes for array in own) > _KEPT_BYTES:
        return None, room
    return graph.store.put(
        Kind.PROGRAM, list[_CountingRoom](), TriangleJob, about="Triangles", holds=own
    ), room


def _room(graph: Graph, threads: int) -> _CountingRoom:
    """A new one. Lists of a graph are as long as its edges at most."""
    n, m, degree = graph.n, graph.m, graph.out_degree
    phases = len(make_phases(len(PHASES)))
    zeros = np.zeros(phases + BEGUN + len(PHASES) + 1, np.int64)
    none, work = np.empty(0, np.uint32), merge
    by_degree, hubs, place, begin, words = False, 0, np.empty(0, np.int64), np.empty(0, np.int64), 0
    order = rank = lists = size = none
    if n and squared_degrees(graph) > _SHORT * m:
        require_memory(4 * m + 24 * n + threads * n // 8, f"triangles of {graph!r}")
        by_degree, hubs, work = worth_ordering(degree), hub_count(n, m, HUBS), count
        order, rank = np.empty((2, n if by_degree else 0), np.uint32)
        place, begin = np.empty(int(degree.max()) + 2, np.int64), np.empty(n + 1, np.int64)
        lists, size, words = np.empty(m, np.uint32), np.empty(n, np.uint32), n // 64 + 1
    job = TriangleJob(
        np.int64(0), np.int64(1), np.bool_(by_degree), np.uint64(hubs), graph.indptr, graph.indices,
        zeros[:phases], zeros[phases:], degree, place, order, rank, begin, lists, size,
        np.empty(row_of(np.uint64(hubs)), np.uint64), np.zeros((threads, words), np.uint64),
    )  # fmt: skip
    table = Reference(job)
    either = {each: entry(each, table.kind) for each in (merge, count)}  # from the first call on
    return _CountingRoom(job, table, either[work], zeros)
