"""Who decides how a partition, or an iteration, sends its messages, from the bytes of model/bytes.py.

A chooser is a function of plain numbers that the engines compile into their loops. What it decides for:

partition   source-centric or partition-centric, by eq. (1) of the paper (`prefers_pc`; on a GPU, whose two
            ways move other bytes, `prefers_bins`);
iteration   whether all partitions pull instead (`prefers_pull`; on a GPU `prefers_asking`).

What they count of those bytes is said by a model (models.py), which a user may choose.

A mode that is asked for needs no chooser: the engine gets its code (`AUTO`: none was asked for).
"""

from __future__ import annotations

from gpop.graph.degrees import UNEVEN
from gpop.model.bytes import pc_bytes, sc_bytes

AUTO = -1
"""In place of the code of a mode: the chooser decides."""

AUTO_PUSH = AUTO - 1
"""What auto becomes where the model does not pull, or there is no memory for in-edges."""

VISIT_BYTES = 256
"""What an active vertex of SC counts for beside pull, where ids say nothing about neighbourhood: lines of its
offset and of its edges, far from those of the one before. To wait for them takes 18 to 30 ns on an EPYC, in
which pull streams 600 bytes."""

DEFAULT_RATIO = 2.0
"""BW_PC / BW_SC of eq. (1), as the paper has it."""

FEW_EDGES = 64
"""Pull is not considered while fewer than one in so many of the edges to needy vertices may be active."""

ASKING = 4
"""A byte of vertices that ask takes as long as so many that stream, on a GPU: an edge is looked at after
those before it. On an H200 a search of a web graph took 1.6 times as long with 1; with 8 as with 4. To find
out who wants messages is a stream: it counts once."""

SETTING_OUT = 1 << 21
"""Bytes of SC that take as long as it does to begin and end an iteration in which vertices ask, on a GPU: 15
to 25 us. On an H100 a search of email-Enron takes .72 of the time that it takes with 0, one of a random graph
with 8.4 million edges as long; with twice as many 1.2."""

MOST_CACHED, SECTOR_BYTES = 50 << 20, 32
"""Bytes of a field that stay in the last cache of a GPU, which has 50 MB on an H100 and 60 on an H200; and
what comes from memory where one is looked for that does not."""

MOST_IN_ROWS, MOST_EDGES_IN_ROWS, MOST_EDGES_IN_NEAR_ROWS = 1 << 19, 9 << 19, 6 << 20
"""Vertices, and edges, so few that bins save nothing: their values stay in the caches. On an H200 PageRank by
rows took .37 to .86 of the time of bins on ten graphs with 1.1 to 4.7 million edges, .81 to 1.28 on 15 with
4.9 to 7.0, 1.13 to 1.77 on three with 7.6 to 8.4; where neighbours are near each other .43 to .90 on five
with 5.0 to 6.3, 1.56 with 10. On an H100 .47 to 1.07 on seven graphs within these bounds."""

LEAST_NEAR = 0.9
"""Share of the edges inside partitions from which on neighbours are near each other."""

MOST_IN_LONG_ROWS = 0.1
"""Share of the edges up to which rows are walked by threads that have several at once (kernels/rows.cuh)."""

MOST_DEGREE_OF_THIN = 8
"""Edges a vertex, of graphs whose searches may have many small levels."""

MOST_WITHOUT_BINS = 1 << 22
"""Edges. On an H200 paths took .7 to .9 of the time without bins with up to 1.6 million, .95 to 1.05 with 1.8
to 3.7 (a web graph with 3.2 million .62), and 1.5 with 7.6."""

MOST_SWEPT, MOST_VERTICES_SWEPT = 1 << 22, 1 << 20
"""Edges, and vertices, up to which a run has levels that may look at all of them (kernels/sweeps.cuh)."""

MOST_ONLY_PUSHED = 5 << 18
"""Edges. On an H100 searches in mode sc, by the same kernels, took .87 to .96 of the time with .2 to .8
million. Since levels of a million edges are one phase: on an H200 .70 with 1.1 million, as long with 1.6."""

MOST_OF_MANY_LEVELS = 1 << 25
"""Edges of graphs with many levels, up to which an engine that only pushes was tried. On an H200 it took
.96 to .99 of the time on grids and roads of up to 17 million edges, .88 (searches) and .68 to .83 (paths) on
a web graph with 5.6 million; but 1.1 to 1.4 on small worlds, whose neighbours are as near."""


