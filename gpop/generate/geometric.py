"""Random geometric graph: points in the unit square, joined when they are at most a radius apart.

``radius = sqrt(degree / (pi * vertices))``: away from the border a point has ``degree`` neighbours on
average. The square is cut into cells as wide as the radius or wider; vertices are numbered cell by
cell, row by row, so that near points have near ids, and a point looks at its own cell and at those
after it that touch it.
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL
from gpop.common.memory import require_memory
from gpop.common.parallel import for_each, ranges
from gpop.generate import check_sizes, check_vertices
from gpop.graph.build import Edges
from gpop.graph.modify import hashes

UNDIRECTED = True

_PIECE = 1 << 14  # vertices


@cached(**KERNEL)
def _neighbours(first, last, x, y, cells, bounds, side, limit, source, destination):
    """Count the pairs of vertices first..last-1 with later ones; write them where there is room."""
    found = 0
    for v in range(first, last):
        row, column = divmod(cells[v], side)
        for below in range(2):
            if row + below == side:
                break
            start = row + below
            begin = v + 1 if below == 0 else bounds[start * side + max(0, column - 1)]
            end = bounds[start * side + min(side - 1, column + 1) + 1]
            for u in range(begin, end):
                if (x[u] - x[v]) ** 2 + (y[u] - y[v]) ** 2 <= limit:
                    if len(source) > 0:
                        source[found] = v
                        destination[found] = u
                    found += 1
    return found


def radius_of(vertices: int, degree: int) -> float:
    """How far apart joined points may be."""
    return float(np.sqrt(degree / (np.pi * vertices)))


def points(seed: int, vertices: int, degree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Coordinates of every vertex, its cell, and the cells along a side."""
    radius = radius_of(vertices, degree)
    most = max(1, int(np.sqrt(vertices)))  # no more cells than vertices
    side = most if radius == 0 else max(1, min(most, int(1 / radius)))
    x, y = (hashes(2 * seed + i, vertices) / 2**64 for i in (0, 1))
    x, y = (np.minimum(each, np.nextafter(1, 0)) for each in (x, y))  # rounding may give 1
    cells = (y * side).astype(np.int64) * side + (x * side).astype(np.int64)
    order = np.argsort(cells, kind="stable")
    return x[order], y[order], cells[order], side


def edges(seed: int, vertices: int, degree: int) -> tuple[int, Edges]:
    """``vertices`` points and every edge once: (n, edges)."""
    check_sizes(1, vertices=vertices)
    check_sizes(0, degree=degree)
    check_vertices(vertices)
    require_memory((80 + 4 * degree) * vertices, f"{vertices} random points of degree {degree}")
    x, y, cells, side = points(seed, vertices, degree)
    bounds = np.searchsorted(cells, np.arange(side * side + 1))
    limit = radius_of(vertices, degree) ** 2
    pieces = ranges(vertices, _PIECE)
    starts = np.zeros(len(pieces) + 1, np.int64)
    none = np.empty(0, np.uint32)

    def count(i):
        starts[i + 1] = _neighbours(*pieces[i], x, y, cells, bounds, side, limit, none, none)

    for_each(len(pieces), count)
    np.cumsum(starts, out=starts)
    source, destination = np.empty((2, starts[-1]), np.uint32)

    def fill(i):
        room = slice(starts[i], starts[i + 1])
        if room.stop > room.start:
            _neighbours(*pieces[i], x, y, cells, bounds, side, limit, source[room], destination[room])

    for_each(len(pieces), fill)

    def chunk(first, last):
        return source[first:last], destination[first:last], None

    return vertices, Edges(len(source), chunk)
