"""``degree_D_N`` of Verstraaten et al. (Euro-Par 2015): a torus of D dimensions and N vertices along each.

N^D vertices of out-degree 2 D. With N = 2 both neighbours along a dimension are the same vertex, so
every edge is there twice (a multigraph); with N = 1 all edges are self-loops. Their Table 1 counts one
vertex less: degree_20_2 is ``--dimensions 20 --side 2``, 1,048,576 vertices, 41,943,040 edges.
"""

from __future__ import annotations

from gpop.common.errors import UsageError
from gpop.generate import check_sizes
from gpop.generate.lattice import lattice
from gpop.graph.build import Edges

UNDIRECTED = True


def edges(seed: int, dimensions: int, side: int) -> tuple[int, Edges]:
    """``side**dimensions`` vertices and every edge once: (n, edges). The seed has no use here."""
    check_sizes(1, dimensions=dimensions, side=side)
    if dimensions > 31:
        raise UsageError(f"dimensions {dimensions} are not possible, expected at most 31")
    return lattice((side,) * dimensions, wrap=True)
