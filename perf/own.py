"""gpop itself: as it comes (``gpop``), and in its modes: source-centric, partition-centric, the choice of
both; plain or interleaved. To ask for a mode makes components go by messages, which gpop by itself does not.

Timed is the whole call, as for peers; its loop alone is a timer of its own.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import gpop
from gpop.model.strategies import TREE
from gpop.model.trees import LEAF, Tree, write_tree
from perf.algorithms import ALGORITHMS
from perf.implementations import Prepared

ALWAYS = "always"
"""Flag: the mode in every iteration of an engine that may switch, that of auto; a mode that is asked for by
itself may have kernels of its own."""

LIBRARY = "gpop"
THREADED = True


def _modes(interleaved: bool) -> dict[str, dict[str, Any]]:
    """Names and flags: ``gpop``, ``gpop-sc``, and ``gpop-sc-interleaved`` where that is possible."""
    plain = {f"gpop-{mode}": {"mode": mode} for mode in ("sc", "pc", "auto")}
    if not interleaved:
        return {"gpop": {}} | plain
    both = {name: flags | {"interleave": False} for name, flags in plain.items()}
    return (
        {"gpop": {}}
        | both
        | {f"{name}-interleaved": flags | {"interleave": True} for name, flags in plain.items()}
    )


IMPLEMENTATIONS = {name: _modes(algorithm.interleaved) for name, algorithm in ALGORITHMS.items()}


@cache
def _tree_of(mode: str) -> Path:
    """A file with the tree that says ``mode`` of every iteration."""
    path = Path(tempfile.mkdtemp(prefix="gpop-always-")) / f"{mode}.json"
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
    write_tree(Tree((mode,), (), *(np.array([each]) for each in (0, 0.0, LEAF, 0))), path)
    return path


def prepare(algorithm: str, graph: gpop.Graph, variant: dict, flags: dict, threads: int) -> Prepared:
    """``flags`` are options of `gpop.run`: mode, model, interleave, partition_size, ratio; and ``always``."""
    known, flags = ALGORITHMS[algorithm], dict(flags)
    if flags.pop(ALWAYS, False):
        flags["mode"] = f"{TREE}:{_tree_of(flags['mode'])}"
    return Prepared(
        call=lambda: known.call(graph, variant, {**flags, "threads": threads}),
        answer=lambda result: known.answer(graph, result),
        run=lambda result: result.run,
    )
