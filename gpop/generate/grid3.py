"""Three-dimensional mesh: vertex ``x + width * (y + height * z)`` is joined to its six neighbours."""

from __future__ import annotations

from gpop.generate import check_sizes
from gpop.generate.lattice import lattice
from gpop.graph.build import Edges

UNDIRECTED = True


def edges(seed: int, width: int, height: int, depth: int) -> tuple[int, Edges]:
    """``width * height * depth`` vertices and every edge once: (n, edges). The seed has no use here."""
    check_sizes(1, width=width, height=height, depth=depth)
    return lattice((width, height, depth), wrap=False)
