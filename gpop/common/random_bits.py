"""Counter-based random numbers: every edge computes its own, so that any number of threads agrees.

splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
"""

from __future__ import annotations

import numpy as np

from gpop.common.inlined import inline

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@inline
def mix(x):
    """Finaliser of splitmix64: a bijection of 64-bit numbers whose output looks random."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inline
def stream(seed, item):
    """Start of the sequence of random numbers of one item (an edge)."""
    return mix(mix(seed + GOLDEN) + item * GOLDEN)


@inline
def below(bits, bound):
    """64 random bits -> a number below ``bound`` (at most 2^32), by multiplying the upper half."""
    return ((bits >> np.uint64(32)) * bound) >> np.uint64(32)
