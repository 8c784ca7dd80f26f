"""Star: vertex 0 is joined to all others. The most uneven degrees for its size."""

from __future__ import annotations

import numpy as np

from gpop.build import Edges
from gpop.generate import check_sizes

UNDIRECTED = True


def edges(seed: int, vertices: int) -> tuple[int, Edges]:
    """A centre, ``vertices - 1`` leaves, and every edge once: (n, edges). The seed has no use here."""
    check_sizes(1, vertices=vertices)

    def chunk(first, last):
        return np.zeros(last - first, np.int64), np.arange(first + 1, last + 1), None

    return vertices, Edges(vertices - 1, chunk)
