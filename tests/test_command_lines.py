"""Output that nobody reads or that cannot be written: every command line ends in order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpop import __main__ as listing
from gpop.common.command import CLOSED_PIPE, exit_code
from perf.__main__ import COMMANDS
from tests.quick import quick

ROOT = Path(__file__).resolve().parents[1]
GRAPH = "data/karate.bin"
LINES = {
    "list": ["gpop"],
    "app": ["gpop.apps.bfs", GRAPH, "--source", "0", "--rounds", "1"],
    "help of an app": ["gpop.apps.pagerank", "--help"],
    "info": ["gpop.info", GRAPH],
    "compare": ["gpop.compare", GRAPH, "--apps", "bfs", "--modes", "sc", "--targets", "cpu", "--rounds", "1"],
    "convert": ["gpop.convert", GRAPH, "OUT.el"],
    "generate": ["gpop.generate", "chain", "--vertices", "9", "OUT.bin"],
    "help of generate": ["gpop.generate", "rmat", "--help"],
    "perf": ["perf"],
    "help of perf": ["perf", "bench", "--help"],
    "perf list": ["perf", "list", "graphs", "--store", "OUT.db"],
}


FILES = {
    "app": ([*LINES["app"], "--output", "OUT.csv", "--trace", "OUT.json"], ["OUT.csv", "OUT.json"]),
    "info": ([*LINES["info"], "--plot", "OUT.svg"], ["OUT.svg"]),
    "compare": ([*LINES["compare"], "--output", "OUT.json"], ["OUT.json"]),
}
"""Commands that write files beside the text, and which."""


def start(words, output, tmp_path, unbuffered=False):
    """``python -m`` with standard output going there; the process when it is over."""
    if words[1:2] == ["list"]:
        subprocess.run(
            [sys.executable, "-m", "perf", "add", "--store", tmp_path / "OUT.db", "graphs", "x", GRAPH],
            check=True, cwd=ROOT, timeout=120,
        )  # fmt: skip
    words = [word.replace("OUT", str(tmp_path / "OUT")) for word in words]
    environment = os.environ | {"PYTHONUNBUFFERED": "1" if unbuffered else ""}
    return subprocess.run(
        [sys.executable, "-m", *words], stdout=output, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env=environment, timeout=240,
    )  # fmt: skip


SOME = quick(LINES, "list", "app", "perf list")


@pytest.mark.parametrize("case", SOME)
def test_a_reader_that_has_gone(case, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = start(LINES[case], writing, tmp_path)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (CLOSED_PIPE, "")


@pytest.mark.parametrize("case", quick(FILES, "app"))
def test_files_are_there_though_the_reader_has_gone(case, tmp_path):
    words, files = FILES[case]
    if case == "info":
        pytest.importorskip("matplotlib")
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = start(words, writing, tmp_path, unbuffered=True)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (CLOSED_PIPE, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == files


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("case", SOME)
def test_a_full_device(case, tmp_path):
    with open("/dev/full", "w") as full:
        done = start(LINES[case], full, tmp_path)
    assert (done.returncode, done.stderr) == (2, "gpop: the output: No space left on device\n")


def test_output_that_is_closed(tmp_path):
    done = subprocess.run(
        f"{sys.executable} -m gpop >&-", shell=True, cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-"])
def test_errors_that_cannot_be_told(where, unbuffered):
    """What is left in a buffer Python writes when it ends, and then the code would be 120."""
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    command = f"{sys.executable} -m gpop.info nowhere.bin {where}"
    done = subprocess.run(command, shell=True, cwd=ROOT, env=environment, timeout=120)
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (FileNotFoundError(2, "No such file or directory", "a.txt"), "a.txt: No such file or directory"),
        (MemoryError("300 GiB"), "not enough memory: 300 GiB"),
        (MemoryError(), "not enough memory"),
    ],
)
def test_errors_of_the_system_are_one_line(error, line, capfd):
    def work():
        raise error

    assert exit_code(work) == 2
    assert capfd.readouterr().err == f"gpop: {line}\n"


def test_every_command_is_listed(capsys):
    assert listing.main([]) == 0
    out = capsys.readouterr().out
    others = [line.split() for line in out.splitlines() if line.startswith("  gpop ")]
    listed = {words[1] for words in others} - {"completion", "--version"}
    package = ROOT / "gpop"
    runnable = {path.stem for path in package.glob("*.py") if "def main(" in path.read_text()} - {"__main__"}
    runnable |= {path.parent.name for path in package.glob("*/__main__.py")}
    assert listed == runnable == {"compare", "constants", "convert", "generate", "info", "tune", "warm"}
    told = [line for line in out.splitlines() if line.startswith("  ")]
    assert len(told) > 10 and not any(line.endswith(("``", ":")) for line in told)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_module_of_perf_ends_like_this(command):
    """Its work is done inside `exit_code`, the parsing of its arguments included."""
    source = (ROOT / COMMANDS[command][0].replace(".", "/")).with_suffix(".py").read_text()
    assert "return exit_code(" in source
