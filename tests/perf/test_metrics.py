"""Aggregate metrics, on the example of Verstraaten's Table 4.1."""

import numpy as np
import pytest

from gpop.common.errors import UsageError
from perf.metrics import (
    best_non_switching,
    optimum,
    summaries,
    summarise,
    table,
    total_rse,
    unsure_share,
)
from perf.uncertainty import flag, rse_of_mean, rse_of_ratio, rse_of_sum

TABLE_4_1 = np.array([[100, 300], [150, 150], [300, 100]])


def test_worked_example_of_the_thesis():
    rows = {row.name: row for row in summaries(["A", "B", "C"], TABLE_4_1)}
    assert optimum(TABLE_4_1).tolist() == [100, 100]
    assert {name: (row.total, row.average) for name, row in rows.items()} == {
        "A": (2.0, 2.0),
        "B": (1.5, 1.5),
        "C": (2.0, 2.0),
    }
    assert summaries(["A", "B", "C"], TABLE_4_1)[0].name == "B"
    assert rows["A"].worst == 3 and rows["A"].below_2 == 0.5


def test_total_weighs_by_time_and_average_does_not():
    row = summarise("A", np.array([10.0, 300.0]), np.array([1.0, 300.0]))
    assert row.total == pytest.approx(310 / 301) and row.average == 5.5


@pytest.mark.parametrize("limit, field", [(2, "below_2"), (5, "above_5"), (20, "above_20")])
def test_limits_are_strict(limit, field):
    def share(ratio):
        return getattr(summarise("A", np.array([ratio * 100.0]), np.array([100.0])), field)

    assert share(limit) == 0
    assert share(limit * 0.99) == (field == "below_2")
    assert share(limit * 1.01) == (field != "below_2")


def test_optimum_of_steps_switches_and_a_whole_run_does_not():
    times = np.array([[[1, 9, 1], [4, np.nan, np.nan]], [[8, 2, 1], [2, np.nan, np.nan]]])
    assert optimum(times).tolist() == [4, 2]
    assert best_non_switching(times).tolist() == [11, 2]
    rows = {row.name: row.total for row in summaries(["A", "B"], times)}
    assert rows == {"A": 15 / 6, "B": 13 / 6, "best non-switching": 13 / 6}
    relative = {row.name: row.total for row in summaries(["A", "B"], times, "best non-switching")}
    assert relative == {"A": 15 / 13, "B": 1.0}


@pytest.mark.parametrize(
    "names, times, message",
    [
        (["A"], TABLE_4_1, "1 names for 3"),
        (["A"], np.zeros(3), "1 dimensions"),
        (["A", "B"], np.array([[1, np.nan], [1, 1]]), "the same measurements"),
        (["A"], np.array([[0.0]]), "above 0"),
    ],
)
def test_bad_input(names, times, message):
    with pytest.raises(UsageError, match=message):
        summaries(names, times)
    with pytest.raises(UsageError, match="expected optimal"):
        summaries(["A"], np.ones((1, 1)), "fastest")


def test_table_rounds_as_the_thesis_does():
    lines = table(summaries(["A", "B", "C"], TABLE_4_1)).splitlines()
    assert lines[1].split() == ["B", "1.50", "1.50", "100%", "0%", "0%", "1.50"]


def simulated_rse(combine):
    random = np.random.default_rng(20260101)
    x, y = 100 * (1 + 0.03 * random.standard_normal((2, 400_000)))
    values = combine(x, y)
    return values.std() / values.mean()


def test_rse_formulas_against_monte_carlo():
    assert simulated_rse(np.divide) == pytest.approx(rse_of_ratio(0.03, 0.03), rel=0.02)
    assert simulated_rse(np.add) == pytest.approx(rse_of_sum([(100, 0.03), (100, 0.03)]), rel=0.02)
    assert simulated_rse(np.add) <= 0.03  # the bound that total_rse takes
    assert rse_of_ratio(0.03, 0.03) / 0.03 == pytest.approx(1.41, abs=0.01)


def test_rse_of_total_takes_the_largest():
    assert total_rse(np.array([0.01, 0.03]), np.array([0.04, 0.0])) == pytest.approx(0.05)
    assert rse_of_mean(50, 5, 25) == pytest.approx(0.02)


def test_flags_and_share_of_unsure_time():
    assert [flag(0.0500001), flag(0.05), flag(0)] == ["!", "", ""]
    times = np.array([[[1.0, 3.0], [4.0, np.nan]], [[1.0, 1.0], [1.0, np.nan]]])
    rse = np.array([[[0.2, 0.01], [0.06, np.nan]], [[0.05, 0.0], [0.01, np.nan]]])
    assert unsure_share(times, rse).tolist() == [5 / 8, 0]
