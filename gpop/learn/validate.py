"""Whether a tree is better than auto on what it was not trained on: other steps, and other graphs.

Steps: a tree of 70 % of them is asked about the rest. Groups (graphs, families): for each of them a tree of
all the others is asked about it, so that no step of a graph helps to predict the next one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpop.common.errors import UsageError
from gpop.learn.split import Split
from gpop.learn.steps import Steps
from gpop.learn.train import train


class HeldOut(NamedTuple):
    """Steps that were predicted by trees that had not seen them, and the seconds of the predictions."""

    steps: Steps
    predicted: np.ndarray

    @property
    def total(self) -> float:
        """Over the oracle's time."""
        return float(self.predicted.sum() / self.steps.oracle.sum())

    def total_of(self, other: str) -> float:
        """The same of what switches by itself."""
        return float(self.steps.others[other].sum() / self.steps.oracle.sum())


def held_out_steps(steps: Steps, split: Split | None = None, **options: Any) -> HeldOut:
    """The complement of a split, predicted by the tree of the split.

    Examples
    --------
    >>> from gpop.learn.steps import example
    >>> len(held_out_steps(example(), Split(steps=0.67)).steps)
    1
    """
    chosen = (split or Split()).of(steps)
    rest = steps.where(~chosen)
    return HeldOut(rest, rest.predicted(train(steps.where(chosen), **options)))


def held_out_groups(steps: Steps, groups: np.ndarray, **options: Any) -> HeldOut:
    """All steps, each group of them predicted by the tree of the others.

    Raises
    ------
    UsageError
        If there is one group.

    Examples
    --------
    >>> from gpop.learn.steps import example
    >>> held_out_groups(example(), example().graph).predicted.tolist()
    [1.0, 9.0, 1.0]
    """
    among = np.unique(groups)
    if len(among) < 2:
        raise UsageError("all steps are of one graph or family: expected several, each is held out in turn")
    predicted = np.empty(len(steps))
    for group in among:
        inside = groups == group
        predicted[inside] = steps.where(inside).predicted(train(steps.where(~inside), **options))
    return HeldOut(steps, predicted)
