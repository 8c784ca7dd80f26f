"""What threads do in the phases of an iteration: the part of the loop that is compiled for each program.

In each phase every thread has a share of an ascending list of partitions: a fixed one where the partitions
have little to do, else one that it claims piece by piece and in which others help. The loop (loop.py), which
is compiled for all programs at once, calls it by its address, with numbers only: they say what is to be done,
and the last is the address of the run's `Job`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpop.common.atomics import fetch_add, load_acquire
from gpop.common.by_reference import ReferenceKind, opener
from gpop.common.inlined import inline
from gpop.cpu import team
from gpop.program.published import publish

SCATTER, GATHER, PREPARE, PULL, ADMIT, DEFER, EXCHANGE, SETTLE = range(8)
"""Phases of an iteration: the first two, or the next two when it pulls; `ADMIT` before one that begins a
bucket of priorities; `DEFER`, once, puts the frontier that a run begins with aside; `EXCHANGE` before each
where there are other ranks (exchange.py, which has more phases, for what is shared of it), and `SETTLE` after
each that may be the last (settling.py), both on the main thread."""

HEAVIEST = -1
"""In place of a number of partitions claimed at once: one by one, the heaviest first."""

ARGUMENTS = 8
"""Numbers that an entry is called with."""


@inline
def entry_for(phase, entry, pull_entry):
    """Address of what does a phase. An iteration that pulls has entries of its own (specialise.py)."""
    return pull_entry if phase in (PREPARE, PULL) else entry


class Job(NamedTuple):
    """What a phase works on: how to choose (see `choose_mode`), layouts, workspace, the program's state.

    ``wire``: see `gpop.cpu.exchange`; 0 where there are no other ranks.
    """

    forced: np.int64
    ratio: np.float64
    sizes: Any
    layout: Any
    incoming: Any
    space: Any
    state: Any
    wire: Any


def make_work(
    scatter_partition, gather_partition, prepare, pull_partition, admit, defer_frontier,
    exchange, share_exchange, advance, note_changes, decide, all_active,
):  # fmt: skip
    """Kernel: one thread's part of a phase: claim partitions of its own share, then of the others'.

    With ``chunk`` 0 the shares are fixed: an atomic claim waits until all earlier stores have reached the
    cache, which takes as long as dozens of edges. From iteration to iteration the shares move little, so
    most partitions come back to the core whose caches and address translations they are in; the second
    phase of an iteration goes the other way, so that it begins with what the first one has touched last.
    With ``chunk`` `HEAVIEST` there is one share for all, the heaviest partition first: nobody waits for one
    that was begun last.
    """
    pushes = scatter_partition is not None
    pulls = pull_partition is not None
    prioritised = admit is not None
    exchanges = exchange is not None
    settles = decide is not None

    def work(
        phase, iteration, w, threads, size, sharers, chunk,
        forced, ratio, sizes, layout, incoming, space, state, wire,
    ):  # fmt: skip
        after = advance(state, iteration + 1)
        state = advance(state, iteration)
        if exchanges:
            if phase == EXCHANGE:
                exchange(forced, layout, space, wire, state)
                return
        if settles:
            if phase == SETTLE:
                decide(layout, space, state)
                return
        ordered = chunk == HEAVIEST
        if ordered:
            sharers, chunk = np.int64(1), np.int64(1)
        for turn in range(sharers if chunk > 0 else 1):
            owner = w + turn if not ordered else np.int64(0)
            if owner >= sharers:
                owner -= sharers
            begin = space.team[team.SHARES + owner] if owner > 0 else 0
            last = space.team[team.SHARES + owner + 1] if owner + 1 < sharers else size
            end = last
            first = begin
            if turn > 0 and load_acquire(space.claim, team.LINE_SLOTS * owner) >= last - begin:
                continue  # a look is not waited for as an addition is, which takes the line from all others
            if chunk > 0:
                first += fetch_add(space.claim, team.LINE_SLOTS * owner, chunk)
                end = min(first + chunk, last)
            while first < last:
                for j in range(first, end):
                    i = begin + last - 1 - j if phase in (GATHER, PULL) else j
                    if exchanges:
                        if phase > SETTLE:
                            share_exchange(phase, i, layout, space, wire, state)
                    if pushes:
                        if phase == SCATTER:
                            p = i if all_active else space.scatter_list[i]
                            scatter_partition(p, w, threads, forced, ratio, sizes, layout, space, state, wire)
                        elif phase == GATHER:
                            d = i if all_active else space.gather_list[i]
                            if ordered:
                                d = space.gather_order[j]
                            gather_partition(d, w, threads, layout, space, state)
                            if settles:
                                note_changes(d, layout, space, state)
                    if pulls:
                        if phase == PREPARE:
                            if all_active:
                                prepare(i, iteration, layout, space, state)
                            else:
                                prepare(i, layout, space, state)
                        elif phase == PULL:
                            if all_active:
                                if ordered:
                                    i = layout.heaviest[j]
                                pull_partition(i, w, iteration, layout, space, state, after)
                            else:
                                pull_partition(i, w, layout, incoming, space, state)
                            if settles:
                                note_changes(i, layout, space, state)
                    if prioritised:
                        if phase == ADMIT:
                            admit(space.gather_list[i], layout, space, state)
                        elif phase == DEFER:
                            defer_frontier(space.scatter_list[i], layout, space, state)
                if chunk == 0:
                    break
                first = begin + fetch_add(space.claim, team.LINE_SLOTS * owner, chunk)
                end = min(first + chunk, last)

    return work


def make_entry(work, kind: ReferenceKind):
    """Function of numbers that calls ``work`` on a job of this kind; the last of them is its address."""
    opened = opener(kind)

    def open_job(address):
        return opened(address)

    open_job = publish(open_job, f"open_{kind.name}")

    def entry(phase, iteration, w, threads, size, sharers, chunk, address):
        job = open_job(address)
        work(
            phase, iteration, w, threads, size, sharers, chunk,
            job.forced, job.ratio, job.sizes, job.layout, job.incoming, job.space, job.state,
            job.wire,
        )  # fmt: skip

    return entry
