"""The commands around the store: add, list, query; errors in one line; how often auto keeps up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gpop
from perf import query, register
from perf.__main__ import COMMANDS, main
from perf.store import Store

DATA = Path(gpop.__file__).resolve().parents[1] / "data"


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "perf.db"


def say(capsys, *argv):
    """Exit code and output of a command."""
    code = main([str(word) for word in argv])
    captured = capsys.readouterr()
    return code, captured.out or captured.err


def test_add_and_list(path, capsys):
    karate = DATA / "karate.bin"
    for _ in range(2):  # the second time changes nothing
        assert say(capsys, "add", "graphs", "small", karate, "rmat:scale=5", "--origin", "doi:1") == (0, "")
        assert say(capsys, "add", "run-config", "small", "--apps", "bfs,cc", "--threads", "1,2")[0] == 0
    assert say(capsys, "add", "variant", "bfs", "zero", "source=0")[0] == 0
    assert say(capsys, "add", "implementation", "cc", "small-q", "partition_size=8", "mode=pc")[0] == 0
    code, out = say(capsys, "list", "missing", "--json")
    jobs = json.loads(out)
    own = [job for job in jobs if job["implementation"].startswith(("gpop", "small"))]
    # graphs x threads x (variants of BFS x (as it comes, its modes) + the same for CC, plain and interleaved,
    # and one more)
    assert code == 0 and len(own) == 2 * 2 * (2 * 4 + 8)
    assert {job["runnable"] for job in jobs} == {"yes"}
    for table in query.TABLES:
        assert say(capsys, "list", table)[0] == 0
    code, out = say(capsys, "query", "graph", "karate")
    assert code == 0 and str(karate) in out
    assert "doi:1" in say(capsys, "list", "dataset")[1]


@pytest.mark.parametrize("argv, said", [
    (["add", "graphs", "small", "none.bin"], "graph none.bin: no such file"),
    (["add", "run-config", "none"], "no dataset 'none', expected one of none"),
    (["add", "run-config", "none", "--apps", "dfs"], "'dfs': expected some of pagerank"),
    (["add", "variant", "bfs", "x", "depth=3"], "depth is unknown, expected source"),
    (["add", "variant", "bfs", "x", 'source="max-degree"'], "variant 'hub' of bfs exists already"),
    (["add", "implementation", "bfs", "x", "interleave=true"], "bfs cannot be interleaved"),
    (["add", "implementation", "bfs", "x", "colour=red"], "option colour: expected some of mode"),
    (["add", "implementation", "bfs", "x", "mode=fast"], "option mode 'fast': expected one of auto"),
    (["list", "tables"], "invalid choice"),
    (["run-benchmarks", "--store", "none.db"], "none.db: there is no such store"),
    (["steps", "--store", "none.db", "--folder", "steps"], "none.db: there is no such store"),
    (["bench", "x.bin", "--output", "no/x.json"], "'no/x.json': there is no directory no"),
    (["machine", "--json", "no/x.json"], "'no/x.json': there is no directory no"),
    (["l2", "--graph", "x.bin", "--out", "no/x.txt"], "'no/x.txt': there is no directory no"),
    (["profile"], "perf has no command 'profile'"),
])  # fmt: skip
def test_errors_are_one_line(path, capsys, argv, said):
    code, err = say(capsys, *argv)
    assert code == 2 and said in err and err.startswith("gpop: ") and err.count("\n") == 1
    assert not [each for each in path.parent.iterdir() if each.is_dir()]  # a folder, say, and nothing in it


def test_sql_reads_only(path, capsys):
    Store(path).close()
    assert say(capsys, "query", "sql", "SELECT 6 * 7 AS answer") == (0, "answer\n42\n")
    code, err = say(capsys, "query", "sql", "DELETE FROM Dataset")
    assert code == 2 and "readonly" in err


def test_commands_are_listed_and_their_modules_exist(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    for name, (module, about) in COMMANDS.items():
        assert f"  {name:16} {about}" in out
        if module != "perf.figures":
            assert (DATA.parent / f"{module.replace('.', '/')}.py").exists()


def test_share_of_iterations_in_which_auto_keeps_up(path):
    """1.0 and 1.1 times the better of SC and PC count, 1.2 times does not."""
    with Store(path) as db:
        register.register_graphs(db, "d", [str(DATA / "karate.bin")])
        register.register_run_config(db, "bfs", "d", repeats=1)
        seconds = {"gpop-sc": [4.0, 1.0, 2.0], "gpop-pc": [2.0, 2.0, 2.0], "gpop-auto": [2.0, 1.1, 2.4]}
        for job in db.rows("SELECT * FROM Missing"):
            if job["implementation"] in seconds:
                steps = {"iteration": [seconds[job["implementation"]]]}
                done = {"version": "v", "hash": None, "fault": None, "error": None, "values": {}}
                db.record_run(job, done | {"totals": {}, "steps": steps})
        (row,) = query.dual_mode(db)
    assert row["iterations"] == 3 and row["within"] == pytest.approx(2 / 3)
    assert row["worst"] == pytest.approx(1.2) and row["time over best"] == pytest.approx(5.5 / 5)
