"""Threads that stand by inside compiled code, and are called there: to call all of them is one system call.

A call of Python on another thread begins when that thread has the interpreter's lock. All that are called
wait for it at once, asleep, and it goes from one to the next by waking it: on 16 cores the last of 15 began
.37 to .74 ms later, as long as a search of a million edges. These need no lock: they sleep in a kernel, and
what they call is a function by its address with the address of what it works on (`gpop.common.callback`).
The same 15 have answered after .02 to .07 ms.

The caller announces a job, rings, does its own part and closes the job. A thread that wakes up in time takes
the next number and begins; one that is late sleeps on, and nobody waits for it. When `call_together` returns,
nobody is inside any more.

Encoding of ``board`` (int64, in cache lines): ``BELL`` counts calls, and is what the others sleep for;
``OPEN`` is the number of the job, or `CLOSED`; ``NEXT`` numbers those that come; ``INSIDE`` counts those that
may be in the job. A thread says that it is inside and looks again whether the job is open, the caller closes
it and looks again who is inside: one of them sees the other.
"""

from __future__ import annotations

import os
from _thread import start_new_thread

import numpy as np

from gpop.common.atomics import (
    fence,
    fetch_add,
    load_acquire,
    pause,
    sleep_while,
    store_release,
    wake_up,
    yield_core,
)
from gpop.common.cached import cached
from gpop.common.foreign import call_c
from gpop.common.inlined import KERNEL, inline
from gpop.common.kinds import kind_of

BELL, OPEN, NEXT, INSIDE, FUNCTION, ARGUMENT, THREADS, LAST = 8, 16, 24, 32, 40, 41, 42, 43
SLOTS = 56
"""Slots of a board. The four that threads write, and those that describe the job, lie in lines of their own;
``LAST`` is the number of the last job, which only the caller knows."""

CLOSED = 0

SPINS = 2000  # tries in which who is inside mostly leaves; then others may have the core


@cached(**KERNEL)
def _stand_by(board):
    """Take part in every job that is announced; for as long as the process lives."""
    seen = np.int64(CLOSED)
    while True:
        bell = load_acquire(board, BELL)
        job = load_acquire(board, OPEN)
        if job in (CLOSED, seen):
            sleep_while(board, BELL, bell)
            continue
        seen = job
        fetch_add(board, INSIDE, 1)
        fence()
        if load_acquire(board, OPEN) == job:
            number = fetch_add(board, NEXT, 1)
            if number < board[THREADS]:
                call_c(board[FUNCTION], (number, board[ARGUMENT]))
        fetch_add(board, INSIDE, -1)


@inline
def _close(board):
    """Nobody begins any more; return when all that have begun are through."""
    store_release(board, OPEN, CLOSED)
    fence()
    tries = 0
    while load_acquire(board, INSIDE) > 0:
        if tries < SPINS:
            pause()
        else:
            yield_core()
        tries += 1


@cached(**KERNEL)
def _lead(board, function, argument, threads):
    """Announce a job to so many threads, of which this is the first, do its part and close it."""
    if threads > 1:
        board[FUNCTION], board[ARGUMENT], board[THREADS], board[NEXT] = function, argument, threads, 1
        board[LAST] += 1
        store_release(board, OPEN, board[LAST])
        fetch_add(board, BELL, 1)
        wake_up(board, BELL, threads - 1)
    call_c(function, (np.int64(0), argument))
    if threads > 1:
        _close(board)


class _Crew:
    """A board, and the threads at it."""

    def __init__(self) -> None:
        room = np.zeros(SLOTS + 8, np.int64)
        _forever.append(room)  # threads may be at it when the interpreter ends
        self.board = room[-room.ctypes.data % 64 // 8 :][:SLOTS]
        self.others = 0

    def have(self, others: int) -> None:
        """See that so many others stand by."""
        if self.others < others:
            _stand_by.compile((kind_of(self.board),))
        while self.others < others:
            self.others += 1
            start_new_thread(_stand_by, (self.board,))


_forever: list[np.ndarray] = []
_spare: list[_Crew] = []
"""Crews that nobody leads now."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_spare.clear)  # threads do not survive a fork


def call_together(function: int, argument: int, threads: int) -> None:
    """Call the function at an address, ``function(number, argument)``, on so many threads; this one is 0.

    It has to come to its end whoever else comes: numbers below ``threads`` are given as threads do, and some
    may come to nobody. Nothing of it is used any more when this returns.
    """
    try:
        crew = _spare.pop()
    except IndexError:
        crew = _Crew()
    crew.have(threads - 1)
    _lead(crew.board, function, argument, threads)
    _spare.append(crew)
