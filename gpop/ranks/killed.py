"""A rank that was killed: the launcher then ends the others with SIGTERM, and one of them says what happened.

The main thread may be in compiled code, where Python handles no signals. So the handler of C, which runs at
once, writes into a pipe, and a thread that reads it says how far the run was and ends the process.
"""

from __future__ import annotations

import fcntl
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from gpop.common.command import fail

CODE = 143
"""128 + SIGTERM."""

PASSED_ON = 0.3
"""Seconds that the launcher gets to pass on what was said: a busy Open MPI that ends a job loses it."""


def say_when_killed(word: Word, story: Callable[[], str]) -> None:
    """On SIGTERM tell the ``story``, if nobody on this machine has told one, and end."""
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
        if word.is_mine():
            fail(story(), CODE)
            time.sleep(PASSED_ON)
        os._exit(CODE)

    threading.Thread(target=watch, daemon=True, name="gpop-killed").start()


class Word:
    """The right to say why a job ends, which one process on a machine gets.

    A file of one byte that all have opened and that has no name any more; ``path`` is what it was called.
    """

    def __init__(self, path: str) -> None:
        self.file = os.open(path, os.O_RDWR)

    def is_mine(self) -> bool:
        """Whether nobody has taken it; asked once."""
        fcntl.flock(self.file, fcntl.LOCK_EX)
        free = os.pread(self.file, 1, 0) == b""
        os.pwrite(self.file, b"1", 0)
        fcntl.flock(self.file, fcntl.LOCK_UN)
        return free


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
