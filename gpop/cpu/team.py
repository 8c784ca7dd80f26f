"""A team of threads inside one compiled loop: the main thread hands out phases, the others follow.

The others are called in compiled code, where they stand by (follow.py), and stay until the run is over, so
that a phase of microseconds costs two messages through the cache instead of a parallel region: the main
thread describes the phase in ``team`` and raises ``GENERATION`` (release); a worker that sees it (acquire)
does its share and adds itself to ``DONE``; the main thread waits for all of them.

Nobody waits for a worker to come, which may take as long as a search of a small graph. Light phases
begin without workers that are not there yet. A worker is given the generation at which it was called, its
``ticket``, and leaves when the generation is of another epoch (its upper half). Epochs only grow, so a
worker that comes when the run is over, or another has begun, leaves at once.

Waiting spins first, then yields the core, then sleeps; with more threads than cores it yields at once.
"""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import fence, load_acquire, pause, sleep_us, store_release, yield_core
from gpop.common.inlined import inline

DONE, GENERATION, PHASE, ITEMS, ITERATION, CHUNK, WAY, SHARES = 0, 8, 9, 10, 11, 12, 13, 14
"""Slots of ``team`` (int64). The main thread polls the first. What describes a phase lies in one cache line
with the slot that the workers poll: to fetch a line from another core takes as long as dozens of edges.
``WAY`` is the mode that a decision tree chose for the iteration (`gpop.cpu.tree`).
From ``SHARES`` on: for every thread where its share of the items begins, and its first partition."""

EPOCH_SHIFT = 32
"""Lower bits of a generation, which count the phases of an epoch."""

LINE_SLOTS = 8
"""Slots of int64 in a cache line; a thread has a line of its own in ``claim``."""

CLAIMED, TICKET = 0, 1
"""Slots of that line: how many items of its share are claimed; the ticket with which it has come."""

SPINS = 64  # a virtual machine takes the core away from a loop of pauses after some thousand cycles
YIELDS = 4000
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
def start_phase(team, phase, items, iteration, chunk):
    """Main thread: describe a phase and let the workers go."""
    team[PHASE] = phase
    team[ITEMS] = items
    team[ITERATION] = iteration
    team[CHUNK] = chunk
    fence()  # for messages that the main thread has streamed; workers add to DONE, which is one
    store_release(team, GENERATION, team[GENERATION] + 1)


@inline
def await_workers(team, done, spins):
    """Main thread: wait until ``DONE`` has reached this number."""
    tries = 0
    while load_acquire(team, DONE) < done:
        _back_off(tries, spins)
        tries += 1


@inline
def all_there(claim, workers, ticket):
    """Whether all workers have come."""
    for w in range(1, workers + 1):
        if claim[LINE_SLOTS * w + TICKET] != ticket:
            return False
    return True


def dismiss(team):
    """Python: an epoch is over, workers return. One store, so nobody can see half of it."""
    team[GENERATION] = ((int(team[GENERATION]) >> EPOCH_SHIFT) + 1) << EPOCH_SHIFT
