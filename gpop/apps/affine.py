"""Iterations x <- base * start + damping * A^T (x * per_edge): what the centralities beside PageRank share.

A is the adjacency matrix, with weights where they are asked for. `Affine` is PageRank's program (its field
``share`` holds x * per_edge) with a value of its own for each vertex, ``start``, in place of the same
for all. Personalised PageRank, Katz centrality and each half of a HITS iteration differ in what they set the
fields to. One class for each type and for weights, so that they are compiled once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gpop
from gpop.apps.inputs import bulk_synchronous, score_dtype
from gpop.apps.pagerank_programs import ConvergingDoublePageRank, ConvergingPageRank, WeightedPageRank
from gpop.common.errors import UsageError


class Affine(ConvergingDoublePageRank):
    """float64."""

    start = gpop.VertexField(np.float64)

    def filterFunc(self, node):
        rank = self.base * self.start[node] + self.damping * self.share[node]
        self.change[node] = abs(rank - self.rank[node])
        self.rank[node] = rank
        self.share[node] = rank * self.per_edge[node]
        return True


class WeightedAffine(WeightedPageRank, Affine):
    """float64, edges multiply by their weight."""


class SingleAffine(ConvergingPageRank):
    """float32."""

    start = gpop.VertexField(np.float32)
    filterFunc = Affine.filterFunc  # noqa: N815


class WeightedSingleAffine(WeightedPageRank, SingleAffine):
    """float32, edges multiply by their weight."""


PROGRAMS = {"float64": (Affine, WeightedAffine), "float32": (SingleAffine, WeightedSingleAffine)}


def program_for(graph: gpop.Graph, dtype: Any, weighted: bool) -> Affine:
    """A new program of this type."""
    return PROGRAMS[score_dtype(dtype).name][weighted](graph)


def iterate(
    app: str,
    program: Affine,
    options: dict[str, Any],
    *,
    iterations: int | None,
    max_iterations: int,
    below: float,
    after: Callable[[], None] | None = None,
) -> tuple[gpop.Run, bool | None]:
    """Iterate a number of times, or until the changes sum to less than ``below``; the run, and if they do.

    ``after`` is called after each iteration, if there is one. Whether it converged is None where the number
    was given.
    """
    bulk_synchronous(app, options)
    callback = options.pop("callback", None)

    def both(record: dict) -> bool:
        after()
        return callback is not None and callback(record)

    limit, converges = (iterations, False) if iterations is not None else (max_iterations, True)
    program.tolerance = below if converges else 0
    run = gpop.run(program, iterations=limit, callback=both if after else callback, **options)
    if converges and not np.isfinite(float(program.change.sum(dtype=np.float64))):
        raise UsageError(f"{app}: the values grow without end")
    return run, run.converged if converges else None


def per_vertex(graph: gpop.Graph, value: Any, what: str) -> np.ndarray | float:
    """A number, or one for each vertex."""
    try:
        values = np.asarray(value)
    except ValueError:  # lists of several lengths
        values = np.asarray(None)
    if values.dtype.kind not in "iufb" or values.shape not in ((), (graph.n,)):
        raise UsageError(
            f"{what} of type {values.dtype}, {values.shape}: expected a number, or {graph.n} of them"
        )
    if not np.isfinite(values).all():
        raise UsageError(f"{what} holds {values[~np.isfinite(values)].flat[0]}: expected finite numbers")
    return values.astype(np.float64) if values.ndim else float(values)
