"""Pieces of work over the CPU cores: compiled functions that release the GIL, threads from Python.

For work that comes in few large pieces (reading, building, checking) this costs one plain kernel
to compile instead of a parallel one, which takes five times as long to compile and to load. What has to
begin at once runs `beside` its caller, on threads that stay.

An interrupt (Ctrl-C, or any signal handler that raises) comes to the main thread between two of its steps,
wherever it is. So what the main thread does here is one step in C, or may be left undone, or is done again;
Python's own executors and conditions are not: they lose a thread, or their lock.
"""

from __future__ import annotations

import os
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable
from operator import itemgetter, methodcaller
from queue import SimpleQueue
from threading import Lock

from gpop.common import spill
from gpop.common.arguments import as_count
from gpop.common.errors import NotEnoughMemory, UsageError

MOST_THREADS = 1024
"""Of a run, whatever the machine has: more than this is a mistake."""


_FEW_THREADS, _EACH = 4, 1 << 16
"""Threads that are started for any work, and the work of each if there are more."""


def worker_count() -> int:
    """Threads to use: NUMBA_NUM_THREADS when set, else the CPUs this process may run on."""
    setting = os.environ.get("NUMBA_NUM_THREADS", "")
    if setting.isdigit() and int(setting) > 0:
        return int(setting)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every operating system
        return os.cpu_count() or 1


def use_threads(threads: int | None) -> int:
    """Check the number of threads; all cores of the process when not given.

    Raises
    ------
    UsageError
        If it is not from 1 to `MOST_THREADS`.
    """
    threads = as_count("threads", threads)
    if threads is None:
        return worker_count()
    if not 1 <= threads <= MOST_THREADS:
        raise UsageError(f"threads = {threads}: expected 1 to {MOST_THREADS}")
    return threads


def as_many_as_pay(work: int, threads: int) -> int:
    """Of so many threads, those that `together` had better start for so much ``work``, vertices and edges.

    They are started by Python, one after the other. Labels and forests of graphs of .1 to .4 million took .5
    to .8 of the time of one thread on four threads of an Intel machine, and 1.05 to 1.2 on sixteen.
    """
    return min(threads, max(_FEW_THREADS, work // _EACH))


def for_each(count: int, task: Callable[[int], object], workers: int | None = None) -> None:
    """Call ``task(i)`` for every i below ``count``; idle threads take the next i.

    After an error no further i is begun, and the error of the least i is raised.
    """
    numbers = iter(range(count))  # its next() is one step: no i is taken twice
    failures: list[tuple[int, BaseException]] = []

    def stop() -> None:
        deque(numbers, maxlen=0)

    def work(_: int) -> None:
        i = -1
        try:
            for i in numbers:
                task(i)
        except BaseException as error:
            stop()
            failures.append((i, error))

    together(work, min(workers or worker_count(), count), stop)
    _raise_first(failures)


def together(task: Callable[[int], object], threads: int, stop: Callable[[], object] | None = None) -> None:
    """Call ``task(0)``, and ``task(1)``, ``task(2)`` ... on other threads; return when all are through.

    When the caller's own part ends early (an error, an interrupt), ``stop()`` is called, others that have
    not begun do nothing, and those that have are waited for: nobody works on when this has returned.
    """
    room = spill.active()
    if room is not None:
        task = room.lent(task)
    # The others open their gate at the end. Whether one will ever come is not known after an interrupt, but
    # whether it is at work is: it holds its lock.
    gates, busy = [Lock() for _ in range(1, threads)], [Lock() for _ in range(1, threads)]
    for gate in gates:
        gate.acquire()
    left: list[bool] = []
    failures: list[tuple[int, BaseException]] = []

    def enter(other: int) -> None:
        with busy[other]:
            try:
                if not left:
                    task(other + 1)
            except BaseException as error:
                failures.append((other, error))
        gates[other].release()

    try:
        for other in range(len(gates)):
            beside(enter, other)
        task(0)
        for gate in gates:
            gate.acquire()
    except BaseException:
        left.append(True)
        if stop:
            stop()
        for lock in busy:
            with lock:
                pass
        raise
    _raise_first(failures)


def _raise_first(failures: list[tuple[int, BaseException]]) -> None:
    """Raise the error of the least number, if there is any."""
    try:
        if failures:
            raise min(failures, key=itemgetter(0))[1]
    finally:
        failures.clear()  # an error holds its frames, and they this list and the arrays of the caller


def ranges(total: int, size: int) -> list[tuple[int, int]]:
    """Cut ``range(total)`` into ranges of ``size``: [(first, last), ...].

    >>> ranges(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(first, min(first + size, total)) for first in range(0, total, size)]


_idle: list[SimpleQueue] = []
"""One for every thread that waits for work, the last that fell idle at the end: the fastest to wake."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # threads do not survive a fork


def beside(task: Callable[[int], object], argument: int) -> None:
    """Call ``task(argument)`` on another thread, at once and without waiting for it.

    To start a thread costs as much as a search of a small graph, so they stay for later calls; to hand
    it a call costs half of what an executor takes, which keeps a record of how each one ended. They do not
    keep the process alive.
    """
    call = (task, argument)
    try:
        # An idle thread's queue is taken and the call put into it in one step: no interrupt falls between.
        next(map(methodcaller("put", call), iter(_idle.pop, None)))
    except IndexError:
        calls: SimpleQueue = SimpleQueue()
        calls.put(call)
        try:
            start_new_thread(_serve, (calls,))
        except RuntimeError:
            raise NotEnoughMemory("the system starts no other thread: expected room for its stack") from None


def _serve(calls: SimpleQueue) -> None:
    """Calls come by the queue, the first one, too: what a thread is started with lives as long as it does."""
    while True:
        task, argument = calls.get()
        task(argument)
        del task  # and with it the arrays that it works on
        _idle.append(calls)
