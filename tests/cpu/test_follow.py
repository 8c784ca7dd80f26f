"""What a worker does in a run: it says that it has come, does its part of each phase, and leaves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numba
import numpy as np
import pytest

from gpop.common import standby
from gpop.common.by_reference import Reference, opener
from gpop.common.callback import callback
from gpop.common.inlined import KERNEL, inline
from gpop.cpu import filling, follow, team
from gpop.cpu.work import GATHER, PREPARE, PULL, SCATTER
from gpop.program.recipes import Declared
from tests.cpu.controls import control_with

THREADS, EPOCH = 3, 7


class Noted(NamedTuple):
    """What a worker has called with, by its number."""

    numbers: np.ndarray


_open_noted = opener(Reference(Noted(np.zeros((THREADS, 7), np.int64))).kind)


@inline
def note(numbers, job):
    row = _open_noted(job).numbers[numbers[2]]
    for i in range(len(numbers)):
        row[i] = numbers[i]


def note_part(phase, iteration, number, threads, items, sharers, chunk, job):
    """In place of the phases of a run."""
    note((phase, iteration, number, threads, items, sharers, chunk), job)


def note_pull(phase, iteration, number, threads, items, sharers, chunk, job):
    """The same in place of those in which it pulls."""
    note((phase, iteration, number, threads, items, sharers, chunk + 100), job)


@numba.njit(nogil=True)
def begin(slots, phase, items, iteration, chunk, workers):
    """A phase from its start to its end."""
    done = slots[team.DONE] + workers
    team.start_phase(slots, phase, items, iteration, chunk)
    team.await_workers(slots, done, team.SPINS)


@pytest.fixture
def called():
    """Has workers called with arrays of a team, which are given back; in the end they leave."""
    crew = standby.borrow(THREADS - 1)
    slots = np.zeros(team.SHARES + 2 * THREADS, np.int64)
    claim = np.zeros(team.LINE_SLOTS * THREADS, np.int64)
    nothing = np.zeros(filling.SLOTS, np.int64)
    control = control_with(team=slots, claim=claim, filling=nothing)
    kept = []

    def call(epoch, ticket, push, pull, job):
        slots[team.GENERATION] = epoch << team.EPOCH_SHIFT
        numbers = map(np.int64, (THREADS, team.SPINS, push, pull, job, control.address, *follow.ANYWHERE))
        kept.append(Reference(follow.Following(slots, claim, nothing, *numbers)))
        crew.call(follow.entry(), ticket, kept[0].address, THREADS)
        return crew, slots, claim

    call.filling = nothing
    yield call
    team.dismiss(slots)
    crew.close()
    standby.give_back(crew)


def test_a_worker_comes_does_its_part_of_each_phase_and_leaves(called):
    noted = Noted(np.zeros((THREADS, 7), np.int64))
    job = Reference(noted)
    entries = [
        callback(lambda note=note: note, f"{note.__name__}_of_this_test", __file__, 8, **KERNEL)
        for note in (note_part, note_pull)
    ]
    ticket = EPOCH << team.EPOCH_SHIFT
    crew, slots, claim = called(EPOCH, ticket, *entries, job.address)
    phases = SCATTER, GATHER, PREPARE, PULL
    for phase, items, iteration, chunk in zip(phases, (40, 9, 7, 5), (5, 6, 7, 8), (1, 4, 2, 3), strict=True):
        begin(slots, phase, items, iteration, chunk, THREADS - 1)
        told = chunk + 100 * (phase in (PREPARE, PULL))
        said = [[phase, iteration, w, THREADS, items, THREADS, told] for w in range(1, THREADS)]
        assert noted.numbers[1:].tolist() == said and not noted.numbers[0].any()
    assert team.all_there(claim, THREADS - 1, ticket)
    team.dismiss(slots)
    crew.close()  # returns when they have left
    assert slots[team.DONE] == len(phases) * (THREADS - 1)


def test_workers_fill_what_their_caller_does_not(called):
    n = 5 * filling.PIECE + 3
    field, recipe = np.zeros(n, np.int16), Declared(n, np.dtype(np.int16), -2, {7: 9})
    steps = recipe.steps(field.ctypes.data)
    called.filling[: filling.FIRST + len(steps)] = [*filling.head_of(steps, n), *steps]
    _, slots, _ = called(EPOCH, EPOCH << team.EPOCH_SHIFT, 0, 0, 0)  # no phase of a program
    slots[team.SHARES : team.SHARES + THREADS] = 0, 2, 4
    begin(slots, filling.FILL, 6, 0, 1, THREADS - 1)
    assert np.array_equal(field, recipe.on_host())


def test_who_comes_when_the_epoch_is_over_leaves_at_once(called):
    crew, slots, _ = called(EPOCH + 1, EPOCH << team.EPOCH_SHIFT, 0, 0, 0)  # to call 0 would end the process
    crew.close()
    assert slots[team.DONE] == 0


def test_runs_of_other_threads_or_patience_are_told_so():
    space = SimpleNamespace(**{name: np.zeros(8, np.int64) for name in ("team", "claim", "filling")})
    job, control = Reference(Noted(np.zeros((1, 7), np.int64))), control_with()
    loop = SimpleNamespace(entry=11, pull_entry=12, job=job, control=control)
    for threads, spins in ((2, 5), (3, 5), (2, 6), (2, 5)):
        told = follow.following_of(loop, follow.ANYWHERE, space, threads, spins)
        assert told.table[-9:-3].tolist() == [threads, spins, 11, 12, job.address, control.address]
