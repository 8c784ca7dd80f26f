"""Uniform random graphs: both ends of every edge are drawn from all vertices (Erdos-Renyi, G(n, m)).

Duplicate edges and self-loops are kept.
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL
from gpop.common.random_bits import GOLDEN, mix, stream
from gpop.generate import check_scale, empty_pair
from gpop.graph.build import Edges

UNDIRECTED = False


@cached(**KERNEL)
def _fill(seed, first, scale, source, destination):
    mask = np.uint64((np.uint64(1) << np.uint64(scale)) - np.uint64(1))
    for i in range(len(source)):
        start = stream(seed, np.uint64(first + i))
        source[i] = np.uint32(mix(start + GOLDEN) & mask)
        destination[i] = np.uint32(mix(start + np.uint64(2) * GOLDEN) & mask)


def edges(seed: int, scale: int, degree: int) -> tuple[int, Edges]:
    """``2**scale`` vertices and ``degree`` edges for each: (n, edges)."""
    check_scale(scale, degree)

    def chunk(first, last):
        source, destination = empty_pair(last - first)
        _fill(np.uint64(seed), first, scale, source, destination)
        return source, destination, None

    return 1 << scale, Edges(degree << scale, chunk)