def prefers_pc(
    active_vertices, active_edges, edges, messages, partitions, sizes, ratio,
    direct_edges=0, direct_messages=0,
):  # fmt: skip
    """Eq. (1): whether partition-centric scatter is predicted to take no longer.

    Of all edges and messages of the partition, ``direct_edges`` and ``direct_messages`` need no bin in SC.

    Examples
    --------
    >>> from gpop.model.bytes import Sizes
    >>> four = Sizes(4, 4, 4, 4, 4, 0)
    >>> prefers_pc(10, 160, 160, 80, 8, four, 2.0), prefers_pc(1, 2, 160, 80, 8, four, 2.0)
    (True, False)
    >>> prefers_pc(10, 64, 160, 80, 8, four, 2.0), prefers_pc(10, 64, 160, 80, 8, four, 2.0, 120, 60)
    (True, False)
    """
    if edges == 0:
        return False
    active = active_edges / edges
    active_messages = active * (messages - direct_messages)
    sparse = sc_bytes(active_vertices, active_edges, active_messages, sizes, active * direct_edges)
    sparse += active_edges * sizes.probe + active_messages * sizes.cursor
    return pc_bytes(edges, messages, partitions, sizes) + edges * sizes.probe <= ratio * sparse


def prefers_bins(edges: float, pushed: float, binned: float, ratio: float) -> bool:
    """Eq. (1) of two predictions: bytes that partition-centric scatter streams, and those of the other way.

    Examples
    --------
    >>> prefers_bins(9, 100.0, 200.0, 2.0), prefers_bins(9, 100.0, 201.0, 2.0), prefers_bins(0, 1.0, 0.0, 2.0)
    (True, False, False)
    """
    return edges > 0 and binned <= ratio * pushed


def prefers_rows(vertices: float, edges: float, inside: float, long: float) -> bool:
    """Whether vertices that combine their in-edges are predicted to take no longer than bins, on a GPU.

    ``inside``: the share of the edges that stay in their partition, whose values are found in the caches;
    ``long``: that of edges in rows which one thread does not walk, so that others wait for theirs.

    Examples
    --------
    >>> prefers_rows(100, 400, 0.98, 0), prefers_rows(100, 3200, 0.2, 0), prefers_rows(100, 400, 0.98, 0.5)
    (True, False, False)
    """
    return edges * (1 - inside) <= 4 * vertices and long <= MOST_IN_LONG_ROWS


def prefers_few_rows(vertices: float, edges: float, inside: float) -> bool:
    """The same where there are few, however long; some more if their values are ``inside``.

    Examples
    --------
    >>> prefers_few_rows(1 << 17, 1 << 21, 0.1), prefers_few_rows(1 << 18, 1 << 23, 0.95)
    (True, False)
    >>> prefers_few_rows(1 << 18, 6 << 20, 0.8), prefers_few_rows(1 << 18, 6 << 20, 0.95)
    (False, True)
    """
    most = MOST_EDGES_IN_NEAR_ROWS if inside >= LEAST_NEAR else MOST_EDGES_IN_ROWS
    return vertices <= MOST_IN_ROWS and edges <= most


def prefers_few_ways(edges: float) -> bool:
    """Whether an engine that has no bins is predicted to take no longer than one that may choose, on a GPU.

    So few edges are pushed in less time than it takes to fill bins and then to empty them.

    Examples
    --------
    >>> prefers_few_ways(1 << 20), prefers_few_ways(1 << 23)
    (True, False)
    """
    return edges <= MOST_WITHOUT_BINS


def prefers_only_pushes(edges: float) -> bool:
    """Whether a search that cannot ask is predicted to take no longer than one that may choose, on a GPU.

    Hardly an iteration of so few edges would ask, and a smaller engine is faster in all others.

    Examples
    --------
    >>> prefers_only_pushes(1 << 18), prefers_only_pushes(1 << 22)
    (True, False)
    """
    return edges < MOST_ONLY_PUSHED


