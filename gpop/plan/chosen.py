"""The decision tree of a run, as engines read it: flat arrays, and a vector of features.

The features of graph and program are written when a run is prepared, those of an iteration in the loop, as
float32, to which thresholds are compared. Leaves hold the mode itself: nothing is looked up behind them.
Where the tree says auto, the model chooses for the iteration. A leaf whose strategy the run cannot take
leaves the iteration to equation 1 (`AUTO_PUSH`), one that predicts nothing keeps the mode of the iteration
before (`KEEP`; thesis of M. Verstraaten, section 7.3). Where every vertex is active all iterations are alike,
and the tree is asked once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpop.graph.graph import Graph
from gpop.model.choosers import AUTO, AUTO_PUSH
from gpop.model.features import FEATURES, STEP_AT, graph_features, run_features
from gpop.model.strategies import MODES
from gpop.model.trees import LEAF, Tree

KEEP = -99
"""In place of a mode: that of the iteration before."""

CODES = {"auto": AUTO, **{mode.name: mode.code for mode in MODES}}


class Chosen(NamedTuple):
    """A tree and the features it is asked about; ``right`` of a leaf is a mode, `AUTO_PUSH` or `KEEP`."""

    place: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    values: np.ndarray


def missing_from(tree: Tree, may: Callable[[int], bool]) -> list[str]:
    """Strategies of a tree that a run cannot take; ``may`` says it of the code of a mode."""
    found = {name: CODES.get(name) for name in tree.strategies}
    return [name for name, code in found.items() if code is None or (code != AUTO and not may(code))]


def tell_missing(program: str, tree: Tree, may: Callable[[int], bool]) -> None:
    """Say which strategies of a tree that was asked for a run of this program cannot take."""
    missing = missing_from(tree, may)
    if missing:
        warnings.warn(
            f"{program}: the tree may choose {', '.join(missing)}, which this run cannot take: "
            "equation 1 chooses there",
            RuntimeWarning,
            stacklevel=3,
        )


def chosen_of(
    tree: Tree, graph: Graph, of_run: tuple[int, int], may: Callable[[int], bool], auto: int = AUTO
) -> Chosen:
    """The tree for runs on this graph, of programs with messages and weights of these bytes.

    ``auto`` is what stands for that: `AUTO_PUSH` where the model never pulls.
    """
    missing, codes = missing_from(tree, may), CODES | {"auto": auto}
    modes = [AUTO_PUSH if name in missing else codes[name] for name in tree.strategies]
    leaves, right = tree.left == LEAF, tree.right.copy()
    right[leaves] = [modes[strategy] if strategy >= 0 else KEEP for strategy in tree.right[leaves]]
    values = np.zeros(len(FEATURES), np.float32)
    values[:STEP_AT] = (*graph_features(graph), *of_run)
    return Chosen(tree.places, tree.threshold, tree.left, right, values)


def asked_once(tree: Tree, graph: Graph, of_run: tuple[int, int], may: Callable[[int], bool]) -> str:
    """The mode of a run in which every vertex is always active; auto where the tree has none for it.

    Examples
    --------
    >>> from gpop.model.trees import stump
    >>> graph, tree = Graph.from_edges([0, 1], [1, 0]), stump("edges rel", 0.5, "sc", "pc")
    >>> [asked_once(tree, graph, (4, 0), lambda mode: mode == code) for code in (0, 1)]
    ['auto', 'pc']
    """
    (choice,) = tree.predict(run_features(graph, of_run, [graph.n], [graph.m]))
    name = tree.strategies[choice] if choice >= 0 else "auto"
    return "auto" if name in missing_from(tree, may) else name
