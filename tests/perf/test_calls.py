"""``python -m perf calls``: every app, call and loop told apart, beside a peer that is given by path."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpop.warm import apps
from perf import calls
from perf.__main__ import main
from perf.gap import Measured
from perf.gap_kernels import KERNELS

DATA = Path(__file__).resolve().parents[2] / "data"

OF_SUITE = {"betweenness": "bc", "pagerank": "pr", "triangles": "tc"}


def test_every_app_is_there():
    assert {OF_SUITE.get(name, name) for name in apps()} == set(calls.NAMES)


def test_a_row_tells_call_and_loop_apart():
    found = Measured("bfs", "g", [4e-3, 2e-3, 3e-3], [6e-3, 1e-9, 1.0], 0.1, loops=[1e-3, 1.5e-3, 1e-3])
    row = calls.row(found, 6e-5, 4).split()
    assert row == ["g", "bfs", "3", "3.000", "1.000", "2000", "60", "6.000", "0.50"]
    short = Measured("bfs", "g", [1e-4], [2e-5], 0.1, loops=[5e-5])
    assert calls.row(short, 1.91e-5, 4).split()[-2:] == ["0.020", "5.00*"]
    assert calls.row(short, 1.89e-5, 4).split()[-2:] == ["0.020", "5.00"]
    none = Measured("bfs", "g", [1e-4], [0.0], 0.1, loops=[5e-5])  # the peer's clock shows nothing
    assert calls.row(none, 6e-5, 4).split()[-2:] == ["0.000", "*"]


@pytest.mark.parametrize("name", calls.NAMES)
def test_every_app_can_be_called_on_one_edge(name, monkeypatch):
    monkeypatch.setattr(calls, "LEAST_CALLS", 2)
    assert calls.least_call(name, 1) > 0


@pytest.fixture
def suite(tmp_path):
    """Programs that say what those of GAPBS say: ten seconds a trial."""
    for name in KERNELS:
        program = tmp_path / name
        program.write_text(
            "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ $1 = -n ] && n=$2; shift; done\n"
            "for i in $(seq $n); do echo 'Trial Time:          10.0'; done\n"
        )
        program.chmod(0o755)
    return tmp_path


def test_the_table_beside_a_peer(suite, capsys):
    """Also of a graph with weights, which the suite's cc has no use for."""
    arguments = [str(DATA / "lesmis.bin"), "--apps", "cc,coloring", "--gapbs", str(suite)]
    assert main(["calls", *arguments, "--trials", "2", "--rounds", "2"]) == 0
    told = capsys.readouterr().out
    rows = [line.split() for line in told.splitlines() if line.startswith("lesmis")]
    assert [row[1:3] for row in rows] == [["cc", "4"], ["coloring", "4"]]
    assert rows[0][-2:] == ["10000.000", "0.00"] and len(rows[1]) == 7
    assert re.search(r"^0 of 1 above the bar; worst 0\.00$", told, re.MULTILINE)


def test_what_is_unknown_is_refused(capsys, tmp_path):
    assert main(["calls", "grid:width=3", "--apps", "bfs,walk"]) == 2
    assert "'walk': expected some of bfs,sssp" in capsys.readouterr().err
    assert main(["calls", "grid:width=3,height=3", "--gapbs", str(tmp_path)]) == 2
    assert "there is no program bfs" in capsys.readouterr().err
