"""Apps whose threads Python starts one by one start as many as pay, and come to the same result."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.common.parallel import as_many_as_pay
from gpop.direct import label_propagation, spanning_forest
from gpop.generate import generate


@pytest.mark.parametrize(("app", "room", "field"), [
    (gpop.label_propagation, label_propagation, "label"), (gpop.spanning_forest, spanning_forest, "parent"),
])  # fmt: skip
def test_few_of_many_threads_start_on_a_small_graph(app, room, field, monkeypatch):
    """Four of sixteen, on a hundred thousand vertices and edges."""
    graph = generate("uniform", scale=12, degree=12, seed=1, weights=(1, 99), symmetrize=True)
    counts, together = [], room.together

    def started(task, threads):
        counts.append(threads)
        together(task, threads)

    monkeypatch.setattr(room, "together", started)
    alone = getattr(app(graph, threads=1), field)
    counts.clear()
    assert np.array_equal(getattr(app(graph, threads=16), field), alone)
    assert set(counts) == {as_many_as_pay(graph.n + graph.m, 16)} == {4}
