"""Road-like graph: a grid of crossings moved at random, with missing streets, weighted by length.

Crossings lie about 100 apart, each up to 30 off its place in both directions; a street is missing
with probability 1/5 and its weight is its rounded length. Small degrees, long paths, and a shortest
path that is not the one of fewest edges: what a road network is to a graph algorithm.
"""

from __future__ import annotations

import numpy as np

from gpop.common.memory import require_memory
from gpop.generate.lattice import edges as lattice_edges
from gpop.graph.build import Edges
from gpop.graph.modify import hashes

UNDIRECTED = True
WEIGHT_DTYPE = np.uint32

_SPACING = 100
_OFF = 30
_MISSING = 0.2


def edges(seed: int, width: int, height: int) -> tuple[int, Edges]:
    """``width * height`` crossings and every street once: (n, edges)."""
    n, streets = lattice_edges("grid", width=width, height=height)
    require_memory(150 * n, f"a road graph of {n} crossings")
    counts = (n, n, streets.count)
    x_off, y_off, missing = (hashes(3 * seed + i, count) / 2**64 for i, count in enumerate(counts))
    vertex = np.arange(n)
    x = vertex % width * _SPACING + _OFF * (2 * x_off - 1)
    y = vertex // width * _SPACING + _OFF * (2 * y_off - 1)
    source, destination, _ = streets.chunk(0, streets.count)
    there = missing >= _MISSING
    source, destination = source[there], destination[there]
    length = np.hypot(x[source] - x[destination], y[source] - y[destination]).round().astype(np.uint32)

    def chunk(first, last):
        return source[first:last], destination[first:last], length[first:last]

    return n, Edges(len(source), chunk)
