"""Memory bandwidth of this machine, measured: copy and triad as STREAM defines them, and reading alone.

    copy   c[i] = a[i]               counted: 16 bytes an element
    triad  a[i] = b[i] + 3 * c[i]    counted: 24 bytes an element
    read   s += a[i]                 counted:  8 bytes an element

Counted are the bytes that the program reads and writes, as STREAM does. Stores are ordinary ones, not
non-temporal: the processor fetches a line before it writes to it, so that memory moves 8 bytes more for
each element of copy and triad. One Numba kernel per thread on a block of its own, the best of some rounds.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Barrier
from typing import Any

import numpy as np

from gpop.common.cached import cached
from gpop.common.memory import available_bytes
from perf.hardware import caches

ROUNDS = 5
LEAST_SECONDS = 0.02


@cached
def _copy(a, b, c, rounds):
    for _ in range(rounds):
        for i in range(a.size):
            c[i] = a[i] + 0.0  # an addition, or the compiler calls memcpy, whose stores may be non-temporal


@cached
def _triad(a, b, c, rounds):
    for _ in range(rounds):
        for i in range(a.size):
            a[i] = b[i] + 3.0 * c[i]


@cached(fastmath={"reassoc", "nsz"})
def _read(a, b, c, rounds):
    for _ in range(rounds):
        total = 0.0
        for i in range(a.size):
            total += a[i]
        c[0] = total


KERNELS = {"copy": (_copy, 2), "triad": (_triad, 3), "read": (_read, 1)}
"""Kernel, and the 8-byte values that it counts per element."""


def memory_sized() -> int:
    """Bytes of arrays that do not fit the last cache: 4 times its size, at most a quarter of free memory."""
    last = max((cache["bytes"] for cache in caches()), default=32 << 20)
    return min(4 * last, available_bytes() // 4)


@cache
def bandwidth(threads: int, nbytes: int) -> dict[str, float]:
    """Bytes per second of each kernel with so many threads over arrays of ``nbytes`` together.

    >>> sorted(bandwidth(1, 1 << 20))
    ['copy', 'read', 'triad']
    """
    found = {}
    for name, (kernel, arrays) in KERNELS.items():
        length = max(nbytes // (8 * arrays * threads), 1)
        found[name] = _measure(kernel, arrays, threads, length)
    return found


def _measure(kernel: Any, arrays: int, threads: int, length: int) -> float:
    """Bytes per second of the best round; a round is from the first thread's start to the last one's end."""
    barrier = Barrier(threads)
    used = {_copy: (1, 0, 1), _triad: (1, 1, 1), _read: (1, 0, 0)}[kernel]
    clock = np.zeros((threads, ROUNDS + 1, 2))
    repeats = [1]

    def work(thread: int) -> None:
        # Made by the thread that uses them: pages lie where it runs. Arrays that are not used are empty.
        blocks = [np.ones(length if one else 1) for one in used]
        kernel(*blocks, 1)
        for turn in range(ROUNDS + 1):
            barrier.wait()
            clock[thread, turn, 0] = time.perf_counter()
            kernel(*blocks, repeats[0])
            clock[thread, turn, 1] = time.perf_counter()
            barrier.wait()
            if turn == 0 and thread == 0:  # small arrays are gone through many times
                seconds = clock[:, 0, 1].max() - clock[:, 0, 0].min()
                repeats[0] = max(1, int(np.ceil(LEAST_SECONDS / max(seconds, 1e-7))))

    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work, thread) for thread in range(threads)]:
            done.result()
    seconds = clock[:, 1:, 1].max(axis=0) - clock[:, 1:, 0].min(axis=0)
    return 8 * arrays * length * threads * repeats[0] / float(seconds.min())
