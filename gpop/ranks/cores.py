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

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np

from gpop.cpu.follow import Places

_WORD_BITS, _LAST_BIT = 6, 63  # of a set of cores
_forever: list[np.ndarray] = []


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


@contextmanager
def kept_on(cores: tuple[int, ...]) -> Iterator[None]:
    """The calling thread is on these cores, if there are any; behind it, where it may be again."""
    if not cores:
        yield
        return
    allowed = allowed_here()
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@cache
def places_of(cores: tuple[int, ...], allowed: tuple[int, ...]) -> Places:
    """Places of threads for compiled code: thread w on ``cores[w]``, and all on ``allowed`` behind it."""
    words = (max(*cores, *allowed) >> _WORD_BITS) + 1
    sets = np.zeros((len(cores) + 1, words), np.uint64)
    for row, those in enumerate([*((core,) for core in cores), allowed]):
        for core in those:
            sets[row, core >> _WORD_BITS] |= np.uint64(1) << np.uint64(core & _LAST_BIT)
    _forever.append(sets)  # threads may look at it when the interpreter ends
    function = ctypes.cast(ctypes.CDLL(None).sched_setaffinity, ctypes.c_void_p).value
    return Places(np.int64(function), np.int64(sets.strides[0]), np.int64(sets.ctypes.data))
