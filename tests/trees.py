"""Decision trees for tests: random ones, and what a run by one of them should take."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import gpop
from gpop.model.features import FEATURES, STEP_AT
from gpop.model.strategies import MODES
from gpop.model.trees import LEAF, Tree, write_tree

NAMES = tuple(mode.name for mode in MODES)


def random_tree(rng: np.random.Generator, depth: int = 4) -> Tree:
    """A full tree that looks at anything, with leaves that predict anything, or nothing."""
    inner = 2**depth - 1
    nodes = np.arange(2 * inner + 1)
    left = np.where(nodes < inner, 2 * nodes + 1, LEAF)
    right = np.where(nodes < inner, 2 * nodes + 2, rng.integers(-1, len(NAMES), nodes.size))
    feature = np.where(nodes < inner, rng.integers(STEP_AT, len(FEATURES), nodes.size), 0)
    threshold = np.where(nodes < inner, rng.random(nodes.size) ** 3, 0.0)
    sets = (((0, 1), 2),)
    return Tree(NAMES, FEATURES, feature, threshold, left, right, sets, (0.0,) * len(FEATURES))


def mode_of(tree: Tree, folder: Path) -> str:
    """The mode that asks for a tree."""
    path = folder / "tree.json"
    write_tree(tree, path)
    return f"tree:{path}"


def taken(record: dict) -> set[str]:
    """The modes that partitions took in an iteration."""
    return {mode.name for mode in MODES if record[mode.column]}


def expected_modes(tree: Tree, trace: gpop.Trace, graph: gpop.Graph) -> list[str | None]:
    """The mode of every iteration; None before the tree has predicted one."""
    samples = np.column_stack([*trace.features(graph).values()])
    found: list[str | None] = []
    for choice in tree.predict(samples):
        # A leaf that predicts nothing keeps the mode.
        found.append(NAMES[choice] if choice >= 0 else found[-1] if found else None)
    return found
