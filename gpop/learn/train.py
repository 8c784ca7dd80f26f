"""Training: CART over measured steps, by scikit-learn, exported to the flat arrays of `gpop.model.trees`.

Steps of programs that cannot pull, that can, and in which every vertex is always active make trees of their
own below nodes that ask which it is: where nobody pulls, no leaf says so.

The label of a step is its fastest strategy. A step weighs what a wrong choice costs there at least: the
seconds that the second fastest strategy takes longer. Without that, thousands of steps of microseconds, whose
fastest strategy is noise, would outvote the few in which a run spends its time (the thesis gives all the
same weight, ``weighted=False``). The tree grows leaf by leaf, the purest gain first, up to ``leaves``.

Trees look at `RELATIVE` only. From all features, counts and degree summaries among them, they learn to know
the graphs of the log again, and are worse on others (`perf.model_study` has both). Where every vertex is
always active all iterations of a graph are alike, and what tells graphs apart is how uneven degrees are:
there trees look at `OF_DEGREES`, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gpop.common.errors import UsageError
from gpop.learn.graft import graft
from gpop.learn.steps import Steps
from gpop.model.features import ALWAYS_ALL, FEATURES, OF_DEGREES, OF_ORDER
from gpop.model.trees import LEAF, Tree

LEAVES = 8
"""Most leaves of a tree, unless another number is asked for. With more of them trees do better on graphs that
they know, and worse on others (`perf.model_study` with 4, 8, 16 and 64)."""


RELATIVE = (
    "out degree mean", *OF_ORDER, "weight bytes", "pulls", "frontier rel", "visited rel", "edges rel"
)  # fmt: skip
"""Features that mean the same on small and large graphs."""

PULLS, BORDERS = "pulls", (0.5, 1.5)
"""Between the values of the feature that programs are told apart by, each kind with a tree of its own."""


def scikit_learn() -> Any:
    """`sklearn.tree`.

    Raises
    ------
    UsageError
        If it is not installed.
    """
    try:
        import sklearn.tree
    except ImportError:
        raise UsageError('training needs scikit-learn (pip install "gpop[tree]")') from None
    return sklearn.tree


def train(
    steps: Steps, *, leaves: int | None = LEAVES, weighted: bool = True, seed: int = 1,
    features: tuple[str, ...] | None = None, about: dict[str, Any] | None = None,
) -> Tree:  # fmt: skip
    """A tree for these steps.

    Parameters
    ----------
    steps : Steps
        At least one.
    leaves : int, optional
        At most so many; None: as many as tell all steps apart.
    weighted : bool
        Whether a step weighs what a wrong choice costs; else all weigh the same.
    seed : int
        Of the order in which features of equal gain are looked at.
    features : tuple of str, optional
        What it may look at; None: see the banner.
    about : dict, optional
        What to say about it in its file.

    Raises
    ------
    UsageError
        If scikit-learn is not installed, or there are no steps.

    Examples
    --------
    >>> from gpop.learn.steps import example
    >>> train(example(), features=("edges rel",)).threshold.round(3).tolist()
    [0.26, 0.0, 0.0]
    """
    cart = scikit_learn()
    if not len(steps):
        raise UsageError("no steps to train on: expected some that all strategies were measured in")
    for border in BORDERS if features is None or PULLS in features else ():
        above = steps.features[:, FEATURES.index(PULLS)] > border
        if 0 < above.sum() < len(steps):
            given = {"leaves": leaves, "weighted": weighted, "seed": seed, "features": features}
            apart = [train(steps.where(rows), **given) for rows in (~above, above)]
            share = float(steps.oracle[~above].sum() / steps.oracle.sum())
            return replace(graft(PULLS, border, *apart, share), about=about or {})
    if features is None:
        always = (steps.features[:, FEATURES.index(PULLS)] == ALWAYS_ALL).all()
        features = tuple(dict.fromkeys((*RELATIVE, *OF_DEGREES))) if always else RELATIVE
    columns = [FEATURES.index(name) for name in features]
    weight = np.ones(len(steps))
    if weighted and len(steps.strategies) > 1:
        first, second = np.partition(steps.seconds, 1)[:, :2].T
        weight = second - first if (second > first).any() else weight
    fitted = cart.DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=seed).fit(
        steps.features[:, columns].astype(np.float32), steps.fastest, sample_weight=weight / weight.mean()
    )
    return _exported(fitted, steps.strategies, features, about or {})


def _exported(fitted: Any, strategies: tuple[str, ...], features: tuple[str, ...], about: dict) -> Tree:
    """The flat arrays; of features, those that are looked at."""
    grown = fitted.tree_
    inner = grown.children_left != LEAF
    looked_at = np.unique(grown.feature[inner])
    sets: dict[tuple[int, ...], int] = {}
    right = grown.children_right.astype(np.int64)
    for leaf in np.flatnonzero(~inner):
        share = grown.value[leaf, 0]
        best = tuple(int(fitted.classes_[i]) for i in np.flatnonzero(share >= share.max() * (1 - 1e-9)))
        if len(best) == 1:
            right[leaf] = best[0]
            continue
        sets[best] = sets.get(best, 0) + int(grown.n_node_samples[leaf])
        right[leaf] = -1 - [*sets].index(best)
    feature = np.zeros(len(inner), np.int64)
    feature[inner] = np.searchsorted(looked_at, grown.feature[inner])
    importances = fitted.feature_importances_[looked_at]
    return Tree(
        strategies,
        tuple(features[i] for i in looked_at),
        feature,
        np.where(inner, grown.threshold, 0.0),
        grown.children_left.astype(np.int64),
        right,
        tuple(sets.items()),
        tuple(float(each) for each in importances),
        about,
    )
