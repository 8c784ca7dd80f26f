"""What is known of two ways that take turns, by times that the tests say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpop.cpu import trial as module
from gpop.cpu.trial import BEHIND, FIRST, SOON, TURN, TURNS, Trial, trial_of
from gpop.plan.trace import GATHER_AT


def records(seconds: list[float]) -> np.ndarray:
    found = np.zeros((len(seconds), GATHER_AT + 1))
    found[:, GATHER_AT] = seconds
    return found


def go_on(trial: Trial, took: dict[str, float], iterations: int) -> list[str]:
    """The ways that so many iterations take, one after the other, as long as ``took`` says."""
    ways = []
    for _ in range(iterations):
        ways.append(trial.way)
        trial.note(trial.way, records([took[trial.way]]), took[trial.way])
    return ways


def turns(ways: list[str]) -> list[tuple[str, int]]:
    return [(way, len(list(same))) for way, same in itertools.groupby(ways)]


WAITED = FIRST + 20


def waiting(each: float = 1.0) -> Trial:
    """One that waits for so many iterations of pull."""
    trial = Trial("pull", "pc", wait=(WAITED - 0.5) * each)
    trial.affords = True
    return trial


def begun() -> Trial:
    """The same when it is over."""
    trial = waiting()
    go_on(trial, {"pull": 1.0}, WAITED)
    assert trial.trying and trial.way == "pull"
    return trial


def test_the_model_s_way_then_turns_then_the_faster_one():
    trial = waiting(0.3)
    ways = go_on(trial, {"pull": 0.3, "pc": 0.2}, WAITED + 2 * TURN * TURNS + 50)
    others = [("pc", TURN), ("pull", TURN)] * (TURNS - 1)
    assert turns(ways) == [("pull", WAITED + TURN), *others, ("pc", TURN + 50)]
    assert trial.told() == {"way": "pc", "by": "times", "pull": 0.3, "pc": 0.2}


def test_no_trial_before_some_iterations():
    trial = Trial("pull", "pc", wait=0.0)
    trial.affords = True
    assert trial.left == FIRST > SOON and not trial.is_near(1000)
    assert turns(go_on(trial, {"pull": 9.0, "pc": 1.0}, FIRST + TURN + 1)) == [
        ("pull", FIRST + TURN),
        ("pc", 1),
    ]


def test_how_many_iterations_are_left_is_known_from_their_times():
    trial = Trial("pull", "pc", wait=100.0)
    go_on(trial, {"pull": 0.5}, FIRST)
    assert trial.left == 200 - FIRST and not trial.is_near(300)
    trial.note("pull", records([0.5] * (200 - FIRST - SOON + 1)), 0.5 * (200 - FIRST - SOON + 1))
    assert trial.left == SOON - 1 and trial.is_near(300) and not trial.is_near(SOON - 1)
    trial.note("pull", records([0.5] * (SOON - 2)), 0.5 * (SOON - 2))
    assert trial.left == 1 and not trial.trying
    trial.note("pull", records([0.5]), 0.5)
    assert trial.trying and trial.left == TURN


@pytest.mark.parametrize(("behind", "turn"), [(BEHIND[0], 1), (BEHIND[1], 2)])
def test_a_way_that_is_far_behind_has_few_turns(behind, turn):
    trial = begun()
    ways = go_on(trial, {"pull": 0.3, "pc": 0.3 * behind + 0.01}, 2 * TURN * TURNS)
    assert ways.count("pc") == turn * TURN and trial.way == "pull"


@pytest.mark.parametrize(("took", "way"), [(0.99, "pull"), (0.97, "pc"), (1.01, "pull")])
def test_what_is_hardly_faster_is_not_taken(took, way):
    trial = begun()
    go_on(trial, {"pull": 1.0, "pc": took}, 2 * TURN * TURNS)
    assert not trial.trying and trial.way == way


def test_what_others_do_to_the_machine_decides_nothing():
    """A first iteration that finds nothing in the caches, iterations that wait for a core, slow minutes."""
    trial, turn = begun(), 0
    while trial.trying:
        seconds = [{"pull": 1.0, "pc": 0.9}[trial.way]] * TURN
        if trial.way == "pc":
            seconds[0] = 50.0
        if turn == 1:
            seconds[4] = 900.0
        if turn >= 4:
            seconds = [7 * each for each in seconds]
        trial.note(trial.way, records(seconds), sum(seconds))
        turn += 1
    assert turn == 2 * TURNS and trial.way == "pc"


def test_it_is_tried_again_when_much_more_was_done():
    trial, took = waiting(0.25), {"pull": 0.25, "pc": 0.125}
    go_on(trial, took, WAITED + 2 * TURN * TURNS)
    spent = 0.25 * (WAITED + TURN * TURNS) + 0.125 * TURN * TURNS
    assert trial.way == "pc" and trial.wait == (1 + module.AGAIN) * spent
    until = int(module.AGAIN * spent / 0.125)
    assert turns(go_on(trial, took, until)) == [("pc", until)] and trial.trying
    took["pc"] = 0.5
    assert turns(go_on(trial, took, 2 * TURN * TURNS))[0] == ("pc", TURN)
    assert trial.way == "pull" and trial.took["pc"] == 0.5


def test_runs_may_be_shorter_than_turns_or_go_on_in_their_own_way():
    trial = begun()
    for _ in range(TURNS):
        trial.note("pull", records([3.0]), 3.0)
        trial.end_turn()
        trial.note("pull", records([0.001] * 9), 0.009)  # of an engine that cannot change
        trial.note("pc", records([2.0]), 2.0)
        trial.end_turn()
    assert trial.told() == {"way": "pc", "by": "times", "pull": 3.0, "pc": 2.0}


def test_no_trial_of_what_is_far_behind():
    far = {"pull": 1.0, "pc": module.FARTHEST + 0.1}
    assert trial_of("pull", far, 0.0) is None and trial_of("pc", far, 0.0).way == "pc"


def test_no_turn_begins_before_somebody_has_seen_to_it():
    trial = begun()
    trial.affords = False
    assert turns(go_on(trial, {"pull": 1.0}, 99)) == [("pull", 99)] and trial.trying
    trial.put_off(1000.0)
    assert not trial.trying and turns(go_on(trial, {"pull": 1.0}, 1000 - WAITED - 99)) == [("pull", 841)]
    assert trial.trying and not trial.affords


def test_a_way_that_there_is_no_room_for_is_never_tried():
    for way in ("pull", "pc"):
        trial = begun()
        other = trial.end_without(way)
        assert {way, other} == {"pull", "pc"} and turns(go_on(trial, {other: 9.9}, 9999)) == [(other, 9999)]


def test_a_layout_that_somebody_else_has_built_is_not_waited_for():
    trial = Trial("pull", "pc", wait=1e9)
    trial.affords = True
    trial.hurry(2.0)
    trial.hurry(3.0)
    assert trial.wait == 2.0
    go_on(trial, {"pull": 1.0, "pc": 2.0}, FIRST + 2 * TURN)
    waits = trial.wait
    trial.hurry(2.0)
    assert trial.wait == waits > 2.0


# --- in runs ---------------------------------------------------------------------------------------
