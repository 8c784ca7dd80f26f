"""Threads that stand by: everyone is called once, and when a job is closed nobody is in it any more."""

from __future__ import annotations

from collections import namedtuple
from time import sleep

import numpy as np
import pytest

from gpop.common import standby
from gpop.common.atomics import fetch_add, load_acquire, yield_core
from gpop.common.by_reference import Reference, opener
from gpop.common.callback import callback
from gpop.common.inlined import KERNEL

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


def load_met(job):
    return int(job.met[0])
