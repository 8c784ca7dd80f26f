"""Heat-kernel PageRank: exp(-t (I - P)) s, where a walk of Poisson(t) steps from the seeds s ends.

Algorithm: hk-relax of Kloster and Gleich, level by level as in Shun et al. The Taylor series is cut
after N terms; iteration j moves the residual of level j to level j+1 as residual * t / (j+1) / degree. A
residual below threshold(j) * degree is dropped. On a symmetric graph the error is at most epsilon * degree
at every vertex, and never an excess: h - epsilon*degree <= probability <= h.
Unusual: strictly local, see around_seeds.py. The threshold is a parameter with a value for each level.
A walk that reaches a vertex without out-edges stays: all later levels are added at once (``stay``).
Encoding: one residual field serves all levels, because what a level leaves behind is dropped. The seeds
start at exp(-t), so that the sum of the terms is the result.
Papers: Lakhotia et al., "GPOP", which names it; Kloster, Gleich, "Heat kernel based community
detection".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli
from gpop.apps.around_seeds import Around, LocalResult, Pushing, local_app
from gpop.apps.inputs import Seeds, bulk_synchronous, many_vertices, positive
from gpop.apps.resolved import Way, resolving
from gpop.apps.result import Holds, holds
from gpop.common.arguments import whole_from
from gpop.common.errors import UsageError
from gpop.execution.options import RunOptions


class HeatKernel(Pushing):
    """One term of the Taylor series per iteration: a residual arrives, a ``share`` of it goes on."""

    t = gpop.Parameter(np.float64)
    levels = gpop.Parameter(np.int64)
    threshold = gpop.Parameter(np.float64)
    stay = gpop.Parameter(np.float64)

    def initFunc(self, node):
        if self.out_degree[node] == 0:
            self.total[node] += self.stay * self.residual[node]
        else:
            self.total[node] += self.residual[node]
        self.residual[node] = 0
        self.share[node] = 0
        return False

    def filterFunc(self, node):
        residual = self.residual[node]
        if self.iteration + 1 == self.levels:
            self.total[node] += residual
        elif residual > 0 and residual >= self.threshold * self.out_degree[node]:
            self.share[node] = self.t * residual / ((self.iteration + 2) * max(self.out_degree[node], 1))
            return True
        self.residual[node] = 0
        return False


@dataclass(frozen=True, kw_only=True)
class HeatKernelResult(LocalResult):
    """``vertices``, ``values`` and ``probability``; ``levels`` is N, the number of terms."""

    levels: int = holds(Holds.NO_VERTICES)


@resolving("seeds")
def heat_kernel(
    graph: gpop.Graph,
    seeds: Seeds,
    t: float = 5.0,
    epsilon: float = 1e-6,
    levels: int | None = None,
    **options: Unpack[RunOptions],
) -> Way[HeatKernelResult]:
    """Heat-kernel PageRank of ``seeds``.

    Parameters
    ----------
    graph : Graph
        Its weights are not looked at: each out-edge of a vertex is as likely as any other.
    seeds : int, str or list of them
        Vertex indices or names; the walk starts at each with the same probability.
    t : float
        Expected length of the walk, at most 80.
    epsilon : float
        Error allowed per out-edge of a vertex.
    levels : int, optional
        Terms of the series; by default as many as ``epsilon`` needs.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : RunOptions
        ``threads, mode, ratio, model, partition_size, target, progress, callback``: see `gpop.run`.

    Returns
    -------
    HeatKernelResult
        ``vertices``, uint32, ascending, and ``values``, float32, where they are not 0; ``probability``,
        float32 [n], made when it is first asked for. ``levels``: terms of the series.

    Raises
    ------
    UsageError
        If a seed is no vertex of the graph or there is none, for a t or epsilon that is not possible,
        or for an option that does not fit.

    Examples
    --------
    >>> pair = gpop.Graph.from_edges([0, 1], [1, 0])
    >>> gpop.heat_kernel(pair, seeds=0, t=1.0).probability.round(4)       # (1 +- exp(-2)) / 2
    array([0.5677, 0.4323], dtype=float32)
    """
    bulk_synchronous("heat_kernel", options)
    t, epsilon = positive("t", t), positive("epsilon", epsilon)
    if t > 80:
        raise UsageError(f"t {t:g}: expected at most 80, beyond which float32 cannot hold exp(-t)")
    levels = _levels_needed(t, epsilon) if levels is None else whole_from(1, "levels", levels)
    stay = _weights_of_later_levels(t, levels)
    parameters = {"t": t, "levels": levels, "stay": stay, "threshold": epsilon / (2 * levels * stay[1:])}
    first = math.exp(-t)
    return Around(
        HeatKernel, HeatKernelResult, parameters, {"residual": first}, t * first, "total", levels, options,
        levels=levels,
    )  # fmt: skip


@lru_cache(maxsize=16)
def _levels_needed(t: float, epsilon: float) -> int:
    """The smallest N for which the terms after N sum to at most epsilon / 2."""
    levels, term = 1, math.exp(-t) * t * t / 2  # term: the first one left out
    while levels + 2 <= t or term / (1 - t / (levels + 2)) > epsilon / 2:
        levels += 1
        term *= t / (levels + 1)
    return levels


@lru_cache(maxsize=16)
def _weights_of_later_levels(t: float, levels: int) -> np.ndarray:
    """psi_j = sum over m of t**m j! / (j+m)!, up to level N: what mass at level j amounts to in the end."""
    psi = [1.0] * (levels + 1)
    for level in range(levels - 1, -1, -1):
        psi[level] = 1 + psi[level + 1] * t / (level + 1)
    return np.array(psi)


def verify(
    graph: gpop.Graph, result: HeatKernelResult, seeds: Seeds, t: float = 5.0, epsilon: float = 1e-6
) -> str | None:
    """None, or what is wrong: the whole Taylor series in float64, nothing dropped, and the error bounds."""
    degree = np.diff(graph.indptr)
    term = np.zeros(graph.n)
    seeds = many_vertices(graph, seeds)
    term[seeds] = math.exp(-t) / seeds.size
    exact = term.copy()
    for level in range(1, result.levels + 30):
        sent = np.bincount(graph.indices, np.repeat(term / np.maximum(degree, 1), degree), graph.n)
        term = t / level * np.where(degree == 0, sent + term, sent)
        exact += term
    gap = exact - result.probability
    rounding = 1e-5 * exact + 1e-9
    if np.any(gap < -rounding):
        return f"vertex {np.argmin(gap)} has more than the exact probability, {exact[np.argmin(gap)]:.3g}"
    if gap.sum() > epsilon * (1 + graph.m) + 1e-5:
        return f"the probabilities lack {gap.sum():.3g} in all"
    if graph.is_symmetric() and np.any(gap > epsilon * np.maximum(degree, 1) + rounding):
        return f"vertex {np.argmax(gap / np.maximum(degree, 1))} lacks more than epsilon * degree"
    return None


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.heat_kernel graph [--source ID[,ID...]] [--t T] ...``"""

    def arguments(parser: Any) -> None:
        parser.add_argument("--t", type=float, default=5.0, help="expected length of the walk")
        parser.add_argument("--epsilon", type=float, default=1e-6, help="error allowed per out-edge")

    def solve(graph: gpop.Graph, given: Any, options: dict) -> HeatKernelResult:
        return gpop.heat_kernel(
            graph, given.source, given.t, given.epsilon, levels=options.pop("iterations", None), **options
        )

    return cli.main(
        argv,
        local_app(
            name="heat_kernel",
            about=__doc__,
            arguments=arguments,
            solve=solve,
            to_the_end=True,
            verify=lambda graph, result, given: verify(graph, result, given.source, given.t, given.epsilon),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
