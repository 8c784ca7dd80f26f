"""The decision tree of a run, as engines read it: flat arrays, and a vector of features.

Graph and program are known before the run: nodes that ask about them are decided when it is prepared. What is
left asks about the iteration, whose features are written in the loop, as float32, to which thresholds are
compared. Leaves hold the mode itself: nothing is looked up behind them.
Where the tree says auto, the model chooses for the iteration. A leaf whose strategy the run cannot take
leaves the iteration to equation 1 (`AUTO_PUSH`), one that predicts nothing keeps the mode of the iteration
before (`KEEP`; thesis of M. Verstraaten, section 7.3). Where every vertex is active all iterations are alike,
and the tree is asked once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gpop.graph.graph import Graph
from gpop.model.asked import split
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


def left_of(tree: Tree, graph: Graph, of_run: tuple[int, int, int]) -> Tree:
    """What is left of a tree in runs on this graph, of programs with these `gpop.model.features.OF_RUN`.

    Nodes are in the order in which a walk that goes left first meets them: a left child follows its parent.

    Examples
    --------
    >>> from gpop.model.trees import stump
    >>> graph = Graph.from_edges([0, 1], [1, 0])
    >>> of_graph, of_step = (stump(name, 2.5, "sc", "pc") for name in ("edges", "edges abs"))
    >>> [left_of(tree, graph, (4, 0, 1)).right.tolist() for tree in (of_graph, of_step)]
    [[0], [2, 0, 1]]
    """
    known = np.array((*graph_features(graph), *of_run), np.float32)
    nodes: list[int] = []
    children: list[list[int]] = []
    waiting = [(0, -1)]  # a node, and whose right child it is
    while waiting:
        at, parent = waiting.pop()
        while tree.left[at] != LEAF and tree.places[at] < STEP_AT:
            below = known[tree.places[at]] <= tree.threshold[at]
            at = int(tree.left[at] if below else tree.right[at])
        if parent >= 0:
            children[parent][1] = len(nodes)
        if tree.left[at] == LEAF:
            children.append([LEAF, int(tree.right[at])])
        else:
            waiting += [(int(tree.right[at]), len(nodes)), (int(tree.left[at]), -1)]
            children.append([len(nodes) + 1, 0])
        nodes.append(at)
    left, right = np.array(children, np.int64).T.copy()  # engines read them by address
    return replace(tree, feature=tree.feature[nodes], threshold=tree.threshold[nodes], left=left, right=right)


def missing_from(tree: Tree, may: Callable[[int], bool], by_name: Collection[str] = ()) -> list[str]:
    """Strategies in the leaves of a tree that a run cannot take.

    ``may`` says it of the code of a mode; ``by_name`` are those that it takes by their names.
    """
    said = {*tree.right[tree.left == LEAF].tolist()}
    left = [name for i, name in enumerate(tree.strategies) if i in said and split(name)[0] not in by_name]
    found = {name: CODES.get(name) for name in left}
    return [name for name, code in found.items() if code is None or (code != AUTO and not may(code))]


def tell_missing(
    program: str, tree: Tree, graph: Graph, of_run: tuple[int, int, int], may: Callable[[int], bool],
    by_name: Collection[str] = (),
) -> None:  # fmt: skip
    """Say which strategies of a tree that was asked for a run of this program cannot take."""
    missing = missing_from(left_of(tree, graph, of_run), may, by_name)
    if missing:
        warnings.warn(
            f"{program}: the tree may choose {', '.join(missing)}, which this run cannot take: "
            "equation 1 chooses there",
            RuntimeWarning,
            stacklevel=3,
        )


def chosen_of(
    tree: Tree, graph: Graph, of_run: tuple[int, int, int], may: Callable[[int], bool], auto: int = AUTO
) -> Chosen:
    """The tree for runs on this graph, of programs with these `gpop.model.features.OF_RUN`.

    ``auto`` is what stands for that: `AUTO_PUSH` where the model never pulls.
    """
    tree = left_of(tree, graph, of_run)
    missing, codes = missing_from(tree, may), CODES | {"auto": auto}
    leaves, right = tree.left == LEAF, tree.right.copy()
    names = [tree.strategies[strategy] if strategy >= 0 else None for strategy in right[leaves]]
    right[leaves] = [KEEP if n is None else AUTO_PUSH if n in missing else codes[n] for n in names]
    return Chosen(tree.places, tree.threshold, tree.left, right, np.zeros(len(FEATURES), np.float32))


def asked_once(
    tree: Tree, graph: Graph, of_run: tuple[int, int, int], may: Callable[[int], bool],
    by_name: Collection[str] = (),
) -> str:  # fmt: skip
    """The mode of a run in which every vertex is always active; auto where the tree has none for it.

    That may be a strategy by name, of which an engine has no more than one in a run.

    Examples
    --------
    >>> from gpop.model.trees import stump
    >>> graph, tree = Graph.from_edges([0, 1], [1, 0]), stump("edges rel", 0.5, "sc", "pc")
    >>> [asked_once(tree, graph, (4, 0, 0), lambda mode: mode == code) for code in (0, 1)]
    ['auto', 'pc']
    """
    (choice,) = tree.predict(run_features(graph, of_run, [graph.n], [graph.m]))
    name = tree.strategies[choice] if choice >= 0 else "auto"
    return "auto" if name in missing_from(tree, may, by_name) else name
