"""One run at a time on a graph: runs share the workspace that lies with it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from threading import get_ident
from typing import Any

from gpop.common.errors import UsageError
from gpop.graph.kept import clock


def exclusive(graph: Any) -> AbstractContextManager:
    """Hold a graph for a run: ``with exclusive(graph): ...``

    Another thread waits; a run from inside a callback of a run on the same graph is refused. What is held
    is the lock itself and nothing beside it says so: ``with`` takes and leaves a lock in one step, so that
    no interrupt leaves a graph in the middle of a run that is over.

    Raises
    ------
    UsageError
    """
    store = graph.store
    lock = store.lock
    if lock._is_owned():  # what threading.Condition asks an RLock, too
        raise UsageError(
            f"{graph!r} is in the middle of a run: a callback may run programs on other graphs only"
        )
    store.began[get_ident()] = next(clock)  # what is asked for from now on is in use
    return lock
