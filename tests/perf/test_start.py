"""``python -m perf start``: first and later runs of commands, in processes that keep what they compile."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from perf import start
from perf.__main__ import main

DATA = Path(__file__).resolve().parents[2] / "data"


def test_the_first_run_compiles_and_later_ones_load(capsys):
    assert main(["start", str(DATA / "karate.bin"), "--apps", "coloring", "--rounds", "1"]) == 0
    told = capsys.readouterr().out
    row = re.search(r"^karate +coloring +(\S+) +(\S+) +(\S+) +(\S+)$", told, re.MULTILINE)
    first, processor, later, loop = map(float, row.groups())
    assert min(first, processor, later) > 0 and loop > 0
    assert re.search(r"^first runs above 5 s: ", told, re.MULTILINE)


def test_what_a_process_is_told(monkeypatch, tmp_path):
    """It may keep bytecode, and keeps kernels in the folder that it is given."""
    asked = []

    def run(command, env, **options):
        asked.append((command, env))
        told = json.dumps({"seconds": {"rounds": [1.0, 3.0, 2.0]}})
        return subprocess.CompletedProcess(command, 0, told, "")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    first, later = start.started("katz", tmp_path / "g.bin", 2)
    (command, told), *others = asked
    assert command[2:] == ["gpop.apps.katz", str(tmp_path / "g.bin"), "--alpha", "0.001", "--json"]
    assert "PYTHONDONTWRITEBYTECODE" not in told
    assert told["NUMBA_CACHE_DIR"] == told["XDG_CACHE_HOME"] != ""
    assert others == [(command, told)] * 2 and len(later) == 2 and first.loop == 2.0


@pytest.mark.slow
def test_an_app_without_weights_gets_some(capsys):
    assert main(["start", str(DATA / "karate.bin"), "--apps", "sssp", "--rounds", "1"]) == 0
    assert "karate  sssp" in capsys.readouterr().out


def test_what_is_refused(capsys):
    assert main(["start", str(DATA / "karate.bin"), "--apps", "bfs,walk"]) == 2
    assert "'walk': expected some of betweenness,bfs" in capsys.readouterr().err
    assert main(["start", str(DATA / "karate.bin"), "--rounds", "0"]) == 2
    assert "--rounds 0: expected 1 or more" in capsys.readouterr().err
