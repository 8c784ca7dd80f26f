"""Sums in vector registers, of numbers of every type, in the order that is written down; and words."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from gpop.common.vectors import LANES, ROWS, sum_of_rows, word_at


@njit
def summed(array, first):
    return sum_of_rows(array, first)


@pytest.mark.parametrize("kind", ["f4", "f8", "i1", "i4", "i8", "u1", "u4", "?"])
def test_numbers_of_every_type(kind):
    """Not aligned to a vector, and with the last one of them at the end of the array."""
    rng, count = np.random.default_rng(1), ROWS * LANES
    numbers = rng.integers(0, 256, count + 5).astype(np.uint8).astype(kind) * np.dtype(kind).type(1)
    if kind[0] == "f":
        numbers = rng.random(count + 5).astype(kind)
    for first in (0, 3, 5):
        part = numbers[first : first + count].astype(np.float64)
        lanes = part.reshape(ROWS, LANES)
        total = lanes[0].copy()
        for row in lanes[1:]:
            total += row
        while total.size > 1:
            total = total[::2] + total[1::2]
        assert summed(numbers, np.uint64(first)) == total[0]
        assert np.isclose(total[0], part.sum(), rtol=1e-12)


def test_only_of_arrays_whose_numbers_lie_side_by_side():
    with pytest.raises(Exception, match="sum_of_rows"):
        summed(np.ones(200)[::2], np.uint64(0))


@njit
def word(array, index):
    return word_at(array, index)


@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "u8"])
def test_a_word_is_the_elements_from_one_on(kind):
    """Not aligned to a word, and up to the last element."""
    numbers = np.random.default_rng(2).integers(0, 256, 64).astype(np.uint8).view(kind)
    for first in (0, 1, len(numbers) - 8 // numbers.itemsize):
        expected = int.from_bytes(numbers[first:].tobytes()[:8], "little")
        assert word(numbers, np.uint64(first)) == expected
