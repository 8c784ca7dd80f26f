"""A run that is asked for like an earlier one finds its plan, and is refused as if it was the first."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.execution import run as run_module
from gpop.plan import plan as plans
from tests.programs import Distance, Smallest, random_graph


@pytest.fixture
def decisions(monkeypatch):
    """What had to be decided anew."""
    found = []

    def decide(program, **options):
        found.append(type(program))
        return plans.decide(program, **options)

    monkeypatch.setattr(run_module, "decide", decide)
    return found


def labels(program: gpop.Program, **options) -> list[int]:
    program.label = np.arange(program.graph.n)[::-1]
    gpop.run(program, **options)
    return program.label.tolist()


def fresh(**members) -> type[gpop.Program]:
    """A class that nobody has run."""
    return type("Fresh", (Smallest,), members)


def test_the_same_options_are_decided_once_on_all_graphs(decisions):
    cls = fresh()
    graphs = [random_graph(seed, 40, 90) for seed in (1, 2)]
    answers = [labels(cls(graph), mode="pc", threads=1) for graph in graphs]
    assert decisions == [cls]
    assert answers == [labels(cls(graph), mode="sc", threads=1) for graph in graphs]
    assert decisions == [cls, cls]


def test_a_field_that_is_written_is_no_read_only_array():
    """Compiled code has its address; those that are read only may be (the shares of PageRank are)."""
    graph = random_graph(1, 40, 90)
    for _ in range(3):  # the first run, one that finds a plan, and one that finds an engine
        program = Smallest(graph)
        program.label = given = np.arange(graph.n)[::-1]
        program.label.flags.writeable = False
        with pytest.raises(gpop.UsageError, match="^field label of Smallest is a read-only array, and its"):
            gpop.run(program)
        assert np.array_equal(program.label, given)
        program.label.flags.writeable = True
        gpop.run(program)
        assert not np.array_equal(program.label, given)


def test_what_is_refused_is_refused_again_beside_what_equals_it():
    graph, cls = random_graph(1, 40, 90), fresh()
    for right, wrong in (
        ({"partition_size": 32}, {"partition_size": 32.0}),
        ({"threads": 1}, {"threads": 1.0}),
        ({"iterations": 1}, {"iterations": 1.0}),
        ({"iterations": 1}, {"iterations": -1}),
        ({}, {"callback": 3}),
        ({}, {"frontier": [40]}),
        ({}, {"frontier": [-1]}),
        ({}, {"frontier": [0.5]}),
        ({}, {"mode": ["pc"]}),
        ({}, {"residency": "mapped"}),
        ({}, {"device_memory": 4000}),
        ({}, {"transport": "by hand"}),
    ):
        gpop.run(cls(graph), **right)
        for _ in range(2):
            with pytest.raises(gpop.UsageError):
                gpop.run(cls(graph), **wrong)
        gpop.run(cls(graph), **right)


def test_numbers_of_bytes_are_told_from_equal_ones_that_are_none():
    from tests.gpu.emulator import emulated

    graph, cls = random_graph(1, 40, 90), fresh()
    with emulated():
        options = {"target": "gpu", "ratio": 1.0}
        gpop.run(cls(graph), device_memory=4_000_000_000, **options)
        with pytest.raises(gpop.UsageError, match="device_memory"):
            gpop.run(cls(graph), device_memory=4e9, **options)


def test_a_changed_class_is_decided_and_refused_anew(decisions):
    graph, cls = random_graph(3, 40, 90), fresh()
    before = labels(cls(graph), threads=1)

    def largest(self, value, node):
        if value > self.label[node]:
            self.label[node] = value
            return True
        return False

    cls.gatherFunc, cls.combine = largest, "max"
    after = labels(cls(graph), threads=1)
    assert decisions == [cls, cls] and after != before
    fold = {"gatherFunc": largest, "combine": "max"}
    assert after == labels(fresh(**fold)(graph), threads=1)
    cls.combine = "add"
    with pytest.raises(gpop.UsageError, match="interleave"):
        gpop.run(cls(graph), interleave=True)


@pytest.mark.slow
def test_weights_of_another_type_are_another_plan():
    class Paths(Distance):
        combine = "min"

    ends = [0, 1, 2], [1, 2, 3]
    for weights in (np.array([1, 2, 3], np.uint8), np.array([0.5, 0.25, 1.0]), np.array([1, 2, 3], np.uint8)):
        program = Paths(gpop.Graph.from_edges(*ends, weights))
        program.distance[0] = 0
        gpop.run(program, [0], threads=1)
        assert program.distance.tolist() == [0, *np.cumsum(weights)]
    with pytest.raises(gpop.UsageError, match="needs edge weights"):
        gpop.run(Paths(gpop.Graph.from_edges(*ends)), [0])


def test_a_tree_that_is_kept_later_is_gone_by(monkeypatch, decisions):
    from gpop.model.trees import stump
    from gpop.plan import plan

    graph, cls = random_graph(1, 40, 90), fresh()
    asked = []
    monkeypatch.setattr(plan, "tree_for", lambda *given: asked.append(given) or tree)
    tree = None
    gpop.run(cls(graph), threads=1, mode="auto")
    gpop.run(cls(graph), threads=1, mode="auto")
    assert len(decisions) == 1 and len(asked) == 2
    tree = stump("edges rel", 0.1, "sc", "pc")
    gpop.run(cls(graph), threads=1, mode="auto")
    assert len(decisions) == 2
