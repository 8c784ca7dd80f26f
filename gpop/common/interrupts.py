"""Ctrl-C held back while something must not be left in the middle, let through at the next good moment; and
brought again where Python has dropped it.

What is raised inside a callback of a weak reference, or in ``__del__``, is printed and forgotten
(`sys.unraisablehook`). While Numba compiles, thousands of its objects go that way.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gpop.common import starting

AGAIN_AFTER = 0.01
"""Seconds until an interrupt that was dropped comes again: by then the callback has ended."""


class _Held:
    """What would be called for a signal, how deep in blocks that hold it back, and whether one has come."""

    handler: Callable[..., Any] | None = None
    depth = 0
    waits = False


def _note(signum: int, frame: Any) -> None:
    _Held.waits = True


@contextmanager
def held_back() -> Iterator[None]:
    """A block in which an interrupt is raised where it calls `let_through`, else at its end.

    Only the main thread gets interrupts; in another one the block is like any.

    Examples
    --------
    >>> try:
    ...     with held_back():
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("to the end")
    ... except KeyboardInterrupt:
    ...     print("interrupted")
    to the end
    interrupted
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    if not _Held.depth:
        _Held.handler, _Held.waits = handler, False
    _Held.depth += 1
    try:
        if _Held.depth == 1:
            signal.signal(signal.SIGINT, _note)
        yield
    finally:
        _Held.depth -= 1
        if not _Held.depth:
            try:
                signal.signal(signal.SIGINT, _Held.handler)
            except BaseException:  # of the handler of another signal, which is called first: an alarm's
                signal.signal(signal.SIGINT, _Held.handler)
                raise
            let_through()


def are_held_back() -> bool:
    """Whether the main thread is in a block of `held_back`.

    >>> are_held_back()
    False
    """
    return _Held.depth > 0


def let_through() -> None:
    """A good moment: whatever was held back is raised."""
    if _Held.waits and threading.current_thread() is threading.main_thread():
        _Held.waits = False
        _Held.handler(signal.SIGINT, None)


@contextmanager
def dropped_come_again() -> Iterator[None]:
    """A block in which an interrupt that falls into a callback whose errors Python drops is not lost."""
    before = sys.unraisablehook

    def dropped(unraisable: sys.UnraisableHookArgs) -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            timer = threading.Timer(AGAIN_AFTER, _interrupt_main)
            timer.daemon = True
            timer.start()
        else:
            before(unraisable)

    sys.unraisablehook = dropped
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextmanager
def raised_at_work() -> Iterator[None]:
    """A block in which interrupts are raised as ever; before and after it they end a command (`starting`).

    What has ended in order has nothing to end any more: one that came while the last line was told, or in
    what Python does at its end, was a traceback, and the process died of the signal.
    """
    ended_it = starting.over()
    try:
        yield
    finally:
        if ended_it:
            starting.begin()


def _interrupt_main() -> None:
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
