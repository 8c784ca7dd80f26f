"""Graft: two trees of the same strategies below a node that decides which of them is asked."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gpop.model.trees import LEAF, Tree


def graft(feature: str, threshold: float, below: Tree, above: Tree, share: float) -> Tree:
    """``below`` is asked where the feature is at most the threshold, and has this share of the importance.

    Examples
    --------
    >>> from gpop.model.trees import stump
    >>> trees = stump("edges rel", 0.1, "sc", "pc"), stump("frontier rel", 0.2, "sc", "pc")
    >>> graft("pulls", 0.5, *trees, 0.5).left.tolist()
    [1, 2, -1, -1, 5, -1, -1]
    """
    features = tuple(dict.fromkeys((feature, *below.features, *above.features)))
    parts = [
        _moved(tree, features, first, sets)
        for tree, first, sets in ((below, 1, 0), (above, 1 + below.left.size, len(below.sets)))
    ]
    root = np.array([features.index(feature)]), np.array([threshold]), np.array([1]), [1 + below.left.size]
    arrays = (np.concatenate(each) for each in zip(root, *parts, strict=True))
    importances = dict.fromkeys(features, 0.0)
    for tree, part in ((below, share), (above, 1 - share)):
        for name, importance in zip(tree.features, tree.importances, strict=True):
            importances[name] += part * importance
    return Tree(below.strategies, features, *arrays, below.sets + above.sets, tuple(importances.values()))


def _moved(tree: Tree, features: tuple[str, ...], first: int, sets: int) -> Iterable[np.ndarray]:
    """The arrays of a tree that begins at a node, and whose sets follow so many others."""
    inner = tree.left != LEAF
    places = np.array([features.index(name) for name in tree.features] or [0])
    yield np.where(inner, places[tree.feature], 0)
    yield tree.threshold
    yield np.where(inner, tree.left + first, LEAF)
    yield np.where(inner, tree.right + first, np.where(tree.right < 0, tree.right - sets, tree.right))
