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
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gpop.common.on_demand import OnDemand, Retold, Together
from gpop.common.parallel import use_threads
from gpop.execution.finished import ATTRIBUTES, Run, finished_as
from gpop.graph.exclusive import exclusive
from gpop.model.models import MODEL_NAMES
from gpop.plan.engine import Engine, Finished
from gpop.plan.plan import Decided, Plan
from gpop.plan.trace import Trace
from gpop.program.program import Program
from gpop.program.start import Start
from gpop.program.state import read_only

T = TypeVar("T")


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
    """A run that is over, or will be before anybody looks at what is made of it.

    What there is to say of it, its `Run`, is made when somebody looks at ``value``.

    Attributes
    ----------
    summary : mapping
        What its trace says beside that.
    left : Left or Run
        What it has left behind, once it is over.
    """

    summary: Mapping[str, Any] = MappingProxyType({})
    left: Any
    program: Program | None = None
    """Which has its fields, while results are made of it; what has none leaves them behind."""
    arrays: Mapping[str, np.ndarray] | None = None
    """Of its fields, while results are made before it begins, and nobody wants a program."""

    def __init__(self, graph: str, found: Resting | None = None) -> None:
        self.graph, self.said, self.same = graph, None, None
        if found is not None:  # but not its engine
            self.said, self.same = found.said, found.same

    @property
    def value(self) -> Run:
        """Made for each who looks here."""
        run = self.left if self.said is None else Run._of_both(self.attributes())
        run.trace.summary.update(self.summary)
        return run

    def attributes(self) -> dict[str, Any]:
        """Those of the `Run` of an engine that rests."""
        left, trace = self.left, Trace({**self.said, "graph": self.graph})
        for records in left.records:
            trace.extend(records)
        return {
            **self.same, "iterations": left.iterations, "trace": trace, "seconds": left.seconds,
            "frontier": left.frontier, "touched": left.touched, "converged": left.converged,
        }  # fmt: skip

    def alone(self) -> Run:
        """The `Run`, which is made when somebody looks at any of it."""
        return Run._made(Together(ATTRIBUTES, self.attributes))

    def field(
        self, name: str, form: Callable[[np.ndarray], np.ndarray] = np.asarray
    ) -> np.ndarray | OnDemand:
        """A field, in another form if need be, where it is on the host; else what waits for who looks.

        Where results are made before the run no value is there yet.
        """
        arrays = self.arrays
        if arrays is None:
            if self.program is None:
                return Retold(lambda: form(self.left.field(name)))
            fields = self.program._fields
            if name not in fields.made:
                return OnDemand(lambda: form(fields[name]))
            arrays = fields.made
        array = arrays[name]
        return array if form is np.asarray else OnDemand(lambda: form(array))


def run_again(asked: Hashable, start: Start, limit: int, make: Callable[[Ran], T]) -> T | None:
    """What is made of a run by the engine that rests for those that are asked for so; None where none does.

    ``make`` may be called before the run is over, and must not look at what it leaves behind.
    """
    graph, made = start.graph, None
    with exclusive(graph):
        try:
            found = graph.store.noted(asked)
        except TypeError:  # something that is no option
            return None
        if found is None or limit < 0 or read_only(start.fields, found.decided.attributes["lowered"].written):
            return None
        ran = Ran(graph.name, found)

        def meanwhile(arrays: Mapping[str, np.ndarray] | None = None, program: Program | None = None) -> None:
            nonlocal made
            ran.arrays, ran.program = arrays, program
            made = make(ran)
            ran.arrays = ran.program = None

        left = found.engine.again(start, limit, found.decided.stands, meanwhile)
        if left is None:
            return None
        ran.left = left
    return made_of(ran, start.program, make) if made is None else made


def made_of(ran: Ran, program: Program, make: Callable[[Ran], T]) -> T:
    """What is made of a run of a program that is over."""
    ran.program = program
    made = make(ran)
    ran.program = None
    return made
