"""A kernel that another process compiles while this one does something else: a first run waits less.

Numba compiles one function at a time in a process, whatever its threads. A kernel that is the same for every
program can be compiled by another process, which leaves it where kernels are kept (cached.py); this one
loads it from there when it needs it. What turns out to be needed meanwhile is compiled there afterwards. If
the other fails, or was never begun, kernels are compiled here as any other: nothing depends on it.

No process is begun where the kernel is kept already, on one core, or where ``sys.executable`` is not a Python
that takes ``-c`` (frozen programs, programs with a Python inside).
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from gpop.common.cached import entry_of
from gpop.common.kinds import Kind
from gpop.common.parallel import worker_count

CODE = """\
import sys
_, module, kernel, *sys.path[:] = sys.argv
from gpop.common.ahead import compile_asked
compile_asked(module, kernel)
"""
"""What the other process does."""

MOST_SECONDS = 60.0
"""After so long the other one is not waited for."""

PAUSE = 0.01


class _Other(NamedTuple):
    """A process, and where it reads what else it is asked for."""

    process: int
    asked: int


_begun: dict[tuple[str, str], _Other | None] = {}
"""By module and kernel; None where there is none to wait for."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begun.clear)  # it is no child of the child


def begin(module: str, kernel: str, is_kept: Callable[[str], bool]) -> None:
    """Have another process call ``entry`` of the module, which compiles this kernel, if it is not kept."""
    if (module, kernel) in _begun:
        return
    _begun[module, kernel] = None
    if is_kept(kernel) or worker_count() < 2 or not _is_python():
        return
    silent = [(os.POSIX_SPAWN_OPEN, i, os.devnull, os.O_RDWR, 0) for i in (1, 2)]
    command = [sys.executable, "-c", CODE, module, kernel, *sys.path]
    with contextlib.suppress(OSError):
        asks, asked = os.pipe()
        try:
            files = [(os.POSIX_SPAWN_DUP2, asks, 0), *silent]
            process = os.posix_spawn(sys.executable, command, os.environ, file_actions=files)
            _begun[module, kernel] = _Other(process, asked)
        except OSError:
            os.close(asked)
        finally:
            os.close(asks)


def is_under_way(module: str, kernel: str) -> bool:
    """Whether another process was begun for this kernel, which nobody has waited for yet."""
    return _begun.get((module, kernel)) is not None


def ask(module: str, kernel: str, also: Any, *kinds: Kind) -> None:
    """Have the process that was begun for a kernel compile another one afterwards, for these kinds.

    Without kinds it is a function that compiles, or has compiled, what is needed.
    """
    other = _begun.get((module, kernel))
    if other is not None:
        _tell(other, (also.__module__, also.__name__, kinds))


def _tell(other: _Other, asked: Any) -> None:
    with contextlib.suppress(OSError):  # it is no more
        os.write(other.asked, pickle.dumps(asked))


def compile_asked(module: str, kernel: str) -> NoReturn:
    """In the other process: compile what the module's ``entry`` does of this name; then what is asked for.

    It ends the process.
    """
    import_module(module).entry(kernel)
    while True:
        signal.alarm(int(MOST_SECONDS))  # the end, if nobody ever asks
        asked = pickle.load(sys.stdin.buffer)
        signal.alarm(0)
        if asked is None:
            os._exit(0)  # to take apart what the compiler has made takes .4 s, for which the other would wait
        module, name, kinds = asked
        also = getattr(import_module(module), name)
        entry_of(also, *kinds) if kinds else also()


def _is_python() -> bool:
    name = Path(sys.executable or "").name
    return hasattr(os, "posix_spawn") and not hasattr(sys, "frozen") and name.startswith("python")


def wait(module: str, kernel: str) -> None:
    """Return when the process that was begun for this kernel is done with all, or it takes too long."""
    other, begin = _begun.get((module, kernel)), time.monotonic()
    if other is None:
        return
    _begun[module, kernel] = None
    _tell(other, None)
    os.close(other.asked)
    while time.monotonic() - begin < MOST_SECONDS:
        try:
            done, _ = os.waitpid(other.process, os.WNOHANG)
        except ChildProcessError:  # somebody else has asked
            break
        if done:
            break
        time.sleep(PAUSE)
