"""The ratio of a device from what its engines report; on a device: test_device_edges.py."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpop.gpu import calibrate
from gpop.plan.trace import BYTES_AT, COLUMNS, GATHER_AT, SCATTER_AT


def test_median_bandwidth_of_one_full_iteration_in_each_mode(monkeypatch):
    """The first round warms up; seconds of both phases count; every vertex of the graph is active, once."""
    monkeypatch.setattr(calibrate, "SCALE", 6)
    moved = {"sc": iter([1, 10, 10, 10, 40, 10]), "pc": iter([1, 30, 30, 90, 30, 30])}
    steps = []

    class Measured:
        def __init__(self, plan):
            self.plan = plan
            assert (plan.limit, plan.ratio) == (1, 1.0)
            assert np.array_equal(plan.program.label, np.arange(64))

        def prepare(self):
            steps.append("prepare")

        def load(self, sources, rows):
            steps.append("load")
            assert sources is None and rows == 1

        def iterate(self):
            steps.append("iterate")
            row = np.zeros(len(COLUMNS))
            row[BYTES_AT], row[SCATTER_AT], row[GATHER_AT] = next(moved[self.plan.mode]), 0.5, 1.5
            return row[None]

    assert calibrate.measure_ratio(Measured) == pytest.approx(3)
    assert steps == ["prepare", "load", "iterate"] * 12


def test_a_process_goes_on_with_the_ratio_that_it_began_with(monkeypatch):
    """Another process may measure and keep its own in between; auto chooses the same in both of two runs."""
    measured, kept = iter([3.0, 5.0]), {}
    monkeypatch.setattr(calibrate, "_ratios", {})
    monkeypatch.setattr(calibrate, "current_device", lambda: SimpleNamespace(name="a device"))
    monkeypatch.setattr(calibrate, "measure_ratio", lambda engine_of: next(measured))
    monkeypatch.setattr(calibrate, "recall", lambda name: dict(kept))
    monkeypatch.setattr(calibrate, "remember", lambda name, ratios: kept.update(ratios))
    assert calibrate.device_ratio(None) == 3
    kept.update(dict.fromkeys(kept, 4.0))
    assert calibrate.device_ratio(None) == 3
    calibrate._ratios.clear()
    assert calibrate.device_ratio(None) == 4  # the next process
    kept.clear()
    calibrate._ratios.clear()
    assert calibrate.device_ratio(None) == 5
