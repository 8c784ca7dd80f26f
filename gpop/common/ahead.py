"""A kernel that another process compiles while this one does something else: a first run waits less.

Numba compiles one function at a time in a process, whatever its threads. A kernel that is the same for every
program can be compiled by another process, which leaves it where kernels are kept (cached.py); this one
loads it from there when it needs it. What turns out to be needed meanwhile is put on a list, from which the
other takes one after another when it has compiled the first, and so does this one when it has nothing else to
do. If the other fails, or was never begun, kernels are compiled here as any other: nothing depends on it.

The list is what waits in a socket (pickled, a message each) of which both processes have the end that is read
from: a message goes to one of them.

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
from gpop.common.deferred import Later
from gpop.common.kinds import Kind
from gpop.common.parallel import worker_count

socket = Later("socket")

CODE = """\
import sys
_, module, kernel, *sys.path[:] = sys.argv
from gpop.common.ahead import compile_asked
compile_asked(module, kernel)
"""
"""What the other process does."""

MOST_SECONDS = 60.0
"""After so long the other one is not waited for."""

MOST_BYTES = 1 << 16
"""Of a message."""

PAUSE = 0.01


class _Other(NamedTuple):
    """A process, the socket where it is asked for something, and the one from which both take it."""

    process: int
    asked: Any
    taken: Any

    def close(self) -> None:
        """This process has no more to do with it."""
        self.asked.close()
        self.taken.close()


_begun: dict[tuple[str, str], _Other | None] = {}
"""By module and kernel; None where there is none to wait for."""


def _forget() -> None:
    for other in _begun.values():
        if other is not None:
            other.close()
    _begun.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)  # it is no child of the child


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
        ends = socket.socketpair(type=socket.SOCK_SEQPACKET)
        files = [(os.POSIX_SPAWN_DUP2, ends[1].fileno(), 0), *silent]
        try:
            process = os.posix_spawn(sys.executable, command, os.environ, file_actions=files)
            _begun[module, kernel] = _Other(process, *ends)
        except OSError:
            _Other(0, *ends).close()


def is_under_way(module: str, kernel: str) -> bool:
    """Whether another process was begun for this kernel, which nobody has waited for yet."""
    return _begun.get((module, kernel)) is not None


def ask(module: str, kernel: str, also: Any, *kinds: Kind) -> None:
    """Have the process that was begun for a kernel compile another one afterwards, for these kinds, unless
    this one is the first to have time for it (`help`).

    Without kinds it is a function that compiles, or has compiled, what is needed.
    """
    other = _begun.get((module, kernel))
    if other is not None:
        _tell(other, (also.__module__, also.__name__, kinds))


def _tell(other: _Other, asked: Any) -> None:
    with contextlib.suppress(OSError):  # it is no more
        other.asked.send(pickle.dumps(asked))


def help(module: str, kernel: str) -> None:
    """Compile here what was asked for and not begun yet, as long as there is something."""
    other = _begun.get((module, kernel))
    while other is not None:
        try:
            told = other.taken.recv(MOST_BYTES, socket.MSG_DONTWAIT)
        except OSError:
            return
        _carry_out(pickle.loads(told))


def _carry_out(asked: tuple[str, str, tuple[Kind, ...]]) -> None:
    module, name, kinds = asked
    also = getattr(import_module(module), name)
    entry_of(also, *kinds) if kinds else also()


def compile_asked(module: str, kernel: str) -> NoReturn:
    """In the other process: compile what the module's ``entry`` does of this name; then what is asked for.

    It ends the process.
    """
    import_module(module).entry(kernel)
    taken = socket.socket(fileno=sys.stdin.fileno())
    while True:
        signal.alarm(int(MOST_SECONDS))  # the end, if nobody ever asks
        told = taken.recv(MOST_BYTES)
        signal.alarm(0)
        asked = pickle.loads(told) if told else None  # nothing: nobody is there any more
        if asked is None:
            os._exit(0)  # to take apart what the compiler has made takes .4 s, for which the other would wait
        _carry_out(asked)


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
    other.close()
    while time.monotonic() - begin < MOST_SECONDS:
        try:
            done, _ = os.waitpid(other.process, os.WNOHANG)
        except ChildProcessError:  # somebody else has asked
            break
        if done:
            break
        time.sleep(PAUSE)
