"""What can be done to the edges of any generator: random weights, shuffled vertex ids."""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.errors import UsageError
from gpop.common.inlined import KERNEL
from gpop.common.memory import require_memory
from gpop.common.random_bits import below, stream
from gpop.graph.build import Edges


@cached(**KERNEL)
def _fill_weights(seed, first, low, span, weights):
    for i in range(len(weights)):
        weights[i] = low + np.int64(below(stream(seed, np.uint64(first + i)), span))


@cached(**KERNEL)
def _fill_hashes(seed, hashes):
    for v in range(len(hashes)):
        hashes[v] = stream(seed, np.uint64(v))


def weight_dtype(low: int, high: int) -> type:
    """Type of random weights in low..high; UsageError when there is none."""
    if not -(2**31) <= low <= high < 2**32:
        raise UsageError(f"weights {low}:{high} are not possible, expected LOW:HIGH within -2^31..2^32-1")
    if high - low >= 2**32:
        raise UsageError(f"weights {low}:{high} are not possible, expected at most 2^32 different ones")
    return np.uint32 if low >= 0 else np.int64


def with_weights(edges: Edges, seed: int, low: int, high: int) -> tuple[Edges, type]:
    """Edges with random integer weights in low..high, and the dtype of those weights."""
    dtype = weight_dtype(low, high)
    own_seed = np.uint64(seed ^ 0x77656967687473)  # not the bits that chose the ends

    def chunk(first, last):
        weights = np.empty(last - first, dtype)
        _fill_weights(own_seed, first, low, np.uint64(high - low + 1), weights)
        return *edges.chunk(first, last)[:2], weights

    return Edges(edges.count, chunk), dtype


def hashes(seed: int, count: int) -> np.ndarray:
    """``count`` random 64-bit numbers."""
    result = np.empty(count, np.uint64)
    _fill_hashes(np.uint64(seed % 2**64), result)
    return result


def shuffled(edges: Edges, seed: int, n: int) -> Edges:
    """The edges under a random renaming of the vertices."""
    require_memory(20 * n, f"shuffling {n} vertices")
    renamed = np.argsort(hashes(seed ^ 0x7065726D757465, n), kind="stable").astype(np.uint32)

    def chunk(first, last):
        source, destination, weights = edges.chunk(first, last)
        return renamed[source], renamed[destination], weights

    return Edges(edges.count, chunk)
