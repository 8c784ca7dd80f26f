"""Which variants are worth a picture: extremes that are known, statistics against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from perf.pictures.variants import STATISTICS, reasons

NAMES = ["A", "B", "C", "D"]


def chosen(names, runs, optimum=None, fixed=None):
    """Reason -> (variant, value)."""
    least = runs.min(axis=0)
    found = reasons(names, runs, least if optimum is None else optimum, least if fixed is None else fixed)
    assert len({reason.why for reason in found}) == len(found)
    return {reason.why: (reason.variant, reason.value) for reason in found}


def test_known_extremes():
    """Variant 0: all alike. 1: A is far ahead. 2: D is far behind. 3: two and two."""
    runs = np.array([
        [1.0, 1.0, 2.0, 1.0],
        [1.0, 9.0, 2.1, 1.0],
        [1.0, 9.0, 2.0, 3.0],
        [1.01, 9.1, 9.0, 3.0],
    ])  # fmt: skip
    found = chosen(NAMES, runs)
    assert found["smallest max/min"] == (0, pytest.approx(1.01))
    assert found["largest max/min"] == (1, pytest.approx(9.1))
    assert found["smallest spread"][0] == 0 and found["smallest skewness"][0] == 1
    assert found["largest skewness"][0] in (0, 2) and found["smallest kurtosis"][0] == 3
    assert found["A best to the optimum"][0] == 0 and found["B worst to the optimum"] == (1, 9.0)
    assert found["D worst to the best fixed"] == (1, pytest.approx(9.1))


def test_optimum_and_best_fixed_are_told_apart():
    runs = np.array([[4.0, 3.0], [5.0, 6.0]])
    found = chosen(["A", "B"], runs, optimum=np.array([1.0, 3.0]), fixed=np.array([4.0, 3.0]))
    assert found["A worst to the optimum"] == (0, 4.0) and found["A worst to the best fixed"] == (0, 1.0)
    assert found["B best to the optimum"] == (1, 2.0) and found["B best to the best fixed"] == (0, 1.25)


def test_statistics():
    runs = np.random.default_rng(3).lognormal(size=(7, 50))
    known = {
        "skewness": stats.skew(runs),
        "kurtosis": stats.kurtosis(runs),
        "spread": stats.variation(runs, ddof=1),
    }
    for name, values in known.items():
        assert STATISTICS[name][1](runs) == pytest.approx(values)
        found = chosen([str(i) for i in range(7)], runs)
        assert found[f"smallest {name}"] == (values.argmin(), pytest.approx(values.min()))
        assert found[f"largest {name}"] == (values.argmax(), pytest.approx(values.max()))


def test_what_few_implementations_cannot_tell():
    """The skewness of two numbers and the kurtosis of three are the same whatever they are."""
    for count, missing in ((2, {"skewness", "kurtosis"}), (3, {"kurtosis"}), (4, set())):
        runs = np.random.default_rng(count).random((count, 9)) + 1
        for name in missing:
            assert np.ptp(STATISTICS[name][1](runs)) < 1e-9
        found = " ".join(chosen(NAMES[:count], runs))
        assert {name for name in STATISTICS if name not in found} == missing
    assert (STATISTICS["skewness"][1](np.ones((3, 2))) == 0).all()
