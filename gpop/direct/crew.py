"""A crew: threads inside compiled code, and one of them that leads from step to step.

For algorithms whose number of steps is found on the way (levels of a search, peels of a core), where
`gpop.direct.phases` has one that is known. A step is a kind and a number of chunks. The leader announces it;
everybody claims chunks until none is left; the leader waits until all are done, looks at what came out and
announces the next. What is small the leader does alone, without a word. A thread that comes late finds what
there is, and none is waited for that never comes.

Encoding of ``crew`` (int64): ``WORD`` has the number of the step in its upper half and the chunks that are
left in its lower one, so that a chunk is claimed by one compare-and-swap, of that step or not at all; it is
negative when there are no more steps. ``DONE`` counts chunks, on a cache line of its own. ``KIND`` and
``CHUNKS`` are those of the step: they stay until the last claimed chunk is done, so who has claimed one may
read them. ``MINE`` has the chunks left of a step that is the leader's alone.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import compare_and_swap, fetch_add, load_acquire, store_release
from gpop.common.inlined import inline
from gpop.direct.phases import back_off

WORD, DONE, KIND, CHUNKS, MINE = 0, 8, 16, 17, 18

_LEFT = (1 << 32) - 1
_OVER = -1


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
    if alone or chunks == 1:
        crew[MINE] = chunks
    else:
        store_release(crew, WORD, (crew[WORD] >> 32) + 1 << 32 | chunks)


@inline
def _claim(crew):
    """Number of a chunk of the step that nobody else gets; -1 where none is left."""
    word = load_acquire(crew, WORD)
    while word >= 0 and word & _LEFT:
        if compare_and_swap(crew, WORD, word, word - 1):
            return crew[CHUNKS] - (word & _LEFT)
        word = load_acquire(crew, WORD)
    return -1


@inline
def next_chunk(crew, worker):
    """A chunk to do, of the step ``crew[KIND]``; -1: leader, worker 0: the step is done; others: all is."""
    tries = 0
    if worker == 0 and crew[MINE] > 0:
        crew[MINE] -= 1
        return crew[CHUNKS] - crew[MINE] - 1
    while True:
        chunk = _claim(crew)
        if chunk >= 0:
            return chunk
        if load_acquire(crew, DONE) >= crew[CHUNKS] if worker == 0 else load_acquire(crew, WORD) < 0:
            return -1
        back_off(tries)
        tries += 1


@inline
def chunk_done(crew):
    """Say that a chunk is done; what was written is visible to the leader."""
    fetch_add(crew, DONE, 1)


@inline
def end(crew):
    """Leader: there are no more steps."""
    store_release(crew, WORD, _OVER)
