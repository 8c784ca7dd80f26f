"""PageRank: rank(v) = (1-d)/n + d * sum over in-edges (u,v) of rank(u)/outdegree(u).

Algorithm: ranks start at 1/n; power iteration over all vertices (GPOP, Algorithm 6, with ranks
normalised as above). ``--mode auto`` sends messages partition-centric as the paper does, or pulls over
cache-sized blocks of sources where that is faster. d = damping is the probability of following an edge,
0.85. Duplicate edges count as often as they occur. Stops after the given iterations, or when the sum of
absolute changes falls below a tolerance.
Dangling vertices: their rank is lost ("none", ranks then sum to less than 1, as in the paper) or
spread evenly over all vertices ("uniform", ranks sum to 1).
Weights: not looked at by default. With weights an edge carries rank(u) * weight / (sum of the weights of u's
out-edges); a vertex whose weights are all 0 is dangling.
The programs, and how they hold a rank: pagerank_programs.py.
Papers: Lakhotia et al., "GPOP"; Verstraaten, Varbanescu, de Laat, "Quantifying the
performance impact of graph structure on neighbour iteration strategies for PageRank".
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.inputs import bulk_synchronous, from_0_to_1, not_negative, score_dtype
from gpop.apps.pagerank_programs import PROGRAMS, PageRank
from gpop.apps.prototype import Prototype
from gpop.apps.resolved import Way, resolving
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.shares import sent_by, shares
from gpop.common.errors import UsageError
from gpop.common.on_demand import OnDemand, Retold, looked_at
from gpop.execution.again import Ran
from gpop.execution.options import Callback, RunOptions
from gpop.program.recipes import Declared, Scaled, Unset


@dataclass(frozen=True, kw_only=True)
class PageRankResult(AppResult):
    """``rank`` of every vertex; ``converged`` is None when the number of iterations was given."""

    rank: np.ndarray = holds(Holds.VALUES)
    iterations: int = holds(Holds.NO_VERTICES)
    converged: bool | None = holds(Holds.NO_VERTICES)


@resolving()
def pagerank(
    graph: gpop.Graph,
    damping: float = 0.85,
    iterations: int | None = None,
    tolerance: float = 1e-6,
    *,
    weighted: bool = False,
    dangling: str = "none",
    dtype: Any = np.float32,
    max_iterations: int = 100,
    **options: Unpack[RunOptions],
) -> Way[PageRankResult]:
    """PageRank of every vertex (see the module for the exact definition).

    Parameters
    ----------
    graph : Graph
    damping : float
        Probability of following an edge, between 0 and 1.
    iterations : int, optional
        Run exactly so many. Otherwise until the sum of absolute changes is below ``tolerance``, at most
        ``max_iterations``. float32 resolves changes of about 1e-7; for less use ``dtype=np.float64``.
    tolerance : float
        Sum of the absolute changes of all ranks in an iteration, below which it has converged.
    weighted : bool
        False: the weights of a graph are not looked at, each out-edge carries as much as any other
        (``weight=None`` of NetworkX). True: each carries in proportion to its weight, and a vertex whose
        weights are all 0 is dangling (``weight="weight"``, NetworkX's default). Weights must be finite and
        not negative.
    dangling : "none" or "uniform"
        Whether the rank of vertices without out-edges is lost, as in the paper (GPOP, Algorithm 6), or
        given to all vertices evenly.
    dtype : numpy.float32 or numpy.float64
        Type of the ranks.
    max_iterations : int
        Most iterations where ``iterations`` is not given.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : RunOptions
        ``threads, mode, ratio, model, partition_size, target, progress, callback``: see `gpop.run`.

    Returns
    -------
    PageRankResult
        ``rank``, of type ``dtype`` [n]; ``iterations`` done; ``converged``, None where not asked.

    Raises
    ------
    UsageError
        For a value outside what is said above, or an option that does not fit.

    Examples
    --------
    >>> gpop.pagerank(gpop.Graph.from_edges([0, 1, 2], [1, 2, 0]), iterations=10).rank.round(4)
    array([0.3333, 0.3333, 0.3333], dtype=float32)
    >>> graph = gpop.Graph.from_edges([0, 0], [1, 2], weights=[3, 1])
    >>> gpop.pagerank(graph, damping=0.5, weighted=True).rank.round(4)        # 1/6 + 3/48, 1/6 + 1/48
    array([0.1667, 0.2292, 0.1875], dtype=float32)
    """
    return _Ranking(
        graph, damping, iterations, tolerance, weighted, dangling, dtype, max_iterations, options
    ).way


class _Ranking:
    """A PageRank whose arguments have been checked."""

    def __init__(
        self, graph: gpop.Graph, damping: float, iterations: int | None, tolerance: float, weighted: bool,
        dangling: str, dtype: Any, max_iterations: int, options: dict[str, Any],
    ) -> None:  # fmt: skip
        damping = from_0_to_1("damping", damping)
        tolerance = not_negative("tolerance", tolerance)
        if dangling not in ("none", "uniform"):
            raise UsageError(f"dangling {dangling!r}: expected none or uniform")
        bulk_synchronous("pagerank", options)
        kind, converging = score_dtype(dtype), iterations is None
        program = PROGRAMS[kind, converging][bool(weighted)](graph)
        n, fields = max(graph.n, 1), program._fields
        program.damping, program.base = damping, (1 - damping) / n
        fields["per_edge"] = shares(graph, kind, bool(weighted))
        fields.recipes["share"] = Scaled(fields, "per_edge", 1 / n)
        if converging:
            fields.recipes["rank"] = Declared(graph.n, kind, kind.type(1 / n))
            fields.recipes["change"] = Unset(graph.n, kind)
            program.tolerance = tolerance
        sent = sent_by(graph, kind, bool(weighted)) if dangling == "uniform" else None
        self.sent = None if sent is None or sent.all() else sent
        self.damping, self.converging = damping, converging
        limit, scratch = (max_iterations, ("share", "change")) if converging else (iterations, ())
        self.prototype = Prototype(program, limit, options, scratch)

    @property
    def way(self) -> Way[PageRankResult]:
        """To the ranks."""
        return partial(self.prototype.run, self._result) if self.sent is None else self._spreading

    def _spreading(self, graph: gpop.Graph) -> PageRankResult:
        program, options = self.prototype.program(graph), self.prototype.given
        callback = _spreading(program, self.damping, self.sent, options.get("callback"))
        return self.prototype.run_of(program, None, self._result, callback=callback)

    def _result(self, ran: Ran) -> PageRankResult:
        if self.converging:
            rank = ran.field("rank")
        else:
            share, per_edge = ran.field("share"), self.prototype.fields["per_edge"]
            rank = OnDemand(lambda: _ranks(looked_at(share), per_edge))
        converged = Retold(lambda: ran.left.converged) if self.converging else None
        iterations = Retold(lambda: ran.left.iterations)
        told = {"rank": rank, "iterations": iterations, "converged": converged, "run": ran}
        return PageRankResult._of_both(told)


def _ranks(share: np.ndarray, per_edge: np.ndarray) -> np.ndarray:
    """Of what each edge was given, where the program keeps nothing else."""
    return np.divide(share, per_edge, out=share)


def _spreading(program: PageRank, damping: float, sent: np.ndarray, callback: Callback | None) -> Callback:
    """Give the rank of vertices that send nothing to all, now and after every iteration."""
    sinks, n = np.flatnonzero(sent == 0), program.graph.n

    def spread() -> None:
        program.base = (1 - damping + damping * program.share[sinks].sum(dtype=np.float64)) / n

    def after(record: dict[str, Any]) -> bool | None:
        spread()
        return callback is not None and callback(record)

    spread()
    return after


def verify(
    graph: gpop.Graph,
    result: PageRankResult,
    damping: float = 0.85,
    dangling: str = "none",
    weighted: bool = False,
) -> str | None:
    """None, or what is wrong: the same number of float64 power iterations, each one `numpy.bincount`."""
    degree = np.diff(graph.indptr)
    tails = np.repeat(np.arange(graph.n), degree)
    weights = graph.weights.astype(np.float64) if weighted else None
    sums = np.bincount(tails, weights, graph.n)
    rank = np.full(graph.n, 1 / max(graph.n, 1))
    for _ in range(result.iterations if graph.n else 0):
        sent = (rank / np.where(sums > 0, sums, 1))[tails]
        lost = rank[sums == 0].sum() if dangling == "uniform" else 0.0
        rank = (1 - damping + damping * lost) / rank.size + damping * np.bincount(
            graph.indices, sent if weights is None else sent * weights, rank.size
        )
    error = float(np.abs(rank - result.rank).sum())
    allowed = 1e-11 if result.rank.dtype == np.float64 else 1e-5
    return (
        None if error <= allowed else f"the ranks differ by {error:.2g} in all from float64 power iteration"
    )


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.pagerank graph [--iterations N | --tolerance X] ...``"""

    def arguments(parser: Any) -> None:
        parser.add_argument("--damping", type=float, default=0.85, help="probability of following an edge")
        parser.add_argument(
            "--tolerance", type=float, default=1e-6, help="stop when ranks change by less in all"
        )
        parser.add_argument("--dangling", choices=("none", "uniform"), default="none", help="rank of sinks")
        parser.add_argument(
            "--weighted",
            action=argparse.BooleanOptionalAction,
            help="share ranks by the weights of edges; with --no-weighted they are not read",
        )

    def solve(graph: gpop.Graph, given: Any, options: dict) -> PageRankResult:
        return gpop.pagerank(
            graph, given.damping, tolerance=given.tolerance, weighted=bool(given.weighted),
            dangling=given.dangling, **options,
        )  # fmt: skip

    def headline(graph: gpop.Graph, result: PageRankResult, given: Any) -> str:
        how = {None: "", True: ", converged", False: ", NOT converged"}[result.converged]
        unused = graph.weights is not None and not given.weighted
        note = "\nweights     not used; --weighted shares ranks by them" if unused else ""
        return f"{result.iterations} iterations{how}; highest ranks\n{report.top(graph, result.rank)}{note}"

    return cli.main(
        argv,
        cli.App(
            name="pagerank",
            loop="all_active",
            refuses=("interleave",),
            about=__doc__,
            arguments=arguments,
            solve=solve,
            headline=headline,
            columns=lambda graph, result: {"rank": result.rank},
            verify=lambda graph, result, given: verify(
                graph, result, given.damping, given.dangling, bool(given.weighted)
            ),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
