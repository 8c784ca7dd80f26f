"""Graphie's edge partitions and its two renamings, as published and corrected where they cannot be meant so.

Renaming 1 (for memory): vertices with out-edges first, so that sources are 0 ... OV-1 and the sources of a
block of edges are a range. Renaming 2 (for active partitions): edges, sorted by source, are cut into P
partitions on the borders of sources; the ids of partition i begin at ``i * most``, ``most`` the largest
number of sources of a partition, so that ``id // most`` is the partition. The ids that are skipped take no
storage: ``id - offset(id)`` is a vertex of renaming 1 again.

Corrected: a vertex with more edges than a partition has gets partitions of its own that continue it, and are
active when its first one is; what is a source is told by ``id < P * most``, not by the number of sources.
Where partitions are ranges of ids of a power of two, as those of `gpop.layout.bins`, ``id >> bits`` is that
map already and nothing is renamed.

Paper: Han, Mawhirter, Wu, Buland, "Graphie: large-scale asynchronous graph traversals on just a GPU" (PACT
2017), algorithms 2 and 3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import gpop
from gpop.common.errors import UsageError
from gpop.graph.transform import relabel

MOST_ID = 2**32 - 1


class Renamed(NamedTuple):
    """Edges sorted by their new source, ``head`` by vertex; ``new_to_old`` the vertices; ``sources``: OV."""

    new_to_old: np.ndarray
    indptr: np.ndarray
    heads: np.ndarray
    weights: np.ndarray | None
    sources: int


class Partitions(NamedTuple):
    """Edge partitions of renamed vertices.

    ``first[i]`` is the first edge of partition i and ``first[P]`` their number; ``of_source`` the partition
    in which the edges of each source begin, and ``continued[i]`` how many partitions continue i.
    """

    first: np.ndarray
    of_source: np.ndarray
    continued: np.ndarray

    @property
    def count(self) -> int:
        """P."""
        return len(self.first) - 1


class Ids(NamedTuple):
    """Renaming 2: the ids of vertices, the most sources of a partition, and what `offset` looks up."""

    ids: np.ndarray
    most: int
    before: np.ndarray

    @property
    def bound(self) -> int:
        """Ids below it belong to sources."""
        return (len(self.before) - 1) * self.most

    def offset(self, ids: np.ndarray) -> np.ndarray:
        """What lies between an id and its place in the vertices' array."""
        partition = np.minimum(ids // self.most, len(self.before) - 1)
        return np.where(ids < self.bound, self.before[partition], self.before[-1])

    def partition(self, ids: np.ndarray) -> np.ndarray:
        """The partition of each id, -1 where it has no out-edges."""
        return np.where(ids < self.bound, ids // self.most, -1)


def rename_for_memory(graph: gpop.Graph) -> Renamed:
    """Renaming 1.

    Examples
    --------
    >>> renamed = rename_for_memory(gpop.Graph.from_edges([0, 3, 3], [1, 0, 2], n=4))
    >>> renamed.new_to_old.tolist(), renamed.indptr.tolist(), renamed.heads.tolist()
    ([0, 3, 1, 2], [0, 1, 3], [2, 0, 3])
    """
    sends = graph.out_degree > 0
    new_to_old = np.concatenate([np.flatnonzero(sends), np.flatnonzero(~sends)])
    renamed, sources = relabel(graph, new_to_old), int(np.count_nonzero(sends))
    return Renamed(new_to_old, renamed.indptr[: sources + 1], renamed.indices, renamed.weights, sources)


def cut(renamed: Renamed, size: int) -> Partitions:
    """Partitions of at most ``size`` edges, cut where a source begins; larger vertices have several.

    Examples
    --------
    >>> renamed = rename_for_memory(gpop.Graph.from_edges([0, 1, 1, 1, 2], [1, 0, 2, 3, 0], n=4))
    >>> parts = cut(renamed, 2)
    >>> parts.first.tolist(), parts.of_source.tolist(), parts.continued.tolist()
    ([0, 1, 3, 4, 5], [0, 1, 3], [0, 1, 0, 0])
    """
    if size < 1:
        raise UsageError(f"partitions of {size} edges: expected 1 or more")
    first, of_source, continued = [], np.empty(renamed.sources, np.int64), []
    vertex, indptr = 0, renamed.indptr
    while vertex < renamed.sources:
        begin = int(indptr[vertex])
        after = int(np.searchsorted(indptr, begin + size, side="right")) - 1
        pieces = 1
        if after <= vertex:  # more edges than a partition has
            after = vertex + 1
            pieces = -(-int(indptr[after] - begin) // size)
        of_source[vertex:after] = len(first)
        first += [begin + piece * size for piece in range(pieces)]
        continued += [pieces - 1] + [0] * (pieces - 1)
        vertex = after
    return Partitions(np.array([*first, indptr[-1]], np.int64), of_source, np.array(continued, np.int64))


def rename_for_partitions(renamed: Renamed, parts: Partitions) -> Ids:
    """Renaming 2.

    Raises
    ------
    UsageError
        If the ids do not fit 32 bits.
    """
    sizes = np.bincount(parts.of_source, minlength=parts.count)
    most = int(sizes.max(initial=1))
    before = np.append(0, np.cumsum(most - sizes))
    vertex = np.arange(len(renamed.new_to_old))
    shift = np.full(len(vertex), before[-1])
    shift[: renamed.sources] = before[parts.of_source]
    if len(vertex) + int(before[-1]) > MOST_ID:
        raise UsageError(
            f"{parts.count} partitions of up to {most} sources have ids beyond {MOST_ID}: expected others"
        )
    return Ids(vertex + shift, most, before)


def partition_edges(memory: int, edges: int, edge_bytes: int, streams: int) -> int:
    """Edges of a partition: a stream's share of the memory for edges, or of all edges where they fit.

    Examples
    --------
    >>> partition_edges(3200, 1000, 8, 32), partition_edges(1 << 20, 1000, 8, 32)
    (12, 32)
    """
    room = min(memory, edges * edge_bytes + streams * edge_bytes - 1)
    return max(1, room // streams // edge_bytes)
