"""Checks of CSR arrays: the first fault is the one that is named, wherever the blocks are cut."""

from __future__ import annotations

import numpy as np
import pytest

from gpop.graph.validate import ids_fault, offsets_fault


@pytest.fixture(autouse=True, params=[1, 2, 3, 1 << 21])
def block(request, monkeypatch):
    monkeypatch.setattr("gpop.graph.validate._PIECE", request.param)


def test_offsets():
    assert offsets_fault(np.array([0]), 0) is None
    assert offsets_fault(np.array([0, 2, 2, 5]), 5) is None
    assert offsets_fault(np.array([0, 3, 2, 5, 4, 6]), 6).startswith(
        "offset of vertex 2 is 2, expected at least 3"
    )
    assert offsets_fault(np.array([0, 1, 2, 7, 5]), 5) == "offset of vertex 3 is 7, expected at most m = 5"
    assert offsets_fault(np.array([3, 4]), 4) == "offset of vertex 0 is 3, expected 0"


def test_ids():
    assert ids_fault(np.array([], np.uint32), 0) is None
    assert ids_fault(np.array([0, 4, 2], np.uint32), 5) is None
    assert ids_fault(np.array([0, 5, 2, 9], np.uint32), 5).startswith("edge 1 leads to vertex 5")
    assert ids_fault(np.array([0, 1, -2, 9]), 5).startswith("edge 2 leads to vertex -2")
