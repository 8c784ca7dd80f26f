"""``gpop.generate_part``: a graph from a seed on all ranks of a job, each its part of it.

Edges are computed from the seed and the number of the edge (`gpop.generate`), so each rank makes its share of
the numbers and no rank ever has more; then they go to the owners of their destinations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.common.parallel import for_each, ranges, use_threads
from gpop.generate import Recipe, generate, recipe
from gpop.graph.build import Edges
from gpop.graph.graph import Graph
from gpop.ranks.part import InEdges
from gpop.ranks.spread import spread
from gpop.ranks.world import World, threads_of, world_of

_CHUNK = 1 << 20  # edges made at a time


def generate_part(
    kind: str, *, threads: int | None = None, partition_size: int | None = None, transport: str = "auto",
    **recipe_options: Any,
) -> Graph:  # fmt: skip
    """Generate a graph on all ranks of a job together, each its part; all of it where there are no others.

    Parameters
    ----------
    kind : str
        One of ``gpop.generate.GENERATORS``.
    threads : int, optional
        As for `gpop.load_part`.
    partition_size : int, optional
        As for `gpop.load_part`.
    transport : "auto", "alone" or "mpi"
        As for `gpop.load_part`.
    **recipe_options : Any
        ``seed, symmetrize, weights, permute`` and the sizes of the kind, as for `gpop.generate.generate`.

    Returns
    -------
    Graph
        The same graph for any number of ranks.

    Raises
    ------
    UsageError
        As `gpop.generate.generate`.

    Examples
    --------
    >>> generate_part("rmat", scale=4, degree=2)
    Graph(rmat-4-2: 16 vertices, 32 edges)
    """
    world = world_of(transport)
    if world is None:
        return generate(kind, **recipe_options)
    made = recipe(kind, **recipe_options)
    threads = use_threads(threads_of(threads, world))
    world.first_alone(lambda: [edges.chunk(0, min(1, edges.count)) for edges in made.sources])
    shares = [_share(edges, made, world) for edges in made.sources]
    return spread(
        made.n, shares, world, threads=threads, partition_size=partition_size, duplicates=made.duplicates,
        name=made.name,
    )  # fmt: skip


def _share(edges: Edges, made: Recipe, world: World) -> InEdges:
    """This rank's share of some edges."""
    first, last = (edges.count * share // world.size for share in (world.rank, world.rank + 1))
    sources, targets = np.empty((2, last - first), np.uint32)
    weights = None if made.weight_dtype is None else np.empty(last - first, made.weight_dtype)
    pieces = ranges(last - first, _CHUNK)

    def make(i: int) -> None:
        begin, end = pieces[i]
        found = edges.chunk(first + begin, first + end)
        sources[begin:end], targets[begin:end] = found[:2]
        if weights is not None:
            weights[begin:end] = found[2]

    for_each(len(pieces), make)
    return InEdges(sources, targets, weights)
