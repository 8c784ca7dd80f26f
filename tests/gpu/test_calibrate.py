"""The ratio of a device from what its runs report; on a device: test_device_edges.py."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import gpop
from gpop.gpu import calibrate


class Trace(list):
    seconds = 2.0


def test_median_bandwidth_of_one_full_iteration_in_each_mode(monkeypatch):
    monkeypatch.setattr(calibrate, "SCALE", 6)
    moved = {"sc": iter([1, 10, 10, 10, 40, 10]), "pc": iter([1, 30, 30, 90, 30, 30])}

    def run(program, sources, *, limit, mode, **others):
        assert sources is None and limit == 1 and others["callback"] is None
        assert np.array_equal(program.label, np.arange(64))
        expected = np.arange(64)
        np.minimum.at(expected, program.graph.indices, np.repeat(np.arange(64), program.graph.out_degree))
        assert gpop.run(program, iterations=1, mode=mode).iterations == 1
        assert np.array_equal(program.label, expected)
        return SimpleNamespace(trace=Trace([{"bytes": next(moved[mode])}]))

    assert calibrate.measure_ratio(run) == pytest.approx(3)
