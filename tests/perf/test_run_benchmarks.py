"""run-benchmarks does what is missing and nothing else; wrong answers are never valid."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gpop
from perf import implementations, register, run_benchmarks, validate
from perf.__main__ import main
from perf.run_benchmarks import run_missing
from perf.store import Store, StoreError
from tests.perf import near
from tests.perf.near import NearWorker

ROOT = Path(gpop.__file__).resolve().parents[1]
DATA = ROOT / "data"
PLAIN = {"gpop", "gpop-sc", "gpop-pc", "gpop-auto"}


@pytest.fixture
def quick(monkeypatch):
    """gpop only, measured in this process."""
    own = {"gpop": implementations.FAMILIES["gpop"]}
    monkeypatch.setattr(implementations, "FAMILIES", own)
    monkeypatch.setattr(run_benchmarks, "FAMILIES", own)
    monkeypatch.setattr(run_benchmarks, "WorkerProcess", NearWorker)
    monkeypatch.setattr(validate, "WorkerProcess", NearWorker)
    NearWorker.asked = []
    return own


@pytest.fixture
def db(tmp_path, quick):
    with Store(tmp_path / "perf.db") as opened:
        yield opened


def configure(db, apps=("bfs",), graphs=("karate",), repeats=2):
    register.register_graphs(db, "data", [str(DATA / f"{name}.bin") for name in graphs])
    for app in apps:
        register.register_run_config(db, app, "data", threads=1, repeats=repeats)


def count(db, table):
    return db.rows(f"SELECT count(*) FROM {table}")[0][0]


def test_everything_missing_is_measured_and_checked(db):
    configure(db, ("bfs", "pagerank"), ("karate", "lesmis"))
    assert str(run_missing(db)) == "16 runs stored"
    rows = db.rows("SELECT DISTINCT graph, algorithm, implementation, threads FROM Result")
    assert len(rows) == 16 and {row["implementation"] for row in rows} == PLAIN
    for row in db.rows("SELECT * FROM Result"):
        assert 0 < row["minTime"] <= row["medianTime"] <= row["maxTime"] and row["repeats"] == 2
        assert row["version"].startswith("gpop ")
    assert {row["timer"] for row in db.rows("SELECT timer FROM Result")} == {"computation", "loop"}
    steps = db.rows("SELECT step FROM StepResult WHERE timer = 'iteration' AND algorithm = 'pagerank'")
    assert len(steps) == 10 * 4 * 2
    frontiers = "SELECT value FROM StepPropValue JOIN PropertyName ON id = propId WHERE property = 'frontier'"
    assert min(row["value"] for row in db.rows(frontiers)) >= 1
    vertices = "SELECT value FROM GraphPropValue JOIN PropertyName ON id = propId WHERE property = 'vertices'"
    assert {row["value"] for row in db.rows(vertices)} == {34, 77}


def test_the_second_time_nothing_runs(db):
    configure(db)
    run_missing(db)
    NearWorker.asked = []
    assert str(run_missing(db)) == "0 runs stored" and NearWorker.asked == []
    register.register_graphs(db, "data", [str(DATA / "lesmis.bin")])
    assert str(run_missing(db)) == "4 runs stored"  # of the new graph only


def test_past_its_seconds_nothing_begins(db, capsys):
    configure(db)
    command = ["run-benchmarks", "--store", str(db.path)]
    assert main([*command, "--seconds", "-1"]) == 0
    assert capsys.readouterr().out == "0 runs stored, 4 left for the next call\n"
    assert main([*command, "--seconds", "600"]) == 0
    assert capsys.readouterr().out == "4 runs stored\n"


def test_other_code_of_gpop_is_another_run_configuration(db, monkeypatch):
    configure(db)
    monkeypatch.setattr(run_benchmarks, "gpop_version", lambda: "0+other")
    assert str(run_missing(db)) == "0 runs stored"
    assert count(db, "Missing") == 4


def test_a_wrong_answer_is_never_valid(db, quick, monkeypatch, capsys):
    quick["liar"] = "tests.perf.near"
    configure(db, ("bfs", "pagerank"))
    tally = run_missing(db, only=("liar", "gpop-sc"))
    assert (tally.done, tally.wrong) == (4, 2)
    assert {row["implementation"] for row in db.rows("SELECT * FROM Result")} == {"gpop-sc"}
    verdicts = db.rows("SELECT validated, fault FROM RunName WHERE implementation = 'liar'")
    assert [row["validated"] for row in verdicts] == [0, 0]
    assert "of 34 values are wrong" in verdicts[0]["fault"]
    assert "WRONG: bfs on karate by liar" in capsys.readouterr().err
    assert validate.validate(db) == (0, 2)
    assert {row["implementation"] for row in db.rows("SELECT * FROM Result")} == {"gpop-sc"}


def test_another_hash_is_not_valid_until_compared_in_full(db):
    configure(db)
    register.register_run_config(db, "pagerank", "data", repeats=1)
    run_missing(db, only=("gpop-sc",))
    # A store in which the right answer's hash is another: whole numbers are compared by it.
    db.execute("UPDATE Variant SET result = 'other' WHERE result IS NOT NULL")
    run_missing(db, only=("gpop-pc",))
    verdicts = db.rows("SELECT algorithm, validated FROM RunName WHERE implementation = 'gpop-pc'")
    assert {row["algorithm"]: row["validated"] for row in verdicts} == {"bfs": 0, "pagerank": 1}
    assert validate.validate(db) == (1, 0)
    assert count(db, "RunName WHERE NOT validated") == 0


def test_validate_repairs_floating_point_and_only_what_is_within_the_tolerance(db):
    configure(db, ("pagerank",))
    run_missing(db, only=("gpop-sc",))
    error = db.rows("SELECT error FROM Run")[0]["error"]
    assert 0 < error < 1e-5
    assert validate.validate(db, tolerance=error / 10, every=True) == (0, 1)
    assert count(db, "Result") == 0
    assert validate.validate(db) == (1, 0)
    assert count(db, "Result") == 2


def test_failures_are_counted_and_given_up(db, monkeypatch):
    configure(db)

    def fail(self, request):
        raise run_benchmarks.WorkerFailed("no luck")

    with monkeypatch.context() as broken:
        broken.setattr(near.Worker, "do_run", fail)
        for _ in range(3):
            assert run_missing(db).failed == 4
        assert run_missing(db).failed == 0
    assert [row["retryCount"] for row in db.rows("SELECT * FROM Missing")] == [3] * 4
    assert run_missing(db, retries=100).done == 4
    assert count(db, "Attempt") == 0


def test_a_file_that_holds_another_graph_is_not_measured(db, tmp_path):
    path = tmp_path / "g.bin"
    path.write_bytes((DATA / "karate.bin").read_bytes())
    register.register_graphs(db, "data", [str(path)])
    register.register_run_config(db, "bfs", "data", repeats=1)
    run_missing(db, only=("gpop-sc",))
    path.write_bytes((DATA / "lesmis.bin").read_bytes())
    assert run_missing(db).failed == 3
    assert "is not the graph that it was" in db.rows("SELECT message FROM Attempt")[0]["message"]


@pytest.mark.parametrize("what, code, said", [
    (KeyboardInterrupt(), 130, "interrupted; 2 runs stored; the same command continues"),
    (StoreError("s.db: database or disk is full"), 2, "s.db: database or disk is full; 2 runs stored before"),
])  # fmt: skip
def test_what_was_finished_stays(db, monkeypatch, capsys, what, code, said):
    configure(db)
    record = Store.record_run

    def interrupted(self, job, done):
        if count(self, "Run") == 2:
            raise what
        return record(self, job, done)

    with monkeypatch.context() as broken:
        broken.setattr(Store, "record_run", interrupted)
        assert main(["run-benchmarks", "--store", str(db.path)]) == code
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and said in captured.err
    assert count(db, "Run") == 2
    assert main(["run-benchmarks", "--store", str(db.path)]) == 0
    assert capsys.readouterr().out == "2 runs stored\n"


@pytest.mark.slow
def test_killed_in_the_middle_and_continued(tmp_path):
    path = tmp_path / "perf.db"
    with Store(path) as db:
        configure(db, ("bfs",), ("karate", "lesmis"), repeats=400)
    command = [
        sys.executable,
        "-m",
        "perf",
        "run-benchmarks",
        "--store",
        str(path),
        "--only",
        ",".join(PLAIN),
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    reader = sqlite3.connect(path, timeout=10)
    end = time.monotonic() + 120
    while not reader.execute("SELECT count(*) FROM Run").fetchone()[0]:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = reader.execute("SELECT * FROM Run").fetchall()
    assert 0 < len(before) < 8
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == f"{8 - len(before)} runs stored\n", done.stderr
    assert reader.execute("SELECT * FROM Run").fetchall()[: len(before)] == before
    assert reader.execute("SELECT count(*) FROM Run WHERE validated").fetchone()[0] == 8
    reader.close()


def test_the_log_has_every_strategy_in_every_step_with_features(db):
    register.register_graphs(db, "data", [str(DATA / "lesmis.bin")])
    assert len(register.register_strategies(db, "bfs")) == 5
    assert register.register_strategies(db, "bfs") == register.register_strategies(db, "bfs")
    register.register_roots(db, "bfs", 1)
    register.register_roots(db, "bfs", 1)  # they are there
    register.register_run_config(db, "bfs", "data", threads=1, repeats=2)
    names = ("gpop-sc", "gpop-pc", "gpop-pull", "gpop-auto", "gpop-paper")
    assert str(run_missing(db, only=names)) == "10 runs stored"
    rows = db.rows("SELECT * FROM StepLog ORDER BY variant, step")
    assert {(row["strategy"], row["model"], row["type"]) for row in rows} == {
        ("sc", "engine", "Core"), ("pc", "engine", "Core"), ("pull", "engine", "Core"),
        ("auto", "engine", "Derived"), ("auto", "paper", "Derived"),
    }  # fmt: skip
    assert {row["target"] for row in rows} == {"cpu"} and all(row["seconds"] > 0 for row in rows)
    steps = {}
    for row in rows:  # a step has the same frontier in all of them
        steps.setdefault((row["variantId"], row["step"]), set()).add((row["frontier"], row["edges"]))
    assert all(len(found) == 1 for found in steps.values())
    values = "SELECT stepId, value FROM StepPropValue JOIN PropertyName ON id = propId WHERE property = ?"
    visited = db.rows(values + " AND variantId = 1 ORDER BY stepId", ("visited abs",))
    frontier = [frontier for key in sorted(steps) if key[0] == 1 for frontier, _ in steps[key]]
    assert [row["value"] for row in visited] == [sum(frontier[:step]) for step in range(len(frontier))]
    kept = "SELECT value FROM GraphPropValue JOIN PropertyName ON id = propId WHERE property = ?"
    assert db.rows(kept, ("out degree max",))[0]["value"] == 36


def test_a_strategy_of_the_gpu_is_an_implementation(db):
    found = register.register_strategies(db, "bfs", "gpu")
    assert len(found) > len(register.register_strategies(db, "bfs"))
    row = db.rows("SELECT name, flags, type FROM Implementation WHERE name = 'gpop-gpu-edge-list'")[0]
    assert row["type"] == "Core" and '"target": "gpu"' in row["flags"]


def test_of_modes_the_log_has_those_that_a_run_may_change_between(db):
    for app, modes in (("bfs", {"sc", "pc", "pull"}), ("sssp", {"sc", "pc"}), ("cc", {"sc", "pc"})):
        for target in ("cpu", "gpu"):
            ids = register.register_strategies(db, app, target)
            rows = [db.rows("SELECT name, flags FROM Implementation WHERE id = ?", (id,))[0] for id in ids]
            flags = [json.loads(row["flags"]) for row in rows]
            found = [each for each in flags if each["mode"] in ("sc", "pc", "pull")]
            assert {each["mode"] for each in found} == modes
            assert all(each.get("always", False) == (target == "gpu") for each in found)
    register.register_roots(db, "sssp", 1)
    row = db.rows("SELECT flags FROM VariantConfig WHERE name = 'root 1'")[0]
    assert json.loads(row["flags"]) == {"source": "random-1", "delta": "inf"}
