"""The sources that the GAP benchmark draws: vertices with out-edges, the same as its own programs take.

GAPBS seeds the C++ standard library's 64-bit Mersenne Twister, takes the lower 32 bits of each number, leaves
out those that would make some vertices likelier, and draws again where a vertex has no out-edges. A program
asked for several trials goes on drawing, so that trial i of a kernel has the same source here and there.
Paper: M. Matsumoto, T. Nishimura, "Mersenne Twister", 1998; its 64-bit form is that of C++11.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpop.common.errors import UsageError

SEED = 27491095
"""kRandSeed of GAPBS."""

_WORDS, _MIDDLE = 312, 156
_MASK = (1 << 64) - 1
_LOWER = (1 << 31) - 1


def twister(seed: int) -> Iterator[int]:
    """Numbers of ``std::mt19937_64``.

    >>> numbers = twister(5489)
    >>> [next(numbers) for _ in range(10_000)][-1]                 # what the C++ standard says of it
    9981545732273789042
    """
    state = [seed & _MASK]
    for i in range(1, _WORDS):
        state.append((6364136223846793005 * (state[-1] ^ state[-1] >> 62) + i) & _MASK)
    while True:
        for i in range(_WORDS):
            mixed = state[i] & ~_LOWER & _MASK | state[(i + 1) % _WORDS] & _LOWER
            state[i] = state[(i + _MIDDLE) % _WORDS] ^ mixed >> 1 ^ (0xB5026F5AA96619E9 if mixed & 1 else 0)
            y = state[i]
            y ^= y >> 29 & 0x5555555555555555
            y ^= y << 17 & 0x71D67FFFEDA60000
            y ^= y << 37 & 0xFFF7EEE000000000
            yield y ^ y >> 43


def sources(degree: np.ndarray, seed: int = SEED) -> Iterator[int]:
    """Vertices with out-edges, drawn as GAPBS draws them.

    >>> drawn = sources(np.array([0, 3, 0, 1]))
    >>> {next(drawn) for _ in range(20)}
    {1, 3}
    """
    if not degree.any():
        raise UsageError("the graph has no edges: there is nothing to start from")
    n, numbers = len(degree), twister(seed)
    remainder = _MASK % n
    cutoff = 0 if remainder == n - 1 else (_MASK - remainder) & 0xFFFFFFFF
    for number in numbers:
        number &= 0xFFFFFFFF
        if (not cutoff or number < cutoff) and degree[number % n]:
            yield number % n
