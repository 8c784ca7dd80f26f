"""``degree6 N`` of Verstraaten et al. (Euro-Par 2015): an N x N x N torus, 6 N^3 directed edges.

Their Table 1 counts one vertex less: degree6_100 is ``--side 100``, 1,000,000 vertices, 6,000,000 edges.
"""

from __future__ import annotations

from gpop.generate import check_sizes
from gpop.generate.lattice import lattice
from gpop.graph.build import Edges

UNDIRECTED = True


def edges(seed: int, side: int) -> tuple[int, Edges]:
    """``side**3`` vertices and every edge once: (n, edges). The seed has no use here."""
    check_sizes(1, side=side)
    return lattice((side,) * 3, wrap=True)
