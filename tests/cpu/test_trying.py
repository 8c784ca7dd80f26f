"""Runs whose two ways take turns: the faster is taken, by the tests' clock; the bits are those of either."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import gpop
from gpop.common.errors import NotEnoughMemory
from gpop.cpu import kept_workspace, loop_state, specialise, trying
from gpop.cpu import trial as module
from gpop.cpu.engine import CpuEngine
from gpop.cpu.trial import TURNS, Trial
from gpop.generate import generate
from gpop.graph.kept import Kind
from gpop.layout import edge_blocks
from gpop.plan.plan import decide
from tests.cpu.test_pull_all import Decayed
from tests.cpu.test_trial import records, turns
from tests.cpu.two_ways import Added, Doubled, left_by, unsorted_and_doubled, ways_of
from tests.graphs import small_graphs
from tests.programs import Formula, Rank
from tests.quick import quick


@pytest.fixture
def thinking(monkeypatch):
    """Small graphs are thought about, pull is expected to be faster, and auto may go by times."""
    monkeypatch.setattr(edge_blocks, "SMALL_EDGES", 0)
    monkeypatch.setattr(edge_blocks.Plan, "gain", lambda plan, threads, costs: 100.0)
    monkeypatch.setattr(edge_blocks.Plan, "expected", lambda plan, threads, costs: {"pull": 1.0, "pc": 1.2})
    monkeypatch.setattr(trying, "is_shipped", lambda: False)


@pytest.fixture
def tried(thinking, monkeypatch):
    """A trial costs nothing, and is begun soon."""
    for name in ("BUILD_S", "PREPARE_S", "LOAD_S", "COMPILE_S"):
        monkeypatch.setattr(trying, name, 0.0)
    monkeypatch.setattr(trying, "SHARE", 1.0)
    monkeypatch.setattr(module, "FIRST", 10)


@pytest.fixture
def clock(monkeypatch):
    """Seconds that an iteration is said to take, by way."""
    took = {"pull": 2.0, "pc": 1.0}
    note, enter = Trial.note, CpuEngine._enter
    now = [0.0]

    def told(trial, way, rows, seconds):
        note(trial, way, records([took[way]] * len(rows)), seconds)

    def entered(engine, *numbers, **how):
        over = enter(engine, *numbers, **how)
        now[0] += took.get(engine.mode, 0.0) * int(engine.progress[loop_state.ROWS])
        return over

    monkeypatch.setattr(Trial, "note", told)
    monkeypatch.setattr(CpuEngine, "_enter", entered)
    monkeypatch.setattr("gpop.cpu.engine.time", SimpleNamespace(perf_counter=lambda: now[0]))
    return took


@pytest.fixture
def changing(tried, monkeypatch):
    """Each iteration takes the way that the one before did not, for ever."""
    for name in ("TURN", "FIRST"):
        monkeypatch.setattr(module, name, 1)
    monkeypatch.setattr(Trial, "_decide", lambda trial: None)


@pytest.mark.parametrize("cls", quick([Decayed, Rank, Formula, Doubled, Added], Rank))
@pytest.mark.parametrize("threads", quick([1, 2, 4], 2))
def test_bits_are_the_same_if_the_way_changes_in_every_iteration(changing, cls, threads):
    graph = unsorted_and_doubled(weights=True)
    expected = {mode: left_by(cls, graph, mode=mode, threads=threads)[0] for mode in ("pc", "pull")}
    assert expected["pc"] == expected["pull"]
    for _ in range(2):  # loops are kept from run to run, and know of another program's fields
        found, run = left_by(cls, graph, threads=threads)
        assert found == expected["pc"]
    ways = ways_of(run)
    assert all(one != next for one, next in itertools.pairwise(ways)) and len(ways) == 7
    assert (
        run.trace.column("frontier").tolist()
        == left_by(cls, graph, mode="pc")[1].trace.column("frontier").tolist()
    )


@pytest.mark.parametrize("name", sorted(small_graphs()))
def test_and_on_graphs_of_all_kinds(changing, name):
    graph = small_graphs()[name]
    graph = gpop.Graph(graph.indptr, graph.indices, None)
    expected = {mode: left_by(Rank, graph, mode=mode, partition_size=16)[0] for mode in ("pc", "pull")}
    found, run = left_by(Rank, graph, partition_size=16)
    assert found == expected["pc"] == expected["pull"]
    assert graph.m == 0 or len(set(ways_of(run))) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "dtype, weighted",
    [
        (np.float64, True),
        pytest.param(np.float32, False, marks=pytest.mark.slow),
        pytest.param(np.float32, True, marks=pytest.mark.slow),
        pytest.param(np.float64, False, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_settles_does_so_in_the_same_iteration(changing, dtype, weighted):
    graph = unsorted_and_doubled(weights=True)
    asked = {"dtype": dtype, "weighted": weighted, "tolerance": 1e-4, "threads": 2}
    one, other, both = (gpop.pagerank(graph, mode=mode, **asked) for mode in ("pc", "pull", "auto"))
    assert one.rank.tobytes() == other.rank.tobytes() == both.rank.tobytes()
    assert one.iterations == other.iterations == both.iterations > 4
    assert len(set(ways_of(both.run))) == 2


def ask(graph, iterations=4):
    return gpop.pagerank(graph, iterations=iterations, threads=2)


def test_calls_take_the_faster_way_in_the_end(tried, clock):
    graph = unsorted_and_doubled(weights=False)
    right = gpop.pagerank(graph, iterations=4, mode="pc", threads=2).rank.tobytes()
    graph.drop()
    said = []
    for _ in range(30):
        found = ask(graph)
        assert found.rank.tobytes() == right
        said.append((ways_of(found.run)[0], found.run.trace.summary["choice"]["by"]))
        assert found.run.mode == found.run.trace.summary["mode"] == ways_of(found.run)[-1]
    by = [by for by, _ in itertools.groupby(by for _, by in said)]
    assert by == ["model", "turns", "times"]
    assert said[0][0] == "pull" and {way for way, _ in said[-5:]} == {"pc"}
    assert [way for way, by in said if by == "turns"].count("pc") == TURNS - 1


def test_a_long_run_decides_within_it_and_the_next_one_knows(tried, clock):
    graph = unsorted_and_doubled(weights=False)
    run = ask(graph, iterations=400).run
    shape = turns(ways_of(run))
    assert shape[0][0] == "pull" and shape[-1] == ("pc", shape[-1][1]) and shape[-1][1] > 200
    assert len(shape) == 2 * TURNS and run.mode == "pc" and run.prepare_seconds > 0
    assert set(ways_of(ask(graph, iterations=9).run)) == {"pc"}


def test_a_run_that_rests_does_not_go_on_in_a_way_that_is_known_to_be_slower(tried, clock, monkeypatch):
    """Two kinds of runs of a program, each with an engine of its own that rests: one decides for both."""
    monkeypatch.setattr(module, "FIRST", 300)
    graph = unsorted_and_doubled(weights=False)

    def ways(eps, **options):
        program = Rank(graph)
        program.rank, program.eps = 1, eps
        return set(ways_of(gpop.run(program, threads=2, **options)))

    ways(1e-3, mode="pc")  # so that the trial builds nothing, which would make all engines anew
    assert ways(1e-3) == ways(1e-3) == {"pull"}
    assert len(ways(-1.0, iterations=600)) == 2
    assert ways(1e-3) == {"pc"}


def test_watched_runs_and_checkpoints_take_part(tried, clock, tmp_path):
    graph = unsorted_and_doubled(weights=False)
    expected, _ = left_by(Rank, graph, 60, mode="pull", threads=2)
    seen = []
    for options in (
        {"callback": lambda record: seen.append(record["iteration"])},
        {"checkpoint": gpop.Checkpoint(tmp_path, iterations=7)},
    ):
        graph.drop("times of ways")
        found, run = left_by(Rank, graph, 60, threads=2, **options)
        assert found == expected and len(set(ways_of(run))) == 2
    assert seen == list(range(60))


def test_where_there_is_no_room_for_the_other_way_nothing_happens(tried, clock, monkeypatch):
    graph = unsorted_and_doubled(weights=False)
    right = gpop.pagerank(graph, iterations=4, mode="pull", threads=2).rank.tobytes()
    tables = []

    def refuse(*_, **__):
        tables.append(1)
        raise NotEnoughMemory("too large")

    monkeypatch.setattr(kept_workspace, "bins_table", refuse)
    for iterations in (4, 400, 4):
        found = ask(graph, iterations)
        assert set(ways_of(found.run)) == {"pull"}
    assert found.rank.tobytes() == right and len(tables) == 1


def test_a_run_that_fails_in_a_trial_leaves_nothing_behind(changing):
    graph = unsorted_and_doubled(weights=False)
    expected, _ = left_by(Rank, graph, mode="pc")

    def interrupt(record):
        if record["iteration"] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        left_by(Rank, graph, callback=interrupt)
    assert left_by(Rank, graph)[0] == expected


@pytest.mark.parametrize(
    "options", [{"mode": "pull"}, {"mode": "pc"}, {"model": "paper"}, {"counters": True}], ids=str
)
def test_who_is_told_what_to_take_tries_nothing(changing, options):
    _, run = left_by(Rank, unsorted_and_doubled(weights=False), **options)
    assert "choice" not in run.trace.summary and len(set(ways_of(run))) == 1


def test_choices_that_must_not_depend_on_the_machine_do_not(changing, monkeypatch):
    monkeypatch.setattr(trying, "is_shipped", lambda: True)
    graph = unsorted_and_doubled(weights=False)
    _, run = left_by(Rank, graph)
    assert set(ways_of(run)) == {"pull"} and not graph.store.has(Kind.TIMES)


def test_what_a_trial_costs_is_waited_for(thinking, clock, monkeypatch):
    """A layout that must be built, a kernel that must be loaded or compiled; what is there is free."""
    graph, there = unsorted_and_doubled(weights=False), set()
    for name in ("is_kept", "is_loaded"):
        monkeypatch.setattr(trying, name, lambda *_, name=name: name in there)
    monkeypatch.setattr(module, "FIRST", 1)
    clock["pull"] = 1e-3
    assert ask(graph).run.trace.summary["choice"]["by"] == "model"
    (trial,) = graph.store.get(Kind.TIMES).values()
    loaded = (trying.PREPARE_S + trying.BUILD_S + trying.LOAD_S) / trying.SHARE
    assert trial.wait == pytest.approx(loaded, rel=0.01)
    seconds = trying.COMPILE_S / trying.SHARE
    assert set(ways_of(ask(graph, int(1e3 * loaded) + 99).run)) == {"pull"}
    assert set(ways_of(ask(graph, 4).run)) == {"pull"} and not trial.trying and trial.wait == seconds
    there.add("is_loaded")
    graph.store.forget()
    ask(graph, 4)
    assert trial.wait == seconds  # its layout would have to be built
    gpop.pagerank(graph, iterations=1, threads=2, mode="pc")
    ask(graph, 4)
    assert trial.wait == trying.PREPARE_S / trying.SHARE and trial.trying
    assert len(set(ways_of(ask(graph, 100).run))) == 2


def test_nothing_large_is_built_for_a_trial(tried, clock, monkeypatch):
    graph = unsorted_and_doubled(weights=False)
    monkeypatch.setattr(trying, "MOST_BYTES", 16 * graph.m - 1)
    assert "choice" not in ask(graph, 400).run.trace.summary
    monkeypatch.setattr(trying, "MOST_BYTES", 16 * graph.m)
    monkeypatch.setattr(trying, "available_bytes", lambda: 8 * 16 * graph.m - 1)
    graph.store.forget()
    for _ in range(2):
        assert set(ways_of(ask(graph, 400).run)) == {"pull"}
    assert not graph.store.has(Kind.BINS)


def test_which_kernels_are_there(tried):
    graph = unsorted_and_doubled(weights=False)
    engine = CpuEngine(decide(Rank(graph), threads=2, limit=1))
    engine.prepare()
    of = engine.lowered, engine.traits
    assert specialise.is_loaded(*of) and specialise.is_kept(*of)
    assert not specialise.is_loaded(of[0], of[1]._replace(mask=77))
    assert not specialise.is_kept(of[0], of[1]._replace(mask=77))


def test_times_of_many_programs_are_not_kept_for_ever(tried, monkeypatch):
    monkeypatch.setattr(trying, "MOST", 2)
    graph = generate("rmat", scale=6, seed=1)
    for partition_size in (4, 8, 16, 32):
        left_by(Rank, graph, 2, partition_size=partition_size)
        assert len(graph.store.get(Kind.TIMES)) <= 2


def test_a_run_is_taken_to_have_as_many_iterations_as_the_last_one(thinking, monkeypatch):
    """Not as many as it may have: a trial would seem near to each of many short runs."""
    asked, is_near = [], Trial.is_near
    monkeypatch.setattr(Trial, "is_near", lambda trial, limit: asked.append(limit) or is_near(trial, limit))
    monkeypatch.setattr(Trial, "quiet", lambda trial: 0.0)
    graph = generate("grid", width=40, height=40)
    took = [gpop.pagerank(graph, tolerance=1e-2, threads=2).iterations for _ in range(6)]
    assert len({*took}) == 1 and 0 < took[0] < 20
    assert asked == [took[0]] * len(asked) and len(asked) >= 3
    assert gpop.pagerank(graph, tolerance=1e-2, max_iterations=1, threads=2).iterations == 1
    assert gpop.pagerank(graph, tolerance=1e-2, max_iterations=1, threads=2).iterations == 1
    assert asked[-1] == 1
