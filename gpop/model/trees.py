"""Trees: which strategy an iteration should take, learned from measured ones, as flat arrays in a small file.

A node that decides has a feature, a threshold and two children: left where the feature, as float32, is at
most the threshold. A leaf has no left child (`LEAF`), and as its right one the index of a strategy, or, where
several were best equally often, minus one minus the index of a set of them: nothing is predicted there
(M. Verstraaten's thesis, chapter 7). Children come after their parents, so that every walk ends.

The file is JSON (schema: ``gpop/schemas/tree.json``) with a digest of its content: what is cut short, edited
or of another kind is refused. Nothing but NumPy is needed to read it; `gpop.learn` makes trees.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gpop.common.errors import UsageError
from gpop.common.replacing import replacing
from gpop.model.asked import ASKED, check_asked
from gpop.model.features import FEATURES
from gpop.model.strategies import TREE

KIND, FORMAT, LEAF = "gpop decision tree", 1, -1
ARRAYS = {"feature": np.int64, "threshold": np.float64, "left": np.int64, "right": np.int64}
"""One value for every node; ``feature`` and ``threshold`` are 0 in leaves."""

NO_STRATEGY = -1
"""Predicted where a set of strategies was best equally often."""


@dataclass(frozen=True)
class Tree:
    """A decision tree over `gpop.model.features.FEATURES`.

    Attributes
    ----------
    strategies : tuple of str
        What it may predict, as ``mode=`` takes them.
    feature, threshold, left, right : ndarray, [nodes]
        See the banner. ``feature`` counts in ``features``.
    features : tuple of str
        Those it looks at, some of `FEATURES`.
    sets : tuple of (tuple of int, int)
        Of the leaves that predict none: the strategies that were best equally often, and the leaf's samples.
    importances : tuple of float
        Gini importance of each of ``features``; they sum to 1 where anything is decided.
    about : dict
        Where it comes from, and how well it did (JSON).
    """

    strategies: tuple[str, ...]
    features: tuple[str, ...]
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    sets: tuple[tuple[tuple[int, ...], int], ...] = ()
    importances: tuple[float, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def places(self) -> np.ndarray:
        """Where in a vector of all `FEATURES` each node looks."""
        wide = np.array([FEATURES.index(name) for name in self.features] or [0])
        return wide[self.feature]

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Index of the predicted strategy of each sample; `NO_STRATEGY` where none is.

        Parameters
        ----------
        features : ndarray, [samples, len(FEATURES)]

        Examples
        --------
        >>> samples = np.zeros((2, len(FEATURES)))
        >>> samples[:, FEATURES.index("edges rel")] = 0.01, 0.5
        >>> stump("edges rel", 0.1, "sc", "pull").predict(samples)
        array([0, 1])
        """
        values = np.asarray(features).astype(np.float32)
        at, rows = np.zeros(len(values), np.int64), np.arange(len(values))
        while (inner := self.left[at] != LEAF).any():
            left = values[rows, self.places[at]] <= self.threshold[at]
            at = np.where(inner, np.where(left, self.left[at], self.right[at]), at)
        return np.maximum(self.right[at], NO_STRATEGY)

    def said(self) -> dict[str, Any]:
        """What the file holds, but for the digest."""
        return {
            "kind": KIND,
            "format": FORMAT,
            "strategies": [*self.strategies],
            "features": [*self.features],
            **{name: getattr(self, name).tolist() for name in ARRAYS},
            "sets": [{"strategies": [*among], "samples": samples} for among, samples in self.sets],
            "importances": [*self.importances],
            "about": self.about,
        }


def stump(feature: str, threshold: float, below: str, above: str) -> Tree:
    """The tree of one decision.

    Examples
    --------
    >>> stump("edges rel", 0.1, "sc", "pull").left.tolist()
    [1, -1, -1]
    """
    nodes = ([0, 0, 0], [threshold, 0, 0], [1, LEAF, LEAF], [2, 0, 1])
    arrays = (np.array(each, dtype) for each, dtype in zip(nodes, ARRAYS.values(), strict=True))
    return Tree((below, above), (feature,), *arrays, importances=(1.0,))


def digest_of(said: dict[str, Any]) -> str:
    """Of what a file says beside its digest."""
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def write_tree(tree: Tree, path: str | os.PathLike) -> None:
    """Write the file, which appears whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text_of(tree))


def text_of(tree: Tree) -> str:
    """The file as text: one line for each name."""
    said = tree.said()
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(value)}"
        for name, value in (said | {"digest": digest_of(said)}).items()
    )
    return f"{{\n{lines}\n}}\n"


def read_tree(path: str | os.PathLike) -> Tree:
    """Read a file.

    Raises
    ------
    UsageError
        If it cannot be read, is no tree, was cut short or edited, or knows features or strategies that this
        gpop does not have.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tree.json")
    >>> write_tree(stump("edges rel", 0.1, "sc", "pull"), path)
    >>> read_tree(path).strategies
    ('sc', 'pull')
    """
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is no text"
        raise UsageError(f"tree {path}: {reason}: expected a file of python -m perf model export") from None
    try:
        said = json.loads(text)
    except ValueError:
        raise UsageError(f"tree {path}: is no JSON, or cut short: expected a decision tree") from None
    return tree_of(said, f"tree {path}")


def tree_of(said: Any, name: str) -> Tree:
    """The tree of what a file says; ``name`` is for errors, see `read_tree`."""
    if not isinstance(said, dict) or said.get("kind") != KIND:
        raise UsageError(f"{name}: is no decision tree of gpop: expected a file with kind {KIND!r}")
    if said.get("format") != FORMAT:
        raise UsageError(f"{name}: has format {said.get('format')}: expected {FORMAT}")
    said = dict(said)
    if said.pop("digest", None) != digest_of(said):
        raise UsageError(f"{name}: is not as it was written: expected the digest of its content")
    try:
        tree = Tree(
            tuple(said["strategies"]),
            tuple(said["features"]),
            *(np.array(said[array], dtype) for array, dtype in ARRAYS.items()),
            sets=tuple((tuple(each["strategies"]), each["samples"]) for each in said["sets"]),
            importances=tuple(said["importances"]),
            about=said["about"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{name}: {error}: expected the arrays of a decision tree") from None
    _check(tree, name)
    return tree


def _check(tree: Tree, name: str) -> None:
    """Refuse what a walk would not survive."""
    for feature in tree.features:
        if feature not in FEATURES:
            raise UsageError(f"{name}: feature {feature!r}: expected some of {', '.join(FEATURES)}")
    known = tuple(asked for asked in ASKED if asked != TREE)
    for strategy in tree.strategies:
        check_asked(f"{name}: strategy", strategy, known)
    nodes = np.arange(tree.left.size)
    inner = tree.left != LEAF
    walks = (
        nodes.size > 0
        and all(getattr(tree, array).shape == nodes.shape for array in ARRAYS)
        and (tree.left[inner] > nodes[inner]).all()
        and (tree.right[inner] > nodes[inner]).all()
        and (np.maximum(tree.left, tree.right)[inner] < nodes.size).all()
        and ((tree.feature >= 0) & (tree.feature < max(len(tree.features), 1))).all()
        and (tree.right[~inner] < len(tree.strategies)).all()
        and (tree.right[~inner] >= -len(tree.sets)).all()
        and len(tree.importances) == len(tree.features)
    )
    if not walks:
        raise UsageError(f"{name}: its nodes are no tree: expected children after their parents")
