"""What is known of a run when it is over."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from html import escape
from typing import Any

import numpy as np

from gpop.common.on_demand import WithDemands
from gpop.plan.engine import Finished
from gpop.plan.plan import Plan
from gpop.plan.trace import Trace


@dataclass(frozen=True)
class Run(WithDemands):
    """What a run did.

    Attributes
    ----------
    iterations : int
        Iterations executed.
    trace : Trace
        One record per iteration.
    seconds : float
        Seconds in the iteration loop. Loading the frontier is included, and where a run like it was there
        before, filling the fields; layout and compiling are not.
    frontier : ndarray of uint32
        Vertices still active at the end, in any order (empty for ``all_active`` programs and converged runs).
    touched : ndarray of uint32 or None
        Every vertex that was ever activated, ascending, if the program declares ``track_touched``.
    counters : dict or None
        Instrumented counts, if asked for.
    converged : bool
        Whether the frontier ran empty (or every ``filterFunc`` of an ``all_active`` program said False).
    mode, target : str
        As asked for.
    interleave : bool
        As asked for.
    threads : int
        How many the run had.
    partition_size : int
        Vertices per partition.
    partitions : int
        Number of partitions.
    prepare_seconds : float
        Seconds that building the layout took; 0 when it was kept with the graph.
    part : tuple of int, or None
        On several ranks: the first vertex that this one owns, and the one after the last; other fields
        are set here only where they were gathered. None where there are no other ranks.
    """

    iterations: int
    trace: Trace
    seconds: float
    frontier: np.ndarray
    touched: np.ndarray | None
    counters: dict[str, int] | None
    converged: bool
    mode: str
    interleave: bool
    threads: int
    target: str
    partition_size: int
    partitions: int
    prepare_seconds: float = field(default=0.0)
    part: tuple[int, int] | None = None

    def _repr_html_(self) -> str:
        of = str(self.trace.summary.get("program", "program"))
        return f"<div><strong>Run of {escape(of)}</strong><br>{escape(in_a_line(self))}</div>"


ATTRIBUTES = tuple(each.name for each in fields(Run) if each.default is MISSING)
"""Of every run."""

_LEFT = Finished._fields[: Finished._fields.index("traffic")]
"""What is the same of a run that an engine has finished; the rest is told with its trace."""


def finished_as(plan: Plan, target: str, finished: Finished) -> dict[str, Any]:
    """Attributes of a run, from what its engine has left."""
    return {**dict(zip(_LEFT, finished, strict=False)), "interleave": plan.interleave, "target": target}


def made_run(**attributes: Any) -> Run:
    """A run of these attributes: to set each one of a frozen class takes five times as long."""
    run = object.__new__(Run)
    vars(run).update(attributes)
    return run


def in_a_line(run: Run) -> str:
    """How long it took, and how it was done."""
    return f"{run.iterations:,} iterations, {run.seconds:.4g} s, mode {run.mode}, {run.threads} threads"