def prefers_pushes_of_many_levels(vertices: float, edges: float, unevenness: float) -> bool:
    """The same two of larger graphs whose neighbours are near each other, on a GPU.

    Their frontiers are predicted to be small for long where neighbours are few or very different in number:
    in a mesh, on roads, on the web. With more than `MOST_OF_MANY_LEVELS` edges nobody needs to ask.

    Examples
    --------
    >>> prefers_pushes_of_many_levels(1 << 20, 1 << 22, 1.0)
    True
    >>> prefers_pushes_of_many_levels(1 << 18, 1 << 22, 20.0)
    True
    >>> prefers_pushes_of_many_levels(1 << 18, 1 << 22, 1.0)
    False
    """
    return edges <= MOST_DEGREE_OF_THIN * vertices or unevenness >= UNEVEN


def prefers_sweeps(vertices: float, edges: float) -> bool:
    """Whether a run that begins with one vertex is predicted to take no longer if it has levels and no other
    iterations, on a GPU: in a small launch of their own, which looks at all edges where they are too much.

    Examples
    --------
    >>> prefers_sweeps(1 << 16, 1 << 20), prefers_sweeps(1 << 20, 1 << 23)
    (True, False)
    """
    return vertices <= MOST_VERTICES_SWEPT and edges <= MOST_SWEPT


def prefers_cluster(vertices: float, edges: float) -> bool:
    """Whether frontiers are predicted to be small in many iterations, for a cluster of blocks on a GPU.

    Of a graph with many edges a vertex a search sees all in few levels, and most of them are large.

    Examples
    --------
    >>> prefers_cluster(1 << 22, 1 << 24), prefers_cluster(1 << 22, 1 << 26)
    (True, False)
    """
    return edges <= MOST_DEGREE_OF_THIN * vertices


def divides(divided: float, pushed: float, binned: float) -> bool:
    """Whether an iteration whose partitions send in two ways is predicted to take no longer than one whose
    partitions all do the same; bytes at one bandwidth.

    Examples
    --------
    >>> divides(10.0, 12.0, 11.0), divides(10.0, 9.0, 11.0)
    (True, False)
    """
    return divided <= min(pushed, binned)


def may_pull(active_edges: float, needy_edges: float) -> bool:
    """Whether it is worth while to ask if an iteration should pull (`FEW_EDGES`).

    Examples
    --------
    >>> may_pull(1.0, 64.0), may_pull(1.0, 65.0)
    (True, False)
    """
    return active_edges * FEW_EDGES >= needy_edges


def prefers_pull(pushed: float, pulled: float, ratio: float) -> bool:
    """Whether an iteration that pulls is predicted to take no longer than one that pushes.

    ``pushed`` are bytes at the bandwidth of SC (those of PC divided by ``ratio``); pull streams like PC.

    Examples
    --------
    >>> prefers_pull(100.0, 200.0, 2.0), prefers_pull(100.0, 201.0, 2.0)
    (True, False)
    """
    return pulled <= ratio * pushed


def prefers_asking(pushed: float, streamed: float, asked: float, fetched: float, ratio: float) -> bool:
    """`prefers_pull` on a GPU, where vertices that ask do not stream (`ASKING`) and set out late
    (`SETTING_OUT`).

    ``streamed``: bytes of ``asked`` that do, from which it is known who wants messages; ``fetched``: what
    comes over the link, in bytes of SC times ``ratio``.

    Examples
    --------
    >>> prefers_asking(1e8, 0.0, 4e7, 0.0, 2.0), prefers_asking(1e8, 0.0, 4e7, 1e8, 2.0)
    (True, False)
    >>> prefers_asking(1e8, 1e8, 1e8, 0.0, 2.0)
    True
    """
    return streamed + ASKING * (asked - streamed) + fetched <= ratio * (pushed - SETTING_OUT)


def missed_bytes(field_bytes: float, edges: float) -> float:
    """What comes from memory beside what the model counts, where so many edges are pushed, on a GPU.

    On an H200 69 of the 537 million edges of a random graph with 17 million vertices were pushed in 4.7 ms;
    in 1.9 the vertices that were left asked.

    Examples
    --------
    >>> missed_bytes(4 * 2**24, 10), missed_bytes(4 * 2**22, 10)
    (320, 0.0)
    """
    return SECTOR_BYTES * edges if field_bytes > MOST_CACHED else 0.0
