"""Messages written past the caches: where they are, the same answers, and that the processor is told so."""

from __future__ import annotations

import platform
import re
from collections import namedtuple

import numpy as np
import pytest
from numba import njit

import gpop
from gpop.cpu import kept_workspace, team
from gpop.cpu.scatter import make_either_row, make_row, make_scatter_pc
from gpop.cpu.workspace_tables import Needs
from gpop.generate import generate
from gpop.layout.kept_bins import bins_of
from gpop.layout.partition import l2_cache_bytes
from gpop.plan.hidden import MASK_NONE
from tests.programs import Distance, MarkedRumours, Smallest
from tests.quick import quick


@pytest.fixture
def graph():
    return generate("rmat", scale=12, degree=8, seed=7, weights=(1, 9))


def streaming(graph):
    """Whether messages of 4 bytes stream on 2 threads, and how often they fill the caches."""
    needs = Needs(**dict.fromkeys(Needs._fields, False))
    layout, _ = bins_of(graph, 9, 1)
    space = kept_workspace.workspace_of(graph.store, layout, needs, np.dtype(np.uint32), 2)
    return bool(space.streaming[0]), layout.messages * 4 / (2 * l2_cache_bytes())


def test_messages_stream_where_the_caches_do_not_hold_them(graph, monkeypatch):
    small, caches = streaming(graph)
    assert not small
    for factor, streams in ((1.01, False), (0.99, True)):
        monkeypatch.setattr(kept_workspace, "STREAMING_CACHES", factor * caches)
        assert streaming(graph)[0] == streams


@pytest.mark.parametrize("kind", [Smallest, Distance, MarkedRumours])
def test_the_same_answers(graph, kind, monkeypatch):
    results = []
    for factor in (kept_workspace.STREAMING_CACHES, 0):
        monkeypatch.setattr(kept_workspace, "STREAMING_CACHES", factor)
        for threads in (1, 4):
            program = kind(graph)
            for name in type(program).vertex_fields():
                getattr(program, name)[:] = np.arange(graph.n) % 1000
            run = gpop.run(program, [1, 2, 3], iterations=5, mode="pc", threads=threads, partition_size=512)
            fields = [getattr(program, name).tolist() for name in type(program).vertex_fields()]
            results.append((fields, sorted(run.frontier.tolist())))
    assert all(result == results[0] for result in results)


Layout = namedtuple("Layout", "bits k slots sources")
Space = namedtuple("Space", "streaming values in_frontier sent mode sent_messages counters")
LAYOUT = Layout(np.uint32(2), 1, np.array([0, 6]), np.array([1, 0, 3, 2, 2, 0], np.uint16))


def space(streaming, kind):
    counters, flags = np.zeros((1, 4), np.int64), np.ones(4, np.uint8)
    few = np.zeros(1, np.int64)
    return Space(np.array([streaming], np.uint8), np.zeros(6, kind), flags, flags, few, few.copy(), counters)


@njit
def send(state, v):
    return state[v]


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.uint32, np.int64, np.uint8, np.bool_])
def test_values_of_any_type_stream(kind):
    row = njit(make_row(send, MASK_NONE, None, True))
    state, used = np.array([7, 1, 0, 5]).astype(kind), space(True, kind)
    row(np.uint32(0), np.uint64(0), np.uint64(6), LAYOUT, used, state)
    assert used.values.tolist() == state[LAYOUT.sources].tolist()
    if platform.machine() in ("x86_64", "AMD64") and used.values.itemsize >= 4:
        assert "movnti" in next(iter(row.inspect_asm().values()))


@pytest.mark.parametrize("streaming", quick([False, True], True))
def test_a_row_streams_where_its_workspace_says_so(streaming):
    @njit
    def row(base, first, last, layout, space, state):
        space.values[:] = 1

    @njit
    def streamed_row(base, first, last, layout, space, state):
        space.values[:] = 2

    scatter_pc = njit(make_scatter_pc(njit(make_either_row(row, streamed_row)), None, False))
    used = space(streaming, np.float32)
    scatter_pc(0, 0, LAYOUT, used, np.zeros(4, np.float32))
    assert used.values.tolist() == [1 + streaming] * 6


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the instructions of x86-64")
def test_a_phase_begins_when_what_was_streamed_is_there():
    @njit
    def start(slots):
        team.start_phase(slots, 1, 2, 3, 4)

    start(np.zeros(team.SHARES, np.int64))
    code = next(iter(start.inspect_asm().values()))
    assert re.search(r"mfence|lock\s+or", code)


def test_what_is_published_before_the_barrier_does_not_stream(graph, monkeypatch):
    monkeypatch.setattr(kept_workspace, "STREAMING_CACHES", 0)
    needs = Needs(**dict.fromkeys(Needs._fields, False))
    layout, _ = bins_of(graph, 9, 1)
    for interleave in (False, True):
        needs = needs._replace(interleave=interleave)
        space = kept_workspace.workspace_of(graph.store, layout, needs, np.dtype(np.uint32), 2)
        assert space.streaming[0] != interleave
