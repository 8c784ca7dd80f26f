"""A run that is asked for like an earlier one on the same graph: all that it resolves to, by one look-up.

What a run is asked with (program class, options, types) leads to checked options, lowered functions, plan,
layouts and an engine that rests between runs (`gpop.plan.engine.Engine`). All of it is noted with the graph
under that key, and goes when something that it was made of goes (`gpop.graph.kept.Store.note`). What the key
cannot hold is looked at in each run: the class's functions and declarations, and the tree that auto goes by.

Nothing that is noted leads back to the graph. A run holds the graph from the look-up to its end, so another
thread's run cannot have the same engine.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from gpop.execution.finished import Run, finished_as, made_run
from gpop.graph.exclusive import exclusive
from gpop.plan.engine import Engine, Finished, Left
from gpop.plan.plan import Decided, Plan
from gpop.plan.trace import Trace
from gpop.program.program import OWN, Program


class Resting(NamedTuple):
    """An engine between runs; ``said`` and ``same``: what traces and runs that are alike have in common."""

    decided: Decided
    engine: Any
    said: dict[str, Any]
    same: dict[str, Any]


def keep(asked: Hashable, plan: Plan, engine: Engine, finished: Finished, said: dict[str, Any]) -> None:
    """Have an engine that has finished a run rest, if it can, for those that are asked for alike."""
    rest = getattr(engine, "rest", None)
    if rest is not None and plan.alike is not None and rest():
        same = {**finished_as(plan, plan.alike.target, finished), "prepare_seconds": 0.0}
        plan.program.graph.store.note(asked, Resting(plan.alike, engine, said, same))


def run_again(asked: Hashable, program: Program, sources: np.ndarray | None, limit: int) -> Run | None:
    """A run by the engine that rests for those that are asked for so; None where none does."""
    with exclusive(program.graph):
        try:
            found = program.graph.store.noted(asked)
        except TypeError:  # something that is no option
            return None
        if limit < 0 or len(vars(program)) > OWN:  # what is refused, or may be
            return None
        if found is None or not found.decided.stands(type(program)):
            return None
        left = found.engine.again(program, sources, limit)
    return None if left is None else _run_of(program, found, left)


def _run_of(program: Program, found: Resting, left: Left) -> Run:
    """What to say of it."""
    trace = Trace({**found.said, "graph": program.graph.name})
    for records in left.records:
        trace.extend(records)
    return made_run(
        found.same.items(), iterations=left.iterations, trace=trace, seconds=left.seconds,
        frontier=left.frontier, touched=left.touched, converged=left.active == 0,
    )  # fmt: skip
