"""A crew: threads inside compiled code, and one of them that leads from step to step.

For algorithms whose number of steps is found on the way (levels of a search, peels of a core), where
`gpop.direct.phases` has one that is known. A step is a kind and a number of chunks. The leader announces it,
and has its first chunk; everybody claims others until none is left; the leader waits until all are done,
looks at what came out and announces the next. What is small the leader does alone, without a word. A thread
that comes late finds what there is, and none is waited for that never comes.

A step is as short as some messages between cores, so there are few: a claim is one addition, which cannot
fail, and what a thread has done it says when it finds nothing more to claim.

Encoding of ``crew`` (int64): ``WORD`` has the chunks of the step, and in its lower `_BITS` bits how many are
claimed, or more: each thread that was too late has added one. It is negative when there are no more steps.
``DONE`` counts chunks, on a cache line of its own. ``KIND`` and ``CHUNKS`` are those of the step: they stay
until the last claimed chunk is done, so who has claimed one may read them. ``MINE`` chunks are the leader's
alone, who has taken ``TAKEN`` of them.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import fetch_add, load_acquire, store_release
from gpop.common.inlined import inline
from gpop.direct.phases import back_off

WORD, DONE, KIND, CHUNKS, MINE, TAKEN = 0, 8, 16, 17, 18, 19

_BITS = 31
_CLAIMED = (1 << _BITS) - 1
_OVER = -(1 << 62)
"""Stays negative whatever late threads add."""


def apart(slots: int) -> np.ndarray:
    """Zeros in no cache line of which something else lies: another crew's numbers, say.

    >>> apart(3)
    array([0, 0, 0])
    """
    line = 8
    return np.zeros(slots + 2 * line, np.int64)[line : line + slots]


def make_crew() -> np.ndarray:
    """State of a crew before its first step."""
    return apart(24)


def dismiss(crew: np.ndarray) -> None:
    """There are no more steps: who follows returns."""
    crew[WORD] = _OVER


@inline
def announce(crew, kind, chunks, alone):
    """Leader: a step begins. One of a single chunk is for the leader, as is every step where it is alone."""
    crew[KIND], crew[CHUNKS], crew[DONE] = kind, chunks, 0
    crew[MINE], crew[TAKEN] = chunks if alone else min(chunks, 1), 0
    if crew[MINE] < chunks:
        store_release(crew, WORD, chunks << _BITS | 1)


@inline
def _left(word):
    """Whether there is a chunk to claim."""
    return word & _CLAIMED < word >> _BITS


@inline
def _claim(crew):
    """Number of a chunk of the step that nobody else gets; -1 where none is left."""
    word = fetch_add(crew, WORD, 1)
    return word & _CLAIMED if _left(word) else np.int64(-1)


@inline
def next_chunk(crew, worker, owed):
    """A chunk to do, of the step ``crew[KIND]``; -1: leader, worker 0: the step is done; others: all is.

    Who comes again has done the ``owed`` chunks that it has not yet told of: what was written is visible to
    the leader then. The second number is to be given to the next call, the first call is given 0.
    """
    chunk, tries = np.int64(-1), 0
    if worker == 0 and crew[TAKEN] < crew[MINE]:
        chunk = crew[TAKEN]
        crew[TAKEN] += 1
    elif owed > 0 and (worker > 0 or crew[MINE] < crew[CHUNKS]):
        chunk = _claim(crew)
    while chunk < 0:
        if owed > 0:
            fetch_add(crew, DONE, owed)
            owed = np.int64(0)
        if worker == 0:
            if load_acquire(crew, DONE) >= crew[CHUNKS]:
                break
        else:
            word = load_acquire(crew, WORD)
            if word < 0:
                break
            if _left(word):
                chunk = _claim(crew)
                continue
        back_off(tries)
        tries += 1
    return chunk, owed + np.int64(chunk >= 0)


@inline
def end(crew):
    """Leader: there are no more steps."""
    store_release(crew, WORD, _OVER)
