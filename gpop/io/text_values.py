"""What text has no room for: weights that are no finite numbers, or no integers, and names of many lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpop.common.errors import UsageError
from gpop.graph.graph import Graph


def told_name(graph: Graph) -> bytes:
    """The graph's name for a comment: one line, whatever is in it."""
    return (graph.name or "graph").encode("unicode_escape")


def finite_weights(graph: Graph, path: Path) -> None:
    """UsageError when a weight is no number that text can say: it would be written, and not read."""
    if graph.weights is None or graph.weights.dtype.kind != "f":
        return
    finite = np.isfinite(graph.weights)
    if not finite.all():
        e = int(finite.argmin())
        raise UsageError(
            f"{path}: weight {graph.weights[e]} of edge {e} cannot be stored, expected finite numbers "
            "(.npz and .parquet store any weight)"
        )


def whole_weights(graph: Graph, path: Path) -> np.ndarray | None:
    """The weights as integers for a format that has no others, or UsageError when one would change."""
    weights = graph.weights
    if weights is None or weights.dtype.kind in "iu":
        return weights
    outside = ~((np.abs(weights) < 2**53) & (weights == np.floor(weights)))
    if outside.any():
        e = int(outside.argmax())
        raise UsageError(
            f"{path}: weight {weights[e]} of edge {e} cannot be stored, expected integers "
            "(a text edge list, .wel, stores any weight)"
        )
    return weights.astype(np.int64)
