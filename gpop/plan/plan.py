"""What a run will do: decided once, in one place, before any target is touched.

Every engine starts from a `Plan`. What depends on the machine (partitions, layouts, kernels) follows from it
when the engine prepares.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpop.common.errors import UsageError
from gpop.common.parallel import use_threads
from gpop.model.asked import code_of
from gpop.model.features import ALWAYS_ALL
from gpop.model.models import MODELS, Model
from gpop.model.strategies import PULL, STRATEGIES, Strategy
from gpop.model.trees import Tree
from gpop.plan.hidden import Hidden, hidden_of
from gpop.plan.residency import ANYWHERE, Residency
from gpop.plan.tree_for import takes, tree_for
from gpop.program.content_key import Watched
from gpop.program.lowering import Lowered, lower, watched_of
from gpop.program.program import Program
from gpop.program.types import Types, types_of

UNLIMITED = int(np.iinfo(np.int64).max)
"""Iterations of a run that ends by itself."""


@dataclass(frozen=True)
class Plan:
    """A run, decided.

    Attributes
    ----------
    program : Program
    lowered : Lowered or None
        Its checked functions. None, like the two below, for the Python target, which compiles nothing.
    types : Types or None
        Of messages, of what ``gatherFunc`` gets, and of weights (None where the program uses none).
    hidden : Hidden or None
        How messages of inactive vertices are hidden.
    mode : str
        The mode that was asked for.
    strategies : tuple of Strategy
        Those that may be chosen; the engine needs kernels and layouts for no others.
    interleave, counting : bool
        Whether a partition gathers what has arrived before it scatters; whether accesses are counted.
    threads : int
        On the CPU.
    of_run : tuple of int
        `gpop.model.features.OF_RUN`.
    model : Model
        What auto goes by.
    ratio : float or None
        BW_PC / BW_SC of the model; None: what the target has found out.
    partition_size : int or None
        Vertices per partition; None: what fits the target's caches.
    limit : int
        Most iterations.
    tree : Tree, optional
        What chooses the mode of each iteration, in place of the model.
    alike : Decided, optional
        The same object in all plans that were decided alike for the same functions: they differ in program
        and limit only. None where this plan was changed after it was decided.
    residency : Residency
        Where arrays lie that grow with the edges.
    """

    program: Program
    lowered: Lowered | None
    types: Types | None
    hidden: Hidden | None
    mode: str
    strategies: tuple[Strategy, ...]
    interleave: bool
    counting: bool
    threads: int
    model: Model
    ratio: float | None
    partition_size: int | None
    limit: int
    of_run: tuple[int, int, int]
    tree: Tree | None = None
    alike: Decided | None = None
    residency: Residency = ANYWHERE

    def may(self, mode: int) -> bool:
        """Whether an iteration or a partition may take the mode with this code."""
        return mode in [strategy.mode for strategy in self.strategies]


def of_run(cls: type[Program], types: Types | None) -> tuple[int, int, int]:
    """`gpop.model.features.OF_RUN` of a program; zeros where nothing is compiled."""
    if types is None:
        return 0, 0, 0
    weight = 0 if types.weight is None else types.weight.itemsize
    return types.message.itemsize, weight, ALWAYS_ALL if cls.all_active else int(_needs(cls))


def _needs(cls: type[Program]) -> bool:
    """Whether a program says which vertices need a message."""
    return cls.needsFunc is not Program.needsFunc


class Decided:
    """What was decided for a program's functions and some options, as attributes of a plan.

    To decide takes longer than a small run, and a plan follows from what it is asked with.
    """

    def __init__(self, target: str, offered: Tree | None, watched: Watched | None, **attributes: Any) -> None:
        self.target, self.offered = target, offered  # the tree that was looked at, taken or not
        self.attributes = {**attributes, "alike": self}
        self.watched = watched

    def is_of(self, lowered: Lowered, model: Model, tree: Tree | None) -> bool:
        """Whether these very objects went in."""
        made_of = self.attributes
        return made_of["lowered"] is lowered and made_of["model"] is model and self.offered is tree

    def stands(self, cls: type[Program]) -> bool:
        """Whether the class's functions and the tree that was looked at are what they were then."""
        said = self.attributes
        # Most often nothing has changed since, which says that without a look at what is known of the class.
        still = self.watched is not None and self.watched.unchanged(cls)
        if not still and lower(cls) is not said["lowered"]:
            return False
        if self.target != "cpu" and said["mode"] == "auto":
            return True
        return tree_for(said["mode"], said["model"], said["ratio"], self.target) is self.offered

    def plan(self, program: Program, limit: int) -> Plan:
        """The plan of a run of this program."""
        plan = object.__new__(Plan)
        vars(plan).update(self.attributes, program=program, limit=limit)
        return plan


