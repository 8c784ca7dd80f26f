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
    change_of, chunk_from = map(settling.make_read, ("state.change[v]", "sum_of_rows(state.change, v)"))
    sum_changes = njit(settling.make_sum_changes(njit(change_of), njit(chunk_from)))
    n = 5 * settling.CHUNK + 13
    state, found = State(np.random.default_rng(3).random(n).astype(np.float32)), []
    for borders in ((0, n), (0, settling.CHUNK, n), (0, 2 * settling.CHUNK, 3 * settling.CHUNK, n)):
        space = Space(np.full(-(-n // settling.CHUNK), np.nan))
        for first, last in itertools.pairwise(borders):
            sum_changes(np.uint64(first), np.uint64(last), space, state)
        found.append(space.changes)
    expected = np.add.reduceat(state.change, np.arange(0, n, settling.CHUNK), dtype=np.float64)
    assert np.allclose(found[0], expected, rtol=1e-14)
    assert all(np.array_equal(found[0], other) for other in found)


Layout = namedtuple("SettlingLayout", "n k bits bounds")
Units = namedtuple("SettlingUnits", "changes frontier_size")
Settling = namedtuple("SettlingFields", "change least")


@pytest.fixture(scope="module")
def adding_up():
    """What notes changes and what decides, by whether partitions are blocks: compiled once for all sizes."""
    kernels = [njit(settling.make_read(what)) for what in ("state.change[v]", "sum_of_rows(state.change, v)")]
    sum_changes, least_of = njit(settling.make_sum_changes(*kernels)), njit(settling.make_read("state.least"))
    return {
        blocked: (
            njit(settling.make_note_changes(sum_changes, blocked)),
            njit(settling.make_decide(sum_changes, least_of, blocked)),
        )
        for blocked in (True, False)
    }


@pytest.mark.parametrize("n", [1, 64, 4096, 4097, 3 * 4096, 5 * 4096 + 3 * 64 + 13])
def test_the_sum_of_all_does_not_depend_on_units_and_partitions(n, adding_up):
    """Each of them leaves to the end what is not whole in it. What lay there before is of no account."""
    rng = np.random.default_rng(4)
    change = rng.random(n).astype(np.float32)
    cuts = [[], [n // 2], [n // 3, n // 3, n // 2], sorted(rng.integers(0, n, 9).tolist())]
    layouts = [(True, Layout(n, len(at) + 1, 16, np.array([0, *at, n]))) for at in cuts]
    layouts += [(False, Layout(n, -(-n >> bits), bits, np.zeros(1, int))) for bits in (15, 13, 12, 10, 6, 3)]
    found = set()
    for blocked, layout in layouts:
        note, decide = adding_up[blocked]
        units = Units(np.full(settling.sums_of(n), np.nan), np.ones(layout.k, np.int64))
        for d in range(layout.k)[::-1]:
            note(d, layout, units, Settling(change, 0.0))
        decide(layout, units, Settling(change, 0.0))
        assert units.frontier_size.all()
        total = 0.0
        for block in units.changes[-(-n // settling.CHUNK) :]:
            total += block
        for least in (total, np.nextafter(total, np.inf)):
            units.frontier_size[:] = 1
            decide(layout, units, Settling(change, least))
            assert units.frontier_size.all() == (least == total) == units.frontier_size.any()
        found.add(total)
    (total,) = found
    assert np.isclose(total, change.sum(dtype=np.float64), rtol=1e-13)


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
