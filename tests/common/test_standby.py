"""Threads that stand by: everyone is called once, and when a job is closed nobody is in it any more."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from _thread import start_new_thread
from collections import namedtuple
from time import sleep
from types import FunctionType, SimpleNamespace

import numba
import numpy as np
import pytest

import gpop
from gpop.common import own_core, standby
from gpop.common.atomics import fetch_add, load_acquire, yield_core
from gpop.common.by_reference import Reference, opener
from gpop.common.callback import callback
from gpop.common.inlined import KERNEL
from gpop.direct import breadth_first, calendar

Job = namedtuple("Job", "came met tickets wanted")
_NUMBERS = np.zeros(1, np.int64)
_open = opener(Reference(Job(_NUMBERS, _NUMBERS, _NUMBERS, np.int64(0))).kind)


def meet(number, ticket, address):
    """Note who has come, and wait until all that are wanted are there."""
    job = _open(address)
    job.tickets[number] = ticket
    fetch_add(job.came, number, 1)
    fetch_add(job.met, 0, 1)
    while load_acquire(job.met, 0) < job.wanted:
        yield_core()
    fetch_add(job.met, 8, 1)


def job_of(threads, wanted):
    numbers = (np.zeros(size, np.int64) for size in (threads, 16, threads))
    return Job(*numbers, np.int64(wanted))


@pytest.fixture
def function():
    return callback(lambda: meet, "meet_of_this_test", __file__, 3, **KERNEL)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_everyone_is_called_once(function, threads):
    for _ in range(20):
        job = job_of(threads, threads)
        standby.call_together(function, Reference(job).address, threads)
        assert job.came.tolist() == [1] * threads
        assert job.met[8] == threads


def test_when_a_call_returns_nobody_is_in_it_or_comes_later(function):
    for turn in range(300):
        job = job_of(4, 1)  # this thread waits for no other: they may be late
        table = Reference(job)
        standby.call_together(function, table.address, 4)
        came, left = job.came.sum(), job.met[8]
        assert came == left
        if turn % 100 == 0:
            sleep(0.02)
        assert job.came.sum() == came and job.came.max() == 1


def test_others_are_called_with_a_ticket_and_a_crew_is_used_again(function):
    crew = standby.borrow(2)
    job = job_of(3, 2)
    table = Reference(job)
    crew.call(function, 7 << 32, table.address, 3)
    while load_met(job) < 2:
        sleep(0.001)
    crew.close()
    crew.close()  # a second time does no harm
    assert job.tickets.tolist() == [0, 7 << 32, 7 << 32] and job.came.tolist() == [0, 1, 1]
    standby.give_back(crew)
    assert standby.borrow(1) is crew
    other = standby.borrow(1)  # it is taken
    assert other is not crew
    standby.give_back(crew)
    standby.give_back(other)


class Interrupt(BaseException):
    """What the handler of a signal raises when compiled code returns."""


def interrupted(*given):
    raise Interrupt


def call(monkeypatch, crew):
    monkeypatch.setattr(crew, "lead", interrupted)
    standby.call_together(0, 0, 2)


def search(monkeypatch, crew):
    job = SimpleNamespace(table=0)
    room = SimpleNamespace(
        short=False, mesh=False, together=interrupted, table=0, shared=0, job=job, function=0
    )
    breadth_first._Room.search_together(room, 0, np.zeros(1), np.zeros(1), 0, 2)


def paths(monkeypatch, crew):
    anything = SimpleNamespace(crew=0, now=0, job=SimpleNamespace(table=0), function=0, table=0)
    for name in ("_together", "_alone"):
        monkeypatch.setattr(calendar, name, lambda: interrupted)
    for name in ("_shelf", "_borrowed"):
        monkeypatch.setattr(calendar, name, lambda *given: anything)
    graph = gpop.Graph.from_edges([0, 0, 1], [1, 2, 2], np.array([2, 9, 3]))
    calendar.search(graph, 0, 4.0, threads=2)


@pytest.mark.parametrize("what", [call, search, paths])
def test_a_call_that_is_broken_off_leaves_its_crew_for_others(monkeypatch, what):
    """Else each would leave threads behind that sleep forever."""
    crew = standby.borrow(1)
    standby.give_back(crew)
    with pytest.raises(Interrupt):
        what(monkeypatch, crew)
    assert standby._spare[-1] is crew


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_who_was_on_the_callers_core_is_called_to_another(function):
    crew, cores = standby.Crew(), os.sched_getaffinity(0)
    over = threading.Event()
    asleep = threading.Thread(target=over.wait)  # one of the crew would note its own core
    asleep.start()
    crew.board[standby.JOINED] = 1
    crew.places[own_core.LINES + own_core.THREAD] = asleep.native_id
    try:
        for core in [*cores] * 100:  # the caller is on one of them, unless it is moved
            crew.places[own_core.LINES + own_core.CORE] = core
            crew.call(function, 0, Reference(job_of(2, 1)).address, 2)
            crew.close()
            if os.sched_getaffinity(asleep.native_id) != cores:
                break
        assert len(cores - os.sched_getaffinity(asleep.native_id)) == 1
    finally:
        over.set()
        asleep.join()


def test_who_goes_to_sleep_notes_its_core(function):
    crew = standby.Crew()
    crew.have(1)
    crew.places[own_core.LINES + own_core.CORE] = own_core.NOWHERE
    crew.call(function, 0, Reference(job_of(2, 1)).address, 2)
    crew.close()
    wait_until(lambda: crew.places[own_core.LINES + own_core.CORE] in os.sched_getaffinity(0))


def test_who_has_been_in_a_job_hears_the_bell_awake(function):
    crew = standby.Crew()
    crew.board[standby.LINGER] = 1 << 62
    crew.have(1)
    job = job_of(2, 1)
    table = Reference(job)
    crew.call(function, 0, table.address, 2)
    wait_until(lambda: job.came[1] == 1)
    crew.close()
    sleep(0.05)  # it would be asleep by now, and there it stays where nobody wakes it
    crew.board[standby.LAST] += 1
    crew.board[standby.NEXT], crew.board[standby.OPEN] = 1, crew.board[standby.LAST]
    crew.board[standby.LINGER] = 0
    fetch_add_to(crew.board, standby.BELL)
    for _ in range(2000):
        if job.came[1] == 2:
            break
        sleep(0.001)
    crew.close()
    assert job.came[1] == 2


@numba.njit
def fetch_add_to(board, index):
    fetch_add(board, index, 1)


def load_met(job):
    return int(job.met[0])


STEPS, ALLOWED = 48, 49
"""Slots of a board that nobody else uses: what a held thread is about to count, and may."""


@numba.njit(nogil=True)
def held_add(board, index, amount):
    """`fetch_add` of a thread that waits until it may."""
    fetch_add(board, STEPS, 1)
    while load_acquire(board, ALLOWED) < load_acquire(board, STEPS):
        yield_core()
    return fetch_add(board, index, amount)


def wait_until(condition):
    for _ in range(60_000):  # as good as forever, but a failure is one line
        if condition():
            return
        sleep(0.001)
    raise AssertionError("what is waited for does not happen")


def test_who_has_seen_a_job_and_comes_when_it_is_closed_stays_out(function):
    """The thread is held between its two looks at the job, while the job is closed."""
    held = vars(standby) | {"fetch_add": held_add}
    crew = standby.Crew()
    crew.board[ALLOWED] = 1  # to begin
    start_new_thread(
        numba.njit(nogil=True)(FunctionType(standby._stand_by.py_func.__code__, held)),
        (crew.board, crew.places),
    )
    job = job_of(2, 1)
    table = Reference(job)
    crew.call(function, 0, table.address, 2)
    wait_until(lambda: crew.board[STEPS] == 2)
    crew.close()
    crew.board[ALLOWED] = 1 << 40
    wait_until(lambda: crew.board[STEPS] > 2 and crew.board[standby.INSIDE] == 0)
    assert job.came.tolist() == [0, 0]


WITHOUT_CALLS_OF_LINUX = """
from gpop.common import atomics, own_core
atomics.FUTEX, own_core.KNOWN = None, False
from time import sleep
import numpy as np
from gpop.common import standby
from gpop.common.by_reference import Reference
from gpop.common.callback import callback
from gpop.common.inlined import KERNEL
from tests.common import test_standby as its
meet = callback(lambda: its.meet, "meet_without_calls", its.__file__, 3, **KERNEL)
for _ in range(5):
    sleep(0.01)  # all are asleep
    job = its.job_of(3, 3)
    standby.call_together(meet, Reference(job).address, 3)
    assert job.came.tolist() == [1, 1, 1] and job.met[8] == 3
threads = standby.borrow(2).places[own_core.LINES + own_core.THREAD :: own_core.LINE]
assert threads.min() < 0 and threads.max() <= 0  # no thread has a number of the system
"""


def test_where_there_is_no_futex_those_that_stand_by_nap(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", WITHOUT_CALLS_OF_LINUX]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
