"""Shortest paths by threads that each have vertices of their own, on graphs whose neighbours are near.

Blocks of vertices are dealt out among the threads. A thread has a calendar (`gpop.direct.calendar`) in which
it enters only its own, and nobody else lowers their distances: they stay in the cache of one core, where a
calendar that all share (calendar_together.py) has them go from core to core. What a thread finds of others'
vertices it sends. A round is a day, or as much of one as can be done without the others: read what they have
sent, walk today's bucket until it is empty, and tell on a line of one's own: the first day on which something
is due, with oneself or by what one has sent; to whom that was; and how many edges were walked. All know the
next day then, the least of these, without asking anybody: a round is one barrier.

A day should have `OWN_DAY_EDGES` edges for each thread: where the last ones had fewer, days become twice as
wide, and all fill their calendars anew with those of their vertices that are not settled. So they are where
a year is over; and one alone does so whose calendar has no room.

All are called at once, and clear the distances together. Nobody is waited for that never comes.

Encoding of ``now`` (int64, in cache lines): slots for who comes, as in breadth_first_parts.py; where the
rounds begin; and from `TOLD` on two lines for each thread, of even and odd rounds, in which it tells: nobody
is two rounds ahead of another. See calendar_owned_steps.py for what is sent.
Papers: U. Meyer, P. Sanders, "Delta-stepping", 2003; K. Lakhotia et al., "GPOP", for who owns what; Y. Zhang
et al., "Optimizing ordered graph algorithms with GraphIt", CGO 2020, for days that a thread ends by itself.
"""

from __future__ import annotations

import time

import numpy as np

from gpop.common.arrays import unset
from gpop.common.atomics import clock_ns, fetch_add, load_acquire, pause, store_release
from gpop.common.by_reference import Reference
from gpop.common.inlined import inline
from gpop.common.memory import require_memory
from gpop.common.standby import call_together
from gpop.direct.calendar_owned_steps import (
    BLOCK_BITS,
    CAPACITY,
    NEVER,
    OwnedSearch,
    fill_own,
    least_beyond,
    receive,
    work,
)
from gpop.direct.calendar_steps import (
    BEYOND,
    DAYS,
    LATEST,
    LOOKED,
    SENT,
    SHIFT,
    SINCE,
    YEAR,
    Calendars,
    blocks_for,
    next_day,
    open_calendar,
    shift_of,
)
from gpop.direct.crew import apart
from gpop.direct.phases import wait_until
from gpop.direct.shared_job import entry
from gpop.direct.shortest_paths import Distances
from gpop.graph.graph import Graph
from gpop.layout.edge_pairs import edge_pairs
from gpop.model.light_first import FARTHEST
from gpop.model.sharing import MOST_PARTS, OWN_DAY_EDGES, PATH_EDGES_EACH, worth

COME, WANTED, CREW, SOURCE, PATIENCE, CHUNK, CLEARED, READY = 0, 8, 9, 10, 11, 16, 24, 25
"""How many have come, or `_CLOSED` and more; how many are called; how many take part, once that is decided;
the source; `PATIENCE_NS`; pieces of the distances that were claimed; how many have cleared theirs; and
whether all have."""

DAY_SHIFT, BELOW, WALKED = range(32, 35)
"""Width of a day at first; in the end, what no distance is beyond, and edges walked."""

TOLD = 40
ROUND, DAY, TO, EDGES = range(4)
"""What a thread tells: how many rounds it has done; and of the last the next day, a bit for each to whom it
has sent, and its edges."""

LOOK_BACK = 4
"""Days after which the width is judged."""

BLOCKS_EACH, LEAST_BITS = 16, 6
"""Blocks of a thread, at least, and bits of a vertex in one: threads have their share of any part of a graph
through which a search comes, and few neighbours are in two."""

PATIENCE_NS = 40_000
"""For which the leader waits for all to come, if it has cleared all before."""

_LINE = 8
_CLOSED = 1 << 32
_PIECE_BITS = 16  # distances that one thread clears at once

MOST_KEPT = 1 << 26
"""Bytes of the blocks that stay for the next search."""

