"""Phases of work that threads share."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numba import njit

from gpop.common.atomics import fetch_add
from gpop.common.parallel import together
from gpop.direct.phases import claim, finish, make_phases, wait_for

CHUNKS = 1000


@njit(nogil=True)
def _two_phases(phases, first, second, early):
    c = claim(phases, 0)
    while c < CHUNKS:
        first[c] += 1
        finish(phases, 0)
        c = claim(phases, 0)
    wait_for(phases, 0, CHUNKS)
    if first.sum() != CHUNKS:
        fetch_add(early, 0, 1)
    c = claim(phases, 1)
    while c < CHUNKS:
        second[c] += 1
        finish(phases, 1)
        c = claim(phases, 1)
    wait_for(phases, 1, CHUNKS)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_every_chunk_is_done_once_and_a_phase_ends_after_all_of_them(threads):
    for _ in range(20):
        phases, first, second = make_phases(2), np.zeros(CHUNKS, np.int64), np.zeros(CHUNKS, np.int64)
        early = np.zeros(1, np.int64)
        together(lambda worker: _two_phases(phases, first, second, early), threads)  # noqa: B023
        assert (first == 1).all()
        assert (second == 1).all()
        assert early[0] == 0


def test_the_caller_is_worker_0_and_threads_are_kept():
    threads = set()
    for _ in range(50):
        seen = {}
        together(lambda worker: seen.update({worker: threading.get_ident()}), 3)  # noqa: B023
        assert set(seen) == {0, 1, 2}
        assert seen[0] == threading.get_ident()
        threads |= set(seen.values())
    assert len(threads) <= 3


def test_an_error_in_a_worker_is_raised():
    def task(worker):
        if worker == 1:
            raise ValueError("worker 1")

    with pytest.raises(ValueError, match="worker 1"):
        together(task, 2)
