"""Two-dimensional grid: vertex ``y * width + x`` is joined to its left, right, upper, lower neighbours.

Edges are numbered: first the horizontal ones row by row, then the vertical ones.
"""

from __future__ import annotations

import numpy as np

from gpop.generate import check_sizes
from gpop.graph.build import Edges

UNDIRECTED = True


def grid_ends(number: np.ndarray, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of the edges with these numbers."""
    horizontal = (width - 1) * height
    across = max(width - 1, 1)
    along = number < horizontal
    source = np.where(along, number // across * width + number % across, number - horizontal)
    return source, source + np.where(along, 1, width)


def edges(seed: int, width: int, height: int) -> tuple[int, Edges]:
    """``width * height`` vertices and every edge once: (n, edges). The seed has no use here."""
    check_sizes(1, width=width, height=height)

    def chunk(first, last):
        return *grid_ends(np.arange(first, last), width, height), None

    return width * height, Edges((width - 1) * height + width * (height - 1), chunk)
