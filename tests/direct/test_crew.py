"""A crew: steps whose number is found on the way; every chunk is done once, and no step begins too early."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from gpop.common.atomics import fetch_add, load_acquire
from gpop.common.parallel import together
from gpop.direct.crew import KIND, WORD, announce, apart, dismiss, end, make_crew, next_chunk

CHUNKS = 200


@njit(nogil=True)
def _count_down(worker, alone, crew, done, early):
    """Steps with `CHUNKS`, then one, then fewer chunks, until ten are over."""
    step = owed = 0
    while True:
        chunk, owed = next_chunk(crew, worker, owed)
        if chunk < 0:
            if worker > 0:
                return
            if step > 0 and done[step].sum() != (CHUNKS if step % 3 else 1):
                fetch_add(early, 0, 1)
            if step == 10:
                end(crew)
                return
            step += 1
            announce(crew, step, CHUNKS if step % 3 else 1, alone)
            continue
        kind = crew[KIND]
        if kind > 1 and done[kind - 1].sum() != (CHUNKS if (kind - 1) % 3 else 1):
            fetch_add(early, 0, 1)
        done[kind, chunk] += 1


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_every_chunk_of_every_step_is_done_once(threads, alone):
    for _ in range(20):
        crew, done, early = make_crew(threads), np.zeros((11, CHUNKS), np.int64), np.zeros(1, np.int64)
        together(lambda worker: _count_down(worker, alone, crew, done, early), threads)  # noqa: B023
        assert (done[1:].sum(axis=1) == [CHUNKS if step % 3 else 1 for step in range(1, 11)]).all()
        assert done.max() == 1
        assert early[0] == 0


def test_what_nobody_comes_for_others_do():
    crew, done, early = make_crew(16), np.zeros((11, CHUNKS), np.int64), np.zeros(1, np.int64)
    together(lambda worker: _count_down(5 * worker, False, crew, done, early), 2)  # 0 and 5 of 16
    assert (done[1:].sum(axis=1) == [CHUNKS if step % 3 else 1 for step in range(1, 11)]).all()
    assert early[0] == 0


@njit(nogil=True)
def _go_slowly(worker, crew, done, taken, seen):
    """Two steps of two chunks; who does the second one takes its time, the other waits until that has it."""
    owed, step = np.int64(0), 1
    if worker == 0:
        announce(crew, step, 2, False)
    while True:
        chunk, owed = next_chunk(crew, worker, owed)
        if chunk < 0:
            if worker > 0:
                return
            seen[step] = load_acquire(done, 0)
            step += 1
            if step == 3:
                end(crew)
                return
            announce(crew, step, 2, False)
            continue
        kind = crew[KIND]
        fetch_add(taken, kind, 1)
        while load_acquire(taken, kind) < (2 if worker == 0 else 1_000_000):
            if worker > 0:
                fetch_add(taken, kind, 1)
        fetch_add(done, 0, 1)


def test_a_step_is_not_over_before_what_was_claimed_is_done():
    crew, done, taken, seen = make_crew(2), np.zeros(1, np.int64), np.zeros(3, np.int64), np.zeros(3, int)
    together(lambda worker: _go_slowly(worker, crew, done, taken, seen), 2)
    assert seen.tolist() == [0, 2, 4]


def test_who_comes_when_all_is_over_goes_at_once():
    crew, done, early = make_crew(2), np.zeros((11, CHUNKS), np.int64), np.zeros(1, np.int64)
    dismiss(crew)
    _count_down(1, False, crew, done, early)
    assert done.sum() == 0


def test_what_is_over_stays_so_for_who_has_done_the_last_chunk():
    crew = make_crew(2)
    announce_to(crew, 1, 2)
    chunk, owed = next_chunk_of(crew, 1, 0)
    assert chunk == 1
    dismiss(crew)
    for _ in range(3):
        assert next_chunk_of(crew, 1, owed)[0] == -1
        assert crew[WORD] < 0


def test_numbers_of_a_crew_are_in_lines_of_their_own():
    assert apart(3).ctypes.data % 64 == 0


@njit
def announce_to(crew, kind, chunks):
    announce(crew, kind, chunks, False)


@njit
def next_chunk_of(crew, worker, owed):
    return next_chunk(crew, worker, owed)
