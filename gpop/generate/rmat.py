"""R-MAT (Kronecker) graphs; by default with a=.57 b=.19 c=.19 d=.05, as Graph500 and GAP.

Chakrabarti, Zhan, Faloutsos: R-MAT, SDM 2004. Each of ``scale`` levels puts an edge into one
quadrant of the adjacency matrix and thereby chooses one bit of its source and of its destination.
Duplicate edges and self-loops are kept, ids are not shuffled (Graph500 and GAP shuffle: ``permute``).
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.errors import UsageError
from gpop.common.inlined import KERNEL
from gpop.common.random_bits import GOLDEN, mix, stream
from gpop.generate import check_scale, empty_pair
from gpop.graph.build import Edges

UNDIRECTED = False


@cached(**KERNEL)
def _fill(seed, first, scale, a, ab, abc, source, destination):
    for i in range(len(source)):
        start = stream(seed, np.uint64(first + i))
        u = np.uint32(0)
        v = np.uint32(0)
        for level in range(scale):
            bits = mix(start + np.uint64(level + 1) * GOLDEN)
            lower = np.uint32(bits >= ab)
            right = np.uint32((bits >= a) & (bits < ab) | (bits >= abc))
            u = np.uint32(u << np.uint32(1)) | lower
            v = np.uint32(v << np.uint32(1)) | right
        source[i] = u
        destination[i] = v


def edges(seed: int, scale: int, degree: int, parameters: tuple[float, float, float]) -> tuple[int, Edges]:
    """``2**scale`` vertices and ``degree`` edges for each: (n, edges).

    ``parameters`` are the probabilities of the upper left, upper right and lower left quadrant.
    """
    check_scale(scale, degree)
    if len(parameters) != 3 or not (min(parameters) >= 0 and sum(parameters) <= 1 + 1e-9):
        raise UsageError(f"parameters {parameters} are not possible, expected a,b,c >= 0 of sum at most 1")
    # the first quadrants as fractions of 2^64
    limits = [np.uint64(min(int(sum(parameters[:i]) * 2**64), 2**64 - 1)) for i in (1, 2, 3)]

    def chunk(first, last):
        source, destination = empty_pair(last - first)
        _fill(np.uint64(seed), first, scale, *limits, source, destination)
        return source, destination, None

    return 1 << scale, Edges(degree << scale, chunk)
