"""Threads that stand by inside compiled code, and are called there: to call all of them is one system call.

A call of Python on another thread begins when that thread has the interpreter's lock. All that are called
wait for it at once, asleep, and it goes from one to the next by waking it: on 16 cores the last of 15 began
.37 to .74 ms later, as long as a search of a million edges. These need no lock: they sleep in a kernel, and
what they call is a function by its address (`gpop.common.callback`): ``function(number, ticket, argument)``,
int64 all. The same 15 have answered after .02 to .07 ms.

The caller announces a job, rings, does its own part and closes the job. A thread that wakes up in time takes
the next number and begins; one that is late sleeps on, and nobody waits for it. When a job is closed, nobody
is inside any more. None wakes on the caller's core where there is another (`gpop.common.own_core`).

A core that has slept takes long to wake, and so it takes long to wake it: 15 of them some 15 microseconds of
the caller. So who has been in a job stays awake for the next one for a moment (`LINGER_NS`), and lets whoever
wants its core have it. On 16 cores a breadth-first search takes .23 ms instead of .26 so, another .28 instead
of .34; two programs that call at once on the same two cores get as much done as they do without.

Encoding of ``board`` (int64, in cache lines): ``BELL`` counts calls, and is what the others sleep for;
``OPEN`` is the number of the job, or `CLOSED`; ``NEXT`` numbers those that come; ``INSIDE`` counts those that
may be in the job; ``JOINED`` counts those that have begun, and ``PLACES`` is the address of where they are;
``LINGER`` is how long they stay awake after a job. A thread says that it is inside and looks again whether
the job is open, the caller closes it and looks again who is inside: one of them sees the other.
"""

from __future__ import annotations

import os
from _thread import start_new_thread
from functools import partial

import numpy as np

from gpop.common.atomics import (
    clock_ns,
    fence,
    fetch_add,
    load_acquire,
    pause,
    sleep_while,
    store_release,
    wake_up,
    yield_core,
)
from gpop.common.cached import cached, entry_of
from gpop.common.foreign import call_c
from gpop.common.inlined import KERNEL, inline
from gpop.common.kinds import INT64, ArrayKind
from gpop.common.own_core import begin_at, make_way, note_core, places_for
from gpop.common.parallel import MOST_THREADS

BELL, OPEN, NEXT, INSIDE, FUNCTION, TICKET, ARGUMENT, THREADS, LAST, PLACES, JOINED, LINGER = (
    8, 16, 24, 32, 40, 41, 42, 43, 44, 45, 46, 47,
)  # fmt: skip
SLOTS = 56
"""Slots of a board. The four that threads write, and those that describe the job, lie in lines of their own;
``LAST`` is the number of the last job, which only the caller knows."""

CLOSED = 0

ANNOUNCE, TAKE_PART, CLOSE = 1, 2, 4
"""What the caller does, as bits."""

LINGER_NS = 300_000
"""How long a thread stays awake after a job: as long as a short call takes until it calls others."""

_LOOKS = 16  # before others may have the core: less than a microsecond

SPINS = 2000  # tries in which who is inside mostly leaves; then others may have the core


@inline
def _linger(board, bell, until):
    """Stay awake until the bell rings, or until then."""
    looks = 0
    while load_acquire(board, BELL) == bell and clock_ns() < until:
        pause()
        looks += 1
        if looks % _LOOKS == 0:
            yield_core()


@cached(**KERNEL)
def _stand_by(board, places):
    """Take part in every job that is announced, for as long as the process lives."""
    seen, line, until = np.int64(CLOSED), fetch_add(board, JOINED, 1), np.int64(0)
    begin_at(places, line)
    while True:
        bell = load_acquire(board, BELL)
        job = load_acquire(board, OPEN)
        if job in (CLOSED, seen):
            _linger(board, bell, until)
            note_core(places, board[PLACES], line)
            sleep_while(board, BELL, bell)
            continue
        seen = job
        fetch_add(board, INSIDE, 1)
        fence()
        if load_acquire(board, OPEN) == job:
            number = fetch_add(board, NEXT, 1)
            if number < board[THREADS]:
                call_c(board[FUNCTION], (number, board[TICKET], board[ARGUMENT]))
        fetch_add(board, INSIDE, -1)
        until = clock_ns() + board[LINGER]


@inline
def lead(board, places, what, function, ticket, argument, threads):
    """The caller's part of a job for so many threads; for kernels that have found out what is to be done."""
    if what & ANNOUNCE:
        board[FUNCTION], board[TICKET], board[ARGUMENT] = function, ticket, argument
        board[THREADS], board[NEXT] = threads, 1
        board[LAST] += 1
        store_release(board, OPEN, board[LAST])
        make_way(places, board[PLACES], load_acquire(board, JOINED))
        fetch_add(board, BELL, 1)
        wake_up(board, BELL, threads - 1)
    if what & TAKE_PART:
        call_c(function, (np.int64(0), ticket, argument))
    if what & CLOSE:
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
def _lead(board, places, what, function, ticket, argument, threads):
    lead(board, places, what, function, ticket, argument, threads)


_BOARD = ArrayKind("int64")
_forever: list[np.ndarray] = []
_spare: list[Crew] = []
"""Crews that nobody leads now."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_spare.clear)  # threads do not survive a fork


_STANDS_BY = _BOARD, _BOARD
_LEADS = *_STANDS_BY, *(INT64,) * 5


def compile_crew() -> None:
    """Compile or load what a crew is made of."""
    entry_of(_lead, *_LEADS)
    entry_of(_stand_by, *_STANDS_BY)


class Crew:
    """A board, and the threads at it. Whoever has called them closes it in any case, and may do so twice."""

    def __init__(self) -> None:
        room = np.zeros(SLOTS + 8, np.int64)
        _forever.append(room)  # threads may be at it when the interpreter ends
        self.board = room[-room.ctypes.data % 64 // 8 :][:SLOTS]
        self.board[LINGER] = LINGER_NS
        self.others = 0
        self.places = places_for(MOST_THREADS)
        _forever.append(self.places)
        self.board[PLACES] = self.places.ctypes.data
        lead = self.lead = partial(entry_of(_lead, *_LEADS), self.board, self.places)
        # No functions of Python: after a loop that has filled the caches each takes microseconds.
        self.call = partial(lead, ANNOUNCE)
        """Have all but one of so many threads call a function, ``call(function, ticket, argument, threads)``,
        from number 1 on."""
        self.close = partial(lead, CLOSE, 0, 0, 0, 0)
        """Return when nobody is in the job any more."""

    def have(self, others: int) -> None:
        """See that so many threads stand by."""
        while self.others < others:
            self.others += 1
            start_new_thread(entry_of(_stand_by, *_STANDS_BY), (self.board, self.places))


def borrow(others: int) -> Crew:
    """A crew of so many threads, or more: to call, to close and to give back."""
    try:
        crew = _spare.pop()
    except IndexError:
        crew = Crew()
    if crew.others < others:
        crew.have(others)
    return crew


give_back = _spare.append
"""From now on a crew is for others. One that an interrupt keeps from coming back sleeps forever."""


def call_together(function: int, argument: int, threads: int) -> None:
    """Call the function at an address on so many threads; this one is number 0.

    It has to come to the end of all work whoever else comes. Nothing is used any more when this returns.
    """
    others = threads - 1
    crew = borrow(others)
    try:
        what = ANNOUNCE | TAKE_PART | CLOSE if others else TAKE_PART
        crew.lead(what, function, 0, argument, threads)
    finally:  # a signal that came meanwhile is handled, and may raise, as soon as that returns
        _spare.append(crew)
