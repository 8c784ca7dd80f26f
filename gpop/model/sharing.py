"""From where on a search on adjacency lists, which one thread has begun, is worth more threads; and how many.

To call a thread takes some microseconds of who calls, and .02 to .07 ms until it is there. To share a step
takes a message to each and one back. And what one thread has found another has to fetch: on two threads that
eats up what is gained while all lies in the cache of one core. Measured on 2 threads, of the time of one: .50
on a web graph of 326,000 vertices, 1.0 on 82,000 and 1.1 on 37,000 people, 1.2 on 35,000 papers.
"""

from __future__ import annotations

from gpop.common.inlined import inline

SHARED_VERTICES = 1 << 17
"""So many vertices must be left to be found, over the number of threads that are called: what must be fetched
from another core is the less the more of the work is shared."""

SHARED_EDGES, SHARED_BY_MANY = 1 << 12, 1 << 9
"""Of a level from which on others are called, and where many are and lists are short, so that it has as many
vertices: some microseconds. On 16 threads of an Intel machine a road of 264,000 vertices took 4.8 ms, 7.9
from 2,048 edges on, and 11 on one thread."""

PARTED = 1 << 4
"""Vertices of a level from which on others are called where each has a part of every level of a road
(`gpop.direct.breadth_first_parts`): they need no more than one barrier."""

MOST_PARTS, PART_OF_ROAD = 16, 5 << 16
"""Parts of a level, at most: more threads were not tried. And vertices of such a graph for each, at most. On
4, 8 and 16 threads of an Intel machine parts take .78, .65 and .7 of the time of chunks on a grid of 2**20
vertices, .8, .73 and .64 on roads; on a grid of 2**22 1.2, 1.5 and .67."""

SHARED_ROAD = 1 << 17
"""Vertices from which on such a graph is shared at all, by however many: smaller ones have levels of some
hundred vertices, a microsecond. On an Intel machine 3, 4, 8 and 16 threads took 1.3, 1.1, 1.1 and 1.1 of the
time of one on a road of 68,000 vertices, 1.0, 1.2, .9 and .9 on a grid of 90,000, 1.0, 1.1, .8 and .8 on a
road of as many; on a grid of 160,000 .8, .9, .7 and .6."""

EACH_ALONE, SHARED_ANYWAY = 1 << 5, 1 << 16
"""With more edges a vertex than that one thread pushes a level faster than many, unless it has so many edges
in all: it walks long lists in order, and what they lead to is in its cache, from which the others would have
to fetch it. On an Intel machine 18,872 edges of 196 people took 43 microseconds by 11 threads, and 35 before
and after that; 50 by one. On two threads of an AMD machine a web graph took 1.06 of the time with this and
with what else of a search is for many, .99 without this."""

EDGES_EACH = 1 << 15
"""Edges that are left for each of the threads that are called."""

PATH_EDGES_EACH = 1 << 14
"""The same of the whole graph, where shortest paths are found. On an Intel machine these took, of the time of
one thread, .61 by one for 32,768 edges and .54 by one for so many in a plane, 1.01 and .81 on a grid, .68 and
.69 among papers."""

CHUNK_EDGES, LEAST_CHUNK = 1 << 11, 1 << 8
"""Of a level, of which a thread takes one chunk after the other, over the number of threads, and at least:
part of a microsecond. On 16 threads chunks of 1,024 took 1.3 times as long on mails, 1.6 on that road."""

MANY_THREADS = 4
"""From so many on much is shared that is left to one of fewer: calendars, short levels, small graphs."""

BEGUN_ALONE = 1 << 14
"""Edges of a search for shortest paths that one thread walks before others are called, at least."""

DAY_EDGES = 1 << 12
"""Edges of a day of a calendar that is shared, at least: days that have fewer become wider. On 4, 8 and 16
threads as many are best on that road (6.1, 4.7 and 4.4 ms; one takes 9.5) and near it on mails, friends and
papers: of more, edges are walked more than once, and fewer are a step too many."""

OWN_DAY_EDGES = 1 << 8
"""The same for each thread, where each has vertices of its own."""

OWN_VERTICES = 1 << 20
"""Vertices from which on each of `MANY_THREADS` has some of its own where neighbours are near each other. On
16, 8 and 4 threads of an Intel machine it takes .6, .7 and .6 of the time of messages on a grid of 4 million,
and .9, .7 and .6 of that of a calendar that is shared otherwise; .7, .7 and .7 on a road of 2 million, and
.9, .7 and .6. On two of an AMD machine the grid takes 1.4 times as long as by messages."""

PART_VERTICES = 1 << 4
"""Vertices of a chunk of a day, at least, where blocks are cut into parts. On 16 threads of an Intel machine
that road takes 2.3 ms by shortest paths, 3.4 with whole blocks; papers .75 and .8."""

FUSED = 1 << 10
"""Vertices up to which a thread goes on with what it has found for the same day, before others take of it."""

ALONE = 64
"""Vertices of a step on a day that one thread does alone."""

PATHS_NEAR = 6
"""Edges of a vertex from which on two threads share shortest paths where neighbours are near each other: then
days are long, and what one has lowered the other seldom asks for. On two threads of an AMD machine it takes
.77 of the time of messages on a web graph (of one thread .55), .96 and .83 on points of a plane and a room,
.75 and .91 in small worlds; on an Intel one .70 on that web graph. Where cores are far from each other two
threads take 1.6 times as long as one on a road, and twice as long on a mesh; where neighbours are far 1.2
times as long on random graphs."""

