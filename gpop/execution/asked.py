"""What `gpop.run` is asked for: each option checked by itself, and then against the program and its graph.

Options are checked once: a run that is asked for like an earlier one has its plan without (`gpop.plan.plan`).
Frontier, iterations and callback, and what the program's fields are, are looked at in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from gpop.common.errors import UsageError
from gpop.model.asked import asked_on, check_asked
from gpop.model.models import MODEL_NAMES
from gpop.plan.plan import Plan
from gpop.program.program import Program
from gpop.program.state import read_only
from gpop.ranks.world import World, threads_of

COMPILED_TARGETS = ("cpu", "gpu")
TARGETS = (*COMPILED_TARGETS, "python")
RESIDENCIES = {"cpu": ("auto", "memory", "mapped"), "gpu": ("auto", "device", "stream"), "python": ("auto",)}
"""Where the edges of a graph may be during a run, by target."""


def check_options(
    program: Program, mode: str, interleave: bool, target: str, ratio: Any, model: str, counters: bool,
    residency: str,
) -> None:  # fmt: skip
    """Refuse what is none of the choices, and what does not go together.

    Raises
    ------
    UsageError
    """
    check_asked("mode", mode)
    _check_choice("target", target, TARGETS)
    _check_choice("model", model, MODEL_NAMES)
    _check_choice(f"target {target!r}: residency", residency, RESIDENCIES[target])
    if target != "python" and mode not in asked_on(target):
        check_asked(f"target {target!r}: mode", mode, asked_on(target))
    if ratio is not None and not (isinstance(ratio, Real) and ratio >= 0):
        raise UsageError(f"ratio = {ratio!r}: expected a number from 0 on")
    if interleave and program.combine == "add":
        raise UsageError(
            f'{type(program).__name__} declares combine = "add": interleave needs a program that may hear '
            "a message twice"
        )
    if counters and target != "cpu":
        raise UsageError("counters are counted on the CPU only: expected target 'cpu'")


def check_run(
    program: Program, frontier: Any, iterations: int | None, interleave: bool, target: str,
    callback: Callable | None, residency: str,
) -> None:  # fmt: skip
    """Refuse a run that would never end, and what does not go with this graph and these fields.

    Raises
    ------
    UsageError
    """
    if iterations is not None and iterations < 0:
        raise UsageError(f"iterations = {iterations}: expected 0 or more")
    if callback is not None and not callable(callback):
        raise UsageError(f"callback {callback!r}: expected a function of the trace record")
    program._check_set()
    if program.all_active:
        _check_all_active(program, frontier, iterations, interleave, callback)
    if residency == "mapped" and program.graph.facts.mapped is None:
        raise UsageError(
            f"residency 'mapped': {type(program).__name__} would run on {program.graph!r} in memory: "
            "expected a graph that gpop.load has opened from a .mapped folder (python -m gpop.convert "
            "--layout), not its symmetric, reversed or reordered copy"
        )
    if target != "gpu":
        for name in program._fields.away:
            raise UsageError(f"field {name} is a device array: expected target 'gpu'")


def check_written(plan: Plan) -> None:
    """Refuse a program that writes a field whose array is read-only; with Python as the target NumPy does.

    Raises
    ------
    UsageError
    """
    program, lowered = plan.program, plan.lowered
    name = None if lowered is None else read_only(program._fields, lowered.written)
    if name is not None:
        raise UsageError(
            f"field {name} of {type(program).__name__} is a read-only array, and its functions write it: "
            "expected one that may be written"
        )


def check_ranks(program: Program, world: World, target: str, threads: int | None) -> int | None:
    """Refuse what ranks cannot do together; the threads of each."""
    name = type(program).__name__
    if target == "python":
        raise UsageError(f"{name} on {world.size} ranks: target {target!r}: expected 'cpu' or 'gpu'")
    if program.graph.n == 0:
        raise UsageError(f"{name} on {world.size} ranks: {program.graph!r}: expected some vertices")
    return threads_of(threads, world)


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise UsageError(f"{name} {value!r}: expected one of {', '.join(choices)}")


def _check_all_active(
    program: Program, frontier: Any, iterations: int | None, interleave: bool, callback: Callable | None
) -> None:
    name = type(program).__name__
    if frontier is not None:
        raise UsageError(f"{name} declares all_active: it takes no frontier")
    if interleave:
        raise UsageError(f"{name} declares all_active: interleave needs a program with a frontier")
    settles = program.settles or type(program).filterFunc is not Program.filterFunc
    if iterations is None and callback is None and not settles:
        raise UsageError(
            f"{name} would never end: give iterations, a callback, or a filterFunc that returns False"
        )


def as_vertices(frontier: Iterable[int] | np.ndarray | None, n: int) -> int | np.ndarray | None:
    """The frontier, checked: one vertex, uint32 ids, or None for all (`gpop.program.start.Start`)."""
    if frontier is None:
        return None
    if type(frontier) is list and len(frontier) == 1 and type(frontier[0]) is int and 0 <= frontier[0] < n:
        return frontier[0]  # as most searches begin
    if (
        not hasattr(frontier, "__array__")
        and isinstance(frontier, Iterable)
        and not isinstance(frontier, Sequence)  # NumPy would make one object of a set or an iterator
    ):
        frontier = list(frontier)
    try:
        ids = np.array(frontier, ndmin=1)  # a copy: it is the caller's
    except (TypeError, ValueError):  # CuPy's arrays say no, and lists of lists that differ
        raise UsageError(
            f"frontier is a {type(frontier).__name__} that NumPy makes no array of: "
            "expected a list of vertex ids"
        ) from None
    if ids.size == 0:
        return np.empty(0, np.uint32)
    # Beside numbers NumPy makes 1 of True.
    if isinstance(frontier, list | tuple) and bool in map(type, frontier):
        raise UsageError("frontier holds a boolean: expected a list of vertex ids")
    if ids.dtype.kind not in "iu" or ids.ndim != 1:
        raise UsageError(
            f"frontier of type {ids.dtype}, {ids.ndim} dimensions: expected a list of vertex ids"
        )
    low, high = (int(ids[0]),) * 2 if ids.size == 1 else (int(ids.min()), int(ids.max()))
    if low < 0 or high >= n:
        raise UsageError(f"frontier holds vertex {low if low < 0 else high}: expected ids from 0 to {n - 1}")
    return ids.astype(np.uint32, copy=False)
