"""Blocks of work over the CPU cores: compiled functions that release the GIL, threads from Python.

For work that comes in few large blocks (reading, building, checking) this costs one plain kernel
to compile instead of a parallel one, which takes five times as long to compile and to load. What has to
begin at once runs `beside` its caller, on threads that stay.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Thread


def worker_count() -> int:
    """Threads to use: NUMBA_NUM_THREADS when set, else the CPUs this process may run on."""
    setting = os.environ.get("NUMBA_NUM_THREADS", "")
    if setting.isdigit() and int(setting) > 0:
        return int(setting)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every operating system
        return os.cpu_count() or 1


def for_each(count: int, task: Callable[[int], object], workers: int | None = None) -> None:
    """Call ``task(i)`` for every i below ``count``; idle threads take the next i."""
    workers = min(workers or worker_count(), count)
    if workers <= 1:
        for i in range(count):
            task(i)
        return
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(task, range(count)):  # consuming the results raises the first error
            pass


def blocks(total: int, size: int) -> list[tuple[int, int]]:
    """Cut ``range(total)`` into pieces of ``size``: [(first, last), ...].

    >>> blocks(5, 2)
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
    it a call costs half of what an executor takes, which keeps a record of how each one ended.
    """
    try:
        calls = _idle.pop()
    except IndexError:
        calls = SimpleQueue()
        Thread(target=_serve, args=(calls,), name="gpop", daemon=True).start()
    calls.put((task, argument))


def _serve(calls: SimpleQueue) -> None:
    while True:
        task, argument = calls.get()
        task(argument)
        del task  # and with it the arrays that it works on
        _idle.append(calls)
