"""A kernel that another process compiles while this one does something else: a first run waits less.

Numba compiles one function at a time in a process, whatever its threads. A kernel that is the same for every
program can be compiled by another process, which leaves it where kernels are kept (cached.py); this one
loads it from there when it needs it. If the other fails, or was never begun, the kernel is compiled here as
any other: nothing depends on it.

No process is begun where the kernel is kept already, on one core, or where ``sys.executable`` is not a Python
that takes ``-c`` (frozen programs, programs with a Python inside).
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from gpop.common.parallel import worker_count

CODE = """\
import importlib, sys
_, module, kernel, *sys.path[:] = sys.argv
importlib.import_module(module).entry(kernel)
"""
"""What the other process does: the module's ``entry`` compiles the kernel of this name, or loads it."""

MOST_SECONDS = 60.0
"""After so long the other one is not waited for."""

PAUSE = 0.01

_begun: dict[tuple[str, str], int] = {}
"""Process by module and kernel; 0 where there is none to wait for."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begun.clear)  # it is no child of the child


def begin(module: str, kernel: str, is_kept: Callable[[str], bool]) -> None:
    """Have another process call ``entry`` of the module, which compiles this kernel, if it is not kept."""
    if (module, kernel) in _begun:
        return
    _begun[module, kernel] = 0
    if is_kept(kernel) or worker_count() < 2 or not _is_python():
        return
    silent = [(os.POSIX_SPAWN_OPEN, i, os.devnull, os.O_RDWR, 0) for i in range(3)]
    command = [sys.executable, "-c", CODE, module, kernel, *sys.path]
    with contextlib.suppress(OSError):
        _begun[module, kernel] = os.posix_spawn(sys.executable, command, os.environ, file_actions=silent)


def _is_python() -> bool:
    name = Path(sys.executable or "").name
    return hasattr(os, "posix_spawn") and not hasattr(sys, "frozen") and name.startswith("python")


def wait(module: str, kernel: str) -> None:
    """Return when the process that was begun for this kernel is done, or it takes too long."""
    process, begin = _begun.get((module, kernel)), time.monotonic()
    while process and time.monotonic() - begin < MOST_SECONDS:
        try:
            done, _ = os.waitpid(process, os.WNOHANG)
        except ChildProcessError:  # somebody else has asked
            break
        if done:
            break
        time.sleep(PAUSE)
    if process:
        _begun[module, kernel] = 0
