"""RSE: the formulas against chance, and the flags."""

from __future__ import annotations

import numpy as np
import pytest

from perf import query, register
from perf.store import Store, aggregate
from perf.uncertainty import LARGE, rse_of_mean, rse_of_ratio, rse_of_sum

RNG = np.random.default_rng(20260101)
DRAWS = 200_000


@pytest.mark.parametrize("first, second", [(0.01, 0.01), (0.02, 0.005), (0.03, 0.03)])
def test_formulas_against_monte_carlo(first, second):
    x = 7.0 * (1 + first * RNG.standard_normal(DRAWS))
    y = 3.0 * (1 + second * RNG.standard_normal(DRAWS))
    ratio, total = x / y, x + y
    assert rse_of_ratio(first, second) == pytest.approx(ratio.std() / ratio.mean(), rel=0.02)
    assert rse_of_sum([(7.0, first), (3.0, second)]) == pytest.approx(total.std() / total.mean(), rel=0.02)
    assert rse_of_sum([(7.0, first), (3.0, second)]) <= max(first, second)  # the thesis' bound


def test_mean_against_monte_carlo():
    means = RNG.normal(5.0, 1.0, (DRAWS // 10, 10)).mean(axis=1)
    assert rse_of_mean(5.0, 1.0, 10) == pytest.approx(means.std() / means.mean(), rel=0.02)


def test_equal_errors_make_one_and_a_half():
    assert rse_of_ratio(0.05, 0.05) == pytest.approx(2**0.5 * 0.05)


def test_times_measured_badly_are_flagged(tmp_path):
    """One implementation with a sure and an unsure time: share and number of what is above 5 %."""
    with Store(tmp_path / "s.db") as db:
        for number in range(2):
            path = tmp_path / f"{number}.el"
            path.write_text("0 1\n")
            register.register_graphs(db, "d", [str(path)])
        register.register_run_config(db, "bfs", "d", repeats=4)
        jobs = [row for row in db.rows("SELECT * FROM Missing") if row["implementation"] == "gpop-sc"]
        for job, seconds in zip(jobs, ([3.0, 3.0, 3.0, 3.0], [0.5, 1.0, 1.5, 1.0]), strict=True):
            done = {"version": "v", "hash": None, "fault": None, "error": None, "steps": {}, "values": {}}
            assert db.record_run(job, done | {"totals": {"computation": seconds}})
        (row,) = query.standard_errors(db)
    second = aggregate([0.5, 1.0, 1.5, 1.0])
    expected = rse_of_mean(second["avgTime"], second["stdDev"], 4)
    assert expected > LARGE
    assert (row["runs"], row["flagged"]) == (2, 1)
    assert row["largest RSE"] == pytest.approx(expected) and row["mean RSE"] == pytest.approx(expected / 2)
    assert row["time flagged"] == pytest.approx(1 / 4)
