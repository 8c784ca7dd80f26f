"""A run whose changes sum to less than a tolerance is over, and the loop finds that out by itself."""

from __future__ import annotations

import itertools
from collections import namedtuple

import numpy as np
import pytest
from numba import njit

import gpop
from gpop.common.errors import ProgramError
from gpop.cpu import settling
from gpop.generate import generate
from tests.programs import Halved
from tests.quick import quick

GRAPH = generate("rmat", scale=9, degree=4, symmetrize=True)


def halved(least, **options):
    program = Halved(GRAPH)
    program.least = least
    return gpop.run(program, **options)


@pytest.mark.parametrize("mode", quick(("pc", "pull"), "pull"))
@pytest.mark.parametrize("threads", [1, 3])
def test_a_run_is_over_with_the_first_iteration_whose_changes_are_less(mode, threads):
    """In iteration i all lose n / 2**(i+1): exactly as much as the tolerance is not less."""
    for least, iterations in ((GRAPH.n / 2**5, 6), (GRAPH.n / 2**5 * 1.001, 5)):
        run = halved(least, mode=mode, threads=threads)
        assert (run.iterations, run.converged, len(run.trace)) == (iterations, True, iterations)


def test_limits_and_callbacks_come_first():
    assert not halved(1e-9, iterations=3, mode="pull").converged
    seen = []
    run = halved(GRAPH.n / 2**5, mode="pull", callback=lambda record: seen.append(record["iteration"]))
    assert run.converged and seen == list(range(6))
    assert halved(GRAPH.n / 2**5, target="python").iterations == 6


State, Space = namedtuple("SettlingState", "change"), namedtuple("SettlingSpace", "changes")


def test_the_sum_does_not_depend_on_who_adds_up_which_vertices():
    """Of numbers that have all digits; the last chunk is not whole."""
    sum_changes = njit(settling.make_sum_changes(njit(settling.make_read("change[v]"))))
    n = 5 * settling.CHUNK + 13
    state, found = State(np.random.default_rng(3).random(n).astype(np.float32)), []
    for borders in ((0, n), (0, settling.CHUNK, n), (0, 2 * settling.CHUNK, 3 * settling.CHUNK, n)):
        space = Space(np.full(settling.chunks_of(n), np.nan))
        for first, last in itertools.pairwise(borders):
            sum_changes(np.uint64(first), np.uint64(last), space, state)
        found.append(space.changes)
    expected = np.add.reduceat(state.change, np.arange(0, n, settling.CHUNK), dtype=np.float64)
    assert np.allclose(found[0], expected, rtol=1e-14)
    assert all(np.array_equal(found[0], other) for other in found)


@pytest.mark.parametrize("size", quick((8, 128), 8))
def test_partitions_may_be_smaller_than_a_chunk(size):
    assert halved(GRAPH.n / 2**5, mode="pc", partition_size=size).iterations == 6


@pytest.mark.parametrize(
    ("settles", "said"),
    [
        (("lost",), "expected names of a field and of a parameter"),
        ("lost", "expected names of a field and of a parameter"),
        (("least", "lost"), "expected names of a field and of a parameter"),
    ],
)
def test_what_it_names_must_be_there(settles, said):
    with pytest.raises(ProgramError, match=said):
        type("Other", (Halved,), {"settles": settles})


def test_it_is_for_programs_in_which_all_are_active():
    with pytest.raises(ProgramError, match="all_active settles so"):
        type("Other", (Halved,), {"all_active": False})
