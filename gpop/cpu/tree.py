"""How the compiled loop asks the decision tree of a run (`gpop.plan.chosen`).

A decision is a walk of some levels, once for an iteration on the main thread: tens of nanoseconds.
"""

from __future__ import annotations

import numpy as np

from gpop.common.by_reference import reference_of
from gpop.common.inlined import inline
from gpop.cpu import team
from gpop.model.compiled import step_feature
from gpop.model.features import FEATURES, OF_STEP, STEP_AT
from gpop.model.trees import LEAF
from gpop.plan.chosen import KEEP, Chosen

STEP_FEATURES = len(OF_STEP)

NO_CHOICE = Chosen(
    *(np.zeros(1, dtype) for dtype in (np.int64, np.float64)),
    *(np.full(1, value, np.int64) for value in (LEAF, KEEP)),
    np.zeros(len(FEATURES), np.float32),
)

NO_TREE = reference_of(NO_CHOICE)
"""Of runs that have none."""


@inline
def walk(chosen, vertices, edges, frontier, active_edges, visited):
    """What the tree says of an iteration (float64 numbers)."""
    values = chosen.values
    vertices, edges = max(vertices, 1.0), max(edges, 1.0)
    for i in range(STEP_FEATURES):
        values[STEP_AT + i] = step_feature(i, vertices, edges, frontier, active_edges, visited)
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
