"""What a worker does in a run: its part of every phase that the main thread starts (team.py), to the end.

It is compiled once for all programs: what a phase does to partitions is called by its address (work.py).
Threads that stand by in compiled code are called for it (`gpop.common.standby`), whose ticket is that of
team.py. Where each is to have a core of its own (`Places`) it is kept there until the end.
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
from gpop.common.inlined import KERNEL, inline
from gpop.cpu import team
from gpop.cpu.filling import ENTRY, FILL
from gpop.cpu.work import entry_for


class Places(NamedTuple):
    """Where threads are kept: the system's function for that, and sets of cores as it takes them.

    Each set is of ``set_bytes``. From address ``sets`` on there is one for each thread, and then one of the
    cores that all may have.
    """

    function: np.int64
    set_bytes: np.int64
    sets: np.int64


ANYWHERE = Places(*(np.int64(0),) * 3)


class Following(NamedTuple):
    """What a worker is told: of how many threads it is one, how it waits, what it calls and with what.

    The last three: its `Places`.
    """

    team: np.ndarray
    claim: np.ndarray
    filling: np.ndarray
    threads: np.int64
    spins: np.int64
    entry: np.int64
    pull_entry: np.int64
    job: np.int64
    control: np.int64
    function: np.int64
    set_bytes: np.int64
    sets: np.int64


_NOTHING = Following(*(np.empty(0, np.int64),) * 3, *(np.int64(0),) * 9)
_open = opener(Reference(_NOTHING).kind)


@inline
def _go_to(place, told):
    """Have the calling thread kept on the cores of this place."""
    if told.set_bytes > 0:
        call_c(told.function, (np.int64(0), told.set_bytes, told.sets + told.set_bytes * place))


def follow(number, ticket, address):
    """The part of worker ``number`` in all phases of an epoch."""
    told = _open(address)
    _go_to(number, told)
    generation = ticket
    told.claim[team.LINE_SLOTS * number + team.TICKET] = ticket
    while True:
        generation = team.await_phase(told.team, generation, told.spins)
        if generation >> team.EPOCH_SHIFT != ticket >> team.EPOCH_SHIFT:
            break
        phase, items, iteration = told.team[team.PHASE], told.team[team.ITEMS], told.team[team.ITERATION]
        if phase == FILL:
            call_c(told.filling[ENTRY], (number, told.threads, told.control))
        else:
            numbers = (phase, iteration, number, told.threads, items, told.threads, told.team[team.CHUNK])
            call_c(entry_for(phase, told.entry, told.pull_entry), (*numbers, told.job))
        fetch_add(told.team, team.DONE, 1)
    _go_to(told.threads, told)


@cache
def entry() -> int:
    """Its address."""
    return callback(lambda: follow, f"follow_{source_key(__file__)}", __file__, 3, **KERNEL)


def following_of(loop: Any, places: Places, space: Any, threads: int, spins: int) -> Reference:
    """What the workers of a run are told; ``loop``: its `gpop.cpu.specialise.Loop`."""
    of_loop = loop.entry, loop.pull_entry, loop.job.address, loop.control.address
    numbers = map(np.int64, (threads, spins, *of_loop, *places))
    arrays = space.team, space.claim, space.filling
    return derived(lambda: Following(*arrays, *numbers), loop.job, loop.control, threads, spins, places)