_decided: dict[tuple, Decided] = {}
_asked: dict[tuple, Decided] = {}
"""The same by the options of `gpop.run` as they came, which have passed its checks."""

MOST = 256
"""Of those; they are small."""


def decide(
    program: Program,
    *,
    target: str = "cpu",
    mode: str = "auto",
    interleave: bool = False,
    counting: bool = False,
    threads: int | None = None,
    model: Model = MODELS[0],
    ratio: float | None = None,
    partition_size: int | None = None,
    limit: int = UNLIMITED,
    residency: Residency = ANYWHERE,
) -> Plan:
    """The plan of a run of a program; arguments as for `gpop.run`, each checked by itself.

    Raises
    ------
    UsageError, ProgramError
        If the program needs weights that the graph lacks, breaks a rule, or cannot be typed.
    """
    cls, graph = type(program), program.graph
    weight = None
    if cls.applyWeight is not Program.applyWeight:
        if graph.weights is None:
            raise UsageError(
                f"{cls.__name__} needs edge weights (it defines applyWeight); {graph!r} has none"
            )
        weight = graph.weights.dtype
    # Elsewhere they mean nothing, and to ask the system how many cores there are takes a while.
    threads = use_threads(threads) if target == "cpu" or threads is not None else 1
    asked = (mode, interleave, counting, threads, model, ratio, partition_size, residency)
    if target == "python":
        return _decide(cls, target, None, weight, None, *asked).plan(program, limit)
    lowered = lower(cls)
    tree = tree_for(mode, model, ratio, target)
    known = (id(lowered), target, weight, id(tree), *asked[:4], id(model), *asked[5:])
    decided = _decided.get(known)
    # What lies in one place now may be another object than before.
    if decided is None or not decided.is_of(lowered, model, tree):
        if len(_decided) >= MOST:
            _decided.clear()
        decided = _decided[known] = _decide(cls, target, lowered, weight, tree, *asked)
    return decided.plan(program, limit)


def decided_before(asked: tuple, program: Program, limit: int) -> Plan | None:
    """The plan of a run whose ``asked``, all that a plan follows from but what can change in the meantime, is
    that of an earlier one; None where there was none, or a function or a tree is another."""
    try:
        decided = _asked.get(asked)
    except TypeError:  # something that is no option
        return None
    if decided is None or not decided.stands(type(program)):
        return None
    return decided.plan(program, limit)


def remember(asked: tuple, plan: Plan) -> None:
    """Have `decided_before` find what was decided for a run that has passed all checks."""
    if plan.alike is not None and plan.lowered is not None:
        if len(_asked) >= MOST:
            _asked.clear()
        with suppress(TypeError):
            _asked[asked] = plan.alike


def _decide(
    cls: type[Program], target: str, lowered: Lowered | None, weight: np.dtype | None, tree: Tree | None,
    mode: str, interleave: bool, counting: bool, threads: int, model: Model, ratio: float | None,
    partition_size: int | None, residency: Residency,
) -> Decided:  # fmt: skip
    types = hidden = None
    if lowered is not None:
        types = types_of(cls, lowered, weight)
        hidden = hidden_of(cls, types.message)
    interleave = interleave and code_of(mode) != PULL  # nothing is scattered that could be gathered early
    needs = _needs(cls)
    known = of_run(cls, types)
    taken = tree is not None and takes(tree, mode, known)
    return Decided(
        target,
        tree,
        None if lowered is None else watched_of(cls),
        lowered=lowered,
        types=types,
        hidden=hidden,
        mode=mode,
        strategies=tuple(
            strategy
            for strategy in STRATEGIES
            if strategy.target == target and strategy.fits(mode, cls.all_active, needs, interleave)
        ),
        interleave=interleave,
        counting=counting,
        threads=threads,
        model=model,
        ratio=ratio,
        partition_size=partition_size,
        residency=residency,
        of_run=known,
        tree=tree if taken else None,
    )
