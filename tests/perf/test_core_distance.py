"""How far cores are apart: both take their turns, each on its core, and the process keeps all of them."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from perf import core_distance, provenance

two_cores = pytest.mark.skipif(
    core_distance.ends() is None, reason="needs two cores that threads can be kept to"
)


@two_cores
def test_threads_on_two_cores_take_turns(monkeypatch):
    seen, kernel, usable = [], core_distance._take_turns, os.sched_getaffinity(0)

    def watched(line, me, turns):
        kernel(line, me, turns)
        if turns:
            seen.append((me, os.sched_getaffinity(0), turns))

    monkeypatch.setattr(core_distance, "_take_turns", watched)
    cores = core_distance.ends()
    assert core_distance.round_trip(cores) > 0
    each = {(me, frozenset(on)) for me, on, _ in seen}
    assert each == {(0, frozenset({cores[0]})), (1, frozenset({cores[1]}))}
    assert len(seen) == 2 * core_distance.ROUNDS and os.sched_getaffinity(0) == usable


def test_a_turn_waits_for_the_other():
    turns, line = 1000, np.zeros(core_distance.APART, np.int64)
    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(core_distance._take_turns, line, me, turns) for me in range(2)]
    assert [each.result() for each in found] == [sum(range(me, 2 * turns, 2)) for me in range(2)]
    assert line[core_distance.NUMBER] == 2 * turns and np.count_nonzero(line) == 1


def test_heads_of_results_say_it_where_there_are_two_cores(monkeypatch):
    monkeypatch.setattr(core_distance, "ends", lambda: (0, 1))
    monkeypatch.setattr(core_distance, "round_trip", lambda cores: 53.4)
    assert ", cores 53 ns apart, memory " in provenance.head(["some"])
    monkeypatch.setattr(core_distance, "ends", lambda: None)
    assert "apart" not in provenance.head(["some"])
