"""The decision tree of a run on the device (kernels/tree.cuh): what it asks, in whole numbers.

What is left of it in a run (`gpop.plan.chosen`) asks about a count of vertices or edges, or its share of
all of them, which grows with it: there is a largest count that goes left, and the device compares with that,
without a division. Children that go left follow their parents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpop.gpu.choices import named_for
from gpop.gpu.device import cupy
from gpop.gpu.traits import Traits
from gpop.graph.graph import Graph
from gpop.model.choosers import AUTO, AUTO_PUSH
from gpop.model.features import STEP_AT, step_feature
from gpop.model.strategies import MODES
from gpop.model.trees import LEAF
from gpop.plan.chosen import Chosen, chosen_of, tell_missing
from gpop.plan.plan import Plan

TREE_NODE = np.dtype([("limit", "i8"), ("which", "i4"), ("right", "i4")])
"""``struct TreeNode``; ``which`` counts the pairs of `gpop.model.features.OF_STEP`, numbers and shares."""

MOST = 1 << 62


def takes(traits: Traits) -> Callable[[int], bool]:
    """Which modes an engine can take in an iteration by itself, by their codes.

    An owner per vertex has one way whatever the mode, and pull is that of `Traits.pulling`.
    """
    parts = traits.sparse, traits.dense, traits.pulling
    found = {mode.code for mode, part in zip(MODES, parts, strict=True) if part and part.mode == mode.code}
    return found.__contains__


def load_tree(plan: Plan, traits: Traits, budgeted: bool = False) -> dict[str, Any]:
    """The array of the workspace; none where the tree has been asked already, for all iterations.

    ``budgeted``: edges may be over the link.
    """
    may, graph = takes(traits) if traits.tree else plan.may, plan.program.graph
    tell_missing(plan.lowered.name, plan.tree, graph, plan.of_run, may, named_for(plan, budgeted))
    if not traits.tree:
        return {}
    auto = AUTO if plan.model.pulls else AUTO_PUSH
    nodes = nodes_of(chosen_of(plan.tree, graph, plan.of_run, may, auto), graph)
    return {"tree": cupy().asarray(nodes.view(np.uint8))}


def nodes_of(chosen: Chosen, graph: Graph) -> np.ndarray:
    """The nodes as the device reads them, in runs on this graph.

    Examples
    --------
    >>> from gpop.model.trees import stump
    >>> graph = Graph.from_edges([0, 1, 1], [1, 0, 2])
    >>> def nodes(feature, threshold):
    ...     tree = stump(feature, threshold, "sc", "pc")
    ...     return nodes_of(chosen_of(tree, graph, (4, 0, 1), lambda mode: True), graph).tolist()
    >>> nodes("edges rel", 0.7), nodes("vertices", 2.5)
    ([(2, 2, 2), (0, -1, 0), (0, -1, 1)], [(0, -1, 1)])
    """
    found = np.zeros(len(chosen.left), TREE_NODE)
    found["which"], found["right"] = LEAF, chosen.right
    for at in np.flatnonzero(chosen.left != LEAF):
        which = int(chosen.place[at]) - STEP_AT
        found["limit"][at] = _limit(which, float(chosen.threshold[at]), graph)
        found["which"][at] = which // 2
    return found


def _limit(which: int, threshold: float, graph: Graph) -> int:
    """The largest count whose feature, as float32, is at most the threshold; -1: none is."""
    n, m = float(max(graph.n, 1)), float(max(graph.m, 1))
    below, above = -1, MOST
    while above - below > 1:
        middle = (below + above) // 2
        count = float(middle)
        fits = np.float32(step_feature(which, n, m, count, count, count)) <= threshold
        below, above = (middle, above) if fits else (below, middle)
    return below
