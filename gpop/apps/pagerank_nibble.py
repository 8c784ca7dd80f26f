"""PageRank-Nibble (APPR): approximate personalised PageRank around a seed, strictly local.

Computes p close to p* = a*s + (1-a) * P p*, s the seeds, P the walk along out-edges, a = 2*alpha/(1+alpha).
Algorithm: the parallel push of Shun et al. A vertex is active while its residual is at least
epsilon * out-degree; it keeps a of the residual and sends the rest along its out-edges. On a symmetric
graph p* - epsilon*degree <= p <= p* at every vertex; p and what is left of the residuals sum to 1.
Unusual: strictly local, see around_seeds.py. A walk that reaches a vertex without out-edges stays there.
Papers: Lakhotia et al., "GPOP", which calls it APPR; Andersen, Chung, Lang, "Local graph
partitioning using PageRank vectors"; Shun et al., "Parallel local graph clustering".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli
from gpop.apps.around_seeds import Around, LocalResult, Pushing, local_app
from gpop.apps.inputs import Seeds, as_number, bulk_synchronous, many_vertices, positive
from gpop.apps.resolved import Way, resolving
from gpop.common.errors import UsageError
from gpop.execution.options import RunOptions

FLOAT32 = np.finfo(np.float32)


class PageRankNibble(Pushing):
    """Push residuals until they are small everywhere: one part is kept, a ``share`` of the rest goes on."""

    keep = gpop.Parameter(np.float32)
    epsilon = gpop.Parameter(np.float64)

    def initFunc(self, node):
        if self.out_degree[node] == 0:
            self.total[node] += self.residual[node]
        else:
            self.total[node] += self.keep * self.residual[node]
        self.residual[node] = 0
        self.share[node] = 0
        return False

    def filterFunc(self, node):
        residual = self.residual[node]
        if residual > 0 and residual >= self.epsilon * self.out_degree[node]:
            self.share[node] = (1 - self.keep) * residual / max(self.out_degree[node], 1)
            return True
        return False


@dataclass(frozen=True, kw_only=True)
class PageRankNibbleResult(LocalResult):
    """``vertices``, ``values`` and ``probability``."""


@resolving("seeds")
def pagerank_nibble(
    graph: gpop.Graph, seeds: Seeds, alpha: float = 0.15, epsilon: float = 1e-6, **options: Unpack[RunOptions]
) -> Way[PageRankNibbleResult]:
    """Approximate personalised PageRank of ``seeds``.

    Parameters
    ----------
    graph : Graph
        Its weights are not looked at: each out-edge of a vertex is as likely as any other.
    seeds : int, str or list of them
        Vertex indices or names; the walk restarts at each with the same probability.
    alpha : float
        Restart probability of the lazy walk, between 0 and 1.
    epsilon : float
        Error allowed per out-edge of a vertex.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : RunOptions
        ``threads, mode, ratio, model, partition_size, target, progress, callback, iterations``: see
        `gpop.run`.

    Returns
    -------
    PageRankNibbleResult
        ``vertices``, uint32, ascending, and ``values``, float32, where they are not 0; ``probability``,
        float32 [n], made when it is first asked for.

    Raises
    ------
    UsageError
        If a seed is no vertex of the graph or there is none, for an alpha or epsilon that is not possible,
        or for an option that does not fit.

    Examples
    --------
    >>> pair = gpop.Graph.from_edges([0, 1], [1, 0])
    >>> gpop.pagerank_nibble(pair, seeds=0, alpha=1/3).probability.round(4)     # a = 1/2: 2/3 and 1/3
    array([0.6667, 0.3333], dtype=float32)
    """
    bulk_synchronous("pagerank_nibble", options)
    given, alpha = alpha, as_number(alpha)
    if not 0 < alpha < 1:
        raise UsageError(f"alpha {given!r}: expected a number between 0 and 1")
    keep, epsilon = 2 * alpha / (1 + alpha), positive("epsilon", epsilon)
    if keep < FLOAT32.epsneg or epsilon < FLOAT32.tiny:
        least = f"alpha {FLOAT32.epsneg / 2:.0e} and epsilon {FLOAT32.tiny:.1e}"
        raise UsageError(
            f"alpha {alpha:g}, epsilon {epsilon:g}: expected at least {least}, below which residuals in "
            "float32 get no smaller"
        )
    parameters, limit = {"keep": keep, "epsilon": epsilon}, options.pop("iterations", None)
    return Around(
        PageRankNibble, PageRankNibbleResult, parameters, {"residual": 1.0}, 1 - keep, "total", limit, options
    )


def verify(
    graph: gpop.Graph, result: PageRankNibbleResult, seeds: Seeds, alpha: float = 0.15, epsilon: float = 1e-6
) -> str | None:
    """None, or what is wrong. The residuals are computed from the result by their definition, in float64:
    r = s + ((1-a) P p - p) / a. No order of pushes enters, and 0 <= r < epsilon * degree proves the result.
    """
    keep, degree = 2 * alpha / (1 + alpha), np.diff(graph.indptr)
    seeds = many_vertices(graph, seeds)
    total = result.probability.astype(np.float64)
    walked = np.bincount(graph.indices, np.repeat(total / np.maximum(degree, 1), degree), graph.n)
    walked = np.where(degree == 0, walked + total, walked)  # whole numbers where there are no edges
    residual = ((1 - keep) * walked - total) / keep
    residual[seeds] += 1 / seeds.size
    rounding = 1e-5 * (walked + total) / keep + 1e-9
    if np.any(residual < -rounding) or np.any(residual > epsilon * degree + rounding):
        worst = np.argmax(np.maximum(-residual, residual - epsilon * degree))
        return f"vertex {worst} is left with residual {residual[worst]:.3g}, out-degree {degree[worst]}"
    sums = float(residual.sum() + total.sum())
    return None if abs(sums - 1) < 1e-4 else f"probabilities and residuals sum to {sums}"


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.pagerank_nibble graph [--source ID[,ID...]] [--alpha A] [--epsilon E] ...``"""

    def arguments(parser: Any) -> None:
        parser.add_argument("--alpha", type=float, default=0.15, help="restart probability of the lazy walk")
        parser.add_argument("--epsilon", type=float, default=1e-6, help="error allowed per out-edge")

    return cli.main(
        argv,
        local_app(
            name="pagerank_nibble",
            about=__doc__,
            arguments=arguments,
            solve=lambda graph, given, options: gpop.pagerank_nibble(
                graph, given.source, given.alpha, given.epsilon, **options
            ),
            verify=lambda graph, result, given: verify(
                graph, result, given.source, given.alpha, given.epsilon
            ),
            to_the_end=True,
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
