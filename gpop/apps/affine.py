"""Iterations x <- base * start + damping * A^T (x * per_edge): what the centralities beside PageRank share.

A is the adjacency matrix, with weights where they are asked for. `Affine` is PageRank's program (its field
``share`` holds x * per_edge) with a value of its own for each vertex, ``start``, in place of the same
for all. Personalised PageRank, Katz centrality and each half of a HITS iteration differ in what they set the
fields to. One class for each type and for weights, so that they are compiled once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import gpop
from gpop.apps.inputs import bulk_synchronous, score_dtype
from gpop.apps.pagerank_programs import ConvergingDoublePageRank, ConvergingPageRank, WeightedPageRank
from gpop.apps.prototype import Prototype
from gpop.common.errors import UsageError
from gpop.common.on_demand import looked_at
from gpop.execution.again import Ran
from gpop.program.recipes import Unset
from gpop.program.values import NOTHING


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


class Iteration:
    """What is iterated so, resolved: programs that begin like ``program``, whatever the graph.

    So many ``iterations``, or until the changes sum to less than ``below``, at most ``max_iterations``.
    """

    def __init__(
        self, app: str, program: Affine, options: dict[str, Any], *,
        iterations: int | None, max_iterations: int, below: float,
    ) -> None:  # fmt: skip
        bulk_synchronous(app, options)
        self.app, self.converges = app, iterations is None
        program.tolerance = below if self.converges else 0
        program._fields.recipes["change"] = Unset(program.graph.n, type(program).rank.dtype)
        limit = max_iterations if self.converges else iterations
        self.prototype = Prototype(program, limit, options, scratch=("share",))

    def run(
        self,
        graph: gpop.Graph,
        first: Mapping[str, dict[int, Any]] = NOTHING,
        after: Callable[[Affine], None] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Ranks, and what results have beside them: iterations, whether it has converged (None where a number
        of iterations was given), the run.

        ``first``: values of some vertices (`Prototype.run`). ``after`` is called with the program before the
        first iteration and after each, if it is given.
        """
        if after is None:
            ran, rank, change = self.prototype.run(_looked_into, graph, first)
        else:
            program, callback = self.prototype.program(graph, first), self.prototype.given.get("callback")

            def both(record: dict[str, Any]) -> bool | None:
                after(program)
                return callback is not None and callback(record)

            after(program)
            ran, rank, change = self.prototype.run_of(program, None, _looked_into, callback=both)
        left = ran.left
        # Without an iteration nobody has set the changes.
        if self.converges and left.iterations and not np.isfinite(looked_at(change).sum(dtype=np.float64)):
            raise UsageError(f"{self.app}: the values grow without end")
        converged = left.converged if self.converges else None
        return looked_at(rank), {"iterations": left.iterations, "converged": converged, "run": ran}


def _looked_into(ran: Ran) -> tuple[Ran, Any, Any]:
    return ran, ran.field("rank"), ran.field("change")
