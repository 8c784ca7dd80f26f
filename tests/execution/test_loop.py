"""The loop over iterations: an engine that stops between scatter and gather computes the same bits."""

from __future__ import annotations

from dataclasses import fields
from functools import partial

import numpy as np
import pytest

import gpop
from gpop.apps import prototype
from gpop.apps.bfs import verify
from gpop.execution import loop, run
from gpop.generate import generate
from gpop.plan.plan import decide
from gpop.plan.trace import COLUMNS
from tests.programs import Distance, Smallest

GRAPH = generate("rmat", scale=9, degree=6, seed=3, weights=(1, 9), symmetrize=True)
APPS = {
    "bfs": partial(gpop.bfs, source=1),
    "sssp": partial(gpop.sssp, source=1, interleave=False, delta=8),
    "pagerank": partial(gpop.pagerank, iterations=5),
    "components": partial(gpop.connected_components, method="labels", interleave=False),
    "nibble": partial(gpop.nibble, seeds=1),
    "heat_kernel": partial(gpop.heat_kernel, seeds=1),
    "pagerank_nibble": partial(gpop.pagerank_nibble, seeds=1),
}
COUNTED = [name for name in COLUMNS if not name.endswith("_seconds")]
TARGETS = [
    pytest.param("cpu", "auto", id="cpu auto"),
    pytest.param("cpu", "pull", id="cpu pull", marks=pytest.mark.slow),
    pytest.param("python", "auto", id="python"),
    *(
        pytest.param("gpu", mode, id=f"gpu {mode}", marks=pytest.mark.gpu)
        for mode in ("sc", "pc", "auto", "pull")
    ),
]


@pytest.fixture
def steps(monkeypatch):
    """Every run stops between scatter and gather; the iterations in which it did."""
    seen = []

    def between(engine):
        seen.append(engine.iteration)

    def step():
        for caller in (run, prototype):
            monkeypatch.setattr(caller, "run_again", lambda *given: None)
        monkeypatch.setattr(run, "carry_out", partial(loop.carry_out, between=between))
        return seen

    return step


@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize("target, mode", TARGETS)
def test_every_app_in_steps(app, target, mode, steps):
    options = {"target": target} if target == "python" else {"target": target, "mode": mode, "threads": 2}
    if target != "python":
        options["partition_size"] = 64
    fused = APPS[app](GRAPH, **options)
    seen = steps()
    stepped = APPS[app](GRAPH, **options)
    assert seen == list(range(fused.run.iterations)) and seen
    for field in fields(fused):
        ours, theirs = getattr(stepped, field.name), getattr(fused, field.name)
        if target == "gpu" and field.name == "parent":  # the first that offers itself
            assert verify(GRAPH, stepped, 1) is None
        elif isinstance(ours, np.ndarray) and (target != "gpu" or ours.dtype.kind in "iu"):
            assert ours.tobytes() == theirs.tobytes(), field.name
        elif isinstance(ours, np.ndarray):  # sums in any order
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-9, err_msg=field.name)
    if not (
        target == "gpu" and fused.trace.column("frontier").dtype.kind == "f" and app not in ("bfs", "sssp")
    ):
        # Levels, which a stepped run cannot take, are predicted to move other bytes than push, so that
        # another iteration may pull.
        names = COUNTED if target != "gpu" or app != "bfs" else ("frontier", "active_edges")
        for name in names:
            assert np.array_equal(stepped.trace.column(name), fused.trace.column(name)), name


def test_interleaved_runs_in_steps(steps):
    labels = gpop.connected_components(GRAPH, method="labels", interleave=False).label
    seen = steps()
    found = gpop.connected_components(GRAPH, method="labels", interleave=True, partition_size=64, threads=2)
    assert np.array_equal(found.label, labels)
    assert seen == list(range(found.run.iterations))


def test_what_sits_between_sees_messages_that_nobody_has_heard():
    """After the scatter of a vertex its neighbour knows nothing yet; after the gather it does."""
    chain = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 1, 1])
    program = Distance(chain)
    program.distance = np.array([0, 9, 9, 9])
    known = []

    def between(engine):
        known.append(np.flatnonzero(program.distance < 9).tolist())

    plan = decide(program, mode="sc", threads=1, partition_size=1)
    loop.carry_out(plan, loop.engine_for("cpu", plan), np.array([0], np.uint32), between=between)
    assert known == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]
    assert program.distance.tolist() == [0, 1, 2, 3]


def test_a_failure_between_leaves_the_graph_usable():
    program = Smallest(GRAPH)
    program.label = np.arange(GRAPH.n)[::-1]

    def between(engine):
        raise KeyboardInterrupt

    plan = decide(program, threads=2, partition_size=64)
    with pytest.raises(KeyboardInterrupt):
        loop.carry_out(plan, loop.engine_for("cpu", plan), None, between=between)
    again = Smallest(GRAPH)
    again.label = np.arange(GRAPH.n)[::-1]
    gpop.run(again, threads=2, partition_size=64)
    other = Smallest(GRAPH)
    other.label = np.arange(GRAPH.n)[::-1]
    gpop.run(other, threads=1, partition_size=64, mode="sc")
    assert np.array_equal(again.label, other.label)
