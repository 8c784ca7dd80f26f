"""``python -m perf auto``: all modes take turns, answers must agree, and hopeless ones are left alone."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import gpop
from perf import auto
from perf.algorithms import ALGORITHMS, Algorithm

CPU = {"target": "cpu", "threads": 1}
GRAPH = gpop.Graph.from_edges([0, 1], [1, 2])


def answered(value=1.0, **summary):
    """Stands for what an app returns."""
    return SimpleNamespace(value=value, run=SimpleNamespace(trace=SimpleNamespace(summary=summary)))


def algorithm(answers=None, took=None, choices=()):
    """Stands for an app: what it answers in a mode; the modes it was called in are noted in ``took``.

    ``choices``: what calls of auto go by.
    """
    choices = iter(choices)

    def call(graph, flags, options):
        if took is not None:
            took.append(options["mode"])
        by = next(choices, "times") if options["mode"] == "auto" else "none"
        return answered((answers or {}).get(options["mode"], 1.0), choice={"by": by})

    return Algorithm(
        name="fake",
        title="fake",
        call=call,
        answer=lambda graph, result: np.array([result.value]),
        variants={"": {}},
    )  # fmt: skip


def test_modes_take_turns_in_another_order_each_time(monkeypatch):
    """So that none always comes after the same other one."""
    monkeypatch.setattr(auto, "HOPELESS", 1e9)
    took = []
    found = auto.times(algorithm(took=took), GRAPH, CPU, rounds=20, seconds=0)
    modes = auto.modes_of("cpu")
    turns = np.reshape(took[-20 * len(modes) :], (20, len(modes)))
    assert all(sorted(turn) == sorted(modes) for turn in turns.tolist())
    assert {*turns[:, 0]} == {*modes} and len({tuple(turn) for turn in turns.tolist()}) > 10
    before_auto = {turn[turn.index("auto") - 1] for turn in turns.tolist() if turn[0] != "auto"}
    assert before_auto == {*modes} - {"auto"}
    assert {mode: len(values) for mode, values in found.items()} == dict.fromkeys(modes, 20)


def test_auto_is_called_until_it_knows_its_ways_by_their_times():
    took, turns = [], ["model"] * 5 + ["turns"] * 10
    modes = auto.modes_of("cpu")
    auto.times(algorithm(took=took, choices=turns), GRAPH, CPU, rounds=1, seconds=0)
    before = took[: -len(modes)]
    assert before[2 * len(modes) :] == ["auto"] * (len(turns) - 2 + 1)
    auto.times(algorithm(took=took, choices=["model"] * 9999), GRAPH, CPU, rounds=1, seconds=0)
    assert len(took) < 1100


def test_auto_is_what_is_called_where_nothing_is_forced(monkeypatch):
    called = {}
    monkeypatch.setattr(
        gpop, "bfs", lambda graph, source, **options: called.update({options["mode"]: options})
    )
    monkeypatch.setattr(auto, "HOPELESS", 1e9)
    bfs = replace(ALGORITHMS["bfs"], answer=lambda graph, result: np.zeros(1))
    monkeypatch.setattr(auto, "PATIENCE", 0)
    auto.times(bfs, GRAPH, CPU, rounds=1, seconds=0)
    methods = {mode: options["method"] for mode, options in called.items()}
    assert methods == dict.fromkeys(auto.modes_of("cpu"), "messages") | {"auto": "auto"}


def test_a_hopeless_mode_has_one_turn(monkeypatch):
    monkeypatch.setattr(auto, "HOPELESS", 0)
    clock = iter(range(1000))
    monkeypatch.setattr(auto.time, "perf_counter", lambda: next(clock))
    with pytest.raises(ValueError, match="empty"):  # not even auto has hope
        auto.times(algorithm(), GRAPH, CPU, rounds=1, seconds=0)
    monkeypatch.setattr(auto, "HOPELESS", 1.5)
    slow = {"pull": 100}
    now = [0]

    def call(graph, flags, options):
        now[0] += slow.get(options["mode"], 1)
        return answered()

    monkeypatch.setattr(auto.time, "perf_counter", lambda: now[0])
    fake = algorithm()
    found = auto.times(
        Algorithm(name="fake", title="", call=call, answer=fake.answer, variants={"": {}}),
        GRAPH, CPU, rounds=3, seconds=0,
    )  # fmt: skip
    assert found["pull"] == [100] and found["sc"] == [1, 1, 1]


def test_other_answers_are_refused():
    with pytest.raises(gpop.GpopError, match=r"fake on .*: pc and auto give different answers"):
        auto.times(algorithm(answers={"pc": 2.0}), GRAPH, CPU, rounds=1, seconds=0)


def test_a_mode_that_an_app_does_not_have_has_no_time():
    def call(graph, flags, options):
        if options["mode"] == "pull":
            raise gpop.UsageError("no pull")
        return answered()

    fake = algorithm()
    found = auto.times(
        Algorithm(name="fake", title="", call=call, answer=fake.answer, variants={"": {}}),
        GRAPH, CPU, rounds=1, seconds=0,
    )  # fmt: skip
    assert list(found) == ["auto", "sc", "pc"]
    line, _ = auto.row(found, auto.modes_of("cpu"), 9)
    assert line.split()[3] == "-"


def test_a_gpu_is_timed_by_its_events():
    class Result:
        def __init__(self, mode):
            self.run = type("Run", (), {"seconds": {"auto": 2.0, "hyb": 1.0}.get(mode, 100.0)})

    fake = Algorithm(
        name="fake",
        title="",
        call=lambda graph, flags, options: Result(options["mode"]),
        answer=lambda graph, result: np.ones(1),
        variants={"": {}},
    )
    found = auto.times(fake, GRAPH, {"target": "gpu"}, rounds=2, seconds=0)
    assert set(found) == set(auto.modes_of("gpu")) and found["hyb"] == [1.0, 1.0] and found["sc"] == [100.0]
    assert auto.row(found, auto.modes_of("gpu"), 9)[1] == 2.0


def test_a_row_compares_auto_with_the_best():
    found = {"auto": [2e-3, 9, 1e-3], "sc": [4e-3], "pc": [1.6e-3], "pull": [8e-3]}
    line, ratio = auto.row(found, list(found), 9)
    assert ratio == pytest.approx(1.25) and line.split() == ["2.000", "4.000", "1.600", "8.000", "pc", "1.25"]


def test_the_command(monkeypatch, capsys):
    monkeypatch.setattr(auto, "ALGORITHMS", {"fake": algorithm()})
    assert auto.main(["grid:width=3,height=3", "--rounds", "1", "--seconds", "0"]) == 0
    told = capsys.readouterr().out
    assert "above the bar" in told and "grid-width3-height3  fake" in told
