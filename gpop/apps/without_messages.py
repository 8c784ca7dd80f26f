"""Runs without messages: what an algorithm that works on the adjacency lists reports as its `gpop.Run`.

The trace has one record per phase, with the edges it looked at under ``active_edges`` and its time under
``gather_seconds``; ``trace.summary["phases"]`` names them in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

import gpop
from gpop.apps.checkpoint_options import CHECKPOINT_OPTIONS
from gpop.common.errors import UsageError
from gpop.common.on_demand import Retold
from gpop.common.spelling import refuse_option
from gpop.execution.asked import COMPILED_TARGETS
from gpop.execution.finished import made_run
from gpop.model.models import MODEL_NAMES
from gpop.plan.trace import COLUMNS, EDGES_AT, GATHER_AT, Trace
from gpop.ranks.world import world_of

_OF_MESSAGES = {
    "mode": "auto", "target": "cpu", "interleave": None, "iterations": None, "callback": None, "ratio": None,
    "model": MODEL_NAMES[0], "counters": False, "checkpoint": None, "residency": "auto",
    "device_memory": None,
}  # fmt: skip
_OF_ANY_RUN = ("threads", "partition_size", "progress", "transport", "gather")

OF_MESSAGES = (
    "mode", "ratio", "model", "interleave", "partition_size", "target", "iterations", "layouts", "residency",
    "device_memory", *CHECKPOINT_OPTIONS,
)  # fmt: skip
"""Options of the command line that mean nothing without messages and bins."""


OF_ALL_BUT_TARGET = tuple(name for name in OF_MESSAGES if name != "target")
"""The same of an algorithm that a GPU has, too."""


def check_target(target: str) -> None:
    """Refuse what is neither the CPU nor a GPU."""
    if target not in COMPILED_TARGETS:
        raise UsageError(f"target {target!r}: expected one of {', '.join(COMPILED_TARGETS)}")


def asked_of_messages(options: dict[str, Any], *targets: str) -> list[str]:
    """Names of the options that only a run with messages can follow; an unknown one is refused.

    ``targets``: others than the CPU that the algorithm has.

    Examples
    --------
    >>> asked_of_messages({"threads": 2, "mode": "pc", "ratio": None})
    ['mode']
    >>> asked_of_messages({"target": "gpu"}), asked_of_messages({"target": "gpu"}, "gpu")
    (['target'], [])
    """
    asked = []
    for name, value in options.items():
        if name not in _OF_MESSAGES:
            if name not in _OF_ANY_RUN:
                refuse_option(name, (*_OF_ANY_RUN, *_OF_MESSAGES), "this algorithm")
        elif value not in (None, _OF_MESSAGES[name]) and not (name == "target" and value in targets):
            asked.append(name)
    return asked


def only_for_messages(options: dict[str, Any], *others: str, targets: tuple[str, ...] = ()) -> list[str]:
    """The same, and those of ``others`` that are given."""
    return asked_of_messages(options, *targets) + [name for name in others if options.get(name) is not None]


def are_for_messages(names: list[str]) -> str:
    """The reason for messages that these options are.

    >>> are_for_messages(["mode"]), are_for_messages(["mode", "ratio"])
    ('mode is for messages', 'mode, ratio are for messages')
    """
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} for messages"


def no_messages(what: str, options: dict[str, Any], *others: str, targets: tuple[str, ...] = ()) -> None:
    """Refuse options of messages, and ``others``, for an algorithm that sends none."""
    refused = only_for_messages(options, *others, targets=targets)
    if refused:
        raise UsageError(f"{refused[0]} means nothing to {what}: it sends no messages")


def one_process(name: str, options: Mapping[str, Any]) -> None:
    """Refuse ranks, for an algorithm on a GPU."""
    world = world_of(options.get("transport", "auto"))
    if world is not None:
        raise UsageError(f"{name} on {world.size} ranks: target 'gpu': expected 'cpu'")


class Phase(NamedTuple):
    """A part of a direct algorithm: its name, the edges it looked at and the seconds it took."""

    name: str
    edges: int
    seconds: float


class Counted(Protocol):
    """What an algorithm says of its phases, and of copying a graph to the device."""

    @property
    def edges(self) -> np.ndarray: ...
    @property
    def phase_seconds(self) -> np.ndarray: ...


class CountedOnDevice(Counted, Protocol):
    """The same of one on a GPU."""

    @property
    def copy_seconds(self) -> float: ...
    @property
    def threads(self) -> int: ...


def phases_of(names: tuple[str, ...], found: Counted) -> list[Phase]:
    """The phases of an algorithm, by name."""
    return list(map(Phase, names, found.edges.tolist(), found.phase_seconds.tolist()))


def on_device(names: tuple[str, ...], found: CountedOnDevice, prepare_seconds: float) -> dict[str, Any]:
    """What `direct_run` is to know of one on a GPU; copying to the device is preparation."""
    return {
        "phases": phases_of(names, found),
        "seconds": sum(found.phase_seconds.tolist()),
        "prepare_seconds": prepare_seconds + found.copy_seconds,
        "threads": found.threads,
    }


def told_later(names: tuple[str, ...], found: Counted, **known: Any) -> Retold:
    """What `direct_run` makes of an algorithm that is over, once somebody asks: it takes longer than a search
    of a small graph."""
    return Retold(partial(_told_run, names, found, known))


def _told_run(names: tuple[str, ...], found: Counted, known: dict[str, Any]) -> gpop.Run:
    return direct_run(phases_of(names, found), **known)


def direct_run(
    phases: Iterable[Phase],
    *,
    seconds: float,
    prepare_seconds: float,
    threads: int,
    partition_size: int,
    partitions: int,
    target: str = "cpu",
    **summary: Any,
) -> gpop.Run:
    """A finished run of these phases; ``summary`` is what else its trace should say.

    Examples
    --------
    >>> run = direct_run([Phase("link", 7, 0.5)], seconds=0.5, prepare_seconds=0, threads=1,
    ...                  partition_size=8, partitions=2, program="Forest")
    >>> run.trace.summary["phases"], run.trace[0]["active_edges"]
    (['link'], 7)
    """
    names, edges, taken = [*zip(*phases, strict=True)] or ((), (), ())  # no iteration has no phases
    trace = Trace({**summary, "threads": threads, "phases": [*names]})
    rows = np.zeros((len(names), len(COLUMNS) - 1))
    rows[:, EDGES_AT], rows[:, GATHER_AT] = edges, taken
    trace.extend(rows)
    return made_run(
        iterations=len(names), trace=trace, seconds=seconds, frontier=np.empty(0, np.uint32), touched=None,
        counters=None, converged=True, mode="auto", interleave=False, threads=threads, target=target,
        partition_size=partition_size, partitions=partitions, prepare_seconds=prepare_seconds,
    )  # fmt: skip
