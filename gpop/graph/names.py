"""Vertices and their names: indices 0 .. n-1 inside, original ids outside."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.common.arguments import as_index, plain
from gpop.common.errors import UsageError


def names_of(original_ids: np.ndarray | None, vertices: np.ndarray) -> np.ndarray:
    """Original ids of vertices, all of them 0 or more.

    Examples
    --------
    >>> names_of(np.array(["a", "b"]), np.array([1, 0])).tolist(), names_of(None, np.array([1, 0])).tolist()
    (['b', 'a'], [1, 0])
    """
    return vertices if original_ids is None else original_ids[vertices]


def named(original_ids: np.ndarray | None, name: Any) -> int:
    """The vertex of this name by looking at all of them, for a graph that is no longer there.

    Examples
    --------
    >>> named(np.array(["a", "b"]), "b"), named(None, 1)
    (1, 1)
    """
    name = plain(name)
    if original_ids is None:
        vertex = as_index(name)
        if vertex is not None and vertex >= 0:
            return vertex
    else:
        for v, each in enumerate(original_ids.tolist()):
            if type(each) is type(name) and each == name:
                return v
    raise UsageError(f"vertex {name!r} is not among those of this result")
