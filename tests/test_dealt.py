"""Processes that take tests from one pile (tests/dealt.py): each is run once, and its outcome is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = """
import pytest

@pytest.mark.parametrize("number", range(20))
def test_some(number):
    assert number != 3
    if number == 5:
        pytest.skip("not today")

def test_sssp():
    pass
"""


def run(folder: Path, processes: int, **settings: str) -> tuple[list[str], list[list[str]]]:
    """All tests, and the lines of those that were run: outcome, seconds, name."""
    (folder / "tests").mkdir()
    (folder / "tests" / "test_pile.py").write_text(TESTS)
    pile = folder / "pile"
    pile.mkdir()
    plugins = ["-p", "tests.dealt", "-p", "no:xdist", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", "--rootdir", folder, "-c", os.devnull, *plugins]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "GPOP_PILE": str(pile), **settings}
    started = [
        subprocess.Popen([*command, "tests"], cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        for _ in range(processes)
    ]
    codes = [process.wait() for process in started]
    assert set(codes) <= {0, 1}, codes
    done = (pile / "done").read_text() if (pile / "done").exists() else ""
    return (pile / "all").read_text().splitlines(), [line.split() for line in done.splitlines()]


def test_each_is_run_once_by_one_of_them(tmp_path):
    names, done = run(tmp_path, 3)
    assert len(names) == 21
    assert names[0] == "tests/test_pile.py::test_sssp"  # long: first
    assert sorted(name for _, _, name in done) == sorted(names)
    outcomes = {name.partition("::")[2]: outcome for outcome, _, name in done}
    assert outcomes.pop("test_some[3]") == "failed"
    assert outcomes.pop("test_some[5]") == "skipped"
    assert {*outcomes.values()} == {"passed"}


def test_nothing_is_taken_when_time_is_over(tmp_path):
    names, done = run(tmp_path, 1, GPOP_PILE_SECONDS="0")
    assert (len(names), done) == (21, [])
