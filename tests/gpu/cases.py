"""Programs with their starting state, for running on a device, and how one is run and compared.

`CASES` are the programs of `tests.programs` and some of their kind that take the other ways through the
engine: sums in one field (compare-and-swap, marked messages), the same with ``combine``, a program that
settles. `check` compares a run on the device with `interpret`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import gpop
from gpop.execution.loop import carry_out
from gpop.execution.run import Run, finished_run
from gpop.gpu.emit import emit
from gpop.gpu.engine import GpuEngine
from gpop.gpu.traits import OWNER, SWAP
from gpop.graph.graph import Graph
from gpop.plan.plan import UNLIMITED, decide
from gpop.program.lowering import lower
from tests import programs
from tests.programs import interpret, random_graph

MODES = ("sc", "pc", "auto", "pull")
WAYS = ("declared", "swap", "owner")


class Sums(gpop.Program):
    """A sum in one field; messages are never 0, so that leaving zeros out changes nothing."""

    heard = gpop.VertexField(np.int64)
    track_touched = True

    def scatterFunc(self, node):
        return self.heard[node] % 1009 + np.int64(node) + 1

    def gatherFunc(self, value, node):
        self.heard[node] += value
        return True

    def filterFunc(self, node):
        return self.heard[node] % 3 != 0


class MarkedSums(Sums):
    inactive_message = -1


class WeightedSums(Sums):
    def applyWeight(self, value, weight):
        return value * weight + 1


class Letters(programs.Diary):
    """A diary of initFunc and filterFunc only, so that gatherFunc writes one field."""

    def gatherFunc(self, value, node):
        self.letter[node] += value
        return self.wake[node]


class Changes(programs.Smallest):
    """A minimum whose gatherFunc writes two fields: it is folded, or has an owner."""

    changed = gpop.VertexField(np.bool_)

    def gatherFunc(self, value, node):
        if value < self.label[node]:
            self.label[node] = value
            self.changed[node] = True
            return True
        return False


class Countdown(gpop.Program):
    """Every vertex is active until ``last`` iterations are done."""

    total = gpop.VertexField(np.int64)
    last = gpop.Parameter(np.int64, 4)
    all_active = True
    combine = "add"

    def scatterFunc(self, node):
        return np.int64(node) + self.iteration

    def gatherFunc(self, value, node):
        self.total[node] += value

    def filterFunc(self, node):
        return self.iteration + 1 < self.last


def combined(cls: type, how: str) -> type:
    """The program with ``combine`` declared."""
    return type(f"{cls.__name__}Combined", (cls,), {"combine": how, "__module__": cls.__module__})


class Case(NamedTuple):
    """A program, how its fields start, and where it starts; ``fields`` are those that can be compared."""

    cls: type
    prepare: Callable[[gpop.Program, np.random.Generator], None] = lambda program, rng: None
    frontier: tuple[int, ...] | None = None
    iterations: int | None = None
    exact: bool = True
    fields: tuple[str, ...] | None = None
    small_only: bool = False


def _labels(program, rng):
    program.label = rng.permutation(program.graph.n)


def _distance(program, rng):
    program.distance[[0, 5]] = 0, 3


def _parents(program, rng):
    program.parent[3], program.level[3] = 3, 0


def _mask(program, rng):
    program.mask[[3, 5, 9, 20]] = 1, 2, 4, 8


def _stale(program, rng):
    program.heard = rng.integers(0, 90, program.graph.n)


def _drift(program, rng):
    program.mass[[1, 2, 4]] = 1
    program.threshold = 1e-3


def _rank(program, rng):
    program.rank, program.eps = 1, 1e-6


def _diary(program, rng):
    for name in ("keep", "wake", "stay"):
        setattr(program, name, rng.random(program.graph.n) < 0.4)


def _flag(program, rng):
    program.marked[::7] = True


def _formula(program, rng):
    program.value = np.linspace(0, 3, program.graph.n)


FEW = (1, 3, 3, 11, 40)  # one of them twice
SEARCH = Case(programs.Parents, _parents, (3,), fields=("level",))
DRIFT = Case(programs.Drift, _drift, (1, 2, 4), 4, exact=False)
RANK = Case(programs.Rank, _rank, None, 6, exact=False)
CASES = {
    case.cls.__name__: case
    for case in [
        Case(programs.Smallest, _labels),
        Case(programs.Distance, _distance, (0, 5)),
        SEARCH,
        Case(programs.Colours, _mask, (3, 5, 9, 20)),
        Case(programs.Rumours, _stale, FEW, 3),
        Case(programs.MarkedRumours, _stale, None, 3),
        Case(programs.WeightedRumours, _stale, FEW, 3),
        DRIFT,
        RANK,
        Case(programs.Diary, _diary, FEW, 3, small_only=True),  # a digit for every message
        Case(programs.Flag, _flag, (1, 2, 3)),
        Case(programs.Formula, _formula, None, 4, exact=False, small_only=True),
        Case(Sums, _stale, FEW, 4),
        Case(MarkedSums, _stale, FEW, 4),
        Case(WeightedSums, _stale, FEW, 4),
        Case(Letters, _diary, FEW, 4),
        Case(Changes, _labels),
        Case(Countdown),
        Case(combined(programs.Distance, "min"), _distance, (0, 5)),
        SEARCH._replace(cls=combined(programs.Parents, "min")),
        Case(combined(programs.Colours, "or"), _mask, (3, 5, 9, 20)),
        DRIFT._replace(cls=combined(programs.Drift, "add")),
        RANK._replace(cls=combined(programs.Rank, "add")),
        Case(combined(Sums, "add"), _stale, FEW, 4),
        Case(combined(MarkedSums, "add"), _stale, None, 4),
        Case(combined(WeightedSums, "add"), _stale, FEW, 4),
        Case(combined(Letters, "add"), _diary, FEW, 4),
    ]
}


@cache
def graph_of(kind: str) -> Graph:
    """ "small": a few hundred edges, which one block works off alone; "big": all blocks; both directed."""
    return {
        "small": random_graph(21, 90, 400, weights=True),
        "big": random_graph(22, 3000, 30000, weights=True),
    }[kind]


def started(case: Case, graph: Graph) -> gpop.Program:
    """A new program in its starting state."""
    program = case.cls(graph)
    case.prepare(program, np.random.default_rng(33))
    return program


@cache
def in_plain_python(case: Case, graph: Graph) -> tuple[gpop.Program, dict]:
    """What `interpret` makes of it, to be looked at only: it takes as long as a kernel to compile."""
    program = started(case, graph)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return program, interpret(program, case.frontier, case.iterations or 10**9)


def expected(name: str, kind: str) -> tuple[gpop.Program, dict]:
    return in_plain_python(CASES[name], graph_of(kind))


def can_swap(cls: type, graph: Graph) -> bool:
    """Whether gatherFunc writes one field at most."""
    weighted = cls.applyWeight is not gpop.Program.applyWeight
    return len(emit(cls, lower(cls), graph.weights.dtype if weighted else None).written) <= 1


def run_device(
    program: gpop.Program,
    frontier: Any,
    iterations: int | None,
    mode: str,
    size: int | None,
    way: str = "declared",
) -> Run:
    """Run as declared, or without ``combine`` by compare-and-swap or by one owner per vertex."""
    options = {"mode": mode, "ratio": 1.0, "partition_size": size}
    if way == "declared":
        return gpop.run(program, frontier, iterations=iterations, target="gpu", **options)
    limit = UNLIMITED if iterations is None else iterations
    plan = decide(program, target="gpu", limit=limit, **options)
    engine = GpuEngine(plan, {"swap": SWAP, "owner": OWNER}[way])
    sources = None if frontier is None else np.array(frontier, np.uint32)
    return finished_run(plan, "gpu", *carry_out(plan, engine, sources))


def check(
    case: Case, graph: Graph, wanted: tuple[gpop.Program, dict], mode: str, size: int | None, way: str
) -> Run:
    """Fields, frontier, iterations and trace must be those that the interpreter leaves."""
    correct, said = wanted
    program, what = started(case, graph), f"{case.cls.__name__} {mode} {size} {way}"
    run = run_device(program, case.frontier, case.iterations, mode, size, way)
    for name in case.fields or case.cls.vertex_fields():
        ours, theirs = getattr(program, name), getattr(correct, name)
        if case.exact:
            np.testing.assert_array_equal(ours, theirs, err_msg=f"{name} of {what}")
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-9, err_msg=f"{name} of {what}")
    assert (run.target, run.iterations) == ("gpu", said["iterations"]), what
    assert run.converged == said["converged"], what
    if not case.cls.all_active:
        assert run.frontier.tolist() == sorted(said["frontier"]), what
        assert run.trace.column("frontier").tolist() == said["sizes"], what
    assert run.trace.column("active_edges").tolist() == said["edges"], what
    return run
