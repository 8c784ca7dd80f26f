"""A rank that was killed: the launcher then ends the others with SIGTERM, and one of them says what happened.

The main thread may be in compiled code, where Python handles no signals. So the handler of C, which runs at
once, writes into a pipe, and a thread that reads it says how far the run was and ends the process. Of several
on a machine the one speaks that gets a name which only one process can have (an abstract socket of Linux; it
goes with the process).
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from gpop.common.command import fail

CODE = 143
"""128 + SIGTERM."""


def say_when_killed(job: str, story: Callable[[], str]) -> None:
    """On SIGTERM tell the ``story``, once for all processes of a ``job`` on this machine, and end."""
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return  # the script has a handler of its own
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    signal.set_wakeup_fd(writes, warn_on_full_buffer=False)

    def watch() -> None:
        while os.read(reads, 1) != bytes([signal.SIGTERM]):
            pass
        if may_speak(job):
            fail(story(), CODE)
            time.sleep(1)  # until all have asked
        os._exit(CODE)

    threading.Thread(target=watch, daemon=True, name="gpop-killed").start()


_names: list[socket.socket] = []


def may_speak(job: str) -> bool:
    """Whether no other process of the job on this machine has said why it ends; asked once."""
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(f"\0gpop-{os.getuid()}-{job}")
    except OSError:
        return False
    _names.append(name)
    return True


def gone(processes: list[int]) -> list[int]:
    """Places in a list of processes of this machine of those that are no more."""

    def alive(process: int) -> bool:
        try:
            os.kill(process, 0)
        except OSError:
            return False
        state = Path(f"/proc/{process}/stat")
        with suppress(OSError):
            return state.read_text().rpartition(")")[2].split()[0] != "Z"
        return False

    return [place for place, process in enumerate(processes) if not alive(process)]
