"""Work on a named tuple that threads share: each job has its own arrays, whatever was done before it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from gpop.common.atomics import fetch_add
from gpop.common.by_reference import Reference
from gpop.common.inlined import inline
from gpop.common.standby import call_together
from gpop.direct.shared_job import entry


class Filling(NamedTuple):
    """What is filled with a value, and how many have come."""

    filled: np.ndarray
    value: np.int64
    came: np.ndarray


@inline
def _fill(number, job):
    fetch_add(job.came, 0, 1)
    if number == 0:
        job.filled[:] = job.value


@inline
def _fill_backwards(number, job):
    fetch_add(job.came, 0, 1)
    if number == 0:
        for i in range(len(job.filled)):
            job.filled[i] = job.value - i


def job_of(value, dtype=np.int64, size=5):
    return Filling(np.zeros(size, dtype), np.int64(value), np.zeros(1, np.int64))


def share(work, job, threads):
    table = Reference(job)
    call_together(entry(work, table.kind), table.address, threads)


def test_a_later_job_has_arrays_of_its_own():
    jobs = [job_of(value) for value in (3, 4)]
    for job in jobs:
        share(_fill, job, 1)
    assert [job.filled.tolist() for job in jobs] == [[3] * 5, [4] * 5]


@pytest.mark.parametrize("threads", [1, 3])
def test_so_many_threads_may_come_and_one_does(threads):
    job = job_of(7)
    share(_fill, job, threads)
    assert 1 <= job.came[0] <= threads and (job.filled == 7).all()


def test_other_types_and_other_work_are_other_functions():
    for dtype in (np.int64, np.uint32, np.float64, np.int64):
        job, backwards = job_of(6, dtype), job_of(6, dtype)
        share(_fill, job, 1)
        share(_fill_backwards, backwards, 1)
        assert job.filled.tolist() == [6] * 5 and backwards.filled.tolist() == [6, 5, 4, 3, 2]
