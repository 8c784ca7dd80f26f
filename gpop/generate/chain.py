"""Chain: vertex i is joined to i + 1. The deepest graph for its size."""

from __future__ import annotations

import numpy as np

from gpop.build import Edges
from gpop.generate import check_sizes

UNDIRECTED = True


def edges(seed: int, vertices: int) -> tuple[int, Edges]:
    """``vertices`` in a row and every edge once: (n, edges). The seed has no use here."""
    check_sizes(1, vertices=vertices)

    def chunk(first, last):
        return np.arange(first, last), np.arange(first + 1, last + 1), None

    return vertices, Edges(vertices - 1, chunk)
