"""What a run will do: decided once, in one place, before any target is touched.

Every engine starts from a `Plan`. What depends on the machine (partitions, layouts, kernels) follows from it
when the engine prepares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpop.model.strategies import MODES
from gpop.plan.hidden import Hidden
from gpop.program.lowering import Lowered
from gpop.program.program import Program
from gpop.program.types import Types

UNLIMITED = int(np.iinfo(np.int64).max)
"""Iterations of a run that ends by itself."""

EVERY_MODE = tuple(mode.name for mode in MODES)


@dataclass(frozen=True)
class Plan:
    """A run, decided.

    Attributes
    ----------
    program, lowered : Program, Lowered
        The program and its checked functions.
    types : Types
        Of messages, of what ``gatherFunc`` gets, and of weights (None where the program uses none).
    hidden : Hidden
        How messages of inactive vertices are hidden.
    mode : str
        The mode that was asked for, or what is left of auto.
    pulls : bool
        Whether an iteration may pull.
    interleave, counting : bool
    threads : int or None
        As asked; each target has its own meaning of None.
    ratio : float or None
        BW_PC / BW_SC; None: the target's own.
    partition_size : int or None
    limit : int
        Most iterations.
    """

    program: Program
    lowered: Lowered
    types: Types
    hidden: Hidden
    mode: str
    pulls: bool
    interleave: bool
    counting: bool
    threads: int | None
    ratio: float | None
    partition_size: int | None
    limit: int
