"""The kernels of the GAP suite: its sources, its trials, verified results, and its programs beside."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from perf import gap
from perf.__main__ import main
from perf.gap_kernels import KERNELS, wrong_distances
from perf.gap_sources import sources

DATA = Path(gpop.__file__).resolve().parents[1] / "data"


def test_sources_are_those_of_the_suite():
    """What its programs print (``bc -f g.sg -i4 -n3 -l``) for 2**20 vertices, most of them with out-edges."""
    drawn = list(islice(sources(np.ones(1 << 20, np.uint32)), 200))
    later = iter(drawn)  # vertices without out-edges were left out there
    assert all(source in later for source in (476816, 970958, 95700, 1014, 109454, 653458))
    assert min(drawn) >= 0 and max(drawn) < 1 << 20
    degree = np.zeros(1000, np.uint32)
    degree[[3, 77]] = 1
    assert set(islice(sources(degree), 50)) == {3, 77}
    with pytest.raises(gpop.UsageError, match="no edges"):
        next(sources(np.zeros(4)))


def table(out: str) -> list[list[str]]:
    """Rows of the table that was printed."""
    return [line.split() for line in out.split("before s", 1)[1].splitlines()[1:]]


def test_the_table(capsys):
    graphs = ["rmat:scale=7,degree=8", str(DATA / "karate.bin")]
    assert main(["gap", *graphs, "--trials", "3", "--threads", "2"]) == 0
    rows = table(capsys.readouterr().out)
    assert [row[:2] for row in rows] == [
        [graph, kernel] for graph in ("rmat-scale7-degree8", "karate") for kernel in KERNELS
    ]
    assert {row[2] for row in rows} == {"3"}
    assert all(float(row[3]) >= float(row[4]) > 0 for row in rows)


def test_trials_by_the_rules():
    assert {name: (kernel.trials, kernel.roots) for name, kernel in KERNELS.items()} == {
        "bfs": (64, 1), "sssp": (64, 1), "pr": (16, 0), "cc": (16, 0), "bc": (16, 4), "tc": (16, 0),
    }  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_a_wrong_result_ends_it(name, monkeypatch):
    graph = gap.with_weights(generate("rmat", scale=7, degree=8, seed=1, symmetrize=True))
    kernel = KERNELS[name]
    wrong = {
        "bfs": ("level", lambda level: np.where(level == 2, 3, level)),
        "sssp": ("distance", lambda distance: distance + (distance > 20)),
        "pr": ("rank", lambda rank: rank[::-1]),
        "cc": ("label", lambda label: label + (label == 0).astype(np.uint32)),
        "bc": ("score", lambda score: score * 1.001),
        "tc": ("count", lambda count: count + 1),
    }
    field, change = wrong[name]

    def call(*arguments):
        result = kernel.call(*arguments)
        return replace(result, **{field: change(getattr(result, field))})

    monkeypatch.setitem(KERNELS, name, replace(kernel, call=call))
    given = argparse.Namespace(trials=2, threads=1, rounds=1, seed=gap.SEED)
    with pytest.raises(gpop.GpopError, match=f"^{name} on "):
        gap.measure(name, graph, given, None, Path(), None)


def test_two_trials_that_differ_end_it(monkeypatch):
    graph, kernel = generate("rmat", scale=7, degree=8, seed=1, symmetrize=True), KERNELS["tc"]
    counts = iter([0, 0, 0, 0, 0, 1])  # the first call, one that is verified, then two a trial

    def call(*arguments):
        result = kernel.call(*arguments)
        return replace(result, count=result.count + next(counts))

    monkeypatch.setitem(KERNELS, "tc", replace(kernel, call=call))
    given = argparse.Namespace(trials=3, threads=1, rounds=1, seed=gap.SEED)
    with pytest.raises(gpop.GpopError, match="^tc on .*: two trials differ"):
        gap.measure("tc", graph, given, None, Path(), None)


@pytest.mark.parametrize("weights", [(1, 255), (0, 3)])
def test_distances_are_proved(weights):
    graph = generate("rmat", scale=7, degree=8, seed=1, weights=weights)
    source = int(np.argmax(graph.out_degree))
    result = gpop.sssp(graph, source)
    assert wrong_distances(graph, result, source) is None
    reached = np.flatnonzero(result.reached & (result.distance > 0))
    for vertex, by in ((reached[0], 1), (reached[-1], -1)):
        distance = result.distance.copy()
        distance[vertex] += np.array(by).astype(distance.dtype)
        assert wrong_distances(graph, replace(result, distance=distance), source)


PROGRAM = """#!/bin/sh
echo "$0 $@ $OMP_NUM_THREADS" >> "$(dirname "$0")/calls"
for i in 1 2; do echo "Trial Time:          0.00500"; done
"""


@pytest.fixture
def programs(tmp_path):
    """A folder with stand-ins for the suite's programs, which say that each of two trials took 5 ms."""
    for name in KERNELS:
        (tmp_path / name).write_text(PROGRAM)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def test_the_suites_programs_take_turns(programs, capsys, monkeypatch):
    compared = []

    def quarter(ours, theirs, rounds):
        compared.append((len(ours), theirs, rounds))
        return 0.25

    monkeypatch.setattr(gap, "DELTAS", (1, 8))
    monkeypatch.setattr(gap, "ratio_in_turns", quarter)
    monkeypatch.setattr(gap.Suite, "best_delta", lambda self, path: 8)
    command = ["gap", str(DATA / "karate.bin"), "--gapbs", str(programs), "--trials", "2", "--rounds", "3"]
    assert main([*command, "--threads", "2"]) == 0
    rows = table(capsys.readouterr().out)
    assert {(row[2], row[6], row[7]) for row in rows} == {("6", "5.000", "0.25")}
    assert compared == [(6, [0.005] * 6, 3)] * len(KERNELS)
    calls = (programs / "calls").read_text().splitlines()
    assert len(calls) == 3 * len(KERNELS) and all(call.endswith(" 2") for call in calls)
    said = dict.fromkeys(KERNELS, "")
    for call in calls:
        said[Path(call.split()[0]).name] = re.sub(r"\S*/", "", call)
    assert "-f sssp.wsg -n 2 -d 8" in said["sssp"] and "-f bc.sg -n 2 -i 4" in said["bc"]
    assert "-i 1000 -t 0.0001" in said["pr"]


def test_the_best_delta_is_taken(programs, monkeypatch):
    seconds = {"1": 3.0, "2": 1.0, "4": 2.0}
    monkeypatch.setattr(gap, "DELTAS", (1, 2, 4))
    monkeypatch.setattr(
        gap.Suite, "seconds", lambda self, kernel, path, trials, flag, delta: trials * [seconds[delta]]
    )
    assert gap.Suite(programs, 1).best_delta(Path("g.wsg")) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--kernels", "bfs,dfs"], "'dfs': expected some of bfs,sssp"),
        (["--trials", "0"], "'0': expected a whole number from 1 on"),
        (["--delta", "1,2"], "--delta has 2 numbers: expected 1, or 1"),
        (["--gapbs", "none"], "--gapbs none: there is no program bfs"),
        (["--gapbs", "none", "--seed", "1"], "--seed: GAPBS has one of its own"),
    ],
)
def test_errors(words, said, capsys):
    try:
        assert main(["gap", str(DATA / "karate.bin"), *words]) == 2
    except SystemExit as leave:
        assert leave.code == 2
    assert said in capsys.readouterr().err
