"""Two things that take turns are compared turn by turn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perf.gap import Measured
from perf.in_turns import ratio_in_turns


def test_a_machine_that_is_slow_now_and_then_does_not_matter():
    rng = np.random.default_rng(1)
    slow = np.repeat(rng.choice([1.0, 1.4], 21), 4)  # in each turn of four
    ours, theirs = 0.9 * slow, slow * np.tile([0.5, 1.0, 1.0, 9.0], 21)
    assert ratio_in_turns(ours, theirs, 21) == pytest.approx(0.9)


def test_a_measured_kernel_is_compared_by_its_rounds():
    found = Measured(
        "bfs", "g", [1.0, 1.0, 8.0, 8.0, 1.0, 1.0], [2.0, 2.0, 8.0, 8.0, 4.0, 4.0], 0.1, rounds=3
    )
    assert found.ratio == 0.5
    found.rounds = 1
    assert found.ratio == 1.0 / 4.0


def test_other_numbers_of_times_and_a_clock_that_shows_nothing():
    assert ratio_in_turns([2.0, 4.0, 8.0], [2.0], 3) == 2.0
    assert ratio_in_turns([2.0, 4.0], [0.0, 0.0], 2) == math.inf
