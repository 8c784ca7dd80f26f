"""Breadth-first search for small graphs: pushed from a list or pulled by bits, level by level.

One thread begins (breadth_first_alone.py). From a level that is worth it on (`gpop.model.sharing`) others are
called, and go on with it as breadth_first_together.py says, on a road as breadth_first_halves.py or
breadth_first_parts.py does.
All that is one call of compiled code: by way of Python the others were called 30 microseconds later, a tenth
of a search.

What push and pull do is in breadth_first_steps.py. A level is pulled where that is likely to look at fewer
edges. The frontier has a share ``edges / left`` of the edges that are still to be sent, so a vertex without a
level meets it after ``left / edges`` of its in-edges, and all ``rest`` of them after ``rest * left / edges``:
fewer than ``edges`` where ``edges**2 > rest * left``. After a pull the edges of the frontier are not known:
the next level is pulled, too, where the frontier has a fair share (`STILL`) of those that are left. Nobody
counts who cannot be found: who has no in-edges, or is out of reach of the vertex with most edges, while the
source is within (`may_find`). By that a search among voters takes .63 of the time, one of mails .8.
Roads and meshes are not pulled from: their neighbours are near, and a level is little of all. A mesh is known
by a search from the vertex with most edges, which has many levels.

What a search works in is kept with the graph: to get and to give back so many pages takes as long as a
search of a small graph. The kernel is given it as one address (`gpop.common.by_reference`), since to take
apart fifteen arrays takes as long as a search of thousands of edges.

Bytes per edge: 4, and an access to a byte (push); per vertex that is pulled 8 in order and two bits, which
small graphs have in the cache. Encoding: a level is -1 and a parent `NOBODY`, which is -1 as int32, where
there is none.
Paper: S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from gpop.common.by_reference import Reference
from gpop.common.cached import entry_of
from gpop.common.kinds import INT64, ArrayKind
from gpop.common.memory import require_memory
from gpop.common.standby import ANNOUNCE, CLOSE, TAKE_PART, borrow, give_back, lead
from gpop.direct.breadth_first_alone import FEW, begin_search, is_short
from gpop.direct.breadth_first_halves import begin_halves, push_halves
from gpop.direct.breadth_first_parts import begin_parts, push_parts
from gpop.direct.breadth_first_steps import (
    LEFT,
    LEFT_OFF,
    MOST,
    REACHED,
    SearchSpace,
)
from gpop.direct.breadth_first_together import LEVEL_AT, PARENT_AT, SharedSearch, begin_together, go_on
from gpop.direct.breadth_first_together_steps import space_for
from gpop.direct.phases import kernel
from gpop.direct.shared_job import entry
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.layout.in_edges import in_edges
from gpop.layout.likely_sources import NO_SOURCES, likely_sources
from gpop.layout.partition import mostly_near
from gpop.model.sharing import (
    EDGES_EACH,
    MANY_THREADS,
    MOST_PARTS,
    PARTED,
    chunk_edges,
    in_parts,
    least_level,
    least_rest,
    worth,
)

PHASES = ("push", "pull")
VERTEX_BYTES = 22
"""Of the arrays of a search: a parent, a level, a place on the list and among the missed, a byte, 4 bits."""

TOGETHER_BYTES = 10
"""Of each thread that shares one, or less: a place on its list, and part of a claim and of a mark."""

LONGEST, DEEP = 32, 64
"""Edges of any vertex of a mesh, at most, and levels of a search of it, at least."""

_PUSH, _PULL = range(2)
_EDGES, _NANOSECONDS = 0, 2  # slots of ``tally``, one for each phase
_ONE, _HALF = np.uint64(1), np.uint64(32)
_FOUND = ArrayKind("uint32"), ArrayKind("int32")
_BOARD, _JOB = ArrayKind("int64"), ArrayKind("uint64")


class SearchTree(NamedTuple):
    """``parent`` and ``level`` of every vertex, -1 where none; ``tally`` of the phases; ``threads`` that it
    was worth."""

    parent: np.ndarray
    level: np.ndarray
    tally: np.ndarray
    seconds: float
    prepare_seconds: float
    threads: int

    @property
    def edges(self) -> np.ndarray:
        """Of each phase."""
        return self.tally[_EDGES:_NANOSECONDS]

    @property
    def phase_seconds(self) -> np.ndarray:
        """Of each phase."""
        return self.tally[_NANOSECONDS:] / 1e9


class _Room:
    """A space, its table in memory, and the search in it; the same of what threads share, once some have."""

    def __init__(self, space: SearchSpace, mesh: bool) -> None:
        self.space, self.table = space, Reference(space)
        self.search = entry_of(_search, INT64, self.table.kind, *_FOUND)
        self.short, self.mesh = is_short(space), mesh
        self.threads = 0  # for so many there is what they share

    def have(self, threads: int, parent: np.ndarray, level: np.ndarray) -> None:
        """What a search shares that so many threads may be called for."""
        if self.threads < threads:
            n = parent.size
            require_memory(TOGETHER_BYTES * n * threads, f"breadth-first search by {threads} threads")
            self.beside = space_for(n, int(self.space.limits[MOST]), threads)
            self.shared = Reference(self.beside)
            self.job = Reference(SharedSearch(self.shared, self.table, parent, level))
            self.together = entry_of(_search_together, *_asked_together(self.table, self.shared))
            self.function, self.threads = entry(go_on, self.job.kind), threads

    def search_together(
        self, source: int, parent: np.ndarray, level: np.ndarray, least: int, threads: int
    ) -> int:
        """A search for which up to so many threads are called; how many were."""
        parts, edges = 0, least_level(threads, self.short)
        if self.mesh and (self.short or threads < MANY_THREADS) and in_parts(threads, parent.size):
            parts, edges = (
                entry(push_parts if threads >= MANY_THREADS else push_halves, self.job.kind),
                PARTED,
            )
        crew = borrow(threads - 1)
        try:
            return self.together(
                source, self.table, self.shared, parent, level, least, edges, threads, EDGES_EACH,
                crew.board, crew.places, self.job.table, self.function, parts,
            )  # fmt: skip
        finally:
            give_back(crew)


def search(graph: Graph, source: int, threads: int = 1, few: bool = False) -> SearchTree:
    """Parents and levels of what a vertex reaches; which of several parents depends on nothing but these.

    ``few``: threads share it however few vertices there are, if it is a mesh.

    Examples
    --------
    >>> search(Graph.from_edges([0, 0, 1], [1, 2, 3], n=5), 0)[:2]
    (array([ 0,  0,  0,  1, -1], dtype=int32), array([ 0,  1,  1,  2, -1], dtype=int32))
    """
    begin = time.perf_counter()
    spare = graph.store.get(Kind.SEARCHES)
    if spare is None:
        spare = _prepare(graph)
    try:
        room = spare.pop()
    except IndexError:  # another search has it
        room = _room(graph)
    least = 0 if few and threads > 1 and room.mesh else least_rest(threads, graph.n)
    parent, level, called = np.empty(graph.n, np.uint32), np.empty(graph.n, np.int32), 1
    if least < graph.n:
        room.have(threads, parent, level)
        start = time.perf_counter()
        called = room.search_together(source, parent, level, least, threads)
    else:
        start = time.perf_counter()
        room.search(source, room.table, parent, level)
    tally = room.space.tally.copy()
    spare[:] = [room]
    seconds = time.perf_counter() - start
    return SearchTree(parent.view(np.int32), level, tally, seconds, start - begin, called)


def is_kept() -> bool:
    """Whether a search that threads share is compiled, or was by an earlier process."""
    if _search_together.signatures:
        return True
    room, shared = _room(Graph.from_edges([0, 1], [1, 0])), Reference(space_for(2, 1, 2))
    return _search_together.is_kept(_asked_together(room.table, shared))


def _asked_together(table: Reference, shared: Reference) -> tuple[Any, ...]:
    """Kinds of what says where to search, and who."""
    numbers = (INT64,) * 4
    return INT64, table.kind, shared.kind, *_FOUND, *numbers, _BOARD, _BOARD, _JOB, INT64, INT64


def _prepare(graph: Graph) -> list[_Room]:
    """The list of spare rooms of a graph, with one room."""
    room = _room(graph)
    own = room.space[room.space._fields.index("reach") :]
    return graph.store.put(Kind.SEARCHES, [room], holds=own)


def _room(graph: Graph) -> _Room:
    facts, n = graph.facts, graph.n
    if facts.mesh is None and graph.m <= FEW * n:
        facts.mesh = least_rest(MANY_THREADS, n) < n and mostly_near(graph)
    room = _make_room(graph, bool(facts.mesh))
    if len(room.space.some) > 0:
        depth = _find_reach(graph, room)
        if facts.mesh is None:
            lists_are_short = int(room.space.limits[MOST]) <= LONGEST
            facts.mesh = depth >= DEEP and lists_are_short and mostly_near(graph)
            room = _make_room(graph, True) if facts.mesh else room
    return room


def _make_room(graph: Graph, mesh: bool) -> _Room:
    """Roads and meshes are not pulled from."""
    n, incoming, likely, findable = graph.n, graph, NO_SOURCES, graph.n - 1
    if not mesh:
        incoming, likely = in_edges(graph, weighted=False), likely_sources(graph)
        findable = min(findable, np.count_nonzero(incoming.indptr[1:] > incoming.indptr[:-1]))
    require_memory(VERTEX_BYTES * n, f"breadth-first search of {graph!r}")
    words = len(likely.some)
    space = SearchSpace(
        graph.indptr, graph.indices, incoming.indptr, incoming.indices, *likely, likely.some.copy(),
        *(np.empty(words, np.uint64), np.empty(n + 1, np.uint64), np.empty(n, np.uint8)),
        *(np.empty((n + 63) // 64, np.uint64), np.empty((n + 63) // 64, np.uint64)),
        *(np.empty(n + 1, np.uint32), np.empty(4, np.int64)),
        *(np.array([graph.out_degree.max(initial=0), findable, findable]), np.empty(LEFT_OFF, np.int64)),
    )  # fmt: skip
    return _Room(space, mesh)


def _find_reach(graph: Graph, room: _Room) -> int:
    """Who is reached from the hub, by a search, and how many they are; the levels of that search."""
    level, space = np.empty(graph.n, np.int32), room.space
    room.search(int(graph.out_degree.argmax()), room.table, np.empty(graph.n, np.uint32), level)
    space.reach.view(np.uint8)[: (graph.n + 7) // 8] &= np.packbits(level >= 0, bitorder="little")
    space.limits[REACHED] = np.count_nonzero(level > 0)
    return int(level.max(initial=-1)) + 1


@kernel
def _search(source, space, parent, level):
    """By one thread."""
    begin_search(source, space, parent, level, 1, np.int64(len(level)), np.int64(0), False)


@kernel
def _search_together(
    source, space, together, parent, level, rest, edges, threads, each, board, places, job, function, parts,
):  # fmt: skip
    """By one thread, and from a level that is worth to share on by others, too; how many were called.

    ``job`` is the table of a `SharedSearch`: only what is found is new in it, and to renew it here takes no
    time.
    """
    if not begin_search(source, space, parent, level, threads, rest, edges, parts != 0):
        return np.int64(1)
    job[PARENT_AT], job[LEVEL_AT] = parent.ctypes.data, level.ctypes.data
    called = worth(threads, space.left_off[LEFT], each)
    if parts != 0:  # roads, which are not pulled from
        function = parts
        if threads >= MANY_THREADS:
            called = min(called, np.int64(MOST_PARTS))
            begin_parts(called - 1, together.parts)
        else:
            called = np.int64(2)
            begin_halves(together.halves)
    else:
        begin_together(called, chunk_edges(called), together, space)
    what = ANNOUNCE | TAKE_PART | CLOSE if called > 1 else TAKE_PART
    lead(board, places, what, function, np.int64(0), np.int64(job.ctypes.data), called)
    return called
