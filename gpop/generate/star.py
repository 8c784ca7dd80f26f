"""Star: vertex 0 is joined to all others. The most uneven degrees for its size.

``star N`` of Verstraaten et al. (Euro-Par 2015) has N leaves: it is this generator with
``vertices = N + 1``. Their Table 1 counts one vertex less: star_1000000 is ``--vertices 1000001``,
2,000,000 edges.
"""

from __future__ import annotations

import numpy as np

from gpop.generate import check_sizes
from gpop.graph.build import Edges

UNDIRECTED = True


def edges(seed: int, vertices: int) -> tuple[int, Edges]:
    """A centre, ``vertices - 1`` leaves, and every edge once: (n, edges). The seed has no use here."""
    check_sizes(1, vertices=vertices)

    def chunk(first, last):
        return np.zeros(last - first, np.int64), np.arange(first + 1, last + 1), None

    return vertices, Edges(vertices - 1, chunk)
