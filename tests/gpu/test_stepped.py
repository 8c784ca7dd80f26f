"""Scatter and gather launched one by one (kernels/step.cuh) give what the loop gives, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.gpu import again, engine
from tests.gpu.cases import CASES, started
from tests.gpu.emulator import emulated
from tests.gpu.foreign import FOREIGN
from tests.programs import random_graph

# What scatter leaves to gather: values and candidates of initFunc, bins, marks, runs; nothing where messages
# are computed when they are delivered; and a program without a frontier.
PROGRAMS = {
    "Smallest": CASES["Smallest"],
    "Letters": CASES["Letters"]._replace(frontier=None),  # so that initFunc has many to wait
    "MarkedSums": CASES["MarkedSums"],
    "WeightedSumsCombined": CASES["WeightedSumsCombined"],
    "Colours": CASES["Colours"],
    "Changes": CASES["Changes"],
    "Countdown": CASES["Countdown"],
    "VotesCombined": FOREIGN["VotesCombined"],
}
GRAPHS = {
    "few edges": random_graph(21, 90, 400, weights=True),  # block 0 works alone
    "many": random_graph(23, 2000, 60_000, weights=True),  # candidates wait in shared memory
}


class Stepped(engine.GpuEngine):
    """In place of the loop, which is not launched."""

    halves_done = 0

    def iterate(self):
        self.scatter()
        Stepped.halves_done += 1
        records = self.gather()
        Stepped.halves_done += 1
        return records


def ran(case, graph, mode):
    """The program afterwards and the run; a row of the trace at a time."""
    program, records = started(case, graph), []
    run = gpop.run(
        program, case.frontier, iterations=case.iterations, target="gpu", mode=mode, ratio=1.0,
        partition_size=64, callback=records.append,
    )  # fmt: skip
    assert records == list(run.trace)
    return program, run


ONCE = ("WeightedSumsCombined",)


def runs():
    """One program in every mode, and some others once, on the larger graph; all others are slow."""
    for name in PROGRAMS:
        for kind in GRAPHS:
            for mode in ("sc", "pc", "auto", "pull"):
                quick = kind == "many" and (name == "Smallest" or (name in ONCE and mode == "auto"))
                yield pytest.param(name, kind, mode, marks=[] if quick else pytest.mark.slow)


@pytest.mark.parametrize("name, kind, mode", [*runs()])
def test_steps_give_what_the_loop_gives(name, kind, mode, monkeypatch):
    case, graph = PROGRAMS[name], GRAPHS[kind]
    with emulated():
        fused, whole = ran(case, graph, mode)
        monkeypatch.setattr(again, "RestingEngine", Stepped)
        Stepped.halves_done = 0
        stepped, parts = ran(case, graph, mode)
    assert Stepped.halves_done == 2 * parts.iterations > 0
    for field in case.cls.vertex_fields():
        assert np.array_equal(getattr(fused, field), getattr(stepped, field)), field
    assert (whole.iterations, whole.converged) == (parts.iterations, parts.converged)
    assert np.array_equal(whole.frontier, parts.frontier)
    assert np.array_equal(whole.touched, parts.touched) or whole.touched is parts.touched is None
    for column in ("frontier", "active_edges", "messages", "bytes", *_modes(whole)):
        assert np.array_equal(whole.trace.column(column), parts.trace.column(column)), column


def _modes(run):
    return [name for name in run.trace[0] if name.startswith("partitions_")]


def test_the_loop_and_the_steps_may_take_turns():
    """Every third iteration in two halves."""
    case, graph = CASES["Smallest"], GRAPHS["many"]

    class Mixed(engine.GpuEngine):
        turn = 0

        def iterate(self):
            Mixed.turn += 1
            if Mixed.turn % 3:
                return super().iterate()
            self.scatter()
            return self.gather()

    with emulated(), pytest.MonkeyPatch.context() as patch:
        fused, whole = ran(case, graph, "auto")
        patch.setattr(again, "RestingEngine", Mixed)
        mixed, parts = ran(case, graph, "auto")
    assert Mixed.turn >= 3
    assert np.array_equal(fused.label, mixed.label)
    assert whole.iterations == parts.iterations
