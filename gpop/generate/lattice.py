"""The edges of meshes and tori of any number of dimensions (the kinds: lattices.py).

Edges are numbered dimension by dimension; each leads one step up. In a torus the last vertex of a line is
joined to the first.
"""

from __future__ import annotations

from math import prod

import numpy as np

from gpop.common.cached import cached
from gpop.common.errors import UsageError
from gpop.common.inlined import KERNEL
from gpop.generate import check_sizes, check_vertices, empty_pair
from gpop.generate.lattices import LATTICES
from gpop.graph.build import Edges

UNDIRECTED = True
MOST_DIMENSIONS = 31


@cached(**KERNEL)
def _fill(first, extents, wrap, source, destination):
    n = np.int64(1)
    for extent in extents:
        n *= extent
    begin = np.int64(0)  # of the edges of this dimension
    stride = np.int64(1)
    for extent in extents:
        steps = extent if wrap else extent - 1
        end = begin + n // extent * steps
        for i in range(max(0, begin - first), min(len(source), end - first)):
            e = first + i - begin
            low = e % stride
            x = e // stride % steps
            v = low + stride * (x + extent * (e // stride // steps))
            source[i] = v
            destination[i] = v + stride if x + 1 < extent else v - stride * x
        begin = end
        stride *= extent


def edges(kind: str, **sizes: int) -> tuple[int, Edges]:
    """Every edge of a lattice of this kind once: (n, edges)."""
    check_sizes(1, **sizes)
    if sizes.get("dimensions", 1) > MOST_DIMENSIONS:
        raise UsageError(
            f"dimensions {sizes['dimensions']} are not possible, expected at most {MOST_DIMENSIONS}"
        )
    sides, torus = LATTICES[kind].sides(**sizes), LATTICES[kind].torus
    n = prod(sides)
    check_vertices(n)
    extents = np.array(sides, np.int64)

    def chunk(first, last):
        source, destination = empty_pair(last - first)
        _fill(first, extents, torus, source, destination)
        return source, destination, None

    return n, Edges(sum(n // side * (side if torus else side - 1) for side in sides), chunk)
