"""What can be asked of a run, as type checkers know it: names of modes and others, and keyword options.

The names at run time are those of the registries (`gpop.model.asked.ASKED` and others); a test compares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypedDict

from gpop.execution.checkpoint import Checkpoint

Mode: TypeAlias = Literal[
    "auto", "sc", "pc", "pull", "edge-list", "struct-edge-list", "reverse-edge-list",
    "reverse-struct-edge-list", "vertex-push", "vertex-push-warp", "vertex-pull", "vertex-pull-warp", "hyb",
    "tree",
]  # fmt: skip
"""Parameters behind a name are text that type checkers do not know."""

Target: TypeAlias = Literal["cpu", "gpu", "python"]
Model: TypeAlias = Literal["engine", "paper"]
Order: TypeAlias = Literal["none", "degree", "bfs", "rcm", "random"]
Transport: TypeAlias = Literal["auto", "alone", "mpi"]
Residency: TypeAlias = Literal["auto", "memory", "mapped", "device", "stream"]
Callback: TypeAlias = Callable[[dict[str, Any]], bool | None]


class ShownOptions(TypedDict, total=False):
    """Keyword options of every one-call function."""

    reorder: Order
    progress: bool


class RunOptions(ShownOptions, total=False):
    """Keyword options of a one-call function that runs a program: see `gpop.run`."""

    threads: int | None
    mode: Mode
    ratio: float | None
    model: Model
    partition_size: int | None
    target: Target
    callback: Callback | None
    counters: bool
    transport: Transport
    gather: bool
    checkpoint: Checkpoint | None
    residency: Residency
    device_memory: int | str | None


class LimitedOptions(RunOptions, total=False):
    """The same of one that runs until nothing changes, and can be ended before."""

    iterations: int | None