VERTEX_BYTES = 8
"""Of the arrays of a search: a distance, and a place in a block of whoever owns the vertex."""

_UINT32 = np.dtype(np.uint32)


class Owners(Calendars):
    """The calendars of so many threads, and what they send, for graphs of n vertices."""

    def __init__(self, n: int, threads: int) -> None:
        super().__init__(n, threads)
        self.now, nothing = apart(TOLD + 2 * threads * _LINE), np.zeros(2, np.uint32)
        sent = np.empty((threads, 2, threads, CAPACITY), np.uint64)
        counts = np.zeros((threads, 2, max(threads, _LINE)), np.int64)
        owner = np.zeros(2 * MOST_PARTS * BLOCKS_EACH, np.uint8)
        self.search = OwnedSearch(
            np.int64(blocks_for(n)), nothing, np.empty(0, np.uint64), nothing, self.addresses, owner, sent,
            counts, self.now,
        )  # fmt: skip
        self.job = Reference(self.search)
        self.function = entry(own, self.job.kind)

    def find(self, source: int, shift: int, threads: int, **lists: np.ndarray) -> None:
        """Set the distances from a vertex; nothing of the graph is held afterwards."""
        self.job.renew(self.search._replace(**lists))
        self.now[:] = 0
        self.now[WANTED], self.now[SOURCE], self.now[DAY_SHIFT] = threads, source, shift
        self.now[PATIENCE] = PATIENCE_NS
        call_together(self.function, self.job.address, threads)


_spare: list[Owners] = []
"""The calendars of the last search, while no other has them."""


def _borrowed(n: int, threads: int) -> Owners:
    """Calendars with enough room for so many threads: the spare ones, or new ones."""
    try:
        owners = _spare.pop()
    except IndexError:
        owners = None
    if owners is None or owners.n < n or len(owners.calendars) < threads:
        require_memory(VERTEX_BYTES * n, f"shortest paths by {threads} threads")
        owners = Owners(n, threads)
    return owners


def search(graph: Graph, source: int, width: float, threads: int) -> Distances:
    """Distances from a vertex of a graph with whole-number weights; days are ``width`` or up to half as wide.

    As `gpop.direct.calendar.search`.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 0, 1], [1, 2, 2], np.array([2, 9, 3]))
    >>> search(graph, 0, 4.0, threads=2).distance.tolist()
    [0, 2, 5]
    """
    start = time.perf_counter()
    starts, lines = edge_pairs(graph, FARTHEST)
    many = worth(min(threads, MOST_PARTS), graph.m, PATH_EDGES_EACH)
    owners, distance = _borrowed(graph.n, many), unset(graph.n, _UINT32)
    begun = time.perf_counter()
    owners.find(source, shift_of(width), many, starts=starts, lines=lines, distance=distance)
    seconds = time.perf_counter() - begun
    below, walked = int(owners.now[BELOW]), int(owners.now[WALKED])
    if owners.calendars[0].members.nbytes <= MOST_KEPT:
        _spare[:] = [owners]
    edges, times = np.array([walked]), np.array([seconds])
    return Distances(distance, below, edges, times, seconds, begun - start, many)


@inline
def _told(worker, turn):
    return TOLD + (2 * worker + turn) * _LINE


@inline
def _tell(worker, crew, rounds, walked, looks, job, mine):
    """Say what a round has come to. ``looks``: of what is beyond the year, too, when it is due."""
    now, its, turn, to = job.now, mine.now, rounds & 1, np.int64(0)
    day, at = its[SENT], np.int64(next_day(np.uint64(max(its[LATEST] - its[YEAR], 0)), mine))
    if at < DAYS:
        day = min(day, its[YEAR] + at)
    elif its[BEYOND]:
        day = min(day, least_beyond(worker, crew, job, mine) if looks else its[YEAR] + DAYS)
    for other in range(crew):
        to |= np.int64(job.counts[worker, turn, other] > 0) << other
    line = _told(worker, turn)
    now[line + DAY], now[line + TO], now[line + EDGES] = day, to, walked
    store_release(now, line + ROUND, rounds + 1)


