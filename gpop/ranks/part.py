"""A rank's part of a graph: a range of vertices, all edges into it, and what other ranks must be told.

Ranges are contiguous, begin at a border of partitions and have about equal numbers of in-edges. The *local
graph* is over

    [mirrors of lower vertices | own vertices | mirrors of higher vertices]

in ascending order of the global ids. Mirrors are vertices of other ranks with an edge into the range. A
partition of the local graph holds the mirrors of whole partitions, as many as fit, and the rest of it stays
empty: who is active in a partition comes in the order that its owner has, and no other comes in between. So
columns are read in the same order as in the whole graph.

A local id plus `Part.shift` is the global id of an own vertex. It is never above that of a mirror, and never
below 0, because mirrors are only moved together: fields, which are as long as the whole graph, are used in
place.

Where many vertices are mirrored (`EVERYWHERE`) all have a place: local ids are the global ones, and a rank
that can tell a message by its vertex needs no array of them, whose lines a search would wait for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gpop.cpu.active import WORD_BITS
from gpop.cpu.own_vertices import MANY
from gpop.cpu.sums import has_hub
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.layout.bins import build_bins
from gpop.layout.partition import SMALL_ID_BITS, partitions
from gpop.ranks.world import World

EVERYWHERE = 1.9
"""All vertices have a place in every local graph where that makes none longer by more than this."""


class InEdges(NamedTuple):
    """All edges into a rank's range, by source, in the order of the sources' lists; global ids."""

    sources: np.ndarray
    targets: np.ndarray
    weights: np.ndarray | None


class Part(NamedTuple):
    """See the module.

    ``bounds[r]``: where rank r's range begins; ``names``: global ids of the mirrors, ascending, ``mirrors``
    their local ids and ``mirror_counts`` how many are of each rank. ``sends``: own vertices that other ranks
    mirror, local ids by rank, ``send_counts`` of each. ``out_edges``: edges of each own partition, to all
    ranks; ``few``: of each own vertex, at most `MANY`. ``everywhere``: local ids are global ones. ``kept``:
    what runs leave for the next one, by what it is.
    """

    bits: int
    bounds: np.ndarray
    graph: Graph
    shift: int
    first: int
    last: int
    names: np.ndarray
    mirrors: np.ndarray
    mirror_counts: np.ndarray
    sends: np.ndarray
    send_counts: np.ndarray
    out_edges: np.ndarray
    few: np.ndarray
    everywhere: bool
    kept: dict[Any, Any]

    @property
    def own(self) -> slice:
        """The rank's own vertices, as global ids."""
        return slice(self.first + self.shift, self.last + self.shift)


def cut(in_edges: np.ndarray, ranks: int, bits: int, n: int) -> np.ndarray:
    """Where ranges begin, and n: borders of partitions that part the in-edges most evenly.

    Parameters
    ----------
    in_edges : ndarray of int, [partitions]
        Edges into each partition.
    ranks : int
    bits : int
        Bits of a local id.
    n : int
        Vertices.

    Examples
    --------
    >>> cut(np.array([4, 1, 1, 2]), ranks=2, bits=3, n=30)
    array([ 0,  8, 30])
    """
    below = np.concatenate([[0], np.cumsum(in_edges)])
    wanted = below[-1] * np.arange(1, ranks) / ranks
    after = np.searchsorted(below, wanted)
    before = np.maximum(after - 1, 0)
    nearer = np.where(wanted - below[before] < below[after] - wanted, before, after)
    borders = np.maximum.accumulate(nearer) << bits
    return np.minimum(np.concatenate([[0], borders, [n]]), n)


