"""One run at a time on a graph: runs share the workspace that lies with it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import RLock, get_ident
from time import sleep
from typing import Any

from gpop.common.errors import UsageError
from gpop.graph.kept import Kind, Store, clock, stores

LOOKS = 1e-3
"""Seconds between two looks at a graph that a callback waits for."""

_inside: dict[int, tuple[Store, ...]] = {}
"""By thread: what the runs hold in whose callbacks it is."""

_waits: dict[int, Store] = {}
"""By thread that is in a callback: what it waits for."""


def call_back(callback: Callable[[Any], Any], record: Any, graph: Any) -> Any:
    """What a callback of a run on the graph returns."""
    me = get_ident()
    before = _inside.get(me, ())
    _inside[me] = (*before, graph.store)
    try:
        return callback(record)
    finally:
        if before:
            _inside[me] = before
        else:
            del _inside[me]


def exclusive(graph: Any) -> AbstractContextManager:
    """Hold a graph for a run: ``with exclusive(graph): ...``

    Another thread waits; a run from inside a callback of a run on the same graph is refused. What is held
    is the lock itself and nothing beside it says so: ``with`` takes and leaves a lock in one step, so that
    no interrupt leaves a graph in the middle of a run that is over.

    Raises
    ------
    UsageError
        From inside a callback, where its run or one that waits for it would have to end first.
    """
    store = graph.store
    lock = store.lock
    if lock._is_owned():  # what threading.Condition asks an RLock, too
        raise UsageError(
            f"{graph!r} is in the middle of a run: a callback may run programs on other graphs only"
        )
    if _inside and get_ident() in _inside:
        _wait_for(graph)
    store.began[get_ident()] = next(clock)  # what is asked for from now on is in use
    return lock


def _wait_for(graph: Any) -> None:
    """Wait in a callback until no other thread has the graph, unless that waits for this one: of threads that
    wait in a ring, one is refused."""
    me, store = get_ident(), graph.store
    _waits[me] = store
    try:
        while store.is_held():
            ring = _ring_of(me)
            if ring and me == max(ring):
                raise UsageError(
                    f"{graph!r} is in the middle of a run whose callback waits for the run of this one: "
                    "expected callbacks of several threads to run programs on graphs of their own"
                )
            sleep(LOOKS)
    finally:
        del _waits[me]


def _ring_of(me: int) -> list[int]:
    """The threads, this one first, each of which waits for what the next one holds; none where it ends."""
    ring = [me]
    while (store := _waits.get(ring[-1])) is not None:
        owner = next((each for each, held in list(_inside.items()) if store in held), None)
        if owner == me:
            return ring
        if owner is None or owner in ring:
            return []
        ring.append(owner)
    return []


def _free_in_child() -> None:
    """In a process that was forked: no thread is left that would end the runs of others."""
    for each in (_inside, _waits):
        for thread in each.keys() - {get_ident()}:
            del each[thread]
    for store in list(stores):
        if store.is_held():
            store.lock = RLock()
            for kind in Kind:  # which may be in the middle of something
                store.discard(kind)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_in_child)
