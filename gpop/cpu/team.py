"""A team of threads inside one compiled loop: the main thread hands out phases, the others follow.

Python starts the threads, all enter the same loop and stay in it for a slice of the run, so that a
phase of microseconds costs two messages through the cache instead of a parallel region: the main
thread describes the phase in ``team`` and raises ``GENERATION`` (release); a worker that sees it
(acquire) does its share and adds itself to ``DONE``; the main thread waits for all of them.

Waiting spins first, then yields the core, then sleeps; with more threads than cores it yields at once.
"""

from __future__ import annotations

import numpy as np

from gpop.atomics import load_acquire, pause, sleep_us, store_release, yield_core
from gpop.cpu.registry import inline

GENERATION, DONE, STOP, PHASE, ITEMS, ITERATION = 0, 8, 16, 17, 18, 19
"""Slots of ``team`` (int64); the two that threads poll have a cache line of their own."""

SIZE = 24
SPINS = 2000
YIELDS = 2000
SLEEP_US = 50


@inline
def _back_off(tries, spins):
    if tries < spins:
        pause()
    elif tries < spins + YIELDS:
        yield_core()
    else:
        sleep_us(np.uint32(SLEEP_US))


@inline
def await_phase(team, seen, spins):
    """Worker: wait until the generation differs from ``seen``; return it."""
    tries = 0
    generation = load_acquire(team, GENERATION)
    while generation == seen:
        _back_off(tries, spins)
        tries += 1
        generation = load_acquire(team, GENERATION)
    return generation


@inline
def start_phase(team, phase, items, iteration):
    """Main thread: describe a phase and let the workers go."""
    team[PHASE] = phase
    team[ITEMS] = items
    team[ITERATION] = iteration
    team[DONE] = 0
    store_release(team, GENERATION, team[GENERATION] + 1)


@inline
def await_workers(team, workers, spins):
    """Main thread: wait until every worker has done its share."""
    tries = 0
    while load_acquire(team, DONE) < workers:
        _back_off(tries, spins)
        tries += 1


@inline
def dismiss(team):
    """Main thread: the slice is over, workers return to Python."""
    team[STOP] = 1
    store_release(team, GENERATION, team[GENERATION] + 1)
