"""Ctrl-C while the modules of a command are imported: one line and the usual code, no traceback.

An exception would not do: what is raised inside an import is at times swallowed, or taken for another error.
Nothing is begun then, so that the process can end where it is. Once there is somebody to end work in order
(`gpop.common.command.exit_code`), interrupts are raised again as ever.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from types import FrameType

INTERRUPTED = 130


def _leave(number: int, frame: FrameType | None) -> None:
    try:
        os.write(2, b"gpop: interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def nothing_after_the_end() -> None:
    """Interrupts do nothing once Python takes itself apart: it drops handlers first, and would die of one.

    To be called first: of what is called at the end that is the last then.
    """
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def begin() -> None:
    """From now on an interrupt ends the process, unless somebody else looks after interrupts already."""
    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):
        signal.signal(signal.SIGINT, _leave)


def over() -> bool:
    """What had to be imported is there; whether an interrupt had ended the process until now."""
    ended_it = signal.getsignal(signal.SIGINT) is _leave
    if ended_it:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return ended_it


def is_command(package: str) -> bool:
    """Whether this process was started by a script of this name, or as ``python -m`` a module of the package,
    which is being imported."""
    if sys.argv[0] != "-m":
        return os.path.basename(sys.argv[0]) == package
    given = sys.orig_argv
    return "-m" in given[:-1] and given[given.index("-m") + 1].partition(".")[0] == package
