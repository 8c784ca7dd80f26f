"""Meshes and tori: seven generators that are one algorithm (lattice.py) and a line each in this table.

A mesh joins neighbours along every dimension, a torus joins opposite borders too: its sides of 2 join two
vertices twice, its sides of 1 join a vertex to itself. The vertex at ``x, y, z ...`` is
``x + width * (y + height * (z + ...))``.

Three of them are from Verstraaten, Varbanescu, de Laat, "Quantifying the performance impact of graph
structure on neighbour iteration strategies for PageRank" (Euro-Par 2015): ``degree4 N`` is an N x N torus
with 4 N^2 directed edges, ``degree6 N`` an N x N x N torus with 6 N^3, and ``degree_D_N`` a torus of D
dimensions and N vertices along each, of out-degree 2 D (a multigraph for N = 2). Their Table 1 counts one
vertex less: degree4_1000 is ``--side 1000``, 1,000,000 vertices, 4,000,000 edges; degree_20_2 is
``--dimensions 20 --side 2``, 1,048,576 vertices, 41,943,040 edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Lattice(NamedTuple):
    """A generator: its line of help, its sizes with their defaults, and the sides that they make."""

    about: str
    sizes: dict[str, int]
    sides: Callable[..., tuple[int, ...]]
    torus: bool


def _each(**sizes: int) -> tuple[int, ...]:
    return tuple(sizes.values())


LATTICES = {
    "grid": Lattice("Two-dimensional grid", {"width": 256, "height": 256}, _each, False),
    "grid3": Lattice("Three-dimensional mesh", {"width": 40, "height": 40, "depth": 40}, _each, False),
    "torus": Lattice(
        "Two-dimensional torus: four edges at every vertex", {"width": 256, "height": 256}, _each, True
    ),
    "torus3": Lattice(
        "Three-dimensional torus: six edges at every vertex",
        {"width": 40, "height": 40, "depth": 40},
        _each,
        True,
    ),
    "degree4": Lattice(
        "degree4 N of Verstraaten et al. (Euro-Par 2015): an N x N torus",
        {"side": 256},
        lambda side: (side,) * 2,
        True,
    ),
    "degree6": Lattice(
        "degree6 N of Verstraaten et al. (Euro-Par 2015): an N x N x N torus",
        {"side": 40},
        lambda side: (side,) * 3,
        True,
    ),
    "constant_degree": Lattice(
        "degree_D_N of Verstraaten et al. (Euro-Par 2015): a torus of D dimensions and N vertices along each",
        {"dimensions": 5, "side": 9},
        lambda dimensions, side: (side,) * dimensions,
        True,
    ),
}
