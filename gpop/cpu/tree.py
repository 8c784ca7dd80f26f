"""The decision tree of a run, as the compiled loop reads it: flat arrays, and a vector of features.

The features of graph and program are written when a run is prepared, those of the iteration in the loop, as
float32, to which thresholds are compared. Leaves hold the mode itself: nothing is looked up behind them.
Where the tree says auto, the model chooses for the iteration. A leaf whose strategy the run cannot take
leaves the iteration to equation 1 (`AUTO_PUSH`), one that predicts nothing keeps the mode of the iteration
before (`KEEP`; thesis of M. Verstraaten, section 7.3).

A decision is a walk of some levels, once for an iteration on the main thread: tens of nanoseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpop.common.by_reference import reference_of
from gpop.common.inlined import inline
from gpop.cpu import team
from gpop.cpu.choose_mode import AUTO_PUSH
from gpop.graph.graph import Graph
from gpop.model.choosers import AUTO
from gpop.model.compiled import step_features
from gpop.model.features import FEATURES, STEP_AT, graph_features
from gpop.model.strategies import MODES
from gpop.model.trees import LEAF, Tree

KEEP = -99
"""In place of a mode: that of the iteration before."""


class Chosen(NamedTuple):
    """A tree and the features it is asked about; ``right`` of a leaf is a mode, `AUTO_PUSH` or `KEEP`."""

    place: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    values: np.ndarray


NO_CHOICE = Chosen(
    *(np.zeros(1, dtype) for dtype in (np.int64, np.float64)),
    *(np.full(1, value, np.int64) for value in (LEAF, KEEP)),
    np.zeros(len(FEATURES), np.float32),
)

NO_TREE = reference_of(NO_CHOICE)
"""Of runs that have none."""

CODES = {"auto": AUTO, **{mode.name: mode.code for mode in MODES}}


def missing_from(tree: Tree, may: Callable[[int], bool]) -> list[str]:
    """Strategies of a tree that a run cannot take; ``may`` says it of the code of a mode."""
    found = {name: CODES.get(name) for name in tree.strategies}
    return [name for name, code in found.items() if code is None or (code != AUTO and not may(code))]


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


@inline
def walk(chosen, vertices, edges, frontier, active_edges, visited):
    """What the tree says of an iteration (float64 numbers)."""
    values = chosen.values
    found = step_features(max(vertices, 1.0), max(edges, 1.0), frontier, active_edges, visited)
    for i in range(len(found)):
        values[STEP_AT + i] = found[i]
    at = np.int64(0)
    while chosen.left[at] != LEAF:
        below = values[chosen.place[at]] <= chosen.threshold[at]
        at = chosen.left[at] if below else chosen.right[at]
    return chosen.right[at]


@inline
def choose(c, frontier, active_edges, visited):
    """The mode of an iteration, also for the threads that scatter in it."""
    vertices, edges = np.float64(c.n), np.float64(c.indptr[c.n])
    way = walk(c.tree, vertices, edges, np.float64(frontier), np.float64(active_edges), np.float64(visited))
    if way != KEEP:
        c.team[team.WAY] = way
    return c.team[team.WAY]
