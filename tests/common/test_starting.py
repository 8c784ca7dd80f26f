"""Ctrl-C while a command is still importing: one line, and elsewhere what Python does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from gpop.common import starting
from gpop.common.command import exit_code
from tests.versions import ROOT

INTERRUPTED = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
except BaseException:
    raise TypeError("what an import in C makes of it")
"""
"""In place of NumPy, which every command imports, or of another module."""

CONSOLE = "import sys; sys.argv[0] = '/usr/bin/gpop'; from gpop.__main__ import main; sys.exit(main())"


def interrupted(folder, *command, module="numpy"):
    (folder / f"{module}.py").write_text(INTERRUPTED)
    path = {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    return subprocess.run(
        [sys.executable, *command], env=os.environ | path, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("module", ["numpy", "typing"])  # late, and as early as can be
@pytest.mark.parametrize(
    "command", [("-m", "gpop.apps.bfs"), ("-m", "gpop", "bfs"), ("-c", CONSOLE, "bfs")], ids=" ".join
)
def test_a_command_says_so_in_one_line(command, module, tmp_path):
    done = interrupted(tmp_path, *command, "x.bin", module=module)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "gpop: interrupted\n")


@pytest.mark.parametrize("code", ["import gpop; gpop.Graph", "import gpop.apps.bfs"])
def test_in_a_program_of_ones_own_it_is_raised(code, tmp_path):
    done = interrupted(tmp_path, "-c", code)
    assert done.returncode == 1 and "KeyboardInterrupt" in done.stderr


ENDING = """
import atexit, gc, os, signal, sys
sys.argv[0] = "/usr/bin/gpop"
from gpop.common import command
from gpop.common.errors import UsageError
def kill(*_):
    os.kill(os.getpid(), signal.SIGINT)
def fails():
    raise UsageError("something")
"""


@pytest.mark.parametrize(
    "code",
    [
        "command._escape_on_output = kill; command.exit_code(list)",
        "command.exit_code(fails, kill)",
        "atexit.register(kill); command.exit_code(list)",
        "command.exit_code(kill); kill()",
    ],
    ids=["before the work", "while an error is told", "in what is done at exit", "a second time"],
)
def test_one_before_or_after_the_work_is_one_line_as_well(code):
    """It had been a traceback, and the process had died of the signal, not ended with a code."""
    done = subprocess.run(
        [sys.executable, "-c", ENDING + code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 130 and {*done.stderr.splitlines()} == {"gpop: interrupted"}


def test_one_while_python_takes_itself_apart_changes_nothing():
    """It had killed the process, which had done all of its work."""
    code = """
class Last:
    def __del__(self, kill=os.kill, process=os.getpid(), number=signal.SIGINT, write=os.write):
        kill(process, number)
        write(1, b"taken apart")
last = Last()
atexit.register(gc.unfreeze)  # else it is not, since commands leave that out
sys.exit(command.exit_code(list))
"""
    done = subprocess.run(
        [sys.executable, "-c", ENDING + code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "taken apart", "")


@pytest.fixture
def handler():
    before = signal.getsignal(signal.SIGINT)
    yield signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGINT, before)


def test_a_command_that_has_begun_raises_it_again(handler):
    starting.begin()
    assert signal.getsignal(signal.SIGINT) is starting._leave
    assert exit_code(lambda: signal.getsignal(signal.SIGINT) is not signal.default_int_handler) == 0


def test_who_looks_after_interrupts_goes_on_doing_so(handler):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    starting.begin()
    starting.over()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.parametrize(
    "argv, whole, expected",
    [
        (["-m"], ["python", "-m", "gpop.apps.bfs", "x"], True),
        (["-m"], ["python", "-X", "dev", "-m", "gpop"], True),
        (["-m"], ["python", "-m", "perf", "bench"], False),
        (["-m"], ["python", "-mgpop"], False),
        (["/usr/bin/gpop"], ["python", "/usr/bin/gpop"], True),
        (["gpop.py"], ["python", "gpop.py"], False),
    ],
)
def test_what_a_command_is(argv, whole, expected, monkeypatch):
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", whole)
    assert starting.is_command("gpop") is expected
