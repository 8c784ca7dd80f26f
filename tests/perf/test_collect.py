"""``perf/collect.sh``: what is there is kept, what is missing is measured, figures have what time is left."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "perf" / "collect.sh"

FAKE = """#!/bin/sh
# Stands in for Python: notes the command, and writes what it would.
shift 2
echo "$*" >>"$NOTES"
command=$1
while [ $# -gt 0 ]; do
  case $1 in
    --out) echo "$command" >"$2" ;;
    --folder) mkdir -p "$2"; echo drawn >>"$2/perf.db" ;;
  esac
  shift
done
[ "$command" = figures ] && echo "$SAYS"
exit 0
"""


@pytest.fixture
def collect(tmp_path):
    python = tmp_path / "python"
    python.write_text(FAKE)
    python.chmod(0o755)
    notes = tmp_path / "notes"

    def run(*arguments, says="9 runs stored", seconds="100"):
        notes.write_text("")
        told = {"PYTHON": str(python), "NOTES": str(notes), "SAYS": says, "SECONDS_IN_ALL": seconds}
        done = subprocess.run([SCRIPT, *arguments], env=os.environ | told, capture_output=True, check=False)
        commands = [line for line in notes.read_text().splitlines() if "--scale 10 " not in line]
        return done.returncode, commands

    return run


def stored(out):
    with tarfile.open(out / "figures.tar.gz") as packed:
        return packed.extractfile("figures/perf.db").read().decode().split()


def test_everything_is_measured_once_and_figures_go_on(collect, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    code, commands = collect(first, says="9 runs stored, 3 left for the next call")
    assert code == 1 and [line.split()[0] for line in commands] == ["gpu", "scaling", "machine", "figures"]
    assert "--budget 0." in commands[3]  # of the 100 seconds, less those for drawing
    assert {path.name for path in first.iterdir()} == {
        "gpu.txt", "scaling.txt", "machine.txt", "figures.tar.gz", "log.txt"
    }  # fmt: skip
    code, commands = collect(second, first)
    assert code == 0 and [line.split()[0] for line in commands] == ["figures"]
    assert stored(first) == ["drawn"] and stored(second) == ["drawn", "drawn"]


def test_without_time_nothing_is_begun(collect, tmp_path):
    code, commands = collect(tmp_path / "out", seconds="3")
    assert code == 1 and [line.split()[0] for line in commands] == ["figures"]
    assert "--budget 0 " in commands[0] + " "
