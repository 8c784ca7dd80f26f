"""64-bit hash of an array's bytes, by all cores: as fast as memory; not for use against an adversary.

The bytes are cut into pieces that are hashed on their own, words in eight lanes side by side, and the pieces'
hashes are hashed with their number.
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.inlined import KERNEL
from gpop.common.parallel import for_each, ranges
from gpop.common.random_bits import mix

_PIECE = 1 << 20  # bytes hashed at a time


@cached(**KERNEL)
def _hash_words(words, seed):
    """Hash of 64-bit words: eight lanes side by side, every step a bijection of the lane."""
    factor = np.uint64(0x9E3779B97F4A7C15)
    fold = np.uint64(32)
    a = b = c = d = e = f = g = h = mix(np.uint64(seed))
    whole = np.uint64(len(words) & ~7)
    for i in range(np.uint64(0), whole, np.uint64(8)):
        a = (a ^ words[i]) * factor
        b = (b ^ words[i + np.uint64(1)]) * factor
        c = (c ^ words[i + np.uint64(2)]) * factor
        d = (d ^ words[i + np.uint64(3)]) * factor
        e = (e ^ words[i + np.uint64(4)]) * factor
        f = (f ^ words[i + np.uint64(5)]) * factor
        g = (g ^ words[i + np.uint64(6)]) * factor
        h = (h ^ words[i + np.uint64(7)]) * factor
        # a product carries upwards only: bring the upper half down
        a ^= a >> fold
        b ^= b >> fold
        c ^= c >> fold
        d ^= d >> fold
        e ^= e >> fold
        f ^= f >> fold
        g ^= g >> fold
        h ^= h >> fold
    result = mix(np.uint64(len(words)))
    for lane in (a, b, c, d, e, f, g, h):
        result = mix(result ^ lane) * factor
    for i in range(whole, np.uint64(len(words))):
        result = mix(result ^ words[i]) * factor
    return result


def hash_array(array: np.ndarray) -> int:
    """64-bit hash of an array's bytes, on all cores; not for use against an adversary.

    Examples
    --------
    >>> hash_array(np.arange(10)) == hash_array(np.arange(10).astype(np.int32))
    False
    """
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    pieces = ranges(data.size, _PIECE)
    parts = np.empty(len(pieces) + 1, np.uint64)
    parts[-1] = data.size

    def work(i):
        piece = data[slice(*pieces[i])]
        if piece.size % 8:
            piece = np.append(piece, np.zeros(-piece.size % 8, np.uint8))
        parts[i] = _hash_words(piece.view(np.uint64), i)

    for_each(len(pieces), work)
    return int(_hash_words(parts, len(pieces)))