@inline
def _hear(crew, rounds, now):
    """The next day, and how many edges all have walked in a round."""
    day, edges = np.int64(NEVER), np.int64(0)
    for other in range(crew):
        line = _told(other, rounds & 1)
        wait_until(now, line + ROUND, rounds + 1)
        day = min(day, now[line + DAY])
        edges += now[line + EDGES]
    return day, edges


@inline
def _rounds(worker, crew, job):
    """Rounds until nothing is due any more; the first one only tells."""
    now, mine = job.now, open_calendar(job.calendars[worker])
    its, enough = mine.now, LOOK_BACK * OWN_DAY_EDGES * crew
    its[YEAR], its[SHIFT], its[SINCE], its[LATEST], its[LOOKED] = 0, now[DAY_SHIFT], 0, -1, 0
    fill_own(worker, crew, job, mine)
    rounds, days, edges, day = np.int64(0), np.int64(0), np.int64(0), its[LATEST]
    looks = False
    while day < NEVER:
        turn, walked, its[SENT] = rounds & 1, its[LOOKED], NEVER
        job.counts[worker, turn] = 0
        if rounds > 0:
            its[LATEST] = its[LATEST] if looks else day
            for other in range(crew):
                if now[_told(other, 1 - turn) + TO] >> worker & 1:
                    receive(worker, other, 1 - turn, crew, job, mine)
            if not looks:
                work(worker, turn, crew, job, mine)
        _tell(worker, crew, rounds, its[LOOKED] - walked, looks, job, mine)
        day, some = _hear(crew, rounds, now)
        edges += some
        rounds += 1
        looks = day == its[YEAR] + DAYS and not looks
        if looks:  # the year is over for all: only now each looks through its vertices
            continue
        wider = False
        if rounds > 1 and day > its[LATEST]:
            its[SINCE] = (its[LATEST] + 1 << its[SHIFT]) - 1
            days += 1
            if days == LOOK_BACK:
                wider = edges < enough and its[SHIFT] < 31
                days, edges = np.int64(0), np.int64(0)
        if day < NEVER and (wider or day >= its[YEAR] + DAYS):
            if wider:
                its[SHIFT] += 1
                day >>= 1
            its[YEAR] = day
            fill_own(worker, crew, job, mine)
    if worker == 0:
        now[BELOW] = min(FARTHEST, its[SINCE])
    fetch_add(now, WALKED, its[LOOKED])


@inline
def _clear(job):
    """Say of all that they are not reached: pieces of the distances until none is left."""
    n = len(job.distance)
    begin = fetch_add(job.now, CHUNK, 1) << _PIECE_BITS
    while begin < n:
        job.distance[begin : min(n, begin + (1 << _PIECE_BITS))] = FARTHEST
        begin = fetch_add(job.now, CHUNK, 1) << _PIECE_BITS


@inline
def _share_out(crew, job):
    """Say whose each block is."""
    bits, n = np.int64(LEAST_BITS), len(job.distance)
    while n >> bits >= 2 * BLOCKS_EACH * crew:
        bits += 1
    job.now[BLOCK_BITS] = bits
    for block in range(len(job.owner)):
        job.owner[block] = block % crew


@inline
def own(worker, job):
    """What the leader does, worker 0, and who comes, if it is in time and there are not too many."""
    now, number, started = job.now, np.int64(0), clock_ns()
    if worker > 0:
        number = fetch_add(now, COME, 1) + 1
        if number >= MOST_PARTS:
            return
    _clear(job)
    if worker == 0:
        while load_acquire(now, COME) < now[WANTED] - 1 and clock_ns() < started + now[PATIENCE]:
            pause()
        crew = 1 + min(fetch_add(now, COME, _CLOSED), MOST_PARTS - 1)
        _share_out(crew, job)
        store_release(now, CREW, crew)
        wait_until(now, CLEARED, crew - 1)
        job.distance[now[SOURCE]] = 0
        store_release(now, READY, np.int64(1))
    else:
        wait_until(now, CREW, 1)
        fetch_add(now, CLEARED, 1)
        wait_until(now, READY, 1)
    _rounds(number, now[CREW], job)
