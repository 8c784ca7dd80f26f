"""Small world: a ring in which every vertex is joined to its nearest ones, some edges led elsewhere.

Watts, Strogatz: Collective dynamics of "small-world" networks, Nature 1998. Edge ``(v, v + j)``,
``j = 1 .. degree / 2``, is kept or, with ``probability``, led to any other vertex. Every edge draws by
itself, so a rewired one may repeat another (rarely; ``symmetrize`` merges them), never form a loop.
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.errors import UsageError
from gpop.common.inlined import KERNEL
from gpop.common.random_bits import GOLDEN, below, mix, stream
from gpop.generate import check_sizes, check_vertices, empty_pair
from gpop.graph.build import Edges

UNDIRECTED = True


@cached(**KERNEL)
def _fill(seed, first, n, half, probability, source, destination):
    for i in range(len(source)):
        v = (first + i) // half
        step = (first + i) % half + 1
        start = stream(seed, np.uint64(first + i))
        if np.float64(mix(start + GOLDEN) >> np.uint64(11)) * 2.0**-53 < probability:
            step = 1 + np.int64(below(mix(start + np.uint64(2) * GOLDEN), np.uint64(n - 1)))
        source[i] = v
        destination[i] = (v + step) % n


def edges(seed: int, vertices: int, degree: int, probability: float) -> tuple[int, Edges]:
    """``vertices`` in a ring with ``degree / 2`` edges each, every edge once: (n, edges)."""
    check_sizes(1, vertices=vertices)
    check_sizes(0, degree=degree)
    check_vertices(vertices)
    if degree % 2 or degree >= vertices:
        raise UsageError(f"degree {degree} is not possible, expected an even number below {vertices}")
    if not 0 <= probability <= 1:
        raise UsageError(f"probability {probability} is not possible, expected a number from 0 to 1")

    def chunk(first, last):
        source, destination = empty_pair(last - first)
        _fill(np.uint64(seed), first, vertices, degree // 2, float(probability), source, destination)
        return source, destination, None

    return vertices, Edges(vertices * (degree // 2), chunk)
