"""Partition-centric scatter sends inactive vertices too, and that must never show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpop
from gpop.common.errors import ProgramError
from tests.programs import (
    NOWHERE,
    Diary,
    Distance,
    MarkedRumours,
    Parents,
    Rumours,
    Smallest,
    WeightedRumours,
    interpret,
    random_graph,
)  # fmt: skip
from tests.quick import quick

PROGRAMS = quick([Rumours, MarkedRumours, WeightedRumours, Diary], MarkedRumours)
MODES = [{"mode": "sc"}, {"mode": "pc"}, {"mode": "auto"}, {"mode": "auto", "ratio": 0.7}, {"ratio": 4.0}]


@st.composite
def cases(draw):
    n = draw(st.integers(1, 40))
    vertices = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertices, vertices, st.integers(0, 9)), max_size=120))
    tails, heads, weights = np.array(edges, np.int64).reshape(-1, 3).T
    graph = gpop.Graph.from_edges(tails, heads, weights.astype(np.uint32), n=n)
    return graph, draw(st.lists(vertices, max_size=n)), draw(st.sampled_from([1, 4, 16, 64]))


def prepared(cls, graph):
    program = cls(graph)
    for index, name in enumerate(cls.vertex_fields()):  # stale values that would do harm
        if getattr(program, name).dtype == np.int64:
            setattr(program, name, np.arange(graph.n) * (3 + index) % 17)
    return program


@pytest.mark.parametrize("cls", PROGRAMS)
@settings(max_examples=40)
@given(case=cases())
def test_all_modes_agree(cls, case):
    graph, frontier, size = case
    expected = prepared(cls, graph)
    wanted = interpret(expected, frontier, iterations=3)
    for options in MODES:
        program = prepared(cls, graph)
        run = gpop.run(program, frontier, iterations=3, partition_size=size, threads=2, **options)
        for name in cls.vertex_fields():
            assert np.array_equal(getattr(program, name), getattr(expected, name)), (name, options)
        assert sorted(run.frontier.tolist()) == sorted(wanted["frontier"]), options


@pytest.mark.parametrize("cls", PROGRAMS)
def test_all_modes_agree_on_a_busy_team(cls):
    graph = random_graph(3, 3000, 30000, weights=True)
    rng = np.random.default_rng(0)
    for share in (0.9, 0.3, 0.02):
        frontier = np.flatnonzero(rng.random(graph.n) < share)
        results = []
        for options in MODES:
            program = prepared(cls, graph)
            run = gpop.run(program, frontier, iterations=3, partition_size=64, threads=4, **options)
            results.append([getattr(program, name).tobytes() for name in cls.vertex_fields()])
            results[-1].append(np.sort(run.frontier).tobytes())
        assert all(result == results[0] for result in results)


def test_the_message_of_an_inactive_vertex_would_be_wrong():
    """The trap itself: vertex 1 was never reached, and offers itself as a parent in the same partition."""
    graph = gpop.Graph.from_edges([0, 1], [2, 3], n=4)
    for mode in ("sc", "pc", "auto"):
        program = Parents(graph)
        run = gpop.run(program, [0], mode=mode, partition_size=2, iterations=1)
        assert program.parent.tolist() == [NOWHERE, NOWHERE, 0, NOWHERE]
        assert run.frontier.tolist() == [2]


def test_messages_that_look_like_no_message_arrive_when_nothing_is_declared():
    """Zeros and negative values are values like any other."""
    graph = gpop.Graph.from_edges([0, 1], [2, 3], n=4)
    for mode in ("sc", "pc"):
        program = Rumours(graph)
        program.heard = [-3, -4, 0, 0]  # vertex 0 sends (-3 % 1009) + 0 + 1
        gpop.run(program, [0], mode=mode, partition_size=2, iterations=1)
        assert program.arrived.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "cls, interleave",
    [
        (Smallest, True),
        pytest.param(Distance, False, marks=pytest.mark.slow),
        pytest.param(Smallest, False, marks=pytest.mark.slow),
        pytest.param(Distance, True, marks=pytest.mark.slow),
    ],
)
def test_harmless_messages_do_no_harm(cls, interleave, seed):
    """Distances and labels: what an inactive vertex sends is what it sent before."""
    graph = random_graph(seed, 300, 1500, weights=True)
    results = []
    for options in [{"mode": "sc"}, *({**each, "interleave": interleave} for each in MODES)]:
        program = cls(graph)
        array = getattr(program, *cls.vertex_fields())
        array[:] = 1000
        array[[seed, 50]] = 1, 2
        gpop.run(program, [seed, 50], partition_size=16, threads=2, **options)
        results.append(array.tobytes())
    assert all(result == results[0] for result in results)


class Narrow(gpop.Program):
    """Messages of type uint32."""

    a = gpop.VertexField(np.uint32)

    def scatterFunc(self, node):
        return self.a[node]

    def gatherFunc(self, value, node):
        return False


@pytest.mark.parametrize("marker", [-1, 2**32, 0.5, "none"])
def test_a_marker_must_be_a_possible_message(marker):
    cls = type("Bad", (Narrow,), {"inactive_message": marker})
    with pytest.raises(ProgramError, match=r"^Bad\.inactive_message = .*uint32") as caught:
        gpop.run(cls(gpop.Graph.from_edges([0], [1])), iterations=1)
    assert "\n" not in str(caught.value)
