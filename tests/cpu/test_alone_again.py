"""A phase that took all threads longer than one before sends the main thread on alone."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import gpop
from gpop.apps.pagerank_programs import PageRank
from gpop.common import standby
from gpop.cpu import engine, loop_state, sharing, team
from gpop.cpu.alone import compare, end_iteration, rest_after
from gpop.cpu.engine import CpuEngine
from gpop.generate import generate
from gpop.plan.plan import decide
from tests.programs import Smallest
from tests.quick import quick

EPOCH = (1 << team.EPOCH_SHIFT) - 1

PHASES = 2
"""Of an iteration in which all are active."""


@pytest.fixture(scope="module")
def graph():
    """Of so many edges that others are called at once."""
    made = generate("uniform", scale=15, degree=20, seed=1)
    assert made.m * sharing.EDGE_BYTES > sharing.WAKE_BYTES and made.m < sharing.ALONE_EDGES
    return made


@pytest.mark.parametrize("mode", quick(["pull", "pc"], "pc"))
def test_what_is_slower_together_goes_on_alone(graph, mode, monkeypatch):
    """After a delivery of one nanosecond alone, each that is shared is slower, and some are not shared then.

    How many is a matter of time: where others want the cores one delivery takes as long as many.
    """
    begin, dismiss, shared = CpuEngine._begin, CpuEngine._dismiss, []

    def begun(self, *given):
        begin(self, *given)
        self.progress[loop_state.LEAST_ALONE] = 1

    def dismissed(self):
        if self.called:
            shared.append(int(self.space.team[team.GENERATION]) & EPOCH)
        dismiss(self)

    monkeypatch.setattr(CpuEngine, "_begin", begun)
    monkeypatch.setattr(CpuEngine, "_dismiss", dismissed)
    found = gpop.pagerank(graph, iterations=30, mode=mode, threads=2)
    assert 0 < sum(shared) < PHASES * found.iterations
    monkeypatch.undo()
    alone = gpop.pagerank(graph, iterations=30, mode=mode, threads=1)
    assert (found.rank == alone.rank).all()


class Runs:
    """Runs on a new graph, and what the loop leaves for the next one: ``told``."""

    def __init__(self, graph, monkeypatch):
        self.graph, self.shared = gpop.Graph(graph.indptr, graph.indices), []
        begin, dismiss = CpuEngine._begin, CpuEngine._dismiss

        def begun(engine, *given):
            begin(engine, *given)
            self.told = engine.told_alone

        def dismissed(engine):
            if engine.called:
                self.shared.append(int(engine.space.team[team.GENERATION]) & EPOCH)
            dismiss(engine)

        monkeypatch.setattr(CpuEngine, "_begin", begun)
        monkeypatch.setattr(CpuEngine, "_dismiss", dismissed)
        self.phases_of(1)

    def phases_of(self, iterations, **options):
        """How many phases are shared in a run of so many iterations."""
        self.shared.clear()
        gpop.pagerank(self.graph, iterations=iterations, mode="pc", threads=2, **options)
        return sum(self.shared)


@pytest.fixture
def progress():
    return [0] * loop_state.PROGRESS_SIZE


def told(progress):
    return progress[loop_state.LEAST_ALONE : loop_state.PACE]


def test_what_it_takes_alone_is_not_what_it_takes_to_fetch_what_others_have_written(progress):
    """The first iteration alone is not compared with; the one after it is, and the least since."""
    for rested, took, least in ((0, 90, 0), (1, 50, 50), (2, 60, 50), (3, 40, 40), (0, 90, 40), (1, 70, 70)):
        progress[loop_state.RESTED] = rested
        compare(progress, 1, took, 1000)
        assert told(progress) == [least, 0, 0, 0]
    first = [0] * loop_state.PROGRESS_SIZE
    first[loop_state.RESTED] = 2  # a run begins so
    compare(first, 1, 80, 1000)
    assert told(first) == [80, 0, 0, 0]


def test_it_is_tried_less_often_the_more_often_it_was_no_help(progress):
    progress[loop_state.LEAST_ALONE], patience = 50, sharing.ALONE
    while patience < sharing.MOST_ALONE:
        progress[loop_state.RESTED] = 1
        compare(progress, 4, 60, 1000)  # the first one that is shared says nothing
        progress[loop_state.RESTED] = 0
        compare(progress, 4, 60, 1000)
        assert told(progress) == [50, 1000 + 60 * patience, 2 * patience, 0]
        progress[loop_state.ALONE_UNTIL], patience = 0, 2 * patience
    compare(progress, 4, 60, 1000)
    assert told(progress) == [50, 1000 + 60 * patience, patience, 0]
    compare(progress, 4, 50, 5000)
    assert told(progress) == [50, 1000 + 60 * patience, sharing.ALONE, 50]
    unknown = [0] * loop_state.PROGRESS_SIZE
    compare(unknown, 4, 60, 1000)
    assert not any(told(unknown))


def test_it_is_the_mean_of_the_last_ones_that_sends_the_main_thread_on_alone(progress):
    """One that is held up does not, however long; nor do many that are a little longer now and then."""
    progress[loop_state.LEAST_ALONE] = 800
    for took in (400, 10**9, 400, 400, 900, 400, 900):
        compare(progress, 4, took, 1000)
        assert progress[loop_state.ALONE_UNTIL] == 0
    mean = progress[loop_state.SHARED]
    assert 400 < mean < 800
    count = 0
    while not progress[loop_state.ALONE_UNTIL]:
        compare(progress, 4, 1000, 1000)
        mean, count = mean + (1000 - mean) // sharing.RECENT, count + 1
    assert count > 1 and mean > 800
    assert told(progress) == [800, 1000 + sharing.ALONE * mean, 2 * sharing.ALONE, 0]


def test_a_long_wait_is_a_reason_to_go_on_alone(progress):
    """Longer than a worker may be late, and than as many threads would have worked."""
    late = sharing.LATE_NS
    for worked, waited, rested in ((0, late, 0), (500, late + 1000, 0), (0, sharing.LATE_RESTED_NS, 3)):
        progress[loop_state.RESTED] = rested
        assert rest_after(progress, 2, worked, waited, 7000) == 0
        assert rest_after(progress, 2, worked, waited + 1, 7000) == 7000 + sharing.ALONE * (waited + 1)


def test_who_waits_for_the_largest_partition_does_not_go_on_alone(progress):
    """What all together did faster than it would have been done alone; the pace is that of the last time."""
    few, many, until = sharing.PACE_EDGES - 1, 100 * sharing.PACE_EDGES, 9000
    end_iteration(progress, True, 1, few, 10**9, 0)
    assert progress[loop_state.PACE] == 0
    end_iteration(progress, True, 1, many, 3 * many, 0)
    assert progress[loop_state.PACE] == 3000
    end_iteration(progress, True, 2, many, 4 * many, 0)  # it was slow, but nobody waited
    end_iteration(progress, True, 2, many, 2 * many, until)
    assert progress[loop_state.ALONE_UNTIL] == 0
    end_iteration(progress, True, 2, many, 4 * many, until)
    assert (progress[loop_state.ALONE_UNTIL], progress[loop_state.PACE]) == (until, 3000)
    end_iteration(progress, False, 2, many, 2 * many, until + 1)  # who asks has another pace
    end_iteration(progress, False, 1, many, 2 * many, 0)
    assert (progress[loop_state.ALONE_UNTIL], progress[loop_state.PACE]) == (until + 1, 3000)


class Late:
    """A crew that is called a while later than the main thread believes."""

    def __init__(self, others):
        self.crew, self.timer = standby.borrow(others), None

    def call(self, *given):
        self.timer = threading.Timer(0.2, self.crew.call, given)
        self.timer.start()

    def close(self):
        self.timer.join()
        self.crew.close()


@pytest.mark.parametrize("pace, rests", [(0, True), (1, True), (10**9, False)])
def test_a_run_takes_note_of_who_is_late(graph, pace, rests, monkeypatch):
    """Unless its iteration took less than at the pace of the main thread, which is noted when it is alone."""
    begin, told = CpuEngine._begin, []

    def begun(run, *given):
        run.told_alone[loop_state.PACE - loop_state.LEAST_ALONE] = pace
        begin(run, *given)
        told.append(run.told_alone)

    monkeypatch.setattr(engine, "borrow", Late)
    monkeypatch.setattr(engine, "give_back", lambda late: standby.give_back(late.crew))
    monkeypatch.setattr(CpuEngine, "_begin", begun)
    both = gpop.Graph(graph.indptr, graph.indices)
    for threads in (2, 1):
        program = Smallest(both)
        program.label[:] = np.arange(both.n)
        gpop.run(program, iterations=1, mode="sc", partition_size=1024, threads=threads)
    until, pace_alone = told[0][1], told[-1][loop_state.PACE - loop_state.LEAST_ALONE]
    assert (until > 0) == rests
    assert pace_alone not in (0, pace) and told[-1][1] == 0


def test_the_next_run_goes_on_alone(graph, monkeypatch):
    """The same engine, also of a run that begins alike, or another one for runs that are decided alike."""
    runs = Runs(graph, monkeypatch)
    for _ in range(3):
        runs.phases_of(2)
    far = time.monotonic_ns() + 10**15
    runs.told[1] = far
    assert runs.phases_of(2) == runs.phases_of(3) == 0
    assert runs.phases_of(2, callback=lambda record: None) == 0
    assert runs.told[1] == far


def test_nobody_is_called_who_would_not_be_asked(graph, monkeypatch):
    """While the main thread goes on alone, as it has found out; afterwards they are."""
    runs = Runs(graph, monkeypatch)
    for _ in range(3):
        runs.phases_of(2)
    monkeypatch.setattr(engine, "CALLED_LATER", True)
    called, borrow = [], engine.borrow
    monkeypatch.setattr(engine, "borrow", lambda others: (called.append(others), borrow(others))[1])
    for until, calls in ((time.monotonic_ns() + 10**15, []), (time.monotonic_ns(), [1])):
        called.clear()
        runs.told[1] = until
        runs.phases_of(3)
        assert called == calls


def test_an_iteration_in_halves_is_compared_as_any_other():
    """The loop is entered for each half; what it knows of the iteration before is kept in between."""
    small = generate("uniform", scale=12, degree=20, seed=1)  # done alone, unless the machine is busy
    engine = CpuEngine(decide(PageRank(small), threads=2, mode="pc", limit=3))
    engine.prepare()
    engine.load(None, 1)
    rested = 2
    for _ in range(3):
        engine.scatter()
        assert engine.progress[loop_state.RESTED] == rested
        engine.gather()
        assert engine.progress[loop_state.RESTED] in (rested + 1, 0)
        rested = engine.progress[loop_state.RESTED]
    engine.finish()
