"""``target="python"``: a program as plain Python, serial and slow; what the other targets must agree with.

Nothing is compiled. ``print``, assertions and a debugger work inside the functions, and an error has
its usual traceback. One vertex after the other, in the order of the paper's Algorithm 2: active vertices
scatter in ascending order, and all messages are made before the first is gathered; messages are gathered in
ascending order of their source, along its edges in their order. There are no bins and no partitions: only
active vertices send, so that ``inactive_message`` and ``combine`` mean nothing, and
no communication modes. ``priorityFunc`` sets vertices aside as `gpop.cpu.priority` does.

Numbers: fields are stored in their types, whole numbers wrap around as in compiled code. Whole numbers are
read as 64-bit ones, which is what compiled code makes of them when it computes, unsigned ones as `Unsigned`.
The rest is NumPy's arithmetic. It differs from compiled code in a few cases: a float32 times a literal stays
a float32 here and is a float64 there; what a function itself casts to fewer than 64 bits,
``np.uint32(a) * np.uint32(b)``, wraps around at so many here and at 64 there; ``-x`` and ``abs(x)`` of the
smallest number of a narrow signed type stay what they are there; the sum of two conditions, or of two values
of bool fields, is True here and 2 there (``int(a) + int(b)`` is 2 on both); and signed numbers that leave 64
bits wrap around here, of which the CPU's compiler takes for granted that they do not. The ownership rule is
not checked: the targets that need it do that.
"""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np

from gpop.common.errors import ProgramError
from gpop.model.strategies import SC
from gpop.plan.engine import Finished
from gpop.plan.plan import Plan
from gpop.plan.trace import (
    COLUMNS,
    EDGES_AT,
    FRONTIER_AT,
    GATHER_AT,
    MESSAGES_AT,
    MODES_AT,
    SCATTER_AT,
)
from gpop.program.lowering import place_of, user_functions
from gpop.program.ownership import MAY_BE_SILENT
from gpop.program.program import Program
from gpop.program.unsigned import READ_IN, Unsigned, as_read, is_unsigned

Vertex = READ_IN[4]


def widened(value: Any) -> Any:
    """A whole number as a 64-bit one, as compiled code computes with it.

    Examples
    --------
    >>> widened(np.uint8(200)) + 100, widened(np.float32(0.5))
    (np.int64(300), np.float32(0.5))
    """
    if is_unsigned(value):
        return value if isinstance(value, Unsigned) else as_read(value)
    return np.int64(value) if isinstance(value, np.integer) else value


