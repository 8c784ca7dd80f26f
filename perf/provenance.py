"""The head of every result: which command wrote it, when, of which code, on what machine, what versions.

One line each, `HEAD` in this order (``device`` where a GPU was used), then an empty line and what the command
printed. `written` makes a file that way, so that no result needs a word typed by hand:

    python -m perf scaling --scale 22 --out perf/results/scaling.txt

The commit is git's, "modified" where tracked files but results and tables differ from it. A tree without git
says so; a commit that ``GPOP_COMMIT`` tells is named as told. The digest of the sources says in any case
whether two results are of the same code. Paths are given without their folders.
How far cores are apart (core_distance.py) is measured when a command begins.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from gpop.common.memory import readable
from gpop.common.replacing import replacing
from perf import core_distance
from perf.hardware import facts
from perf.implementations import gpop_version
from perf.store import now

ROOT = Path(__file__).resolve().parents[1]
HEAD = ("command", "date", "code", "machine", "device", "versions")
LIBRARIES = ("numpy", "numba", "scipy")
CUPY = ("cupy-cuda13x", "cupy-cuda12x", "cupy")
WIDTH = 10
COMMIT = "GPOP_COMMIT"
NO_CODE = (":!perf/results", ":!gpop/learn/trees", ":!README.md", ":!docs/guide/modes.md")
"""What a command, or the one before it, may have written."""


def command_line(words: list[str]) -> str:
    """The command as it is told: without ``--out`` and without folders.

    Examples
    --------
    >>> command_line(["python", "-m", "perf", "gpu", "--graphs", "/tmp/a.txt,grid", "--out", "/tmp/x y"])
    'python -m perf gpu --graphs a.txt,grid'
    """
    words, told = iter(words), []
    for word in words:
        if word == "--out":
            next(words, None)
        elif not word.startswith("--out="):
            told.append(re.sub(r"(^|[=,:])/[^\s,]*/", r"\1", word))
    return shlex.join(told)


def commit(root: Path = ROOT) -> str:
    """What is known of the commit of a tree."""

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", root, *arguments], capture_output=True, text=True, check=False
            )
        except OSError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    top = git("rev-parse", "--show-toplevel")
    head = git("rev-parse", "HEAD") if top and Path(top).resolve() == root.resolve() else None
    if head:
        return f"commit {head[:12]}" + (
            ", modified" if git("status", "--porcelain", "--", ".", *NO_CODE) else ""
        )
    told = os.environ.get(COMMIT)
    return f"commit {told[:12]} as told, no git here" if told else "no git here"


def _installed(names: tuple[str, ...]) -> str | None:
    """The first of these that is there, with its version."""
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            return f"{name.partition('-')[0]} {importlib.metadata.version(name)}"
    return None


def device() -> str:
    """The GPU, with its driver and runtime."""
    from gpop.gpu.device import cupy, current_device

    runtime = cupy().cuda.runtime
    try:
        text = Path("/proc/driver/nvidia/version").read_text()
    except OSError:
        text = ""
    driver = re.search(r"\d+\.\d+(\.\d+)?", text)
    return (
        f"{current_device().name}, {current_device().multiprocessors} multiprocessors, "
        f"CUDA runtime {runtime.runtimeGetVersion()}, driver {driver[0] if driver else 'unknown'} "
        f"(CUDA {runtime.driverGetVersion()})"
    )


def versions() -> str:
    """Of Python and of what gpop computes with."""
    found = [f"Python {platform.python_version()}", *(_installed((name,)) for name in LIBRARIES)]
    return ", ".join(version for version in [*found, _installed(CUPY)] if version)


def head(words: list[str], gpu: bool = False) -> str:
    """The lines above a result."""
    told = facts()
    apart = core_distance.told()
    lines = {
        "command": command_line(words),
        "date": now(),
        "code": f"gpop {gpop_version()}, {commit()}",
        "machine": f"{told['processor']}, {told['usable cores']} usable cores of {told['cores']}, "
        f"L2 {readable(told['l2 bytes'])}, {f'{apart}, ' if apart else ''}"
        f"memory {readable(told['memory bytes'])}, {told['system']}",
        **({"device": device()} if gpu else {}),
        "versions": versions(),
    }
    return "\n".join(f"{name:{WIDTH}}{text}" for name, text in lines.items())


def read(text: str) -> tuple[dict[str, str], str]:
    """A result taken apart: its head by name, and what the command printed.

    Examples
    --------
    >>> read("command   a\\ndate      b\\n\\nc\\n")
    ({'command': 'a', 'date': 'b'}, 'c\\n')
    """
    above, _, below = text.partition("\n\n")
    lines = [(line[:WIDTH].rstrip(), line[WIDTH:]) for line in above.splitlines()]
    return {name: rest for name, rest in lines if name in HEAD}, below


class _Both(StringIO):
    """What is printed, kept."""

    def __init__(self, screen) -> None:
        super().__init__()
        self.screen = screen

    def write(self, text: str) -> int:
        self.screen.write(text)
        self.screen.flush()
        return super().write(text)


@contextlib.contextmanager
def written(out: Path | None, words: list[str], gpu: bool = False) -> Iterator[None]:
    """Print the head, then let the block print; in the end all of it goes to the file ``out``, if given.

    A block that fails leaves the file as it was.
    """
    if out is not None and not out.resolve().parent.is_dir():
        from gpop.common.errors import UsageError

        raise UsageError(f"--out {out}: there is no directory {out.parent}")
    both = _Both(sys.stdout)
    with contextlib.redirect_stdout(both):
        print(head(words, gpu), end="\n\n")
        yield
    if out is not None:
        with replacing(out) as temporary:
            temporary.write_text(both.getvalue())


def perf_command(name: str, argv: list[str]) -> list[str]:
    """The words of ``python -m perf NAME ...``."""
    return ["python", "-m", "perf", name, *argv]


if __name__ == "__main__":  # for commands that are no Python: print the head only
    print(head(sys.argv[2:], gpu=sys.argv[1] == "gpu"))
