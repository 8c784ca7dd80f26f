"""PageRank: rank(v) = (1-d)/n + d * sum over in-edges (u,v) of rank(u)/outdegree(u).

Algorithm: ranks start at 1/n; power iteration over all vertices (GPOP, Algorithm 6, with ranks
normalised as above). ``--mode auto`` sends messages partition-centric as the paper does, or pulls over
cache-sized blocks of sources where that is faster. d = damping is the probability of following an edge,
0.85. Duplicate edges count as often as they occur. Stops after the given iterations, or when the sum of
absolute changes falls below a tolerance.
Dangling vertices: their rank is lost ("none", ranks then sum to less than 1, as in the paper) or
spread evenly over all vertices ("uniform", ranks sum to 1).
Encoding: the field holds rank/outdegree, so a message costs no division; the result is multiplied back.
Papers: Lakhotia et al., "GPOP"; Verstraaten, Varbanescu, de Laat, "Quantifying the
performance impact of graph structure on neighbour iteration strategies for PageRank".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.inputs import bulk_synchronous
from gpop.apps.options import one_call
from gpop.apps.result import AppResult, Holds, holds
from gpop.common.errors import UsageError
from gpop.common.parallel import ranges


class PageRank(gpop.Program):
    """A fixed number of iterations."""

    share = gpop.VertexField(np.float32)  # rank / out-degree, what every out-edge carries
    per_edge = gpop.VertexField(np.float32)  # 1 / out-degree
    base = gpop.Parameter(np.float64)
    damping = gpop.Parameter(np.float64, 0.85)
    all_active = True
    combine = "add"

    def scatterFunc(self, node):
        return self.share[node]

    def initFunc(self, node):
        self.share[node] = 0
        return True

    def gatherFunc(self, value, node):
        self.share[node] += value
        return True

    def filterFunc(self, node):
        self.share[node] = (self.base + self.damping * self.share[node]) * self.per_edge[node]
        return True


class ConvergingPageRank(PageRank):
    """Also keeps the rank itself and by how much it changed."""

    rank = gpop.VertexField(np.float32)
    change = gpop.VertexField(np.float32)

    def filterFunc(self, node):
        rank = self.base + self.damping * self.share[node]
        self.change[node] = abs(rank - self.rank[node])
        self.rank[node] = rank
        self.share[node] = rank * self.per_edge[node]
        return True


class DoublePageRank(PageRank):
    """`PageRank` in float64."""

    share = gpop.VertexField(np.float64)
    per_edge = gpop.VertexField(np.float64)


class ConvergingDoublePageRank(ConvergingPageRank, DoublePageRank):
    """`ConvergingPageRank` in float64."""

    rank = gpop.VertexField(np.float64)
    change = gpop.VertexField(np.float64)


PROGRAMS = {
    ("float32", False): PageRank,
    ("float32", True): ConvergingPageRank,
    ("float64", False): DoublePageRank,
    ("float64", True): ConvergingDoublePageRank,
}


@dataclass(frozen=True, kw_only=True)
class PageRankResult(AppResult):
    """``rank`` of every vertex; ``converged`` is None when the number of iterations was given."""

    rank: np.ndarray = holds(Holds.VALUES)
    iterations: int = holds(Holds.NO_VERTICES)
    converged: bool | None = holds(Holds.NO_VERTICES)


@one_call
def pagerank(
    graph: gpop.Graph,
    damping: float = 0.85,
    iterations: int | None = None,
    tolerance: float = 1e-6,
    *,
    dangling: str = "none",
    dtype: Any = np.float32,
    max_iterations: int = 100,
    **options: Any,
) -> PageRankResult:
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
    **options : Any
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
    """
    if not 0 <= damping <= 1:
        raise UsageError(f"damping {damping!r}: expected a number from 0 to 1")
    if dangling not in ("none", "uniform"):
        raise UsageError(f"dangling {dangling!r}: expected none or uniform")
    bulk_synchronous("pagerank", options)
    converging = iterations is None
    if (np.dtype(dtype).name, converging) not in PROGRAMS:
        raise UsageError(f"dtype {np.dtype(dtype).name}: expected float32 or float64")
    program = PROGRAMS[np.dtype(dtype).name, converging](graph)
    n = max(graph.n, 1)
    program.damping, program.base = damping, (1 - damping) / n
    for first, last in ranges(graph.n, 1 << 20):
        program.per_edge[first:last] = 1 / np.maximum(np.diff(graph.indptr[first : last + 1]), 1)
    np.multiply(program.per_edge, 1 / n, out=program.share)
    if converging:
        program.rank = 1 / n
    sinks = np.flatnonzero(graph.out_degree == 0) if dangling == "uniform" else np.empty(0, np.int64)
    callback, converged = options.pop("callback", None), False

    def spread() -> None:
        program.base = (1 - damping + damping * program.share[sinks].sum(dtype=np.float64)) / n

    def after(record: dict) -> bool:
        nonlocal converged
        if sinks.size:
            spread()
        converged = converging and bool(program.change.sum(dtype=np.float64) < tolerance)
        return (callback is not None and callback(record)) or converged

    spread()
    needed = converging or sinks.size or callback is not None
    limit = max_iterations if converging else iterations
    run = gpop.run(program, iterations=limit, callback=after if needed else None, **options)
    rank = program.rank if converging else np.divide(program.share, program.per_edge, out=program.share)
    return PageRankResult(
        rank=rank, iterations=run.iterations, converged=converged if converging else None, run=run
    )


def verify(
    graph: gpop.Graph, result: PageRankResult, damping: float = 0.85, dangling: str = "none"
) -> str | None:
    """None, or what is wrong: the same number of float64 power iterations, each one `numpy.bincount`."""
    degree = np.diff(graph.indptr)
    rank = np.full(graph.n, 1 / max(graph.n, 1))
    for _ in range(result.iterations if graph.n else 0):
        sent = np.repeat(rank / np.maximum(degree, 1), degree)
        lost = rank[degree == 0].sum() if dangling == "uniform" else 0.0
        rank = (1 - damping + damping * lost) / rank.size + damping * np.bincount(
            graph.indices, sent, rank.size
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

    def solve(graph: gpop.Graph, given: Any, options: dict) -> PageRankResult:
        return gpop.pagerank(
            graph, given.damping, tolerance=given.tolerance, dangling=given.dangling, **options
        )

    def headline(graph: gpop.Graph, result: PageRankResult, given: Any) -> str:
        how = {None: "", True: ", converged", False: ", NOT converged"}[result.converged]
        return f"{result.iterations} iterations{how}; highest ranks\n{report.top(graph, result.rank)}"

    return cli.main(
        argv,
        cli.App(
            name="pagerank",
            refuses=("interleave",),
            about=__doc__,
            arguments=arguments,
            solve=solve,
            headline=headline,
            columns=lambda graph, result: {"rank": result.rank},
            verify=lambda graph, result, given: verify(graph, result, given.damping, given.dangling),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
