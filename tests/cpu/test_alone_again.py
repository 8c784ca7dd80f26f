"""A phase that took all threads longer than one before sends the main thread on alone."""

from __future__ import annotations

import pytest

import gpop
from gpop.cpu import loop_state, sharing, team
from gpop.cpu.engine import CpuEngine
from gpop.generate import generate

EPOCH = (1 << team.EPOCH_SHIFT) - 1

PHASES = 2
"""Of an iteration in which all are active."""


@pytest.fixture(scope="module")
def graph():
    """Of so many edges that others are called at once."""
    made = generate("uniform", scale=15, degree=20, seed=1)
    assert made.m * sharing.EDGE_BYTES > sharing.WAKE_BYTES and made.m < sharing.ALONE_EDGES
    return made


@pytest.mark.parametrize("mode", ["pull", "pc"])
def test_what_is_slower_together_goes_on_alone(graph, mode, monkeypatch):
    """After a delivery of one nanosecond alone, each that is shared is slower, and some are not shared then.

    How many is a matter of time: where others want the cores one delivery takes as long as many.
    """
    begin, dismiss, shared = CpuEngine._begin, CpuEngine._dismiss, []

    def begun(self, *given):
        begin(self, *given)
        self.progress[loop_state.LEAST_ALONE] = 1

    def dismissed(self):
        if self.called:
            shared.append(int(self.space.team[team.GENERATION]) & EPOCH)
        dismiss(self)

    monkeypatch.setattr(CpuEngine, "_begin", begun)
    monkeypatch.setattr(CpuEngine, "_dismiss", dismissed)
    found = gpop.pagerank(graph, iterations=30, mode=mode, threads=2)
    assert 0 < sum(shared) < PHASES * found.iterations
    monkeypatch.undo()
    alone = gpop.pagerank(graph, iterations=30, mode=mode, threads=1)
    assert (found.rank == alone.rank).all()
