"""What a person sees of work that takes a while: bars for what can be counted, a line for what cannot.

One style for all: tqdm on stderr, which in notebooks is a widget, and nothing is left when the work is over.
It is imported when something is shown. What is shown is up to the caller: ``progress=`` of functions;
commands show it on a terminal (`by_default`).

Steps without a count are told by `activity` ("building bins") in any depth below a `telling`, which knows
whether to show them. It also listens to Numba, so that compiling is told where kernels are really compiled,
not loaded: "compiling BFS (once)". Steps and their seconds go to the logger ``gpop``, too (INFO).
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from gpop.common.deferred import private, when_compiling

LOG = logging.getLogger("gpop")

TICK = 0.5
"""Seconds after which the time of a step is shown anew."""


def by_default() -> bool:
    """Whether commands show progress: on a terminal and in notebooks."""
    return (sys.stderr is not None and sys.stderr.isatty()) or "ipykernel" in sys.modules


def tqdm_of() -> Any:
    """tqdm's class for where this runs."""
    if "ipykernel" in sys.modules:
        from tqdm.auto import tqdm
    else:  # the other one imports asyncio
        from tqdm import tqdm

    return tqdm


class _Silent:
    """Stands in for a bar that is not shown."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def update(self, amount=1):
        """Nothing to draw."""


def progress_bar(total: int | None, what: str, unit: str, enabled: bool):
    """A bar over ``total`` units when ``enabled``; a silent one otherwise."""
    if not enabled:
        return _Silent()
    return tqdm_of()(total=total, desc=what, unit=unit, unit_scale=True, file=sys.stderr, leave=False)


class IterationBar:
    """Iterations done and the size of the frontier."""

    def __init__(self, limit: int | None, what: str) -> None:
        self.bar = tqdm_of()(total=limit, desc=what, unit="iteration", file=sys.stderr, leave=False)

    def show(self, iteration: int, frontier: int) -> None:
        """Move on to ``iteration``."""
        self.bar.set_postfix(frontier=frontier, refresh=False)
        self.bar.update(iteration - self.bar.n)

    def close(self) -> None:
        """Leave nothing on the screen."""
        self.bar.close()


class _Line:
    """The innermost of the steps that are under way, and for how long; nothing where it is not shown."""

    def __init__(self, shown: bool) -> None:
        self.shown, self.steps, self.bar = shown, [], None
        self.lock, self.over = threading.Lock(), threading.Event()

    def begin(self, what: str) -> None:
        """Show this step."""
        with self.lock:
            self.steps.append(what)
            self._draw()

    def end(self) -> None:
        """Show the step around it, if there is one."""
        with self.lock:
            self.steps.pop()
            self._draw()

    def _draw(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None
        if self.shown and self.steps and not self.over.is_set():
            self.bar = tqdm_of()(
                desc=self.steps[-1], total=0, bar_format="{desc} {elapsed}", file=sys.stderr, leave=False
            )

    def tick(self) -> None:
        """Keep the time up to date until `close`; in a thread of its own."""
        while not self.over.wait(TICK):
            with self.lock:
                if self.bar is not None:
                    self.bar.refresh()

    def close(self) -> None:
        """Leave nothing on the screen."""
        with self.lock:
            self.over.set()
            self._draw()


class _Telling:
    """What is told in a call: the line, and what Numba compiles for the innermost ``name``."""

    def __init__(self, name: str, shown: bool) -> None:
        self.name, self.line = name, _Line(shown)
        self.depth, self.began, self.compiling = 0, 0.0, ""

    def on_start(self, event: Any) -> None:
        """Numba begins to compile a kernel, maybe inside another."""
        self.depth += 1
        if self.depth == 1:
            self.began, self.compiling = time.perf_counter(), self.name
            self.line.begin(f"compiling {self.name} (once)")

    def on_end(self, event: Any) -> None:
        """Numba is done with it."""
        self.depth -= 1
        if self.depth == 0:
            self.line.end()
            kernel = getattr((event.data or {}).get("dispatcher"), "__name__", "a kernel")
            LOG.info("compiled %s of %s in %.3g s", kernel, self.compiling, time.perf_counter() - self.began)


_listening: list[_Telling] = []
"""Who wants to know what is compiled."""


def _listen() -> None:
    """Have Numba tell them, once it is there."""

    def on_start(self: Any, event: Any) -> None:
        for told in _listening:
            told.on_start(event)

    def on_end(self: Any, event: Any) -> None:
        for told in _listening:
            told.on_end(event)

    kind = type("Compiling", (private.event.Listener,), {"on_start": on_start, "on_end": on_end})
    private.event.register("numba:compile", kind())


when_compiling(_listen)

_telling: ContextVar[_Telling | None] = ContextVar("telling", default=None)
SILENT = nullcontext()
"""What `telling` gives where nothing is told: to enter it and to leave it are calls that may be spared."""


def is_telling() -> bool:
    """Whether somebody is told of what is done or compiled.

    Examples
    --------
    >>> with telling("BFS", shown=True):
    ...     is_telling()
    True
    """
    return _telling.get() is not None


def telling(name: str, shown: bool) -> Any:
    """Context in which `activity` and what Numba compiles for ``name`` are told, and shown if ``shown``.

    One inside another goes by the outer one's choice.

    Examples
    --------
    >>> with telling("BFS", shown=False), activity("building bins"):
    ...     pass
    """
    if _telling.get() is None and not shown and not LOG.isEnabledFor(logging.INFO):
        return SILENT
    return _told(name, shown)


@contextmanager
def _told(name: str, shown: bool) -> Iterator[None]:
    outer = _telling.get()
    if outer is not None:
        before, outer.name = outer.name, name
        try:
            yield
        finally:
            outer.name = before
        return
    told = _Telling(name, shown)
    token = _telling.set(told)
    _listening.append(told)
    if shown:
        threading.Thread(target=told.line.tick, daemon=True).start()
    try:
        yield
    finally:
        _listening.remove(told)
        told.line.close()
        _telling.reset(token)


def activity(what: str) -> Any:
    """Context of a step that takes a while and has no count: ``with activity("building bins"): ...``"""
    told = _telling.get()
    return SILENT if told is None else _step(told, what)


@contextmanager
def _step(told: _Telling, what: str) -> Iterator[None]:
    begin = time.perf_counter()
    told.line.begin(what)
    try:
        yield
    finally:
        told.line.end()
    LOG.info("%s took %.3g s", what, time.perf_counter() - begin)
