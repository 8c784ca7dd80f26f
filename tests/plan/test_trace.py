"""The trace: columns that add up, files that come back the same, nothing half-written."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.cpu.engine import CpuEngine
from gpop.plan import trace as module
from gpop.plan.trace import COLUMNS, Trace
from tests.programs import Smallest, interpret, random_graph

GRAPH = random_graph(1, 300, 2000)


def run_smallest(**options):
    program = Smallest(GRAPH)
    program.label = np.random.default_rng(2).permutation(GRAPH.n)
    return gpop.run(program, partition_size=16, threads=2, **options)


class Endless(gpop.Program):
    """All who are told anything tell it on."""

    told = gpop.VertexField(np.uint32)
    inactive_message = 0

    def scatterFunc(self, node):
        return np.uint32(1)

    def gatherFunc(self, value, node):
        self.told[node] += value
        return True


@pytest.fixture
def trace():
    made = Trace({"program": "Made", "threads": 3})
    made.extend(np.array([[5, 40, 2, 1, 3, 30, 1234, 0.25, 0.5], [1, 3, 1, 0, 0, 2, 99, 1e-6, 2.5e-7]]))
    made.extend(np.zeros((1, 9)))
    return made


def test_records(trace):
    assert len(trace) == 3
    assert tuple(trace[0]) == COLUMNS
    assert trace[0] == {
        "iteration": 0, "frontier": 5, "active_edges": 40, "partitions_sc": 2, "partitions_pc": 1,
        "partitions_pull": 3, "messages": 30, "bytes": 1234, "scatter_seconds": 0.25, "gather_seconds": 0.5,
    }  # fmt: skip
    assert trace[-1]["iteration"] == 2
    assert trace[-2:] == [trace[1], trace[2]] and trace[::-1] == [*trace][::-1] and trace[5:] == []
    assert all(type(value) in (int, float) for record in trace for value in record.values())
    assert [record["frontier"] for record in trace] == trace.column("frontier").tolist() == [5, 1, 0]
    assert trace.seconds == pytest.approx(0.75000125)
    assert repr(trace) == "<Trace: 3 iterations, 0.75 s>"
    with pytest.raises(IndexError):
        trace[3]
    trace.append(frontier=9)  # after records were looked at, and before
    assert (
        [record["frontier"] for record in trace] == [5, 1, 0, 9] == [trace[i]["frontier"] for i in range(4)]
    )
    assert trace.column("iteration").tolist() == [0, 1, 2, 3]


def test_the_last_records_of_a_long_run_are_kept(monkeypatch, trace, tmp_path):
    """They keep their numbers; what was let go still counts for the seconds."""
    monkeypatch.setattr(module, "MOST", 4)
    trace.append(frontier=7)
    assert len(trace) == 4 and "first_iteration" not in trace.summary  # as many as are kept
    trace.append(frontier=8, gather_seconds=1)
    assert len(trace) == 5  # what came in one piece goes in one piece
    trace.append(frontier=9)
    assert trace.summary["first_iteration"] == 2 and len(trace) == 4
    assert trace.column("iteration").tolist() == [record["iteration"] for record in trace] == [2, 3, 4, 5]
    assert trace[0] == trace[-4] and trace[0]["iteration"] == 2 and trace[-1]["iteration"] == 5
    assert [record["frontier"] for record in trace] == [0, 7, 8, 9]
    assert trace.seconds == pytest.approx(1.75000125) and repr(trace) == "<Trace: 6 iterations, 1.75 s>"
    trace.save(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["run"]["first_iteration"] == 2
    with pytest.raises(gpop.UsageError, match="begins with iteration 2"):
        trace.features(GRAPH)
    for frontier in range(100):  # after they were put together
        trace.append(frontier=frontier)
    assert trace.column("frontier").tolist() == [96, 97, 98, 99] and trace[0]["iteration"] == 102


def test_a_run_keeps_no_more_than_the_last_records(monkeypatch):
    monkeypatch.setattr(module, "MOST", 6)
    monkeypatch.setattr(CpuEngine, "most_rows", 4)
    program = Endless(gpop.Graph.from_edges([0, 1], [1, 0]))
    run = gpop.run(program, iterations=23)
    assert run.iterations == 23
    assert run.trace.column("iteration").tolist() == list(range(16, 23))


def test_unknown_column():
    with pytest.raises(gpop.UsageError, match="no column 'fronteir': expected one of iteration, frontier"):
        Trace().column("fronteir")


def test_extend_copies():
    rows = np.zeros((1, 9))
    trace = Trace()
    trace.extend(rows)
    rows[:] = 7
    assert trace[0]["frontier"] == 0


@pytest.mark.parametrize("mode", ["sc", "pc", "auto"])
def test_columns_add_up(mode):
    program = Smallest(GRAPH)
    program.label = np.random.default_rng(2).permutation(GRAPH.n)
    wanted = interpret(program)
    run = run_smallest(mode=mode, counters=True)
    trace, counters = run.trace, run.counters
    assert len(trace) == run.iterations == wanted["iterations"]
    assert trace.column("iteration").tolist() == list(range(run.iterations))
    assert trace.column("frontier").tolist() == wanted["sizes"]
    assert trace.column("active_edges").tolist() == wanted["edges"]
    assert trace.column("messages").sum() == counters["messages_sc"] + counters["messages_pc"]
    sc, pc = trace.column("partitions_sc"), trace.column("partitions_pc")
    assert np.all(sc + pc >= 1)
    assert np.all(sc + pc <= run.partitions)
    assert sc.sum() == 0 if mode == "pc" else pc.sum() == 0 if mode == "sc" else pc[0] > 0
    assert sc[0] + pc[0] == run.partitions  # every vertex was active
    assert np.all(trace.column("bytes") > 0)
    assert np.all(trace.column("scatter_seconds") > 0)
    assert np.all(trace.column("gather_seconds") > 0)


def test_json(trace, tmp_path):
    trace.save(tmp_path / "trace.json")
    back = json.loads((tmp_path / "trace.json").read_text())
    assert back == {"run": {"program": "Made", "threads": 3}, "iterations": list(trace)}


@pytest.mark.parametrize("path", ["trace.csv", "with space.csv", "two.dots.csv"])
def test_csv(trace, tmp_path, path):
    trace.save(str(tmp_path / path))
    with (tmp_path / path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    back = [
        {name: type(record[name])(row[name]) for name in COLUMNS}
        for row, record in zip(rows, trace, strict=True)
    ]
    assert back == list(trace)


@pytest.mark.parametrize("suffix, start", [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_plot(tmp_path, suffix, start):
    pytest.importorskip("matplotlib")
    run_smallest().trace.save(tmp_path / f"trace.{suffix}")
    assert (tmp_path / f"trace.{suffix}").read_bytes().startswith(start)
    Trace().save(tmp_path / f"empty.{suffix}")
    assert (tmp_path / f"empty.{suffix}").read_bytes().startswith(start)


def test_plot_says_what_it_shows(tmp_path, monkeypatch):
    """A title, a unit on every axis, and no legend over the bars."""
    figures = []
    figure = pytest.importorskip("matplotlib.figure").Figure
    monkeypatch.setattr(figure, "savefig", lambda self, path, format: (figures.append(self), path.touch()))
    trace = gpop.bfs(
        gpop.load(Path(__file__).resolve().parents[2] / "data/road.bin"), 0, method="messages", threads=2
    ).trace
    trace.save(tmp_path / "trace.png")
    (drawn,) = figures
    drawn.draw_without_rendering()
    assert drawn.get_suptitle() == "BFS on road, mode auto, 2 threads"
    for axes, unit in zip(drawn.axes, ("active", "partitions", "time, ms"), strict=True):
        assert axes.get_ylabel() == unit
        legend, inside = axes.get_legend().get_window_extent(), axes.get_window_extent()
        assert legend.x0 >= inside.x1


def test_empty_trace(tmp_path):
    trace = run_smallest(frontier=[]).trace
    assert (len(trace), list(trace), trace.seconds) == (0, [], 0)
    assert trace.column("frontier").size == 0
    trace.save(tmp_path / "trace.csv")
    assert (tmp_path / "trace.csv").read_text().splitlines() == [",".join(COLUMNS)]


@pytest.mark.parametrize("name", ["trace.txt", "trace", "trace.json.gz"])
def test_unknown_suffix(trace, tmp_path, name):
    with pytest.raises(gpop.UsageError, match=r"expected one of \.json, \.csv, \.png, \.svg, \.pdf$"):
        trace.save(tmp_path / name)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("suffix", [".json", ".csv"])
def test_a_failed_write_leaves_the_old_file(trace, tmp_path, suffix, monkeypatch):
    path = tmp_path / f"trace{suffix}"
    path.write_text("old")
    half = Trace({"run": 1})
    half.extend(np.ones((2, 9)))
    monkeypatch.setattr(Trace, "__iter__", lambda self: iter([self[0], {"unexpected": object()}]))
    with pytest.raises((TypeError, ValueError)):
        half.save(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [path.name]


def test_plots_load_only_when_asked_for(tmp_path):
    code = (
        "import sys, gpop.plan.trace as t; trace = t.Trace(); trace.save(sys.argv[1]);"
        "assert not {'matplotlib', 'cupy', 'numba'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run(
        [sys.executable, "-c", code, tmp_path / "trace.csv"], check=True, timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip


@pytest.mark.parametrize("suffix", ["json", "csv", "png"])
def test_a_file_that_cannot_be_written_is_called_by_its_name(suffix, tmp_path):
    path = tmp_path / f"taken.{suffix}"
    path.mkdir()
    with pytest.raises(gpop.GraphFileError, match=rf"/taken\.{suffix}: cannot be written: Is a directory$"):
        Trace({"threads": 1}).save(path)
    assert [*tmp_path.iterdir()] == [path]
