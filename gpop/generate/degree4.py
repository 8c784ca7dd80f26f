"""``degree4 N`` of Verstraaten et al. (Euro-Par 2015): an N x N torus, 4 N^2 directed edges.

Their Table 1 counts one vertex less: degree4_1000 is ``--side 1000``, 1,000,000 vertices, 4,000,000 edges.
"""

from __future__ import annotations

from gpop.generate import check_sizes
from gpop.generate.lattice import lattice
from gpop.graph.build import Edges

UNDIRECTED = True


def edges(seed: int, side: int) -> tuple[int, Edges]:
    """``side**2`` vertices and every edge once: (n, edges). The seed has no use here."""
    check_sizes(1, side=side)
    return lattice((side,) * 2, wrap=True)
