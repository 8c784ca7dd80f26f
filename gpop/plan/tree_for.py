"""Which decision tree a run goes by: that of a file, of this machine, kept by `gpop.tune`, or gpop's own.

The machine's tree lies in the user's cache folder, under the machine's name: several may share a folder.
``auto`` takes it where it was better than auto on steps that it was not trained on; whoever asks for a model
or a ratio asks for the analytical choice. gpop comes with a tree for each target (`OWN`; `perf.default_tree`
made them), which ``mode="tree"`` takes where the machine has none, and ``auto`` never does.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from gpop.common.errors import UsageError
from gpop.common.machine import machine_name
from gpop.common.user_folder import recall, remember
from gpop.model.models import MODELS, Model
from gpop.model.strategies import TREE
from gpop.model.trees import Tree, digest_of, read_tree, tree_of

KEPT = "trees"
"""The file of the user's cache folder."""

OWN = Path(__file__).resolve().parents[1] / "learn" / "trees"
"""The folder of gpop's own trees, a file for each target."""

BETTER = "better than auto for"
"""In ``about`` of a tree: `gpop.model.features.OF_RUN` of the programs for which this was found."""


def tree_for(mode: str, model: Model, ratio: float | None, target: str = "cpu") -> Tree | None:
    """The tree of a run that is asked for this mode; None where the model chooses. Only CPUs keep one.

    Raises
    ------
    UsageError
        If the file that is asked for is none.

    Examples
    --------
    >>> tree_for("sc", MODELS[0], None) is None
    True
    """
    if mode == "auto":
        tree = machine_tree() if target == "cpu" and model is MODELS[0] and ratio is None else None
        return tree if tree is not None and tree.about.get(BETTER) else None
    name, _, path = mode.partition(":")
    if name != TREE:
        return None
    if path:
        return _of_file(path, *_state(path))
    tree = machine_tree() if target == "cpu" else None
    return own_tree(target) if tree is None else tree


def takes(tree: Tree, mode: str, of_run: tuple[int, int, int]) -> bool:
    """Whether a run goes by the tree that `tree_for` has found.

    Auto does where the tree was validated: for programs alike in all of `gpop.model.features.OF_RUN`.

    Examples
    --------
    >>> from gpop.model.trees import stump
    >>> tree = stump("edges rel", 0.1, "sc", "pull")
    >>> takes(tree, "tree", (8, 1, 0)), takes(tree, "auto", (4, 0, 1))
    (True, False)
    >>> tree.about[BETTER] = [[4, 0, 1]]
    >>> takes(tree, "auto", (4, 0, 1)), takes(tree, "auto", (8, 0, 1))
    (True, False)
    """
    return mode != "auto" or [*of_run] in tree.about.get(BETTER, [])


def _state(path: str) -> tuple[int, int]:
    """What changes when the file does."""
    try:
        state = os.stat(path)
    except OSError:
        return 0, 0
    return state.st_mtime_ns, state.st_size


@cache
def _of_file(path: str, changed: int, size: int) -> Tree:
    return read_tree(Path(path))


@cache
def machine_tree() -> Tree | None:
    """The one that is kept for this machine, looked for once; None where there is none, or it is damaged."""
    said = recall(KEPT).get(machine_name())
    try:
        return None if said is None else tree_of(said, f"tree of {machine_name()}")
    except UsageError:
        return None


@cache
def own_tree(target: str) -> Tree:
    """The one that gpop comes with.

    Examples
    --------
    >>> own_tree("gpu").about["target"]
    'gpu'
    """
    return read_tree(OWN / f"{target}.json")


def keep_tree(tree: Tree) -> str | None:
    """Keep it for this machine, in place of another; None, or why it cannot be kept."""
    said = tree.said()
    fault = remember(KEPT, recall(KEPT) | {machine_name(): said | {"digest": digest_of(said)}})
    machine_tree.cache_clear()
    return fault
