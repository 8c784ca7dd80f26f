"""A crew: steps whose number is found on the way; every chunk is done once, and no step begins too early."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from gpop.common.atomics import fetch_add
from gpop.common.parallel import together
from gpop.direct.crew import CHUNKS as ANNOUNCED
from gpop.direct.crew import DONE, KIND, WORD, announce, dismiss, end, make_crew, next_chunk

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
            if crew[DONE] != crew[ANNOUNCED]:
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
        crew, done, early = make_crew(), np.zeros((11, CHUNKS), np.int64), np.zeros(1, np.int64)
        together(lambda worker: _count_down(worker, alone, crew, done, early), threads)  # noqa: B023
        assert (done[1:].sum(axis=1) == [CHUNKS if step % 3 else 1 for step in range(1, 11)]).all()
        assert done.max() == 1
        assert early[0] == 0


def test_who_comes_when_all_is_over_goes_at_once():
    crew, done, early = make_crew(), np.zeros((11, CHUNKS), np.int64), np.zeros(1, np.int64)
    dismiss(crew)
    _count_down(1, False, crew, done, early)
    assert done.sum() == 0


def test_what_is_over_stays_so_however_many_claim_late():
    crew = make_crew()
    dismiss(crew)
    for _ in range(1000):  # as threads do that have just done the last chunk
        _add_one(crew)
        assert crew[WORD] < 0
    assert next_chunk_of(crew, 1, 1) == (-1, 0)
    assert crew[DONE] == 1


@njit
def _add_one(crew):
    fetch_add(crew, WORD, 1)


@njit
def next_chunk_of(crew, worker, owed):
    return next_chunk(crew, worker, owed)
