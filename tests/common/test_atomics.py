"""The atomic operations: what they do, and that the code which is generated for them is atomic."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from numba import njit

from gpop.common import atomics


def fetch_add(array):
    return atomics.fetch_add(array, 1, np.int64(5))


def compare_and_swap(array):
    return atomics.compare_and_swap(array, 1, np.int64(10), np.int64(5))


def load_acquire(array):
    return atomics.load_acquire(array, 1)


def store_release(array):
    atomics.store_release(array, 1, np.int64(5))


@pytest.mark.parametrize(
    "function, instruction, result, after",
    [
        (fetch_add, r"atomicrmw add .* acq_rel", 10, 15),
        (compare_and_swap, r"cmpxchg .* acq_rel acquire", True, 5),
        (load_acquire, r"load atomic i64.* acquire", 10, 10),
        (store_release, r"store atomic i64.* release", None, 5),
    ],
)
def test_one_atomic_instruction_in_order(function, instruction, result, after):
    array = np.array([0, 10, 20])
    kernel = njit(function)
    assert kernel(array) == result
    assert array.tolist() == [0, after, 20]
    assert re.search(instruction, next(iter(kernel.inspect_llvm().values())))


def test_nothing_is_stored_where_another_value_is_found():
    array = np.array([0, 11, 20])
    assert not njit(compare_and_swap)(array)
    assert array.tolist() == [0, 11, 20]


@pytest.mark.parametrize("clock", [time.CLOCK_MONOTONIC, time.CLOCK_THREAD_CPUTIME_ID])
def test_a_clock_by_its_number(clock):
    read = njit(lambda clock: atomics.ns_of(clock))
    read(clock)
    before = time.clock_gettime_ns(clock)
    assert before <= read(clock) <= time.clock_gettime_ns(clock)
