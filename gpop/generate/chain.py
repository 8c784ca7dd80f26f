"""Chain: vertex i is joined to i + 1. The deepest graph for its size.

``chain N`` of Verstraaten et al. (Euro-Par 2015) joins i to i + 1 for i = 0 .. N-1: it has N + 1
vertices and is this generator with ``vertices = N + 1``. Their Table 1 counts one vertex less:
chain_1000000 is ``--vertices 1000001``, 2,000,000 edges.
"""

from __future__ import annotations

import numpy as np

from gpop.generate import check_sizes
from gpop.graph.build import Edges

UNDIRECTED = True


def edges(seed: int, vertices: int) -> tuple[int, Edges]:
    """``vertices`` in a row and every edge once: (n, edges). The seed has no use here."""
    check_sizes(1, vertices=vertices)

    def chunk(first, last):
        return np.arange(first, last), np.arange(first + 1, last + 1), None

    return vertices, Edges(vertices - 1, chunk)
