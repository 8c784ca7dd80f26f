"""A thread that would wake on its caller's core may have any other; all else stays where it is."""

from __future__ import annotations

import os
import threading

import numba
import numpy as np
import pytest

from gpop.common.own_core import (
    CORE,
    HERE,
    LINE,
    LINES,
    NOWHERE,
    THREAD,
    begin_at,
    make_way,
    note_core,
    places_for,
)

CORES = os.sched_getaffinity(0)
pytestmark = pytest.mark.skipif(len(CORES) < 2, reason="needs two cores")


@numba.njit(cache=False)
def note(places, address, line):
    note_core(places, address, line)


@numba.njit(cache=False)
def begin(places, line):
    begin_at(places, line)


@numba.njit(cache=False)
def lead(places, address, lines):
    make_way(places, address, lines)


@pytest.fixture
def sleeper():
    """The number of a thread that sleeps."""
    numbers, told, over = [], threading.Event(), threading.Event()

    def sleep():
        places = places_for(1)
        begin(places, 0)
        numbers.append(int(places[LINES + THREAD]))
        told.set()
        over.wait()

    thread = threading.Thread(target=sleep)
    thread.start()
    told.wait()
    assert numbers == [thread.native_id]
    yield thread.native_id
    over.set()
    thread.join()


def place(places, line, thread, core):
    places[LINES + LINE * line + THREAD], places[LINES + LINE * line + CORE] = thread, core


def led(thread, others=lambda here: []):
    """Call for a thread that was on the caller's core, and for others on these; the places, and that core."""
    while True:  # the caller may be moved between two looks
        places = places_for(1 + len(CORES))
        place(places, 0, thread, 0)
        note(places, places.ctypes.data, 0)
        here = int(places[LINES + CORE])
        found = others(here)
        for line, core in enumerate(found, 1):
            place(places, line, 0, core)
        lead(places, places.ctypes.data, 1 + len(found))
        if places[HERE] == here:
            return places, here


def test_a_thread_on_the_callers_core_may_have_any_other(sleeper):
    places, here = led(sleeper)
    assert os.sched_getaffinity(sleeper) == CORES - {here}
    assert os.sched_getaffinity(0) == CORES
    assert places[LINES + CORE] == NOWHERE


def test_one_on_another_core_stays(sleeper):
    places = places_for(1)
    place(places, 0, sleeper, 1023)
    lead(places, places.ctypes.data, 1)
    assert os.sched_getaffinity(sleeper) == CORES


def test_one_that_has_not_begun_stays():
    led(0)
    assert os.sched_getaffinity(0) == CORES


def test_where_others_have_all_other_cores_it_may_have_theirs(sleeper):
    _, here = led(sleeper, lambda here: sorted(CORES - {here}))
    assert os.sched_getaffinity(sleeper) == CORES - {here}


@pytest.mark.skipif(len(CORES) < 3, reason="needs three cores")
def test_it_is_kept_from_the_cores_of_others_where_there_are_more(sleeper):
    _, here = led(sleeper, lambda here: [min(CORES - {here})])
    assert os.sched_getaffinity(sleeper) == CORES - {here, min(CORES - {here})}


def test_a_caller_that_has_one_core_moves_nobody(sleeper):
    def call():
        os.sched_setaffinity(0, {min(CORES)})
        led(sleeper)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert os.sched_getaffinity(sleeper) == CORES


def test_large_numbers_of_cores_are_no_cores_of_the_set():
    """A slot holds what the system writes into its lower half."""
    places = places_for(1)
    place(places, 0, 0, NOWHERE)
    note(places, places.ctypes.data, 0)
    assert places[LINES + CORE] in CORES
    assert np.count_nonzero(places) <= 1
