"""Steps: what each strategy took in each measured iteration, and the features of the iteration.

A *variant* is a graph and where the run began; a *step* is an iteration of one. All strategies do the same
work in a step: they begin it with the same frontier, which whoever makes `Steps` sees to. The oracle takes
the fastest strategy in every step, the best fixed one of a variant the same strategy in all of its steps (M.
Verstraaten's thesis, T-90).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from gpop.common.errors import UsageError
from gpop.model.features import FEATURES
from gpop.model.trees import NO_STRATEGY, Tree


@dataclass(frozen=True)
class Steps:
    """Measured iterations, in the order of their variants and of time.

    Attributes
    ----------
    strategies : tuple of str
    features : ndarray of float64, [steps, len(FEATURES)]
    seconds : ndarray of float64, [steps, strategies]
        Infinite where the program of a step does not have a strategy.
    graph, variant, step : ndarray of int, [steps]
        Ids; a variant is on one graph.
    family : ndarray of str, [steps]
        Of the graph.
    others : dict of ndarray of float64, [steps]
        Seconds of what switches by itself, such as auto.
    """

    strategies: tuple[str, ...]
    features: np.ndarray
    seconds: np.ndarray
    graph: np.ndarray
    variant: np.ndarray
    step: np.ndarray
    family: np.ndarray
    others: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        size = len(self.step)
        shapes = {"features": (size, len(FEATURES)), "seconds": (size, len(self.strategies))}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise UsageError(f"steps: {name} of shape {getattr(self, name).shape}: expected {shape}")

    def __len__(self) -> int:
        return len(self.step)

    def where(self, chosen: np.ndarray) -> Steps:
        """Those of a mask, or at these places."""
        rows = ("features", "seconds", "graph", "variant", "step", "family")
        others = {name: seconds[chosen] for name, seconds in self.others.items()}
        return replace(self, others=others, **{name: getattr(self, name)[chosen] for name in rows})

    def among(self, other: str) -> Steps:
        """The same steps, with one of `others` as a strategy more: a tree may leave a step to it.

        Examples
        --------
        >>> steps = replace(example(), others={"auto": np.array([1.0, 1, 1])})
        >>> steps.among("auto").strategies, steps.among("auto").oracle.tolist()
        (('sc', 'pull', 'auto'), [1.0, 1.0, 1.0])
        """
        seconds = np.column_stack([self.seconds, self.others[other]])
        return replace(self, strategies=(*self.strategies, other), seconds=seconds)

    def only(self, strategies: Collection[str]) -> Steps:
        """The same steps, with some of the strategies.

        Examples
        --------
        >>> example().only({"sc"}).seconds.tolist()
        [[1.0], [9.0], [1.0]]
        """
        kept = [place for place, name in enumerate(self.strategies) if name in strategies]
        names = tuple(self.strategies[place] for place in kept)
        return replace(self, strategies=names, seconds=self.seconds[:, kept])

    @cached_property
    def fastest(self) -> np.ndarray:
        """The fastest strategy of each step; of several the first."""
        return self.seconds.argmin(axis=1)

    @cached_property
    def oracle(self) -> np.ndarray:
        """Its seconds."""
        return self.seconds.min(axis=1)

    @cached_property
    def variants(self) -> np.ndarray:
        """The variants there are."""
        return np.unique(self.variant)

    def per_variant(self, seconds: np.ndarray) -> np.ndarray:
        """Sums over the steps of each of `variants`; of one number a step, or of several.

        Examples
        --------
        >>> steps = example()
        >>> steps.per_variant(steps.oracle)
        array([3., 1.])
        """
        rows = np.searchsorted(self.variants, self.variant)
        sums = np.zeros((len(self.variants), *seconds.shape[1:]))
        np.add.at(sums, rows, seconds)
        return sums

    def best_fixed(self) -> np.ndarray:
        """Seconds of each variant under its best fixed strategy: the oracle that does not switch."""
        return self.per_variant(self.seconds).min(axis=1)

    def predicted(self, tree: Tree) -> np.ndarray:
        """Seconds of every step under the strategy that a tree chooses.

        Where it predicts nothing the strategy of the step before goes on; before that, and where it predicts
        one that was not measured, auto chooses, or where that was not measured, the best strategy over all.

        Examples
        --------
        >>> from gpop.model.trees import stump
        >>> example().predicted(stump("edges rel", 0.1, "sc", "pull"))
        array([1., 2., 1.])
        """
        places = [self.strategies.index(name) if name in self.strategies else -1 for name in tree.strategies]
        choices = tree.predict(self.features)
        strategy = np.where(choices == NO_STRATEGY, NO_STRATEGY, np.array(places)[choices])
        rows = np.arange(len(self))
        first = np.r_[True, self.variant[1:] != self.variant[:-1]]
        known = np.where((choices != NO_STRATEGY) | first, rows, 0)
        np.maximum.accumulate(known, out=known)
        strategy = np.where(choices[known] == NO_STRATEGY, -1, strategy[known])
        default = self.others.get("auto", self.seconds[:, self.seconds.sum(axis=0).argmin()])
        taken = self.seconds[rows, strategy]
        return np.where((strategy < 0) | np.isinf(taken), default, taken)


def example() -> Steps:
    """Three steps of two variants: sc is best while few edges are active.

    Examples
    --------
    >>> example().fastest.tolist()
    [0, 1, 0]
    """
    features = np.zeros((3, len(FEATURES)))
    features[:, FEATURES.index("edges rel")] = 0.01, 0.5, 0.02
    seconds = np.array([[1.0, 5.0], [9.0, 2.0], [1.0, 6.0]])
    ids = (np.array(each) for each in ([1, 1, 2], [1, 1, 2], [0, 1, 0]))
    return Steps(("sc", "pull"), features, seconds, *ids, np.array(["road", "road", "web"]))
