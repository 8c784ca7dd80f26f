"""One run at a time on a graph: runs share the workspace that lies with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gpop.common.errors import UsageError
from gpop.graph.graph import Graph

_guard = threading.Lock()


@contextmanager
def exclusive(graph: Graph) -> Iterator[None]:
    """Hold a graph for a run.

    Another thread waits; a run from inside a callback of a run on the same graph is refused.

    Raises
    ------
    UsageError
    """
    with _guard:
        lock = graph.cache.setdefault("lock", threading.RLock())
    with lock:
        if graph.cache.get("running"):
            raise UsageError(
                f"{graph!r} is in the middle of a run: a callback may run programs on other graphs only"
            )
        graph.cache["running"] = True
        try:
            yield
        finally:
            graph.cache["running"] = False
