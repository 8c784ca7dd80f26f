"""``python -m gpop.compare``: the table, the JSON, what is missing, and answers that differ."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop import compare, copy_bandwidth
from gpop.gpu import device
from tests.programs import random_graph

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def small_arrays(monkeypatch):
    """Bandwidth in a moment, and no CuPy."""
    monkeypatch.setattr(copy_bandwidth, "CPU_BYTES", 1 << 22)
    monkeypatch.setitem(sys.modules, "cupy", None)
    device.cupy.cache_clear()
    yield
    device.cupy.cache_clear()


@pytest.fixture
def graph_file(tmp_path):
    path = tmp_path / "graph.bin"
    gpop.save(random_graph(1, 60, 300, weights=True), path)
    return str(path)


def test_table_and_json(graph_file, tmp_path, capsys):
    out = tmp_path / "rows.json"
    arguments = [
        "--apps",
        "bfs,sssp",
        "--modes",
        "sc,pc",
        "--rounds",
        "1",
        "--threads",
        "1",
        "--output",
        str(out),
    ]
    assert compare.main([graph_file, *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("not compared: gpu (target 'gpu' needs CuPy")
    assert lines[1].split()[:5] == ["app", "target", "mode", "ms", "iterations"]
    cells = [line.split() for line in lines[2:]]
    assert [row[:3] for row in cells] == [
        [app, "cpu", mode] for app in ("bfs", "sssp") for mode in ("sc", "pc")
    ]
    assert all(row[-1] == "yes" for row in cells)
    assert len({len(line) for line in lines[1:]}) == 1
    rows = json.loads(out.read_text())
    assert [row["mode"] for row in rows] == ["sc", "pc"] * 2
    assert set(rows[0]) == set(compare.Row._fields)
    graph = gpop.load(graph_file)
    source = int(np.argmax(graph.out_degree))
    assert rows[0]["iterations"] == gpop.bfs(graph, source, method="messages").run.iterations
    assert all(row["seconds"] > 0 for row in rows)
    sent = [row["bytes_per_second"] > 0 for row in rows]
    assert sent == [True, True, False, True]  # paths are interleaved in one partition: sc sends no message
    assert rows[0]["share"] == pytest.approx(
        rows[1]["share"] * rows[0]["bytes_per_second"] / rows[1]["bytes_per_second"]
    )


def test_a_wrong_answer_is_told(graph_file, monkeypatch, capsys):
    right = compare.APPS["bfs"]

    def wrong_in_pc(graph, result):
        level = right.answer(graph, result).copy()
        level[-1] += result.run.mode == "pc"
        return level

    monkeypatch.setitem(compare.APPS, "bfs", right._replace(answer=wrong_in_pc))
    assert compare.main([graph_file, "--apps", "bfs", "--modes", "sc,pc,auto", "--rounds", "1"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in out[-3:]] == ["yes", "NO", "yes"]


def test_graphs_without_weights_leave_out_what_needs_them(tmp_path, capsys):
    path = tmp_path / "plain.bin"
    gpop.save(random_graph(1, 60, 300), path)
    assert compare.main([str(path), "--apps", "sssp", "--targets", "cpu"]) == 0
    assert capsys.readouterr().out.startswith(f"not compared: sssp ({path} has no weights)\n")


def test_an_app_that_does_not_fit_is_left_out(graph_file, monkeypatch, capsys):
    def refuse(graph, source, options):
        raise gpop.NotEnoughMemory("too large")

    monkeypatch.setitem(compare.APPS, "bfs", compare.APPS["bfs"]._replace(solve=refuse))
    assert compare.main([graph_file, "--apps", "bfs", "--targets", "cpu"]) == 0
    assert "not compared: bfs (too large)" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--apps", "bfs,tfs"], "argument --apps: 'tfs': expected some of bfs,pagerank,sssp,cc,nibble"),
        (["--modes", "cs"], "argument --modes: 'cs': expected one of auto, sc, pc, pull"),
        (["--targets", "tpu"], "argument --targets: 'tpu': expected some of cpu,gpu"),
        (["--targets", "gpu"], "none of the targets is here: target 'gpu' "),
        (["--rounds", "0"], "--rounds 0: expected 1 or more"),
        (["--source", "900", "--targets", "cpu"], "vertex 900 is not in graph"),
        (["--source", "\u00b2", "--targets", "cpu"], "vertex '\u00b2' is not in graph"),
        (["--source=--5", "--targets", "cpu"], "vertex '--5' is not in graph"),
        (["--output", "nowhere/rows.json"], "argument --output: 'nowhere/rows.json': there is no directory"),
    ],
)
def test_bad_input_is_one_line(graph_file, arguments, said, capsys):
    assert compare.main([graph_file, *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"gpop: {said}")
    assert error.count("\n") == 1


def test_equality():
    whole = np.array([1, 2, 3])
    assert not compare.differs(whole, whole.copy())
    assert compare.differs(whole, np.array([1, 2, 4]))
    reached = np.array([1.0, np.inf, 1000.0])
    assert not compare.differs(reached + [0.009, 0, 0], reached)
    assert compare.differs(reached + [0.011, 0, 0], reached)
    assert compare.differs(np.array([1.0, 5.0, 1000.0]), reached)
    assert compare.differs(np.array([1.0, np.nan, np.inf]), reached)
    assert not compare.differs(np.full(3, np.inf), np.full(3, np.inf))


def test_copy_bandwidth_counts_bytes_read_and_written(monkeypatch):
    # The first round, thrown away, is short by chance; of the others the best counts.
    seconds = iter(np.cumsum([0.0, 0.1, 0.0, 9.0] + [0.0, 0.5] * 2 + [0.0, 7.0] * 2))
    monkeypatch.setattr(copy_bandwidth.time, "perf_counter", lambda: next(seconds))
    assert copy_bandwidth.copy_bandwidth("cpu", threads=2) == pytest.approx(2 * (1 << 22) / 0.5)


def test_copy_bandwidth_copies_everything(monkeypatch):
    copied = []
    copyto = np.copyto
    monkeypatch.setattr(copy_bandwidth, "ROUNDS", 1)
    monkeypatch.setattr(
        copy_bandwidth.np, "copyto", lambda to, source: (copied.append(to.size), copyto(to, source))
    )
    copy_bandwidth.copy_bandwidth("cpu", threads=3)
    assert sum(copied) == 2 * (1 << 22)


def test_help_and_guides_say_which_modes_are_compared(capsys):
    """A page that is read before anything is tried had promised all of them."""
    with pytest.raises(SystemExit):
        compare.main(["--help"])
    assert f"default: {','.join(compare.MODES)}" in " ".join(capsys.readouterr().out.split())
    said = f"apps in {', '.join(compare.MODES[:-1])} and {compare.MODES[-1]} on CPU and GPU"
    for page in ("README.md", "docs/guide/commands.md"):
        assert said in (ROOT / page).read_text(encoding="utf-8")


def test_two_programs_of_one_name_are_refused(graph_file, tmp_path, capsys):
    """The second had been compared alone, under the name of both."""
    words = []
    for name in ("one_of_two", "two_of_two"):
        (tmp_path / f"{name}.py").write_text("import gpop\n\nclass Twice(gpop.Program):\n    pass\n")
        words += ["--program", f"{tmp_path / name}.py:Twice"]
    assert compare.main([graph_file, *words]) == 2
    assert "two_of_two.py:Twice: another is called Twice" in capsys.readouterr().err
