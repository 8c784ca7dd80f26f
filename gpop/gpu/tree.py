"""The decision tree of a run on the device (kernels/tree.cuh): its nodes, and features known before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpop.gpu.device import cupy
from gpop.gpu.kernel import Traits
from gpop.model.choosers import AUTO, AUTO_PUSH
from gpop.model.strategies import MODES
from gpop.plan.chosen import chosen_of, tell_missing
from gpop.plan.plan import Plan

TREE_NODE = np.dtype(
    [("threshold", "f8"), ("place", "i4"), ("left", "i4"), ("right", "i4"), ("pad", "i4")]
)  # ``struct TreeNode``


def takes(traits: Traits) -> Callable[[int], bool]:
    """Which modes an engine can take in an iteration by itself, by their codes.

    An owner per vertex has one way whatever the mode, and pull is that of `Traits.pulling`.
    """
    parts = traits.sparse, traits.dense, traits.pulling
    found = {mode.code for mode, part in zip(MODES, parts, strict=True) if part and part.mode == mode.code}
    return found.__contains__


def load_tree(plan: Plan, traits: Traits) -> dict[str, Any]:
    """The arrays of the workspace; none where the tree has been asked already, for all iterations."""
    may = takes(traits) if traits.tree else plan.may
    tell_missing(plan.lowered.name, plan.tree, may)
    if not traits.tree:
        return {}
    auto = AUTO if plan.model.pulls else AUTO_PUSH
    chosen = chosen_of(plan.tree, plan.program.graph, plan.of_run, may, auto)
    nodes = np.zeros(len(chosen.left), TREE_NODE)
    for name in ("threshold", "place", "left", "right"):
        nodes[name] = getattr(chosen, name)
    return {"tree": cupy().asarray(nodes.view(np.uint8)), "features": cupy().asarray(chosen.values)}