def pack(mirrors: np.ndarray, bits: int) -> tuple[np.ndarray, int]:
    """Places for mirrors, as offsets from the first, and how many partitions they take.

    Those of one partition stay together in one, and begin with a word of bitmaps where partitions do.

    Examples
    --------
    >>> pack(np.array([1, 2, 4, 5, 6, 9]), bits=2)        # of partitions 0, 1 and 2
    (array([0, 1, 4, 5, 6, 7]), 2)
    """
    partitions, counts = np.unique(mirrors >> bits, return_counts=True)
    width, places, at = 1 << bits, np.empty(partitions.size, np.int64), 0
    begins = WORD_BITS if bits >= WORD_BITS else 0
    for i, count in enumerate(counts.tolist()):
        at = -(-at >> begins) << begins
        if (at & (width - 1)) + count > width:
            at = -(-at >> bits) << bits
        places[i] = at
        at += count
    inner = np.arange(mirrors.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(places, counts) + inner, -(-at >> bits)


class Local(NamedTuple):
    """A local graph, and where its own vertices and its mirrors are; see `Part`."""

    graph: Graph
    first: int
    last: int
    names: np.ndarray
    mirrors: np.ndarray
    everywhere: bool


def lay_out(
    edges: InEdges, begin: int, end: int, bits: int, whole: int, agree: Callable[[float], bool]
) -> Local:
    """The local graph of the range from ``begin`` to ``end``; sources ascend.

    Local ids are global ones if ``agree`` says so, told how many times longer the ``whole`` graph is.

    Examples
    --------
    >>> edges = InEdges(np.array([1, 6], np.uint32), np.array([4, 5], np.uint32), None)
    >>> local = lay_out(edges, 4, 6, bits=1, whole=99, agree=lambda times: False)
    >>> local.graph.indptr.tolist(), local.graph.indices.tolist()      # mirror 1, own 4 and 5, mirror 6
    ([0, 1, 1, 1, 1, 2], [2, 3])
    >>> local.first, local.last, local.mirrors.tolist()
    (2, 4, [0, 4])
    """
    starts = np.flatnonzero(np.diff(edges.sources, prepend=edges.sources[:1] ^ 1))  # of each source's edges
    senders = edges.sources[starts].astype(np.int64)
    outside = (senders < begin) | (senders >= end)
    names = senders[outside]
    lower, higher = names[names < begin], names[names >= end]
    places, partitions = pack(lower, bits)
    first = partitions << bits
    last = first + end - begin
    above, partitions = pack(higher, bits)
    above += -(-last >> bits) << bits
    mirrors = np.concatenate([places, above])
    n = max(int(above[-1]) + 1 if above.size else last, 1)
    everywhere = agree(whole / n)
    if everywhere:
        first, last, mirrors, n = begin, end, names, max(n, whole)
    senders -= begin - first
    senders[outside] = mirrors
    indptr = np.zeros(n + 1, np.int64)
    indptr[senders + 1] = np.diff(starts, append=edges.sources.size)
    np.cumsum(indptr, out=indptr)
    indices = edges.targets - np.uint32(begin - first)
    graph = Graph(indptr, indices, edges.weights)
    return Local(graph, first, last, names.astype(np.uint32), mirrors, everywhere)


def in_edges_of(graph: Graph, begin: int, end: int) -> InEdges:
    """Edges of a whole graph into a range of its vertices.

    Examples
    --------
    >>> in_edges_of(Graph.from_edges([0, 0, 2], [1, 2, 1]), 1, 2).sources
    array([0, 2], dtype=uint32)
    """
    chosen = np.flatnonzero((graph.indices >= begin) & (graph.indices < end))
    sources = (np.searchsorted(graph.indptr, chosen, side="right") - 1).astype(np.uint32)
    weights = None if graph.weights is None else graph.weights[chosen]
    return InEdges(sources, graph.indices[chosen], weights)


def partition_in_edges(graph: Graph, bits: int) -> np.ndarray:
    """Edges into each partition of a whole graph."""
    k = -(-graph.n >> bits)
    return np.bincount(graph.indices >> np.uint32(bits), minlength=k)


_compiled: set[object] = set()


def compile_layout(graph: Graph, bits: int, world: World) -> None:
    """Have compiled, once, what layouts of this kind are built with."""
    weights = None if graph.weights is None else graph.weights[:0]
    kind = (None if weights is None else weights.dtype, bits <= SMALL_ID_BITS)
    if kind not in _compiled:
        _compiled.add(kind)
        nothing = Graph(np.zeros(2, np.int64), np.empty(0, np.uint32), weights)
        world.first_alone(lambda: (has_hub(nothing), build_bins(nothing, bits, 1)))


def part_of(graph: Graph, bits: int, world: World, everywhere: float = EVERYWHERE) -> Part:
    """This rank's part of a graph, kept with it; all ranks ask for it together.

    All vertices have a place in it where that makes no local graph longer by more than ``everywhere``.
    A graph that every rank has whole is cut here; one that was loaded in parts is cut already, at borders
    that smaller partitions have as well.
    """
    kept = graph.store.get(Kind.PART, (bits, everywhere))
    missing = np.array([kept is None], np.uint8)  # a rank that is short of memory may have let go of it
    if not world.most(missing)[0]:
        return kept
    compile_layout(graph, bits, world)
    loaded = getattr(graph, "in_edges", None)
    if loaded is None:
        bounds = cut(partition_in_edges(graph, bits), world.size, bits, graph.n)
    else:
        bounds = graph.bounds
    begin, end = int(bounds[world.rank]), int(bounds[world.rank + 1])
    edges = in_edges_of(graph, begin, end) if loaded is None else loaded

    def by_all(times: float) -> bool:
        return bool(world.most(np.array([times]))[0] <= everywhere)

    local = lay_out(edges, begin, end, bits, graph.n, by_all)
    local.graph.name = graph.name
    hub = np.array([has_hub(local.graph)], np.uint8)
    local.graph.facts.has_hub = bool(world.most(hub)[0])
    local.graph.facts.equals_reverse = local.graph.facts.symmetric = False
    owners = np.searchsorted(bounds, local.names, side="right") - 1
    mirror_counts = np.bincount(owners, minlength=world.size)
    wanted, send_counts = world.dealt(local.names, mirror_counts)
    # A rank without vertices has one of nobody's, whose fields may be read all the same.
    shift = min(begin - local.first, graph.n - 1)
    degrees = graph.out_degree[begin:end]
    starts = np.arange(0, degrees.size, 1 << bits)
    out_edges = np.add.reduceat(degrees, starts, dtype=np.int64) if degrees.size else np.zeros(0, np.int64)
    part = Part(
        bits, bounds, local.graph, shift, local.first, local.last, local.names, local.mirrors,
        mirror_counts, (wanted.astype(np.int64) - shift).astype(np.uint32), send_counts, out_edges,
        np.minimum(degrees, MANY).astype(np.uint16), local.everywhere, {},
    )  # fmt: skip
    arrays = (part.mirrors, part.names, part.sends, part.few)
    return graph.store.put(
        Kind.PART, part, (bits, everywhere), about=partitions(bits), holds=arrays, graph=local.graph
    )