class Cells(np.ndarray):
    """A field inside the functions: it widens what is read and wraps what is stored."""

    def __getitem__(self, index: Any) -> Any:
        return widened(super().__getitem__(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, np.asarray(value).astype(self.dtype))


class Unknown(ProgramError, AttributeError):
    """Something of ``self`` that a program does not have."""


class State(SimpleNamespace):
    """What ``self`` is inside the functions."""

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(sorted(vars(self)))
        raise Unknown(f"self.{name} is no field or parameter of the program ({known})")


class Interpreter:
    """The functions of one program, called as Python methods, and the vertices that are active."""

    def __init__(self, program: Program) -> None:
        self.program, self.graph, self.cls = program, program.graph, type(program)
        self.functions = user_functions(self.cls)
        self.everything = list(range(self.graph.n))
        self.active: list[int] = []
        self.degree = np.diff(self.graph.indptr)
        self.waiting: set[int] = set()
        self.limit = 0  # highest priority that the frontier takes

    def load(self, sources: np.ndarray | None) -> None:
        """Make these vertices (all of them: None) the frontier."""
        self.active = self.everything if sources is None else np.unique(sources).tolist()
        self.touched = set(self.active)

    def begin(self, iteration: int) -> None:
        """The state of an iteration: what ``self`` is inside the functions."""
        fields = {name: array.view(Cells) for name, array in self.program._fields.items()}
        parameters = {name: widened(value) for name, value in self.program._parameters.items()}
        degree = self.graph.out_degree.view(Cells)
        degree.flags.writeable = False
        self.state = State(**fields, **parameters, out_degree=degree, iteration=np.int64(iteration))
        if "priorityFunc" in self.functions:
            if iteration == 0:
                self.waiting, self.active = set(self.active), []
            if not self.active:
                self.next_bucket()

    def call(self, name: str, *arguments: Any) -> Any:
        """What a function returns; the inherited one answers where the program has none."""
        return getattr(self.cls, name)(self.state, *arguments)

    def number(self, name: str, *arguments: Any) -> Any:
        """The same for a function that must return a number."""
        answer = self.call(name, *arguments)
        value = np.asarray(answer)
        if value.ndim or value.dtype.kind not in "biuf":
            self.fail(name, value.tolist(), "one number")
        return answer if isinstance(answer, Unsigned) else widened(value[()])

    def says(self, name: str, *arguments: Any) -> bool:
        """The same for a function that must say True or False."""
        answer = self.call(name, *arguments)
        if answer is None and self.cls.all_active and name in MAY_BE_SILENT:
            return False
        if not isinstance(answer, (bool, np.bool_, int, np.integer)):
            self.fail(name, answer, "True or False")
        return bool(answer)

    def fail(self, name: str, found: Any, expected: str) -> None:
        place = place_of(self.cls, self.functions[name])
        raise ProgramError(f"{place}: {self.cls.__name__}.{name} returned {found!r}: expected {expected}")

    def scatter(self) -> list[tuple[int, Any]]:
        """A message of every active vertex with out-edges; then ``initFunc``, which may keep it active."""
        messages = [(v, self.number("scatterFunc", Vertex(v))) for v in self.active if self.degree[v]]
        self.kept = {v for v in self.active if self.says("initFunc", Vertex(v))}
        return messages

    def gather(self, messages: list[tuple[int, Any]]) -> None:
        """Fold the messages, then ask ``filterFunc`` who is active now."""
        graph, heard = self.graph, self.kept
        asks, weighs = "needsFunc" in self.functions, "applyWeight" in self.functions
        for source, message in messages:
            for e in range(graph.indptr[source], graph.indptr[source + 1]):
                node, value = Vertex(graph.indices[e]), message
                if asks and not self.says("needsFunc", node):
                    continue
                if weighs:
                    value = self.number("applyWeight", message, widened(graph.weights[e]))
                if self.says("gatherFunc", value, node):
                    heard.add(int(node))
        considered = self.everything if self.cls.all_active else sorted(heard)
        self.touched.update(considered)
        self.active = [v for v in considered if self.says("filterFunc", Vertex(v))]
        if self.cls.all_active and self.active:
            self.active = self.everything
        if "priorityFunc" in self.functions:
            within = {v for v in self.active if self.priority(v) <= self.limit}
            self.waiting = (self.waiting | set(self.active)) - within
            self.active = sorted(within)

    def priority(self, v: int) -> int:
        return int(self.number("priorityFunc", Vertex(v)))

    def next_bucket(self) -> None:
        """The vertices that wait with the lowest priority become active."""
        priorities = {v: self.priority(v) for v in self.waiting}
        self.limit = min(priorities.values(), default=0)
        self.active = sorted(v for v, bucket in priorities.items() if bucket <= self.limit)
        self.waiting.difference_update(self.active)


class PythonEngine:
    """The interpreter as a target; see `gpop.plan.engine.Engine`."""

    most_rows = 1
    mode = "sc"
    settles = schedules = False

    def __init__(self, plan: Plan) -> None:
        self.work = Interpreter(plan.program)
        self.iteration = 0
        self.seconds = 0.0

    @property
    def active(self) -> int:
        return len(self.work.active) + len(self.work.waiting)

    def prepare(self) -> dict[str, Any]:
        """Nothing is built."""
        return {"target": "python", "threads": 1}

    def load(self, sources: np.ndarray | None, rows: int) -> None:
        """Make these vertices (all of them: None) the frontier."""
        self.work.load(sources)

    def iterate(self) -> np.ndarray:
        """One iteration."""
        self.scatter()
        return self.gather()

    @np.errstate(over="ignore")  # whole numbers wrap around unsaid, as in compiled code
    def scatter(self) -> None:
        """All messages of an iteration are made."""
        self.begun = time.perf_counter()
        self.work.begin(self.iteration)
        self.frontier = self.work.active
        self.messages = self.work.scatter()
        self.scattered = time.perf_counter()

    @np.errstate(over="ignore")
    def gather(self) -> np.ndarray:
        """And heard."""
        between = time.perf_counter() - self.scattered
        self.work.gather(self.messages)
        self.iteration += 1
        now = time.perf_counter()
        row = np.zeros((1, len(COLUMNS) - 1))
        row[0, [FRONTIER_AT, EDGES_AT]] = len(self.frontier), self.work.degree[self.frontier].sum()
        row[0, [MODES_AT + SC, MESSAGES_AT]] = 1, len(self.messages)
        row[0, [SCATTER_AT, GATHER_AT]] = self.scattered - self.begun, now - self.scattered - between
        self.seconds += now - self.begun
        return row

    def publish(self) -> None:
        """Fields are the program's own."""

    def refresh(self) -> None:
        """Parameters are read in every iteration."""

    def finish(self) -> Finished:
        """What is active or waits."""
        work = self.work
        left = [] if work.cls.all_active else sorted({*work.active, *work.waiting})
        return Finished(
            seconds=self.seconds,
            prepare_seconds=0.0,
            frontier=np.array(left, np.uint32),
            touched=np.array(sorted(work.touched), np.uint32) if work.cls.track_touched else None,
            counters=None,
            mode=self.mode,
            threads=1,
            partition_size=max(work.graph.n, 1),
            partitions=min(work.graph.n, 1),
        )

    def abandon(self) -> None:
        """Nothing is kept."""
