"""A core for each thread of a rank, where the ranks of a machine have it to themselves.

A system that wakes several threads at once may put two of them on one core and leave another idle, for as
long as a level of a search takes. A run alone hardly notices: whoever is not late does more. A rank's share
of the work is its own, and all wait for the last one. RMAT 24, 4 ranks of 4 threads on 16 cores, to one
process of 16: BFS 1.28 left to the system, 1.09 with a core for each thread all the time, in turns; 1.35 with
four cores for each rank. As it is here, on another machine, 1.15.

Threads are kept there in the compiled loop only. Not where a second such job would find cores that this one
does not use: both would be kept on the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


def allowed_here() -> tuple[int, ...]:
    """The cores that the calling thread may run on, ascending; none where the system does not say."""
    return tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()


def cores_of(rank: int, threads: int, allowed: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The cores for the threads of a rank of this machine; none where the system is to choose.

    Parameters
    ----------
    rank : int
        Its number among those of the machine.
    threads : int
        Of each rank.
    allowed : list of tuple of int
        The cores that each of them may run on: all the same, or each its own.

    Examples
    --------
    >>> cores_of(1, 2, [(0, 1, 2, 3)] * 2)
    (2, 3)
    >>> cores_of(1, 2, [(0, 1), (4, 5)])               # as the launcher has shared them out
    (4, 5)
    >>> cores_of(1, 1, [(0, 1, 2, 3)] * 2), cores_of(1, 3, [(0, 1, 2, 3)] * 2)   # half are idle; too few
    ((), ())
    """
    own, every = allowed[rank], {core for each in allowed for core in each}
    if sum(map(len, allowed)) == len(every):
        first, ranks = 0, 1
    elif all(each == own for each in allowed):
        first, ranks = rank * threads, len(allowed)
    else:
        return ()
    fits = len(own) // 2 < ranks * threads <= len(own)
    return own[first : first + threads] if fits else ()


def kept_on(
    cores: tuple[int, ...], allowed: tuple[int, ...], task: Callable[[int], Any]
) -> Callable[[int], Any]:
    """The same task, whose number w is done on ``cores[w]``; behind it a thread is where it may be again."""

    def on_its_core(w: int) -> Any:
        os.sched_setaffinity(0, cores[w : w + 1])
        try:
            return task(w)
        finally:
            os.sched_setaffinity(0, allowed)

    return on_its_core
