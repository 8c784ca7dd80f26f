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
sys.path[:] = sys.argv[2:]
importlib.import_module(sys.argv[1]).entry()
"""
"""What the other process does: the module's ``entry`` compiles the kernel, or loads it."""

MOST_SECONDS = 60.0
"""After so long the other one is not waited for."""

PAUSE = 0.01

_begun: dict[str, int] = {}
"""Process by module; 0 where there is none to wait for."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begun.clear)  # it is no child of the child


def begin(module: str, is_kept: Callable[[], bool]) -> None:
    """Have another process call ``entry`` of the module, which compiles a kernel, if it is not kept."""
    if module in _begun:
        return
    _begun[module] = 0
    if is_kept() or worker_count() < 2 or not _is_python():
        return
    silent = [(os.POSIX_SPAWN_OPEN, i, os.devnull, os.O_RDWR, 0) for i in range(3)]
    command = [sys.executable, "-c", CODE, module, *sys.path]
    with contextlib.suppress(OSError):
        _begun[module] = os.posix_spawn(sys.executable, command, os.environ, file_actions=silent)


def _is_python() -> bool:
    name = Path(sys.executable or "").name
    return hasattr(os, "posix_spawn") and not hasattr(sys, "frozen") and name.startswith("python")


def wait(module: str) -> None:
    """Return when the process that was begun for this module is done, or it takes too long."""
    process, begin = _begun.get(module), time.monotonic()
    while process and time.monotonic() - begin < MOST_SECONDS:
        try:
            done, _ = os.waitpid(process, os.WNOHANG)
        except ChildProcessError:  # somebody else has asked
            break
        if done:
            break
        time.sleep(PAUSE)
    if process:
        _begun[module] = 0
