"""What ranks send each other, in closed form: values of one iteration in which every vertex is active.

A vertex with d out-edges is mirrored on another of P ranks unless none of its edges leads there. Where edges
do not know of ranks and ranks have equal shares of them, that is ``(1 - 1/P) ** d``, so

    values = (P - 1) * sum over v of 1 - (1 - 1/P) ** d_v

which is what was counted on Kronecker and uniform graphs, within a thousandth. For large graphs that nobody
has, degrees are known in the mean: an RMAT vertex whose id has j ones of s bits has an expected degree d of
``m * (a + b) ** (s - j) * (c + d) ** j``; where that is Poisson distributed, the term is ``1 - exp(-d / P)``.

On a *grid* of A x B ranks, a rank has the edges from one of B ranges of sources to one of A ranges of
destinations. A value goes down its column, to the other A - 1 ranges where it has edges; then the ranks of a
row send what they have combined for a destination to the one that owns it:

    values = (A - 1) * sum of 1 - (1 - 1/A) ** d_out  +  (B - 1) * sum of 1 - (1 - 1/B) ** d_in

A rank speaks to A + B - 2 others in place of P - 1, and the in-edges of a hub lie on B ranks. It is for
programs with ``combine`` only, and sums are in another order than in one process. No engine does it: this is
what it would be worth. Known before: Boman, Devine, Rajamanickam, "Scalable matrix computations on large
scale-free graphs using 2D graph partitioning" (SC 2013).
"""

from __future__ import annotations

from math import comb, exp, isqrt

import numpy as np

UPPER = 0.76
"""a + b of Graph500's RMAT: how probable it is that a bit of an end is 0."""


def values_sent(degrees: np.ndarray, ranks: int) -> float:
    """Values that travel in one iteration, by all ranks together.

    Examples
    --------
    >>> values_sent(np.array([1, 1, 1, 1]), ranks=2)           # each edge leads to the other rank or not
    2.0
    """
    counts = np.bincount(degrees)
    missed = (1 - 1 / ranks) ** np.arange(counts.size)
    return float((ranks - 1) * (counts * (1 - missed)).sum())


def grid_of(ranks: int) -> tuple[int, int]:
    """Rows and columns of the grid nearest to a square.

    Examples
    --------
    >>> grid_of(16), grid_of(512), grid_of(7)
    ((4, 4), (16, 32), (1, 7))
    """
    rows = next(rows for rows in range(isqrt(ranks), 0, -1) if ranks % rows == 0)
    return rows, ranks // rows


def grid_values_sent(out_degrees: np.ndarray, in_degrees: np.ndarray, ranks: int) -> float:
    """Values that travel in one iteration on a grid, by all ranks together.

    Examples
    --------
    >>> grid_values_sent(np.array([1, 1]), np.array([1, 1]), ranks=4)      # half of the values go each way
    2.0
    """
    rows, columns = grid_of(ranks)
    return values_sent(out_degrees, rows) + values_sent(in_degrees, columns)


def rmat_values_sent(scale: int, edges_per_vertex: int, ranks: int) -> float:
    """The same for an RMAT graph of ``2**scale`` vertices, in the mean.

    Examples
    --------
    >>> round(rmat_values_sent(30, 32, 16) * 4 / 16 / 1e9, 2)  # GB that a rank sends
    0.62
    """
    m = edges_per_vertex << scale
    total = 0.0
    for ones in range(scale + 1):
        degree = m * UPPER ** (scale - ones) * (1 - UPPER) ** ones
        total += comb(scale, ones) * (1 - exp(-degree / ranks))
    return (ranks - 1) * total


def rmat_grid_values_sent(scale: int, edges_per_vertex: int, ranks: int) -> float:
    """The same on a grid: Graph500's RMAT has in-degrees like its out-degrees.

    Examples
    --------
    >>> values = rmat_values_sent(36, 32, 1024)
    >>> round(rmat_grid_values_sent(36, 32, 1024) / values, 2)
    0.47
    """
    return sum(rmat_values_sent(scale, edges_per_vertex, side) for side in grid_of(ranks))
