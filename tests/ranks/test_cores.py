"""Which cores the threads of a rank are kept on, and that they are let go again."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from gpop.common.by_reference import Reference
from gpop.common.standby import borrow, give_back
from gpop.cpu import follow, team
from gpop.cpu.engine import CpuEngine
from gpop.cpu.follow import ANYWHERE, following_of
from gpop.cpu.work import ARGUMENTS
from gpop.ranks.cores import allowed_here, cores_of, kept_on, places_of
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
    with kept_on(before[1:2]):
        assert allowed_here() == before[1:2]
    assert allowed_here() == before
    with pytest.raises(KeyError), kept_on(before[1:2]):
        raise KeyError
    assert allowed_here() == before


def test_ranks_place_their_threads_and_a_run_alone_does_not():
    here = allowed_here()
    engine = SimpleNamespace(threads=len(here), world=SimpleNamespace(local_rank=0, allowed=[here]))
    assert RankEngine._cores(engine) == here
    engine.world.allowed = [(*here, 10**6)]  # somebody has taken one away since
    assert RankEngine._cores(engine) == ()
    engine._cores = lambda: RankEngine._cores(engine)
    RankEngine._place(engine)
    assert engine.cores == () and engine.places == CpuEngine.places == ANYWHERE
    engine.world.allowed = [here]
    RankEngine._place(engine)
    assert engine.cores == here and engine.places != ANYWHERE


def test_workers_are_kept_on_their_cores_until_a_run_is_over():
    here = allowed_here()
    if len(here) < 2:
        pytest.skip("one core only")
    seen, threads = [], set()

    @ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_int64] * ARGUMENTS)
    def entry(phase, iteration, w, *_):
        seen.append((w, allowed_here()))
        threads.add(threading.get_native_id())
        return 0

    space = SimpleNamespace(**{name: np.zeros(32, np.int64) for name in ("team", "claim", "filling")})
    address = ctypes.cast(entry, ctypes.c_void_p).value
    nothing = Reference(ANYWHERE)
    loop = SimpleNamespace(entry=address, pull_entry=0, job=nothing, control=nothing)
    crew = borrow(1)
    try:
        told = following_of(loop, places_of(here[:2], here), space, 2, team.SPINS)
        crew.call(follow.entry(), 0, told.address, 2)
        for phase in range(2):
            space.team[team.GENERATION] += 1
            while space.team[team.DONE] <= phase:
                time.sleep(1e-3)
        team.dismiss(space.team)
    finally:
        crew.close()
        give_back(crew)
    assert seen == [(1, here[1:2])] * 2
    assert [tuple(sorted(os.sched_getaffinity(each))) for each in threads] == [here]
