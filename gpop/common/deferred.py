"""What tells Numba about functions and types, put off until something has to be compiled.

To import Numba takes longer than all else that a short command does. Kernels that are kept as machine code
(machine_code.py) run without it. So what decorators and modules would tell it is noted, and told at once when
a kernel is not kept; where Numba is imported already, by whomever, nothing is put off.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import RLock
from typing import Any

from gpop.common.interrupts import held_back

_waiting: list[Callable[[], object]] = []
_one_at_a_time = RLock()


class Later:
    """A module that is imported when something of it is used.

    Examples
    --------
    >>> Later("math").floor(2.5)
    2
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


private = Later("gpop.common.numba_private")


def when_compiling(tell: Callable[[], object]) -> None:
    """Call ``tell`` before anything is compiled: now where Numba is there, else when it is needed."""
    _waiting.append(tell)
    if "numba.extending" in sys.modules:
        compiler()


def compiler() -> Any:
    """What gpop takes of Numba, which has been told everything."""
    found = sys.modules.get("gpop.common.numba_private")
    if found is not None and not _waiting:
        return found
    with _one_at_a_time, held_back(), uncollected():
        found = import_module("gpop.common.numba_private")
        if found.IS_TESTED:
            import_module("gpop.common.compile_faster").install()
        while _waiting:
            _waiting.pop(0)()
    return found


@contextmanager
def uncollected() -> Iterator[None]:
    """Python does not look for garbage meanwhile. The compiler makes millions of objects, and nearly all live
    until it is done: looking for dead ones among them, again and again, takes a sixth of its time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def intrinsic(define: Callable) -> Callable:
    """Decorator like Numba's, of a function that says what a call of it in a kernel becomes."""
    when_compiling(lambda: private.tell_intrinsic(define))
    return define
