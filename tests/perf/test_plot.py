"""``perf plot``: every picture and table from a small store; numbers are those of the log."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest

from gpop.common.errors import UsageError
from gpop.learn.steps import example
from gpop.model.features import FEATURES, OF_GRAPH
from gpop.model.trees import stump
from perf.__main__ import main
from perf.pictures import level_bars, level_heat
from perf.pictures.latex import tabular
from perf.pictures.log_sheet import LogSheet
from perf.plot import PICTURES
from perf.register import register_graphs, register_run_config, register_strategies
from perf.steps import Log
from perf.store import Store

SECONDS = {  # graph: mode: steps
    "chain:vertices=40": {"sc": [1, 1, 2], "pc": [4, 5, 4], "pull": [9, 9, 3], "auto": [1, 1, 2.5]},
    "star:vertices=50": {"sc": [2, 8], "pc": [3, 4], "pull": [7, 1], "auto": [2.5, 1.5]},
}


@pytest.fixture
def path(tmp_path):
    """A store with a log as run-benchmarks would have left it."""
    with Store(tmp_path / "perf.db") as store:
        graphs = register_graphs(store, "small", SECONDS)
        register_strategies(store, "bfs")
        register_run_config(store, "bfs", "small", threads=1, repeats=1)
        by_path = {row["path"]: row["name"] for row in store.rows("SELECT path, name FROM Graph")}
        for place, spec in enumerate(SECONDS):
            told = dict.fromkeys(OF_GRAPH, 1.0) | {"vertices": 40.0 + place, "edges": 90.0}
            store.record_graph(graphs[by_path[spec]], {"hash": "h", "properties": told})
        for job in store.rows("SELECT * FROM Missing"):
            flags = json.loads(job["implFlags"])
            known = SECONDS[job["path"]]
            if job["variant"] != "hub" or flags.get("mode") not in known or "model" in flags:
                continue
            seconds = known[flags["mode"]]
            same = {
                name: [float(i + 1) for i in range(len(seconds))]
                for name in ("frontier", "active_edges", "messages")
            }
            step = dict.fromkeys(FEATURES[len(OF_GRAPH) :], [0.5] * len(seconds))
            algorithm = store.find("Algorithm", name="bfs")
            store.record_variant(job["variantId"], algorithm, {"hash": None, "steps": step})
            done = {"version": "v", "hash": None, "fault": None, "error": None, "totals": {}}
            steps = {"iteration": [[float(second) for second in seconds]]}
            store.record_run(job, done | {"steps": steps, "values": same})
    return tmp_path / "perf.db"


def test_plots(path, tmp_path, capsys):
    folder = tmp_path / "plots"
    assert main(["plot", "--store", str(path), "--folder", str(folder)]) == 0
    assert "7 figures and tables; 5 steps of 2 variants on 2 graphs of 1 families" in capsys.readouterr().out
    index = (folder / "index.md").read_text()
    named = set(re.findall(r"\]\(([^)]+)\)", index))
    assert named == {path.name for path in folder.iterdir()} - {"index.md"}
    assert {name.rsplit(".", 1)[0] for name in named} == set(PICTURES)
    assert index.count("**Here:**\n\n- ") == len(PICTURES)
    # the optimum is 4 and 3, sc takes 4 and 10, auto 4.5 and 4
    lines = (folder / "aggregate.csv").read_text().splitlines()
    rows = {row[0]: row[1:] for row in csv.reader(lines)}
    assert rows["sc"] == ["2.00", "2.17", "50%", "0%", "0%", "3.33"]
    assert rows["auto"][0] == "1.21" and rows["best fixed"][0] == "1.57" and rows["oracle"][0] == "1.00"
    assert "the best strategy of each variant takes 1.57 times" in index
    assert (
        "the best over all, 2.00." in index
        and "auto takes 1.21: the best fixed strategies take 1.29 times" in index
    )
    assert "another one than in the step before in 1 of 3 steps, and in 1 of 2 variants" in index
    assert "Of 2 variants the fastest is pc in 1, pull in 0, sc in 1." in index
    assert "| sc best to the optimum | chain-vertices40, hub | 1 |" in index
    assert r"sc best to the optimum & chain-vertices40, hub & 1 \\" in (folder / "report.tex").read_text()
    assert r"pull & 4.14 & 3.96 & 0\% &" in (folder / "aggregate.tex").read_text()


def sheet_of(folder, **options):
    steps = example()
    log = Log(steps, 0, "v", "machine", 1, {}, {1: "road, hub", 2: "web, hub"}, "bfs", "cpu")
    return LogSheet(folder, [], log, **options)


def test_times_of_trees_and_of_every_step(tmp_path):
    sheet = sheet_of(tmp_path, trees={"mine": stump("edges rel", 0.1, "pull", "sc")})
    assert {name: run.tolist() for name, run in sheet.beside.items()} == {
        "sc": [10, 1], "pull": [7, 6], "mine": [14, 6], "best fixed": [7, 1],
    }  # fmt: skip
    ratios = level_heat.ratios_of(sheet, sheet.steps.seconds[:, 0])
    assert np.array_equal(ratios, [[1, 4.5], [1, np.nan]], equal_nan=True)
    assert "in 1 of 1 steps, and in 1 of 2 variants" in level_bars.sentence(sheet)
    assert sheet_of(tmp_path, most=1).chosen == [0]


def test_what_cannot_be_drawn(tmp_path):
    with pytest.raises(UsageError, match="no graph of the log has 9 vertices and 0 edges"):
        sheet_of(tmp_path, least=(9, 0))
    with pytest.raises(UsageError, match="model 'sc': expected another name than that of a strategy"):
        sheet_of(tmp_path, trees={"sc": stump("edges rel", 0.1, "pull", "sc")})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--least-vertices", "99"], "no graph of the log has 99 vertices and 0 edges"),
        (["--models", "none"], "no model 'none'"),
        (["--app", "cc"], "no steps of cc on target cpu"),
        (["--variants", "0"], "expected --variants from 1 on"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(path, tmp_path, capsys, options, message):
    folder = tmp_path / "plots"
    assert main(["plot", "--store", str(path), "--folder", str(folder), *options]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and not folder.exists()


def test_signs_in_latex():
    text = tabular(["a & b", "x_1"], [["50% of #1", "2^3 {~} \\ $<"]])
    assert r"a \& b & x\_1 \\" in text
    signs = r"2\textasciicircum{}3 \{\textasciitilde{}\} \textbackslash{} \$\textless{}"
    assert rf"50\% of \#1 & {signs} \\" in text
