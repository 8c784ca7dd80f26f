"""A rank that leaves by ``sys.exit`` with a code that is not 0, which no hook for exceptions is told of.

The interpreter would end MPI then, and wait there for the others, who wait for this rank. What is called at
its end hears of no code. So ``sys.exit`` raises an exception that says, when nobody has it any more, whether
the program is still there: whoever catches it is part of that. Of ``raise SystemExit(1)`` nobody hears
(``python -m mpi4py script.py`` does, which calls the script).
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn


def say_when_left(abort: Callable[[str, int], Any]) -> None:
    """Call ``abort`` with a line and the code at the end of a process that ``sys.exit`` has ended so."""
    if threading.current_thread() is not threading.main_thread():
        return
    first, process, leave, codes = _stack()[-1], os.getpid(), sys.exit, list[Any]()

    class Leaving(SystemExit):
        def __del__(self) -> None:
            if first not in _stack():
                codes.append(self.code)

    def leaving(status: Any = None, /) -> NoReturn:
        if threading.current_thread() is threading.main_thread() and status not in (None, 0):
            raise Leaving(status)
        leave(status)

    def ended() -> None:
        if codes and os.getpid() == process:
            abort(f"sys.exit({codes[0]!r})", codes[0] if isinstance(codes[0], int) else 1)

    sys.exit = leaving
    atexit.register(ended)


def _stack() -> list[FrameType]:
    """The frames of this thread, the outermost last."""
    frames: list[FrameType] = []
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames
