"""Series: all variants by one implementation at once, time-outs for good, a worker that dies is replaced."""

from __future__ import annotations

import time
from contextlib import contextmanager

import pytest

from perf import register, series, worker
from perf.__main__ import main
from perf.implementations import gpop_version
from perf.run_benchmarks import Tally, WorkerFailed, run_missing
from perf.store import MOST_RETRIES, Store
from perf.time_limit import OutOfTime, within
from tests.perf.near import NearWorker

DEVICE, NAMES = "a device", ("gpop-sc", "gpop-pc")
SPECS = ("grid:width=5,height=4", "star:vertices=9")


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(series, "WorkerProcess", NearWorker)
    monkeypatch.setattr(series, "worker_count", lambda: 2)
    with Store(tmp_path / "perf.db") as opened:
        register.register_platform(opened, DEVICE)
        register.register_roots(opened, "bfs", 2)
        register.register_graphs(opened, "small", SPECS)
        register.register_run_config(opened, "bfs", "small", repeats=2, platform=DEVICE)
        yield opened


def jobs_of(store: Store) -> list:
    found = store.missing(DEVICE, gpop_version())
    return [job for job in found if job["implementation"] in NAMES]


def test_every_series_is_stored_with_its_steps(store):
    jobs, tally = jobs_of(store), Tally()
    assert [len(each) for each in series.series_of(jobs)] == [3] * 4
    assert list(series.measure(store, jobs, 60, tally)) == [3] * 4
    assert str(tally) == "12 runs stored" and not jobs_of(store)
    timers = store.rows("SELECT DISTINCT name, samples FROM StepTimer")
    assert [tuple(row) for row in timers] == [("iteration", 2)]
    logged = store.rows("SELECT DISTINCT strategy, frontier, edges FROM StepLog WHERE step = 0")
    assert {row["strategy"] for row in logged} == {"sc", "pc"} and all(row["frontier"] == 1 for row in logged)


def test_a_wrong_hash_is_a_wrong_answer(store, capsys):
    assert list(series.describe(store, jobs_of(store))) == [6, 6]
    store.execute("UPDATE Variant SET result = 'another' WHERE id = 1")
    tally = Tally()
    list(series.measure(store, jobs_of(store), 60, tally))
    assert tally.wrong == 2 and "is not that of the right one" in capsys.readouterr().err


def test_what_is_late_is_told_and_not_run_again(store, monkeypatch):
    calls = []

    @contextmanager
    def ringing(seconds):
        calls.append(seconds)
        if len(calls) > 2:  # the second root of the first series, and all after it
            raise OutOfTime("late")
        yield

    monkeypatch.setattr(worker, "within", ringing)
    tally = Tally()
    list(series.measure(store, jobs_of(store), 5, tally))
    assert str(tally) == "1 run stored, 11 out of time"
    told = store.rows("SELECT DISTINCT message, retryCount FROM Attempt ORDER BY message")
    assert [tuple(row) for row in told] == [
        (f"time-out: {done} of 3 runs done in 5 s", MOST_RETRIES) for done in (0, 1)
    ]
    assert not jobs_of(store)


def test_repeats_are_for_what_is_fast(store, monkeypatch):
    monkeypatch.setattr(worker, "REPEATED", 0.0)
    list(series.measure(store, jobs_of(store), 5, Tally()))
    assert store.rows("SELECT DISTINCT samples FROM StepTimer")[0]["samples"] == 1


def test_nothing_begins_after_the_deadline(store):
    tally = Tally()
    assert not list(series.measure(store, jobs_of(store), 5, tally, time.monotonic() - 1))
    assert tally.left == 12 and len(jobs_of(store)) == 12


def test_a_worker_that_dies_is_replaced(store, monkeypatch, capsys):
    class Mortal(NearWorker):
        started = 0

        def __init__(self, *graph):
            type(self).started += 1
            super().__init__(*graph)

        def receive(self, most=None):
            if self.started == 1:
                self.alive = False
                raise WorkerFailed("the worker ended with code -9")
            return super().receive(most)

    monkeypatch.setattr(series, "WorkerProcess", Mortal)
    tally = Tally()
    list(series.measure(store, jobs_of(store), 5, tally))
    assert (tally.done, tally.failed, Mortal.started) == (9, 3, 2)
    assert "failed: bfs on grid-width5-height4 by gpop-sc" in capsys.readouterr().err
    assert len(jobs_of(store)) == 3  # tried again by the next command
    list(series.measure(store, jobs_of(store), 5, tally))
    assert tally.done == 12


def test_compiling_tells_what_fails(store, monkeypatch):
    class Refusing(NearWorker):
        def ask(self, **request):
            if request.get("implFlags", {}).get("mode") == "pc":
                raise WorkerFailed("no such mode")
            return super().ask(**request)

    monkeypatch.setattr(series, "WorkerProcess", Refusing)
    wanted = series.stars(store, jobs_of(store))
    assert series.compile_all(wanted, 2) == ["bfs by gpop-pc on star:vertices=64: no such mode"]


def test_a_star_stands_for_graphs_of_one_width(store):
    register.register_strategies(store, "bfs", "gpu")
    register.register_graphs(store, "small", ("star:vertices=10",))
    store.complete_variants()
    jobs = store.missing(DEVICE, gpop_version())
    sizes = {"star-vertices9": 100_000, "star-vertices10": 400_000, "grid-width5-height4": 65_536}
    for job in jobs:
        told = {"hash": "x", "properties": {"vertices": sizes[job["graph"]]}}
        store.record_graph(job["graphId"], told)
    found: dict[str, list[str]] = {}
    for star, job in series.stars(store, jobs):
        found.setdefault(job["implementation"], []).append(star)
    assert sorted(found["gpop-gpu-sc"]) == ["star:vertices=100000", "star:vertices=65536"]
    assert found["gpop-gpu-vertex-push"] == ["star:vertices=64"]


def test_run_benchmarks_in_series(store, monkeypatch, capsys):
    assert str(run_missing(store, DEVICE, NAMES, series=60, apps=("cc",))) == "0 runs stored"
    late = run_missing(store, DEVICE, NAMES, series=60, deadline=0.0)
    assert (late.done, late.left) == (0, 12)
    assert str(run_missing(store, DEVICE, NAMES, series=60, apps=("bfs",))) == "12 runs stored"
    assert capsys.readouterr().out.count("compiled after") == 2
    assert main(["run-benchmarks", "--series", "0", "--store", str(store.path)]) == 2
    assert main(["run-benchmarks", "--apps", "sssp", "--store", str(store.path)]) == 2
    assert "no algorithm 'sssp', expected one of bfs" in capsys.readouterr().err


def test_a_time_ends_what_goes_on():
    with pytest.raises(OutOfTime, match=r"not done after 0.01 s"), within(0.01):
        while True:
            pass
    with within(60):
        pass
