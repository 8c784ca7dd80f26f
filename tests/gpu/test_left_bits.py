"""Iterations that push along many edges leave bits of who is active, and no list (engine.cuh)."""

from __future__ import annotations

import re

import pytest

from tests.gpu.asking import never_alone, with_text
from tests.gpu.cases import CASES, graph_of
from tests.gpu.emulator import emulated, racing
from tests.gpu.test_bottom_up import PROGRAMS, Reached, Tracked, check, with_hubs
from tests.quick import quick

BITS_EDGES = re.compile(r"BITS_EDGES = \d+;")
ALWAYS, NEVER = "BITS_EDGES = 1 << 30;", "BITS_EDGES = 0;"

SWAPPED = {name: CASES[name] for name in ("Smallest", "Sums", "WeightedSums", "Letters")} | PROGRAMS


@pytest.mark.parametrize("name", quick(SWAPPED, "Reached"))
@pytest.mark.parametrize("leaves", [ALWAYS, NEVER], ids=["bits", "lists"])
def test_answers_are_those_of_lists(name, leaves):
    """Whether an iteration pushes or asks next; fields, frontiers and counts."""
    with emulated(), never_alone(), with_text(BITS_EDGES, leaves):
        for kind in ("small", "big"):
            run = check(SWAPPED[name], graph_of(kind), mode="sc", partition_size=64)
            assert run.trace.column("partitions_sc").any()


@pytest.mark.parametrize("ratio", [1.0, 3.0])
@pytest.mark.parametrize("cls", [Reached, Tracked])
def test_some_iterations_leave_bits_and_some_a_list(cls, ratio):
    """As the number of edges says, or the model of who asks; few go on in levels, which want a list."""
    with emulated():
        check(PROGRAMS["Reached"]._replace(cls=cls), with_hubs(), ratio=ratio, partition_size=64)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_bits_on_several_blocks(seed):
    """Who finds a vertex active says so once, whoever else does."""
    with racing(seed), never_alone(), with_text(BITS_EDGES, ALWAYS):
        check(SWAPPED["Reached"], graph_of("small"), mode="sc", partition_size=64)
