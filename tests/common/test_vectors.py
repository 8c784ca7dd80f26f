"""Sums in vector registers: of numbers of every type, in the order that is written down."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from gpop.common.vectors import LANES, ROWS, sum_of_rows


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
