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

Threads share a source (`gpop.direct.crew`), or each has sources of its own: every `LANES`-th, with scores of
their own, which are added up in the end. That is done from `LANES` sources on where a graph is small beside
the caches (`SMALL`), and from two on where that leaves no thread without one, or where levels are too thin to
be shared (`THIN`). The result is the same for any number of threads: from `LANES` sources on, graph and
sources alone decide; fewer have a lane each, and lanes are added up in the order of the sources. Numbers of
paths up to 2**53 are exact however they are added, and where they are larger the counts of a pushed level are
added up again, in the order of lists.

Parallel edges are paths of their own; loops are on no shortest path. Counts are float64: beyond 1e308 they
are infinite, and ``overflow`` is set.
Papers: U. Brandes, "A faster algorithm for betweenness centrality", 2001; S. Beamer, K. Asanovic,
D. Patterson, "Direction-optimizing breadth-first search", SC 2012, which does the same for parents.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from gpop.common.kinds import Kind as Typed
from gpop.common.kinds import kind_of
from gpop.common.memory import require_memory
from gpop.common.parallel import for_each, together
from gpop.common.progress import progress_bar
from gpop.direct.betweenness_steps import CHUNK_EDGES, EDGES, INFINITE, PathSpace, PathWays, search, space_for
from gpop.direct.crew import dismiss, make_crew
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.layout.in_edges import in_edges

LANES = 32
"""Sources that are worked on at the same time where each has one thread."""

SMALL = 1 << 17
"""Vertices of a graph up to which that is done."""

THIN = 4
"""Edges for each vertex of a graph, at most, whose levels are taken to be thin: a road, a mesh."""

KEPT = "Betweenness"
"""Under which the space of searches stays with the graph: new pages take the system as long as a search."""

_SERIAL = 1 << 17  # vertices and edges, for each source, that one thread does before another has started
_BATCH = 1 << 28  # edges between two looks at interrupts


class Scores(NamedTuple):
    """``score``: dependencies of all sources on each vertex; ``edges`` looked at; if counts overflowed."""

    score: np.ndarray
    edges: int
    seconds: float
    prepare_seconds: float
    overflow: bool


def dependencies(graph: Graph, sources: np.ndarray, threads: int, progress: bool = False) -> Scores:
    """Sum over the sources of the dependencies on every vertex, a source's on itself left out.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2]).symmetrize()
    >>> dependencies(path, np.arange(3), threads=1).score.tolist()
    [0.0, 2.0, 0.0]
    """
    n, begin = graph.n, time.perf_counter()
    incoming = in_edges(graph, weighted=False)
    ways = PathWays(graph.indptr, graph.indices, incoming.indptr, incoming.indices)
    threads = threads if len(sources) * (n + graph.m) >= _SERIAL else 1
    alone = takes_own(graph, len(sources), threads)
    lanes = min(LANES, len(sources)) if alone else 1
    workers, sharers = (min(threads, lanes), 1) if alone else (1, threads)
    spare = graph.store.get(Kind.PROGRAM, KEPT)
    if spare is None:
        _compile(ways)
    spaces = [] if spare is None else _taken(spare, workers, sharers)
    missing = workers - len(spaces)
    if missing or lanes > 1:
        require_memory((52 * missing + 8 * lanes) * n, f"betweenness of {graph!r}")
    prepare_seconds = time.perf_counter() - begin
    start = time.perf_counter()
    scores = np.zeros((lanes, n))
    spaces += [space_for(n, sharers) for _ in range(missing)]
    each = max(1, _BATCH // (lanes * max(graph.m, 1)))
    with progress_bar(len(sources), "betweenness", "source", progress) as bar:
        for first in range(0, len(sources), lanes * each):
            batch = sources[first : first + lanes * each]
            if alone:
                _apart(ways, batch, spaces, scores)
            else:
                for source in batch:
                    _shared(ways, source, spaces[0], scores[0], threads)
            bar.update(len(batch))
    score = np.add.reduce(scores) if lanes > 1 else scores[0]
    seconds = time.perf_counter() - start
    edges = overflow = 0
    for space in spaces:
        edges, overflow = edges + int(space.now[EDGES]), overflow + int(space.now[INFINITE])
        space.now[:] = 0
    if spare is None or missing:
        graph.store.put(Kind.PROGRAM, spaces, KEPT, about=KEPT)
    else:
        spare[:] = spaces
    return Scores(score, edges, seconds, prepare_seconds, overflow > 0)


_ready: set[tuple[Typed | None, ...]] = set()
"""Kinds of ways for which the search is compiled or loaded."""


def _compile(ways: PathWays) -> None:
    """A search that is over, before the clock starts."""
    kinds = tuple(map(kind_of, ways))
    if kinds not in _ready:
        over = make_crew(1)
        dismiss(over)
        search(1, False, np.uint64(0), ways, space_for(1, 2), np.zeros(1), over)
        _ready.add(kinds)


def _taken(spare: list[PathSpace], workers: int, sharers: int) -> list[PathSpace]:
    """As many spaces as are asked for, if they are there and for so many threads; nobody else has them."""
    spaces: list[PathSpace] = []
    while len(spaces) < workers:
        try:
            space = spare.pop()
        except IndexError:  # there are no more, or another call has them
            break
        if len(space.found) == sharers:
            spaces.append(space)
    return spaces


def takes_own(graph: Graph, sources: int, threads: int) -> bool:
    """Whether each source has a thread of its own.

    >>> takes_own(Graph.from_edges([0, 1], [1, 2]), sources=4, threads=2)
    True
    """
    if sources >= LANES:
        return graph.n <= SMALL
    thin, enough = graph.m <= THIN * graph.n, graph.n <= SMALL and sources >= threads
    return threads > 1 and sources > 1 and (thin or enough)


def _shared(ways: PathWays, source: int, space: PathSpace, score: np.ndarray, threads: int) -> None:
    """Search from one source with all threads."""
    threads = threads if len(ways.indices) > CHUNK_EDGES else 1
    crew = make_crew(threads)
    together(
        lambda worker: search(worker, False, np.uint64(source), ways, space, score, crew),
        threads,
        lambda: dismiss(crew),
    )


def _apart(ways: PathWays, batch: np.ndarray, spaces: list[PathSpace], scores: np.ndarray) -> None:
    """Search from every source with one thread; lane i has each `LANES`-th of them, and its own scores."""
    free = list(spaces)

    def lane_search(lane: int) -> None:
        space, crew = free.pop(), make_crew(1)
        for source in batch[lane :: len(scores)]:
            search(0, True, np.uint64(source), ways, space, scores[lane], crew)
        free.append(space)

    for_each(min(len(scores), len(batch)), lane_search, len(spaces))
