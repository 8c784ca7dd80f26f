"""How far two cores are from each other: nanoseconds in which a cache line goes there and back, measured.

A virtual machine may be moved while it runs, so that its two cores share a last cache now and do not a minute
later. Nothing else tells: one thread is as fast as before, and two that share nothing are, too. On two AMD
cores it was 90 ns or 330. Shortest paths on RMAT 20, whose threads write to the same lists and
distances, then took 35 ms or 58. Two results are of the same machine only where this is alike.

Two threads, each kept to its core, raise a number in turns; the least of some rounds. Encoding: who finds
``2 * i + me`` makes it one more.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np

from gpop.common.atomics import load_acquire, store_release
from gpop.common.cached import cached

TURNS, ROUNDS = 5_000, 5

NUMBER, APART = 64, 128
"""Place of the number in its array, and how long that is: no other data are in its line, or in the next."""


@cached
def _take_turns(line, me, turns):
    """Returns the sum of what was found."""
    total = np.int64(0)
    for i in range(turns):
        found = load_acquire(line, NUMBER)
        while found != 2 * i + me:
            found = load_acquire(line, NUMBER)
        total += found
        store_release(line, NUMBER, np.int64(found + 1))
    return total


def ends() -> tuple[int, int] | None:
    """The first and the last of the cores that this process may use; None where it has one, or none are told.

    >>> ends() is None or ends()[0] < ends()[1]
    True
    """
    if not hasattr(os, "sched_setaffinity"):
        return None
    usable = sorted(os.sched_getaffinity(0))
    return (usable[0], usable[-1]) if len(usable) > 1 else None


def round_trip(cores: tuple[int, int]) -> float:
    """Nanoseconds that a cache line takes from the one core to the other and back."""
    barrier, seconds = Barrier(2), []
    line = np.zeros(APART, np.int64)
    _take_turns(line, 0, 0)  # compiled before threads wait for each other

    def work(me: int) -> None:
        os.sched_setaffinity(0, {cores[me]})  # of this thread, which ends with its pool
        for _ in range(ROUNDS):
            if me == 0:
                line[NUMBER] = 0
            barrier.wait()
            start = time.perf_counter()
            _take_turns(line, me, TURNS)
            if me == 0:
                seconds.append(time.perf_counter() - start)
            barrier.wait()

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(work, me) for me in range(2)]:
            done.result()
    return 1e9 * min(seconds) / TURNS


def told() -> str | None:
    """The same of `ends`, in words."""
    cores = ends()
    return None if cores is None else f"cores {round_trip(cores):.0f} ns apart"
