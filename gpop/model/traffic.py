"""What ranks send each other, in closed form: values of one iteration in which every vertex is active.

A vertex with d out-edges is mirrored on another of P ranks unless none of its edges leads there. Where edges
do not know of ranks and ranks have equal shares of them, that is ``(1 - 1/P) ** d``, so

    values = (P - 1) * sum over v of 1 - (1 - 1/P) ** d_v

which is what was counted on Kronecker and uniform graphs, within a thousandth. For large graphs that nobody
has, degrees are known in the mean: an RMAT vertex whose id has j ones of s bits has an expected degree d of
``m * (a + b) ** (s - j) * (c + d) ** j``; where that is Poisson distributed, the term is ``1 - exp(-d / P)``.
"""

from __future__ import annotations

from math import comb, exp

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
