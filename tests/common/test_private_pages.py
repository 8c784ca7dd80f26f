"""Arrays of which the system tells where somebody has written: nothing is missed, whoever writes."""

from __future__ import annotations

import os

import numpy as np
import pytest

import gpop
from gpop.common import memory, private_pages
from gpop.common.private_pages import FEW, LEAST, in_private_pages, others, wait
from gpop.program.recipes import pattern_of

told = pytest.mark.skipif(not private_pages._told(), reason="needs Linux 6.7, which tells of written pages")


@pytest.fixture(autouse=True)
def nothing_waits():
    private_pages.let_go()
    yield
    private_pages.let_go()


def made(length: int, dtype: type, value: object) -> np.ndarray:
    kind = np.dtype(dtype)
    array = in_private_pages(length, kind, pattern_of(value, kind))
    assert array is not None
    return array


@told
@pytest.mark.parametrize(
    ("dtype", "value", "other"),
    [
        (np.uint32, 0xFFFFFFFF, 0), (np.int64, -5, 5), (np.float32, np.nan, 1.0), (np.uint8, 7, 8),
        (bool, True, False), (np.float64, 0.0, -0.0), (np.int16, 0, 3),
    ],
)  # fmt: skip
@pytest.mark.parametrize("more", [0, 1, 4099])
def test_what_differs_is_told_and_pages_are_as_new_for_the_next_array(dtype, value, other, more):
    length = LEAST // np.dtype(dtype).itemsize + more
    expected = np.full(length, value, dtype)
    for turn in range(2):
        array = made(length, dtype, value)
        assert array.flags.writeable and array.dtype == dtype and array.tobytes() == expected.tobytes()
        assert others(array) == {}
        places = [0, 5 + turn, length // 2, length - 1]
        array[places] = other
        array[17] = value  # as it was
        found = others(array)
        assert list(found) == places and {np.array(each, dtype).tobytes() for each in found.values()} == {
            np.full(1, other, dtype).tobytes()
        }
        assert array[places].tobytes() == np.full(4, other, dtype).tobytes()
        begin = array.ctypes.data
        wait(array, found)
    assert made(length, dtype, value).ctypes.data == begin != made(length, dtype, value).ctypes.data


@told
def test_who_writes_around_numpy_is_told_of_too():
    array = made(LEAST, np.uint8, 3)
    with open("/dev/zero", "rb", buffering=0) as zeros:
        assert zeros.readinto(memoryview(array)[9000:9003]) == 3
    np.asarray(array).view(np.uint16)[-1] = 0
    assert list(others(array)) == [9000, 9001, 9002, LEAST - 2, LEAST - 1]


@told
def test_many_are_not_told():
    array = made(LEAST, np.uint8, 3)
    array[: FEW + 1] = 4
    assert others(array) is None
    array = made(LEAST, np.uint8, 3)
    array[: 2 * 4096 * (FEW + 1) : 2 * 4096] = 3  # pages of their own
    assert others(array) is None
    array = made(LEAST, np.uint8, 3)
    array[:] = 3
    assert others(array) is None
    assert others(np.full(LEAST, 3, np.uint8)) is None


@told
def test_pages_of_earlier_arrays_do_not_count():
    for turn in range(2 * FEW):
        array = made(LEAST, np.uint8, 3)
        array[2 * 4096 * turn] = 4
        assert others(array) == {2 * 4096 * turn: 4}
        wait(array, [2 * 4096 * turn])


@told
def test_a_child_process_tells_of_its_own_pages():
    array = made(LEAST, np.uint8, 3)
    array[5000] = 1
    child = os.fork()
    if child == 0:
        array[9000] = 2
        os._exit(0 if others(array) == {5000: 1, 9000: 2} else 1)
    assert os.waitpid(child, 0)[1] == 0 and others(array) == {5000: 1}


@told
def test_what_waits_is_little_and_goes_where_memory_is_short(monkeypatch):
    values = [*range(private_pages.PATTERNS + 2), *[9] * (private_pages.WAITING + 2)]
    arrays = [made(LEAST, np.uint8, value) for value in values]
    for array in arrays:
        wait(array, others(array))
    waiting = [*private_pages._waiting.values()]
    assert [*map(len, waiting)] == [1] * (private_pages.PATTERNS - 1) + [private_pages.WAITING]
    assert all(array is each for array, each in zip(arrays[::-1], waiting[-1][::-1], strict=False))
    assert len(private_pages._files) == private_pages.PATTERNS
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    with pytest.raises(gpop.NotEnoughMemory):
        memory.require_memory(memory.ASKED_FROM, "an array")
    assert not private_pages._waiting and not private_pages._files


def test_where_nobody_tells_there_are_none(monkeypatch):
    def refuses(*_):
        raise OSError(25, "Inappropriate ioctl for device")

    monkeypatch.setattr(private_pages, "_told", private_pages._told.__wrapped__)
    monkeypatch.setattr(private_pages.fcntl, "ioctl", refuses)
    assert in_private_pages(LEAST, np.dtype(np.uint8), pattern_of(3, np.dtype(np.uint8))) is None
    monkeypatch.delattr(private_pages.os, "memfd_create")
    private_pages.let_go()
    assert in_private_pages(LEAST, np.dtype(np.uint8), pattern_of(3, np.dtype(np.uint8))) is None
