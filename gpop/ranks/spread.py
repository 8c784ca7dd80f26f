"""Edges that lie anywhere -> a graph in parts: each edge goes to the rank that owns its destination.

Borders are chosen from the counted in-edges. What comes is sorted as in one process (`gpop.graph.build`): the
shares of the ranks, one after the other, are the order in which one would have had the edges.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpop.graph.build import array_edges, build_csr
from gpop.layout.partition import partition_bits
from gpop.ranks.part import InEdges, cut
from gpop.ranks.part_graph import PartGraph, deal, note_weights
from gpop.ranks.world import World


def spread(
    n: int, sources: list[InEdges], world: World, *, threads: int, partition_size: int | None = None,
    duplicates: str = "keep", name: str = "", bytes_read: int = 0, original_ids: np.ndarray | None = None,
) -> PartGraph:  # fmt: skip
    """A graph in parts of ``n`` vertices; all ranks call it together, with as many sources.

    Parameters
    ----------
    n : int
    sources : list of InEdges
        This rank's shares of some lists of edges, which follow each other; the list is emptied. Weights have
        the same type on all ranks.
    world : World
    threads, partition_size
        As for `gpop.load_part`.
    duplicates : str
        As for `gpop.graph.build.build_csr`.
    """
    m = int(world.sum(np.array([sum(each.sources.size for each in sources)]))[0])
    bits = partition_bits(n, threads * world.size, edges=m, partition_size=partition_size)
    counts = np.zeros(-(-n >> bits), np.int64)
    for each in sources:
        counts += np.bincount(each.targets >> np.uint32(bits), minlength=counts.size)
    bounds = cut(world.sum(counts), world.size, bits, n)
    dtype = None if sources[0].weights is None else sources[0].weights.dtype
    world.first_alone(lambda: _sort_nothing(dtype, duplicates))
    dealt = [deal(each, bounds, world) for each in _taken(sources)]
    indptr, targets, weights = build_csr(n, [array_edges(*each) for each in _taken(dealt)], dtype, duplicates)
    here = np.diff(indptr).astype(np.uint32)
    in_edges = InEdges(np.repeat(np.arange(n, dtype=np.uint32), here), targets, weights)
    m = int(world.sum(np.array([targets.size]))[0])
    graph = PartGraph(n, m, in_edges, bounds, bits, world.sum(here), name=name, bytes_read=bytes_read)
    graph.original_ids = original_ids
    if weights is not None:
        note_weights(graph, weights, world)
    return graph


def _taken(sources: list[InEdges]) -> Iterator[InEdges]:
    """Each in turn, which the list lets go of."""
    while sources:
        yield sources.pop(0)


def _sort_nothing(dtype: np.dtype | None, duplicates: str) -> None:
    """Have compiled, once, what edges with such weights are sorted with."""
    ends = np.zeros(1, np.uint32)
    weights = None if dtype is None else np.zeros(1, dtype)
    build_csr(1, [array_edges(ends, ends, weights)], dtype, duplicates)
