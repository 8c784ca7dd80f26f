"""Betweenness: for every source the share of shortest paths that run through each vertex (Brandes).

forward    level by level the number of shortest paths from the source to each vertex (sigma). A level is
           found by *push* (the frontier adds its counts to what is not visited, atomically) or by *pull*
           (what is not visited sums up the counts of its in-neighbours), whichever has fewer edges.
backward   levels from the deepest: with c = (1 + dependency) / sigma of the level below,
           dependency(u) = sigma(u) * sum of c over the out-neighbours of u; it is added to u's score.

No sum looks at a level. An array is kept for even levels and one for odd ones. An in-neighbour of what is not
visited is in the frontier or not visited, an out-neighbour of u at most one level below: all that a sum
meets in the array of the other parity besides what it wants is 0, for it was not yet written. What a level
has written is cleared as soon as nobody asks any more, while it is in the caches.

Threads share sources (`gpop.direct.crew`). They share all, one after the other, or there are *lanes*, `LANES`
at most, which are searched at the same time: every `LANES`-th source, with scores of their own, which are
added up in the end. Each lane has a thread, and others join it where there are more threads than lanes left.
There are lanes from `LANES` sources on where a graph is small beside the caches (`SMALL`), and from two on
also where its levels are too thin to be shared (`THIN`). The result is the same for any number of threads:
from `LANES` sources on, graph and sources alone decide; fewer have a lane each, and lanes are added up in the
order of the sources. Numbers of paths up to 2**53 are exact however they are added, and where they are larger
the counts of a pushed level are added up again, in the order of lists.

Parallel edges are paths of their own; loops are on no shortest path. Counts are float64: beyond 1e308 they
are infinite, and ``overflow`` is set.
Papers: U. Brandes, "A faster algorithm for betweenness centrality", 2001; S. Beamer, K. Asanovic,
D. Patterson, "Direction-optimizing breadth-first search", SC 2012, which does the same for parents.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from gpop.common.arrays import unset
from gpop.common.by_reference import Reference
from gpop.common.memory import require_memory
from gpop.common.progress import progress_bar
from gpop.common.standby import call_together
from gpop.direct.betweenness_job import LINE, PHASES, PathJob, work
from gpop.direct.betweenness_steps import CHUNK_EDGES, PathSpace, PathWays
from gpop.direct.crew import THREADS, slots
from gpop.direct.frontier import buffers
from gpop.direct.phases import make_phases
from gpop.direct.shared_job import entry
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.layout.in_edges import in_edges

LANES = 32
"""Sources that are worked on at the same time where each has one thread."""

SMALL = 1 << 17
"""Vertices of a graph up to which that is done."""

MOST_SHARERS = 2
"""Times as many threads as there are for each lane may come to one: where others are done before it."""

THIN = 4
"""Edges for each vertex of a graph, at most, whose levels are taken to be thin: a road, a mesh."""

KEPT = "Betweenness"
"""Under which what searches work in stays with the graph: new pages take the system as long as a search."""

_SERIAL = 1 << 17  # vertices and edges, for each source, that one thread does before another has come
_BATCH = 1 << 28  # edges between two looks at interrupts
_FLOAT = np.dtype(np.float64)


class Scores(NamedTuple):
    """``score``: dependencies of all sources on each vertex; ``edges`` looked at; if counts overflowed."""

    score: np.ndarray
    edges: int
    seconds: float
    prepare_seconds: float
    overflow: bool


def dependencies(
    graph: Graph, sources: np.ndarray, threads: int, progress: bool = False, pairs: int = 1
) -> Scores:
    """Sum over the sources of the dependencies on every vertex, a source's on itself left out.

    It is divided by ``pairs``.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2]).symmetrize()
    >>> dependencies(path, np.arange(3, dtype=np.uint32), threads=1).score.tolist()
    [0.0, 2.0, 0.0]
    """
    n, count, begin = graph.n, len(sources), time.perf_counter()
    threads = threads if count * (n + graph.m) >= _SERIAL else 1
    lanes = min(LANES, count) if in_lanes(graph, count, threads) else 1
    if graph.m <= CHUNK_EDGES:
        threads = min(threads, lanes)
    rows = min(threads, lanes)
    sharers = min(threads, MOST_SHARERS * -(-threads // rows))
    spare, room = _borrowed(graph, rows, sharers, threads, lanes)
    start = time.perf_counter()
    score = unset(n, _FLOAT)
    room.tell({"rows": rows, "lanes": lanes, "pairs": pairs}, sources, score)
    each = lanes * max(1, _BATCH // (lanes * max(graph.m, 1)))
    with progress_bar(count, "betweenness", "source", progress) as bar:
        for first in range(0, count, each):
            last = min(count, first + each)
            room.search(first, last, threads, sharers)
            bar.update(last - first)
    edges, infinite = room.job.told.tolist()
    spare[:] = [room]
    return Scores(score, edges, time.perf_counter() - start, start - begin, infinite > 0)


def _crew_words(sharers: int) -> int:
    """Of a row of crews, one of so many threads."""
    return LINE + slots(sharers) + LINE


class Room:
    """What searches work in: a job that has everything but what a call gives, its table, and what is zero
    when searches begin."""

    def __init__(self, graph: Graph, rows: int, sharers: int, threads: int, lanes: int) -> None:
        n, phases = graph.n, len(make_phases(PHASES))
        require_memory((52 * rows + 8 * lanes) * n, f"betweenness of {graph!r}")
        incoming = in_edges(graph, weighted=False)
        crew = _crew_words(sharers)
        self.zeros = np.zeros(phases + crew * rows, np.int64)
        # A reference keeps no array alive.
        self.ways = PathWays(graph.indptr, graph.indices, incoming.indptr, incoming.indices)
        self.spaces = PathSpace(
            np.zeros((rows, 2, n)), np.zeros((rows, 2, n)),
            np.zeros((rows, (n + 63) // 64), np.uint64), np.zeros((rows, 4 * LINE), np.int64),
            np.empty((rows, n), np.uint32), np.empty((rows, n + 2), np.int64),
            np.empty((rows, n + 2), np.int64), buffers(threads),
        )  # fmt: skip
        self.job = PathJob(
            *(np.int64(0),) * 5, np.empty(0, np.uint32), np.empty(0),
            Reference(self.ways), Reference(self.spaces), np.zeros((lanes, n)),
            self.zeros[phases:].reshape(rows, crew), self.zeros[:phases], np.zeros(2, np.int64),
        )  # fmt: skip
        self.table = Reference(self.job)
        self.entry = entry(work, self.table.kind)

    def has(self, rows: int, sharers: int, threads: int, lanes: int) -> bool:
        """Whether it is for so many."""
        spaces, enough = self.spaces, len(self.job.scores) >= lanes and len(self.spaces.order) >= rows
        return enough and len(spaces.found) >= threads and self.job.crews.shape[1] >= _crew_words(sharers)

    @property
    def own(self) -> tuple[np.ndarray, ...]:
        """Its arrays."""
        return (*self.spaces, *self.job[self.job._fields.index("scores") :])

    def tell(self, numbers: dict[str, int], sources: np.ndarray, score: np.ndarray) -> None:
        """What a call gives; both arrays must live until it is over."""
        table, places = self.table.table, self.table.kind.places
        for name, number in numbers.items():
            table[places[name]] = number
        for name, array in (("sources", sources), ("score", score)):
            place = places[name]
            table[place], table[place + 1] = array.__array_interface__["data"][0], len(array)

    def search(self, first: int, last: int, threads: int, sharers: int) -> None:
        """From these of the sources, by up to so many threads in a lane."""
        table, places = self.table.table, self.table.kind.places
        table[places["first"]], table[places["last"]] = first, last
        self.zeros[:] = 0
        self.job.crews[:, LINE + THREADS] = sharers
        call_together(self.entry, self.table.address, threads)


def _borrowed(graph: Graph, *sizes: int) -> tuple[list[Room], Room]:
    """The list of spare rooms that is kept with a graph, and a room of these sizes that nobody else has."""
    spare = graph.store.get(Kind.PROGRAM, KEPT)
    if spare is not None:
        try:
            room = spare.pop()
        except IndexError:  # another call has it
            return spare, Room(graph, *sizes)
        if room.has(*sizes):
            return spare, room
    room = Room(graph, *sizes)
    return graph.store.put(Kind.PROGRAM, list[Room](), KEPT, about=KEPT, holds=room.own), room


def in_lanes(graph: Graph, sources: int, threads: int) -> bool:
    """Whether sources are searched in lanes.

    >>> in_lanes(Graph.from_edges([0, 1], [1, 2]), sources=4, threads=2)
    True
    """
    if sources >= LANES:
        return graph.n <= SMALL
    return threads > 1 and sources > 1 and (graph.n <= SMALL or graph.m <= THIN * graph.n)
