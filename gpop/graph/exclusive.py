"""One run at a time on a graph: runs share the workspace that lies with it."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from threading import RLock, get_ident
from typing import Any

from gpop.common.errors import UsageError
from gpop.graph.kept import Kind, clock, stores


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


def _free_in_child() -> None:
    """In a process that was forked: no thread is left that would end the runs of others."""
    for store in list(stores):
        if store.is_held():
            store.lock = RLock()
            for kind in Kind:  # which may be in the middle of something
                store.discard(kind)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_in_child)