THREADS_OF_MESH = 8
"""From so many on they share shortest paths where neighbours are near each other in a graph of less than
`SHARED_VERTICES`: its days are short. On a plane and a grid of 65,536 vertices 4 threads of an Intel machine
took 1.16 and 1.13 of the time of one, 8 .81 and .86, 16 .68 and .89; among 82,000 people 4 took .87."""


def least_rest(threads: int, n: int) -> int:
    """How many vertices must be left for a level to be shared, of a graph of n; n: it never is.

    Examples
    --------
    >>> least_rest(2, 1 << 20), least_rest(16, 1 << 20), least_rest(1, 1 << 20) == 1 << 20
    (131072, 8738, True)
    """
    return SHARED_VERTICES // (threads - 1) if threads > 1 else n


def least_level(threads: int, short: bool) -> int:
    """How many edges a level must have for others to be called; ``short``: lists are.

    Examples
    --------
    >>> least_level(2, True), least_level(16, False), least_level(16, True)
    (4096, 4096, 512)
    """
    return SHARED_BY_MANY if threads >= MANY_THREADS and short else SHARED_EDGES


def in_parts(threads: int, n: int) -> bool:
    """Whether threads have a part of every level of a road of n vertices each; two have halves.

    Examples
    --------
    >>> in_parts(2, 1 << 23), in_parts(16, 1 << 22), in_parts(8, 1 << 22), in_parts(64, 1 << 23)
    (True, True, False, False)
    """
    return threads < MANY_THREADS or n <= min(threads, MOST_PARTS) * PART_OF_ROAD


@inline
def pays_to_share(threads: int, size: int, edges: int, least: int) -> bool:
    """Whether others are called to push from so many vertices with so many edges; ``least``: `least_level`.

    Where edges were not counted there are few, and it goes by the vertices.

    Examples
    --------
    >>> pays_to_share(16, 300, 900, 512), pays_to_share(16, 196, 18_872, 512)
    (True, False)
    >>> pays_to_share(2, 196, 18_872, 512), pays_to_share(16, 600, 0, 512)
    (True, True)
    """
    long = threads >= MANY_THREADS and EACH_ALONE * size < edges < SHARED_ANYWAY
    return max(size, edges) >= least and not long


@inline
def chunk_edges(threads: int) -> int:
    """How many edges of a level a thread takes at once.

    Examples
    --------
    >>> chunk_edges(2), chunk_edges(4), chunk_edges(16)
    (1024, 512, 256)
    """
    return max(LEAST_CHUNK, CHUNK_EDGES // threads)


@inline
def times_wider(days: int, edges: int) -> int:
    """How often a calendar's days are doubled when others are called, after so many with so many edges.

    Of these the last had twice as many as the mean at least, for what is found grows. To fill the calendars
    for each doubling takes that road 2.4 ms instead of 2.3.

    Examples
    --------
    >>> times_wider(70, 16_384), times_wider(2, 100_000), times_wider(0, 0)
    (3, 0, 0)
    """
    times, doublings = DAY_EDGES * days // max(2 * edges, 1), 0
    while times > 1:
        times >>= 1
        doublings += 1
    return doublings


def shares_paths(threads: int, n: int, near: bool, many: bool) -> bool:
    """Whether a search for shortest paths is shared, of which enough is left (`least_rest`).

    ``near``: neighbours are; ``many``: vertices have `PATHS_NEAR` edges. Where neighbours are far, or edges
    fewer, it is by `MANY_THREADS` at least.

    Examples
    --------
    >>> shares_paths(16, 1 << 15, False, False), shares_paths(2, 1 << 20, False, True)
    (True, False)
    >>> shares_paths(2, 1 << 20, True, True), shares_paths(2, 1 << 20, True, False)
    (True, False)
    >>> shares_paths(4, 1 << 16, True, True), shares_paths(8, 1 << 16, True, True)
    (False, True)
    """
    if near and n < SHARED_VERTICES and threads < THREADS_OF_MESH:
        return False
    return (near and many) or threads >= MANY_THREADS


def have_own(threads: int, n: int, near: bool) -> bool:
    """Whether threads that share shortest paths on n vertices each have some of their own (`OWN_VERTICES`).

    Examples
    --------
    >>> have_own(2, 1 << 22, True), have_own(16, 1 << 19, True), have_own(16, 1 << 22, True)
    (False, False, True)
    """
    return near and threads >= MANY_THREADS and n >= OWN_VERTICES


def begun_alone(threads: int, n: int) -> int:
    """Edges of a search for shortest paths after which others are called.

    As many as it takes to fill their calendars at least, for which each looks at its part of all vertices,
    two in the time of an edge.

    Examples
    --------
    >>> begun_alone(2, 1 << 20), begun_alone(16, 1 << 18)
    (262144, 16384)
    """
    return max(BEGUN_ALONE, n // (2 * threads))


@inline
def worth(threads: int, edges: int, each: int = EDGES_EACH) -> int:
    """How many of these threads are called for so many edges: two at least, and no more than ``each`` is for.

    Examples
    --------
    >>> worth(16, 400_000), worth(16, 3_000_000), worth(16, 100), worth(2, 3_000_000)
    (12, 16, 2, 2)
    """
    return min(threads, max(2, edges // each))
