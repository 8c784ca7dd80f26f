"""Tables in memory: kernels read from them what is in the tuple, and they live as long as they are used."""

from __future__ import annotations

import gc
import weakref
from collections import namedtuple

import numpy as np
import pytest
from numba import njit

from gpop.common import by_reference
from gpop.common.by_reference import Reference, derived, opener, reference_of

Values = namedtuple("Values", "flag small count share data")
Outer = namedtuple("Outer", "before inner after")

ARRAYS = {
    "a line": np.arange(12, dtype=np.uint16),
    "a table": np.arange(12, dtype=np.float32).reshape(3, 4),
    "columns": np.arange(24, dtype=np.int64).reshape(4, 6)[:, 1::2],
    "backwards": np.arange(12, dtype=np.int32)[::-1],
    "empty": np.empty(0, np.uint8),
    "three dimensions": np.arange(24, dtype=np.uint32).reshape(2, 3, 4),
}


def values(data):
    return Values(np.bool_(True), np.uint8(200), np.int64(-3), np.float64(0.25), data)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("writable", [True, False])
def test_a_kernel_reads_what_is_in_the_tuple(name, writable):
    data = ARRAYS[name].view()
    data.flags.writeable = writable
    reference = Reference(values(data))
    open_values = opener(reference.kind)

    @njit
    def read(address):
        found = open_values(address)
        total = 0.0
        for number in found.data.flat:
            total = 3 * total + number
        return found.flag, found.small, found.count, found.share, found.data.shape, found.data.size, total

    total = 0.0
    for number in data.flat:
        total = 3 * total + number
    assert read(reference.address) == (True, 200, -3, 0.25, data.shape, data.size, total)


def test_a_kernel_takes_it_as_it_is_and_writes_its_arrays():
    data = np.zeros(4, np.int64)

    @njit
    def write(given):
        given.data[given.small - 199] = given.count

    write(Reference(values(data)))
    assert data.tolist() == [0, -3, 0, 0]
    assert len(write.signatures) == 1
    frozen = np.zeros(4, np.int64)
    frozen.flags.writeable = False
    assert Reference(values(frozen)).kind is Reference(values(data)).kind


def test_one_in_another_lives_as_long_as_that():
    reference = Reference(Outer(1, Reference(values(np.array([7, 8]))), 2))
    open_outer = opener(reference.kind)

    @njit
    def read(address):
        outer = open_outer(address)
        return outer.before, outer.inner.count, outer.inner.small, outer.after

    gc.collect()
    others = [Reference(values(np.arange(2))._replace(count=np.int64(i))) for i in range(1000)]
    assert read(reference.address) == (1, -3, 200, 2)
    assert len(others) == 1000


def test_a_table_is_renewed_with_other_references_which_live_as_long():
    def outer(number, **other):
        return Outer(np.int64(number), Reference(values(np.array([7, 8]))._replace(**other)), np.int64(2))

    reference = Reference(outer(1))
    open_outer = opener(reference.kind)

    @njit
    def read(address):
        outer = open_outer(address)
        return outer.before, outer.inner.count, outer.inner.small, outer.after

    assert reference.renew(outer(5, count=np.int64(9)))
    gc.collect()
    others = [Reference(values(np.arange(2))._replace(count=np.int64(i))) for i in range(1000)]
    assert read(reference.address) == (5, 9, 200, 2)
    assert not reference.renew(outer(6, data=np.zeros((2, 2))))
    assert read(reference.address) == (5, 9, 200, 2)
    assert len(others) == 1000


def test_the_same_objects_have_one_reference_until_an_array_goes():
    data = np.arange(3)
    given = values(data)
    first = reference_of(given)
    assert reference_of(Values(*given)) is first
    assert reference_of(given._replace(count=np.int64(5))) is not first
    kept = len(by_reference._made)
    gone = weakref.ref(data)
    del data, given
    assert gone() is None
    reference_of(values(np.arange(3)))
    assert len(by_reference._made) == kept - 1


def test_what_is_derived_is_made_once_and_not_kept_for_ever():
    made = []

    def make():
        made.append(1)
        return values(np.arange(3))

    assert derived(make, "one", 1) is derived(make, "one", 1)
    assert len(made) == 1
    for i in range(by_reference.MOST + 1):
        derived(make, "many", i)
    assert len(by_reference._derived) <= by_reference.MOST


def test_other_types_are_another_kind():
    kinds = {Reference(values(np.zeros(2, dtype))).kind.name for dtype in (np.int32, np.uint32, np.float32)}
    kinds.add(Reference(values(np.zeros((2, 2), np.int32))).kind.name)
    kinds.add(Reference(values(np.zeros(2, np.int32))._replace(count=np.int32(1))).kind.name)
    assert len(kinds) == 5
    assert all(len(name) < 30 for name in kinds)  # it is part of the name of every function
