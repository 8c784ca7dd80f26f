"""Phases of work that threads share inside compiled code: claim a chunk, do it, wait for the rest.

A phase is over when all its chunks are done, not when all threads have come: one that starts late finds
nothing left and moves on, and none is waited for that never starts. Python submits one call for each
thread; the whole sequence of phases is in that call, so that the step from one to the next costs a
message through the cache and not a thread pool.

Encoding: row p of the int64 array of `make_phases` is a cache line with the chunks of phase p that were
claimed, and another with those that are done.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import fetch_add, load_acquire, pause, sleep_us, yield_core
from gpop.common.cached import cached
from gpop.common.inlined import KERNEL, inline

kernel = cached(**KERNEL)
"""What compiles the work of a phase."""

_LINE = 8  # int64 of a cache line
_SPINS = 2000
_YIELDS = 2000
_SLEEP_US = 50


def make_phases(count: int) -> np.ndarray:
    """State of ``count`` phases."""
    return np.zeros(2 * _LINE * count, np.int64)


@inline
def claim(phases, phase):
    """Number of a chunk of this phase that nobody else gets."""
    return fetch_add(phases, 2 * _LINE * phase, 1)


@inline
def finish(phases, phase):
    """Say that a claimed chunk is done."""
    fetch_add(phases, 2 * _LINE * phase + _LINE, 1)


@inline
def done(phases, phase):
    """How many chunks of the phase are; what was written for them is visible."""
    return load_acquire(phases, 2 * _LINE * phase + _LINE)


@inline
def back_off(tries):
    """One try of a loop that waits: spin first, then let others have the core, then sleep."""
    if tries < _SPINS:
        pause()
    elif tries < _SPINS + _YIELDS:
        yield_core()
    else:
        sleep_us(np.uint32(_SLEEP_US))


@inline
def wait_until(words, slot, least):
    """Return when a word is so much or more; what was written before it was is visible then."""
    tries = 0
    while load_acquire(words, slot) < least:
        back_off(tries)
        tries += 1


@inline
def wait_for(phases, phase, chunks):
    """Return when all chunks of the phase are done."""
    wait_until(phases, 2 * _LINE * phase + _LINE, chunks)
