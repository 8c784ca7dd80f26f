"""Traits: what is compiled into a program's kernels beside the functions of its user."""

from __future__ import annotations

from typing import NamedTuple

from gpop.model.strategies import PULL, TREE
from gpop.plan.hidden import MASK_NONE
from gpop.plan.plan import Plan
from gpop.program.lowering import Lowered

NEVER, MAYBE, ALWAYS = range(3)
"""Whether a loop pulls."""


class Traits(NamedTuple):
    """What is compiled into a loop beside the user's functions."""

    weight_dtype: str | None
    all_active: bool
    mask: int
    inactive: object
    interleave: bool
    pull: int
    track: bool
    counting: bool
    sums: bool
    settles: tuple[str, str] | None = None


def traits_of(plan: Plan, mode: str, sums: bool) -> Traits:
    """What a loop must be compiled with; ``mode`` is what preparing has left of the one asked for."""
    cls = type(plan.program)
    pull = (
        ALWAYS
        if mode == "pull"
        else MAYBE
        if mode in ("auto", TREE) and plan.may(PULL) and not cls.all_active
        else NEVER
    )
    weight = None if plan.types.weight is None else plan.types.weight.str
    alone = "messageFunc" not in plan.lowered.functions  # no rank knows what the others have changed
    return Traits(
        weight, cls.all_active, *plan.hidden, plan.interleave, pull, cls.track_touched, plan.counting, sums,
        cls.settles if alone else None,
    )  # fmt: skip


def activates_receivers(lowered: Lowered, traits: Traits) -> bool:
    """Whether a vertex joins the frontier whenever a message reaches it, whatever that says."""
    return lowered.activates and traits.mask == MASK_NONE and not (traits.all_active or traits.interleave)
