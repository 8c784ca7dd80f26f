"""A run that is asked for like an earlier one on the same graph: all that it resolves to, by one look-up.

What a run is asked with (program class, options, types) leads to checked options, lowered functions, plan,
layouts and an engine that rests between runs (`gpop.plan.engine.Engine`). All of it is noted with the graph
under that key, and goes when something that it was made of goes (`gpop.graph.kept.Store.note`). What the key
cannot hold is looked at in each run: the class's functions and declarations, and the tree that auto goes by.

Nothing that is noted leads back to the graph. A run holds the graph from the look-up to its end, so another
thread's run cannot have the same engine.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from gpop.common.on_demand import Retold
from gpop.common.parallel import use_threads
from gpop.execution.finished import Run, finished_as, made_run
from gpop.graph.exclusive import exclusive
from gpop.model.models import MODEL_NAMES
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


def asked_with(
    cls: type[Program], weights: np.ndarray | None, starts_whole: bool, iterations: int | None, *,
    target: str = "cpu", mode: str = "auto", interleave: bool = False, ratio: Any = None,
    model: str = MODEL_NAMES[0], threads: int | None = None, partition_size: int | None = None,
    counters: bool = False, transport: str = "auto", residency: str = "auto", device_memory: Any = None,
) -> tuple:  # fmt: skip
    """All that a run's plan, layouts and engine follow from, but for what can change in the meantime.

    ``starts_whole``: whether no frontier is given.
    """
    return (
        cls, None if weights is None else weights.dtype, target, mode, interleave, ratio, model,
        use_threads(threads) if target == "cpu" else threads, partition_size, counters, transport, residency,
        device_memory, type(device_memory),  # a number that is none of bytes equals one that is
        starts_whole, iterations is None,
    )  # fmt: skip


class Ran(Retold):
    """A run that is over; what there is to say of it, its `Run`, is made when somebody looks at ``value``.

    Attributes
    ----------
    summary : dict
        What its trace says beside that.
    """

    summary: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, iterations: int, converged: bool, make: Callable[[], Run]) -> None:
        self.iterations, self.converged, self._make = iterations, converged, make

    @property
    def value(self) -> Run:
        """Made for each who looks here."""
        run = self._make()
        run.trace.summary.update(self.summary)
        return run


def _run_of(found: Resting, left: Left, graph: str) -> Run:
    """What there is to say of a run that was done again, on the graph of this name."""
    trace = Trace({**found.said, "graph": graph})
    for records in left.records:
        trace.extend(records)
    return made_run(
        found.same.items(), iterations=left.iterations, trace=trace, seconds=left.seconds,
        frontier=left.frontier, touched=left.touched, converged=left.active == 0,
    )  # fmt: skip


def run_again(asked: Hashable, program: Program, sources: np.ndarray | None, limit: int) -> Ran | None:
    """A run by the engine that rests for those that are asked for so; None where none does."""
    graph = program.graph
    with exclusive(graph):
        try:
            found = graph.store.noted(asked)
        except TypeError:  # something that is no option
            return None
        if found is None or limit < 0 or len(vars(program)) > OWN:  # what is refused, or may be
            return None
        if not found.decided.stands(type(program)):
            return None
        left = found.engine.again(program, sources, limit)
    if left is None:
        return None
    return Ran(left.iterations, left.active == 0, partial(_run_of, found, left, graph.name))
