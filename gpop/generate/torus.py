"""Two-dimensional torus: a grid whose opposite borders are joined; vertex ``y * width + x`` has four edges.

A side of 2 joins two vertices twice, a side of 1 joins a vertex to itself.
"""

from __future__ import annotations

from gpop.generate import check_sizes
from gpop.generate.lattice import lattice
from gpop.graph.build import Edges

UNDIRECTED = True


def edges(seed: int, width: int, height: int) -> tuple[int, Edges]:
    """``width * height`` vertices and every edge once: (n, edges). The seed has no use here."""
    check_sizes(1, width=width, height=height)
    return lattice((width, height), wrap=True)
