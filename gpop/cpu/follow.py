"""What a worker does in a run: its part of every phase that the main thread starts (team.py), to the end.

It is compiled once for all programs: what a phase does to partitions is called by its address (work.py).
Threads that stand by in compiled code are called for it (`gpop.common.standby`), whose ticket is that of
team.py. The workers of ranks, which have cores of their own, enter the loop by Python instead (loop.py).
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from gpop.common.atomics import fetch_add
from gpop.common.by_reference import Reference, derived, opener
from gpop.common.cached import source_key
from gpop.common.callback import callback
from gpop.common.foreign import call_c
from gpop.common.inlined import KERNEL
from gpop.cpu import team


class Following(NamedTuple):
    """What a worker is told: of how many threads it is one, how it waits, what it calls and with what."""

    team: np.ndarray
    claim: np.ndarray
    threads: np.int64
    spins: np.int64
    entry: np.int64
    job: np.int64


_NOTHING = Following(*(np.empty(0, np.int64),) * 2, *(np.int64(0),) * 4)
_open = opener(Reference(_NOTHING).kind)


def follow(number, ticket, address):
    """The part of worker ``number`` in all phases of an epoch."""
    told = _open(address)
    generation = ticket
    told.claim[team.LINE_SLOTS * number + team.TICKET] = ticket
    while True:
        generation = team.await_phase(told.team, generation, told.spins)
        if generation >> team.EPOCH_SHIFT != ticket >> team.EPOCH_SHIFT:
            return
        phase, items, iteration = told.team[team.PHASE], told.team[team.ITEMS], told.team[team.ITERATION]
        numbers = (phase, iteration, number, told.threads, items, told.threads, told.team[team.CHUNK])
        call_c(told.entry, (*numbers, told.job))
        fetch_add(told.team, team.DONE, 1)


@cache
def entry() -> int:
    """Its address."""
    return callback(lambda: follow, f"follow_{source_key(__file__)}", __file__, 3, **KERNEL)


def following_of(loop: Any, space: Any, threads: int, spins: int) -> Reference:
    """What the workers of a run are told; ``loop``: its `gpop.cpu.specialise.Loop`."""
    numbers = map(np.int64, (threads, spins, loop.entry, loop.job.address))
    return derived(lambda: Following(space.team, space.claim, *numbers), loop.job, threads, spins)
