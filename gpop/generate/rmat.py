"""R-MAT (Kronecker) graphs with the Graph500 parameters a=.57 b=.19 c=.19 d=.05.

Chakrabarti, Zhan, Faloutsos: R-MAT, SDM 2004. Each of ``scale`` levels puts an edge into one
quadrant of the adjacency matrix and thereby chooses one bit of its source and of its destination.
Duplicate edges and self-loops are kept.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gpop.build import Edges
from gpop.generate import check_scale, empty_pair
from gpop.generate.random_bits import GOLDEN, mix, stream

UNDIRECTED = False

# the first quadrants as fractions of 2^64
_A = np.uint64(int(0.57 * 2**64))
_AB = np.uint64(int(0.76 * 2**64))
_ABC = np.uint64(int(0.95 * 2**64))


@njit(nogil=True, cache=True)
def _fill(seed, first, scale, source, destination):
    for i in range(len(source)):
        start = stream(seed, np.uint64(first + i))
        u = np.uint32(0)
        v = np.uint32(0)
        for level in range(scale):
            bits = mix(start + np.uint64(level + 1) * GOLDEN)
            lower = np.uint32(bits >= _AB)
            right = np.uint32((bits >= _A) & (bits < _AB) | (bits >= _ABC))
            u = np.uint32(u << np.uint32(1)) | lower
            v = np.uint32(v << np.uint32(1)) | right
        source[i] = u
        destination[i] = v


def edges(seed: int, scale: int, degree: int) -> tuple[int, Edges]:
    """``2**scale`` vertices and ``degree`` edges for each: (n, edges)."""
    check_scale(scale, degree)

    def chunk(first, last):
        source, destination = empty_pair(last - first)
        _fill(np.uint64(seed), first, scale, source, destination)
        return source, destination, None

    return 1 << scale, Edges(degree << scale, chunk)
