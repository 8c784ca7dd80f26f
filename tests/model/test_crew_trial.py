"""Trials of numbers of threads: by times that are told, what is taken, and when the next one is."""

from __future__ import annotations

import pytest

from gpop.graph.graph import Graph
from gpop.model import crew_trial
from gpop.model.crew_trial import AGAIN, CALLS, FIRST, TURNS, CrewTrial


def calls(trial, took, count):
    """The numbers of threads of so many calls that take so long."""
    made = []
    for _ in range(count):
        made.append(trial.threads)
        trial.note(trial.threads, took[trial.threads])
    return made


def trial_of(usual, other):
    """Numbers of threads of the calls of a trial to its end."""
    return [usual] + ([other] * 2 + [usual] * 2) * (TURNS - 1) + [other] * 2


def test_several_are_taken_where_they_are_faster():
    trial = CrewTrial(1, 2)
    assert calls(trial, {1: 1.0, 2: 0.9}, FIRST + CALLS) == [1] * FIRST + trial_of(1, 2)
    assert trial.threads == 2 and trial.took == {1: 1.0, 2: 0.9}


def test_the_first_call_by_another_number_does_not_count():
    """It makes what several work in, or fetches what they have left elsewhere."""
    trial, last = CrewTrial(1, 2), 1
    for _ in range(FIRST + CALLS):
        now = trial.threads
        trial.note(now, 9.0 if now != last else {1: 1.0, 2: 0.9}[now])
        last = now
    assert trial.threads == 2 and trial.took == {1: 1.0, 2: 0.9}


def test_one_is_tried_late():
    trial = CrewTrial(16, 1)
    assert calls(trial, {16: 1.0, 1: 0.5}, AGAIN + CALLS) == [16] * AGAIN + trial_of(16, 1)
    assert trial.threads == 1


@pytest.mark.parametrize("other", [0.96, 1.0, 1.4])
def test_the_usual_number_stays_where_the_other_is_not_clearly_faster(other):
    trial = CrewTrial(1, 2)
    calls(trial, {1: 1.0, 2: other}, FIRST + CALLS)
    assert trial.threads == 1 and trial.took == {1: 1.0, 2: other}
    assert set(calls(trial, {1: 1.0, 2: other}, AGAIN + 1)) == {1} and trial.threads == 2


def test_who_falls_far_behind_has_no_more_turns_and_is_tried_again_much_later():
    trial = CrewTrial(16, 1)
    assert calls(trial, {16: 1.0, 1: 3.0}, AGAIN + 3) == [16] * (AGAIN + 1) + [1, 1]
    assert set(calls(trial, {16: 1.0, 1: 3.0}, 9 * AGAIN)) == {16}
    assert calls(trial, {16: 1.0, 1: 3.0}, 2) == [16, 1]


def test_what_was_taken_is_tried_again_and_given_up():
    """As when the system has put threads elsewhere."""
    trial = CrewTrial(1, 2)
    calls(trial, {1: 1.0, 2: 0.6}, FIRST + CALLS)
    assert set(calls(trial, {1: 1.0, 2: 2.5}, AGAIN)) == {2}
    assert calls(trial, {1: 1.0, 2: 2.5}, CALLS) == trial_of(2, 1)
    assert trial.threads == 1


def test_calls_beside_others_and_what_cannot_be_tried():
    trial = CrewTrial(1, 2)
    calls(trial, {1: 1.0}, FIRST + 1)
    assert trial.threads == 2
    trial.note(1, 0.1)  # began before it was the other's turn
    assert trial.threads == 2
    trial.wait_until(lambda: True)
    assert trial.threads == 2
    trial.wait_until(lambda: False)
    assert set(calls(trial, {1: 1.0}, AGAIN)) == {1}


def test_a_trial_is_kept_with_the_graph_unless_every_machine_is_to_choose_alike(monkeypatch):
    graph = Graph.from_edges([0], [1])
    assert crew_trial.crew_trial(graph, "search", 1, 2) is None
    monkeypatch.setattr(crew_trial, "is_shipped", lambda: False)
    trial = crew_trial.crew_trial(graph, "search", 1, 2)
    assert crew_trial.crew_trial(graph, "search", 1, 2) is trial
    assert crew_trial.crew_trial(graph, "search", 2, 1) is not trial
