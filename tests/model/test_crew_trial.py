"""Trials of numbers of threads: by times that are told, what is taken, and when the next one is."""

from __future__ import annotations

import pytest

from gpop.graph.graph import Graph
from gpop.model import crew_trial
from gpop.model.crew_trial import AGAIN, FIRST, TURNS, CrewTrial


def calls(trial, took, count):
    """The numbers of threads of so many calls that take so long."""
    made = []
    for _ in range(count):
        made.append(trial.threads)
        trial.note(trial.threads, took[trial.threads])
    return made


def test_several_are_taken_where_they_are_faster_and_their_first_turn_does_not_count():
    trial = CrewTrial(1, 2)
    assert calls(trial, {1: 1.0, 2: 9.0}, FIRST + 2) == [1] * (FIRST + 1) + [2]
    assert calls(trial, {1: 1.0, 2: 0.9}, 2 * TURNS - 1) == [2, 1] * (TURNS - 1) + [2]
    assert trial.threads == 2 and trial.took == {1: 1.0, 2: 0.9}


def test_one_needs_nothing_first_and_is_tried_late():
    trial = CrewTrial(16, 1)
    assert calls(trial, {16: 1.0, 1: 0.5}, AGAIN + 2 * TURNS) == [16] * AGAIN + [16, 1] * TURNS
    assert trial.threads == 1


@pytest.mark.parametrize("other", [0.96, 1.0, 1.4])
def test_the_usual_number_stays_where_the_other_is_not_clearly_faster(other):
    trial = CrewTrial(1, 2)
    calls(trial, {1: 1.0, 2: other}, FIRST + 1 + 2 * TURNS)
    assert trial.threads == 1 and trial.took == {1: 1.0, 2: other}
    assert set(calls(trial, {1: 1.0, 2: other}, AGAIN + 1)) == {1} and trial.threads == 2


def test_who_falls_far_behind_has_no_more_turns_and_is_tried_again_much_later():
    trial = CrewTrial(16, 1)
    assert calls(trial, {16: 1.0, 1: 3.0}, AGAIN + 2) == [16] * (AGAIN + 1) + [1]
    assert set(calls(trial, {16: 1.0, 1: 3.0}, 9 * AGAIN)) == {16}
    assert calls(trial, {16: 1.0, 1: 3.0}, 2) == [16, 1]


def test_what_was_taken_is_tried_again_and_given_up():
    """As when the system has put threads elsewhere."""
    trial = CrewTrial(1, 2)
    calls(trial, {1: 1.0, 2: 0.6}, FIRST + 1 + 2 * TURNS)
    assert set(calls(trial, {1: 1.0, 2: 2.5}, AGAIN)) == {2}
    assert calls(trial, {1: 1.0, 2: 2.5}, 2 * TURNS) == [2, 1] * TURNS
    assert trial.threads == 1


def test_calls_beside_others_and_what_cannot_be_tried():
    trial = CrewTrial(1, 2)
    calls(trial, {1: 1.0}, FIRST + 1)
    assert trial.threads == 2
    trial.note(1, 0.1)  # began before it was the other's turn
    assert trial.threads == 2
    trial.put_off()
    assert set(calls(trial, {1: 1.0}, AGAIN)) == {1}


def test_a_trial_is_kept_with_the_graph_unless_every_machine_is_to_choose_alike(monkeypatch):
    graph = Graph.from_edges([0], [1])
    assert crew_trial.crew_trial(graph, "search", 1, 2) is None
    monkeypatch.setattr(crew_trial, "is_shipped", lambda: False)
    trial = crew_trial.crew_trial(graph, "search", 1, 2)
    assert crew_trial.crew_trial(graph, "search", 1, 2) is trial
    assert crew_trial.crew_trial(graph, "search", 2, 1) is not trial
