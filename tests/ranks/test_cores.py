"""Which cores the threads of a rank are kept on, and that they are let go again."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from gpop.cpu.engine import CpuEngine
from gpop.ranks.cores import allowed_here, cores_of, kept_on
from gpop.ranks.engine import RankEngine


def test_every_thread_has_a_core_of_its_own():
    allowed = [tuple(range(16))] * 4
    cores = [core for rank in range(4) for core in cores_of(rank, 4, allowed)]
    assert cores == list(range(16))
    own = [(0, 1, 2), (4, 5), (8, 9)]  # as a launcher has shared them out
    assert [cores_of(rank, 2, own) for rank in range(3)] == [(0, 1), (4, 5), (8, 9)]


@pytest.mark.parametrize(
    ("threads", "allowed"),
    [
        (2, [(0, 1, 2)] * 2),  # more threads than cores
        (1, [(0, 1, 2, 3)] * 2),  # a second job would find half of the cores idle
        (1, [(0, 1), (1, 2)]),  # some are shared
        (1, [(), ()]),  # the system does not say
    ],
)
def test_elsewhere_the_system_chooses(threads, allowed):
    assert cores_of(1, threads, allowed) == ()


def test_a_thread_is_let_go_behind_its_task():
    before = allowed_here()
    if len(before) < 2:
        pytest.skip("one core only")
    seen = kept_on(before[1:2], before, lambda w: (w, os.sched_getaffinity(0)))
    assert seen(0) == (0, {before[1]})
    assert allowed_here() == before

    def fail(w):
        raise KeyError(w)

    with pytest.raises(KeyError):
        kept_on(before[1:2], before, fail)(0)
    assert allowed_here() == before


def test_ranks_place_their_threads_and_a_run_alone_does_not():
    here = allowed_here()

    def task(w):
        return allowed_here()

    engine = SimpleNamespace(threads=len(here), world=SimpleNamespace(local_rank=0, allowed=[here]))
    assert RankEngine._placed(engine, task)(0) == here[:1]
    engine.world.allowed = [(*here, 10**6)]  # somebody has taken one away since
    assert RankEngine._placed(engine, task) is task
    assert CpuEngine._placed(engine, task) is task
