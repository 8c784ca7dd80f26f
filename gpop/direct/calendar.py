"""Shortest paths from a vertex: a calendar of narrow buckets, whose edges are one long walk.

One thread begins (calendar_alone.py). Where it is worth it (`gpop.model.sharing`), others are called after
some edges, and go on as calendar_together.py says. On large graphs all begin together: calendar_owned.py.

Delta-stepping with a bucket for each *day*, ``2**shift`` distances wide, in a *year* of `DAYS`. What such a
search takes is not the edges but branches that nobody can foresee and lists that are not in the cache. So
the vertices of a block of today's bucket are looked at first, without walking: where their lists begin is
asked for, and laid out as a walk. The walk has no branch: from the end of one list it turns into the next by
adding what was laid out, 0 within a list. It leaves those edges that may improve something, about one in
ten, and these are looked at again, one by one.

Nothing is taken out of a bucket when a vertex moves to a nearer day: it is left out when its old day comes. A
distance beyond the year is noted nowhere: who has one is found when the year is over, and the next begins
with the least of them. Where the blocks run out, the buckets are filled anew in the same way, every vertex
once. Most days of a long path are empty: a bit for each says which are not.

The buckets are kept for the next search: to get and to give back so many pages takes as long as a search of
a small graph.

Bytes per edge: 8 in order, and an access to a distance. Encoding: the vertices of bucket ``at`` are in blocks
of ``members``, from ``oldest[at]`` to ``newest[at]``; ``links[block]`` is the next one, as in the list of
free blocks. ``filled[at]`` counts them: all blocks but the newest are full. Edges are in pairs
(`gpop.layout.edge_pairs`); ``turns`` has what is added before a pair, to its number and to the distance from
which it leads. A distance that is added is in the upper half, and so it is in a *find*, above the id.
Papers: R. Brown, "Calendar queues", 1988; U. Meyer, P. Sanders, "Delta-stepping", 2003.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from gpop.common.by_reference import Reference
from gpop.common.cached import entry_of
from gpop.common.kinds import INT64, ArrayKind
from gpop.common.memory import require_memory
from gpop.common.standby import ANNOUNCE, CLOSE, TAKE_PART, borrow, give_back, lead
from gpop.direct.calendar_alone import begin
from gpop.direct.calendar_steps import LATEST, LOOKED, Calendar, blocks_for, calendar_for, shift_of
from gpop.direct.calendar_together import (
    DISTANCE_AT,
    LINES_AT,
    STARTS_AT,
    THREADS_AT,
    Shelf,
    begin_together,
)
from gpop.direct.calendar_together_steps import BELOW, WALKED
from gpop.direct.phases import kernel
from gpop.direct.shortest_paths import Distances
from gpop.graph.graph import Graph
from gpop.layout.edge_pairs import edge_pairs
from gpop.model.light_first import FARTHEST
from gpop.model.sharing import PATH_EDGES_EACH, begun_alone, worth

MOST_KEPT = 1 << 23
"""Bytes of the blocks that stay for the next search."""
VERTEX_BYTES = 8
"""Of the arrays of a search: a distance, and a place in a block."""


class _CalendarRoom(NamedTuple):
    """A calendar, and its table in memory."""

    calendar: Calendar
    table: Reference


PHASES = ("search",)

NEVER = 2**62
"""Edges after which others are called for the rest of a search that one thread does."""


def search(graph: Graph, source: int, width: float, threads: int = 1) -> Distances:
    """Distances from a vertex of a graph with whole-number weights; days are ``width`` or up to half as wide.

    An odd list counts as one edge more. Of the threads as many are called as it is worth.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 0, 1], [1, 2, 2], np.array([2, 9, 3]))
    >>> search(graph, 0, 4.0).distance.tolist()
    [0, 2, 5]
    """
    begin = time.perf_counter()
    shift = shift_of(width)
    starts, lines = edge_pairs(graph, FARTHEST)
    _alone()
    shared = threads > 1
    if shared:
        _together()
    start, called, unfinished = time.perf_counter(), 1, False
    room, distance = _borrowed(graph), np.empty(graph.n, np.uint32)
    asked = source, shift, blocks_for(graph.n), starts, lines, distance, room.table
    if shared:
        many = worth(threads, graph.m, PATH_EDGES_EACH)
        shelf, crew = _shelf(graph.n, many), borrow(many - 1)
        try:
            unfinished = _together()(
                *asked, begun_alone(many, graph.n), many, shelf.crew, shelf.now, shelf.job.table, crew.board,
                crew.places, shelf.function,
            )  # fmt: skip
        finally:
            give_back(crew)
    else:
        _alone()(*asked)
    latest, looked = room.calendar.now[LATEST : LOOKED + 1].tolist()
    below = min(FARTHEST, (latest + 1 << shift) - 1)
    if unfinished:
        below, called = int(shelf.now[BELOW]), many
        looked += int(shelf.now[WALKED])
    if shared and shelf.calendars[0].members.nbytes <= MOST_KEPT:
        _shelves[:] = [shelf]
    if room.calendar.members.nbytes <= MOST_KEPT:
        _spare[:] = [room]
    seconds = time.perf_counter() - start
    edges, times = np.array([looked]), np.array([seconds])
    return Distances(distance, below, edges, times, seconds, start - begin, called)


@cache
def _alone() -> Callable[..., None]:
    """The search by one thread, compiled or loaded before the clock starts."""
    return entry_of(_search, *_asked())


@cache
def _together() -> Callable[..., bool]:
    """The same, for which others may be called."""
    return entry_of(_search_together, *_asked_together())


def is_kept() -> bool:
    """Whether a search that threads share is compiled, or was by an earlier process."""
    return _together.cache_info().currsize > 0 or _search_together.is_kept(_asked_together())


def _asked_together() -> tuple[Any, ...]:
    """Kinds of what says where to search, and who."""
    number, table = ArrayKind("int64"), ArrayKind("uint64")
    return *_asked(), INT64, INT64, number, number, table, number, number, INT64


def _asked() -> tuple[Any, ...]:
    """Kinds of what says where to search."""
    lists = ArrayKind("uint32"), ArrayKind("uint64"), ArrayKind("uint32")
    return INT64, INT64, INT64, *lists, _room(1).table.kind


_shelves: list[Shelf] = []
"""The calendars of the last search that threads shared, while no other has them."""


def _shelf(n: int, threads: int) -> Shelf:
    """Calendars with enough room for so many threads: the spare ones, or new ones."""
    try:
        shelf = _shelves.pop()
    except IndexError:
        shelf = None
    if shelf is None or shelf.n < n or len(shelf.calendars) < threads:
        require_memory(VERTEX_BYTES * n * threads, f"shortest paths by {threads} threads")
        shelf = Shelf(n, threads)
    return shelf


_spare: list[_CalendarRoom] = []
"""The buckets of the last search, while no other has them."""


def _borrowed(graph: Graph) -> _CalendarRoom:
    """A calendar with enough room: the spare one, or a new one."""
    try:
        room = _spare.pop()
    except IndexError:  # another search has it
        room = None
    if room is None or len(room.calendar.links) < blocks_for(graph.n):
        require_memory(VERTEX_BYTES * graph.n, f"shortest paths of {graph!r}")
        room = _room(graph.n)
    return room


def _room(n: int) -> _CalendarRoom:
    calendar = calendar_for(n)
    return _CalendarRoom(calendar, Reference(calendar))


@kernel
def _search(source, shift, blocks, starts, lines, distance, calendar):
    """By one thread."""
    begin(source, shift, blocks, starts, lines, distance, calendar, np.int64(NEVER))


@kernel
def _search_together(
    source, shift, blocks, starts, lines, distance, calendar, enough,
    threads, crew, now, job, board, places, function,
):  # fmt: skip
    """By one thread, and after so many edges by others, too; whether they were called.

    ``job`` is the table of a `TogetherSearch`, in which what is new is renewed here, where it takes no time.
    """
    if not begin(source, shift, blocks, starts, lines, distance, calendar, enough):
        return False
    begin_together(threads, shift, calendar.now[LATEST], calendar.now[LOOKED], crew, now)
    job[THREADS_AT] = threads
    job[STARTS_AT], job[STARTS_AT + 1] = starts.ctypes.data, len(starts)
    job[LINES_AT], job[LINES_AT + 1] = lines.ctypes.data, len(lines)
    job[DISTANCE_AT], job[DISTANCE_AT + 1] = distance.ctypes.data, len(distance)
    what = ANNOUNCE | TAKE_PART | CLOSE if threads > 1 else TAKE_PART
    lead(board, places, what, function, np.int64(0), np.int64(job.ctypes.data), threads)
    return True
