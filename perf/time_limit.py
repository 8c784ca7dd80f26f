"""A time that a call may take: what has not returned by then is ended by an exception.

The alarm is a signal (``SIGALRM``), which Python hears between two of its own instructions: a kernel is not
cut. gpop comes back to Python often enough, on a GPU every 100 ms.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from gpop.common.errors import GpopError

LEAST = 1e-3
"""Seconds: an alarm of 0 would be none."""


class OutOfTime(GpopError):
    """The time is over."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """End what is inside with `OutOfTime` after so many seconds; in the main thread only.

    Examples
    --------
    >>> with within(60):
    ...     pass
    """

    def ring(number: int, frame: object) -> NoReturn:
        raise OutOfTime(f"not done after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, LEAST))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
