"""Meshes and tori of any number of dimensions: what the generators of such graphs share.

The vertex at ``x, y, z ...`` is ``x + width * (y + height * (z + ...))``. Edges are numbered dimension
by dimension; each leads one step up. In a torus the last vertex of a line is joined to the first, so
that a side of 2 joins two vertices twice and a side of 1 joins a vertex to itself.
"""

from __future__ import annotations

from math import prod

import numpy as np

from gpop.common.cached import cached
from gpop.generate import check_vertices, empty_pair
from gpop.graph.build import Edges


@cached
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


def lattice(extents: tuple[int, ...], wrap: bool) -> tuple[int, Edges]:
    """Every edge of a mesh, or of a torus with ``wrap``, once: (n, edges)."""
    n = prod(extents)
    check_vertices(n)
    sides = np.array(extents, np.int64)

    def chunk(first, last):
        source, destination = empty_pair(last - first)
        _fill(first, sides, wrap, source, destination)
        return source, destination, None

    return n, Edges(sum(n // extent * (extent if wrap else extent - 1) for extent in extents), chunk)
