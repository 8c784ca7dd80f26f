"""Which steps a tree is trained on: seeded fractions of graphs, of variants and of steps.

A step is trained on if its graph and its variant and the step itself were drawn; the rest is for validation
(M. Verstraaten's thesis). The three are drawn from streams of their own, over sorted ids, so that
another fraction of one leaves the others as they are. A fraction of n is ``round(fraction * n)`` of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.errors import UsageError
from gpop.learn.steps import Steps


class Split(NamedTuple):
    """How a training set was drawn: shares of graphs, variants and steps, and the seed."""

    graphs: float = 1.0
    variants: float = 1.0
    steps: float = 0.7
    seed: int = 1

    def of(self, steps: Steps) -> np.ndarray:
        """Mask of the steps to train on.

        Raises
        ------
        UsageError
            If a share is not above 0 and at most 1.

        Examples
        --------
        >>> from gpop.learn.steps import example
        >>> Split(steps=1.0).of(example()).tolist()
        [True, True, True]
        """
        chosen = np.ones(len(steps), bool)
        streams = np.random.SeedSequence(self.seed).spawn(3)
        keys = (steps.graph, steps.variant, np.arange(len(steps)))
        for name, share, key, stream in zip(self._fields, self[:3], keys, streams, strict=False):
            if not 0 < share <= 1:
                raise UsageError(f"share of {name} {share:g}: expected a number above 0 and at most 1")
            ids = np.unique(key)
            drawn = np.random.default_rng(stream).permutation(ids)[: round(share * len(ids))]
            chosen &= np.isin(key, drawn)
        return chosen


def without(steps: Steps, family: str) -> np.ndarray:
    """Mask of the steps of all other families."""
    return steps.family != family
