"""Personalised PageRank: PageRank of walks that start from some seeds and return to them.

rank(v) = (1-d) * p(v) + d * (sum over in-edges (u,v) of rank(u)/outdegree(u) + lost * p(v)), where p is the
distribution that a walk starts from and returns to, its seeds, and lost is the rank of vertices without
out-edges, which goes to the seeds as well, so that ranks sum to 1 (NetworkX's ``pagerank`` with
``personalization``). Algorithm: power iteration from p with PageRank's program (`gpop.apps.affine`), over the
whole graph; for what is near the seeds only, `gpop.pagerank_nibble` is faster by far.
d = damping is the probability of following an edge. Duplicate edges count as often as they occur.
Weights: as in `gpop.pagerank`, not looked at unless asked for.
Paper: T. Haveliwala, "Topic-sensitive PageRank", WWW 2002.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.affine import Affine, Iteration, program_for
from gpop.apps.inputs import from_0_to_1, many_vertices, not_negative, weighted_vertices
from gpop.apps.on_ranks import several
from gpop.apps.resolved import Way, resolving
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.shares import sent_by, shares
from gpop.common.parallel import ranges
from gpop.execution.options import RunOptions

PIECE = 1 << 20
"""Edges that are looked at together."""


@dataclass(frozen=True, kw_only=True)
class PersonalizedPageRankResult(AppResult):
    """``rank`` of every vertex; ``converged`` is None when the number of iterations was given."""

    rank: np.ndarray = holds(Holds.VALUES)
    iterations: int = holds(Holds.NO_VERTICES)
    converged: bool | None = holds(Holds.NO_VERTICES)


@resolving("seeds")
def personalized_pagerank(
    graph: gpop.Graph,
    seeds: Any,
    damping: float = 0.85,
    iterations: int | None = None,
    tolerance: float = 1e-6,
    *,
    weighted: bool = False,
    dtype: Any = np.float64,
    max_iterations: int = 100,
    **options: Unpack[RunOptions],
) -> Way[PersonalizedPageRankResult]:
    """PageRank of every vertex for walks that start from the seeds and return to them.

    Parameters
    ----------
    graph : Graph
    seeds : int, sequence of int, or dict of int to float
        Vertices, each as likely as any other; or a weight for each, at least one of them above 0. Weights of
        a vertex that is given twice, by its index and by its name, are added.
    damping : float
        Probability of following an edge, between 0 and 1.
    iterations : int, optional
        Run exactly so many. Otherwise until the sum of absolute changes is below ``tolerance``, at most
        ``max_iterations``.
    tolerance : float
        Sum of the absolute changes of all ranks in an iteration, below which it has converged.
    weighted : bool
        Whether an edge carries in proportion to its weight; else each out-edge carries as much as any other.
    dtype : numpy.float64 or numpy.float32
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
    PersonalizedPageRankResult
        ``rank``, of type ``dtype`` [n]; ``iterations`` done; ``converged``, None where not asked.

    Raises
    ------
    UsageError
        For a value outside what is said above, or an option that does not fit.

    Examples
    --------
    >>> path = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> gpop.personalized_pagerank(path, 0, damping=0.5).rank.round(4)
    array([0.5333, 0.2667, 0.1333, 0.0667])
    >>> gpop.personalized_pagerank(path, {0: 1, 2: 3}, damping=0.5).rank.round(4)
    array([0.1569, 0.0784, 0.5098, 0.2549])
    """
    damping = from_0_to_1("damping", damping)
    tolerance = not_negative("tolerance", tolerance)
    program, weighted = program_for(graph, dtype, weighted), bool(weighted)
    kind = type(program).share.dtype
    program._fields["per_edge"] = shares(graph, kind, weighted)
    program.damping, program.base = damping, 1 - damping
    iteration = Iteration(
        "personalized_pagerank", program, options,
        iterations=iterations, max_iterations=max_iterations, below=tolerance,
    )  # fmt: skip
    sent = sent_by(graph, kind, weighted)
    ends = not sent.all() if several(options) else _may_end(graph, sent)
    return partial(_personalized, iteration, weighted, ends)


def _may_end(graph: gpop.Graph, sent: np.ndarray) -> bool:
    """Whether an edge leads to a vertex that sends nothing on. In graphs both ways none does."""
    return not sent.all() and any(
        not sent[graph.indices[slice(*piece)]].all() for piece in ranges(graph.m, PIECE)
    )


def _personalized(
    iteration: Iteration, weighted: bool, ends: bool, graph: gpop.Graph, seeds: Any
) -> PersonalizedPageRankResult:
    """``weighted``: whether edges are; ``ends``: whether walks may come to an end after a step."""
    if type(seeds) is int and 0 <= seeds < graph.n:
        start = {seeds: 1.0}
    else:
        vertices, weights = seed_weights(graph, seeds)
        start = dict(zip(vertices.tolist(), weights.tolist(), strict=True))
    fields, after = iteration.prototype.fields, None
    kind, per_edge = fields.kind("per_edge")[1], fields["per_edge"]
    shared = {vertex: kind.type(weight) * per_edge[vertex] for vertex, weight in start.items()}
    sent = sent_by(graph, kind, weighted)
    if ends or not sent[[*start]].all():
        sinks = np.flatnonzero(sent == 0)

        def after(program: Affine) -> None:
            program.base = 1 - program.damping + program.damping * program.rank[sinks].sum(dtype=np.float64)

    rank, told = iteration.run(graph, {"start": start, "rank": start, "share": shared}, after)
    return PersonalizedPageRankResult._of_both({"rank": rank, **told})


def seed_weights(graph: gpop.Graph, seeds: Any) -> tuple[np.ndarray, np.ndarray]:
    """Seeds, and their weights divided by the sum of all.

    Examples
    --------
    >>> seed_weights(gpop.Graph.from_edges([0, 1], [1, 2]), {2: 1, 0: 3})[1].tolist()
    [0.25, 0.75]
    """
    if not isinstance(seeds, Mapping):
        vertices = many_vertices(graph, seeds)
        return vertices, np.full(vertices.size, 1 / vertices.size)
    found = weighted_vertices(graph, seeds)
    weights = np.array([*found.values()])
    return np.array([*found], np.int64), weights / weights.sum()


def verify(
    graph: gpop.Graph,
    result: PersonalizedPageRankResult,
    seeds: Any,
    damping: float = 0.85,
    weighted: bool = False,
) -> str | None:
    """None, or what is wrong: the same number of steps from the seeds, by SciPy's sparse product."""
    from scipy.sparse import csr_array

    start = np.zeros(graph.n)
    vertices, weights = seed_weights(graph, seeds)
    start[vertices] = weights
    data = graph.weights.astype(np.float64) if weighted else np.ones(graph.m)
    matrix = csr_array((data, graph.indices.astype(np.int64), graph.indptr), shape=(graph.n, graph.n))
    sums = matrix @ np.ones(graph.n)
    turned, rank = csr_array(matrix.T), start
    for _ in range(result.iterations):
        rank = (
            damping * (turned @ (rank / np.where(sums > 0, sums, 1)) + rank[sums == 0].sum() * start)
            + (1 - damping) * start
        )
    error = float(np.abs(rank - result.rank).sum())
    allowed = 1e-11 if result.rank.dtype == np.float64 else 1e-5
    return None if error <= allowed else f"the ranks differ by {error:.2g} in all from SciPy's iteration"


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.personalized_pagerank graph [--source ID[,ID...]] ...``"""

    def arguments(parser: Any) -> None:
        parser.add_argument("--damping", type=float, default=0.85, help="probability of following an edge")
        parser.add_argument(
            "--tolerance", type=float, default=1e-6, help="stop when ranks change by less in all"
        )
        parser.add_argument(
            "--weighted",
            action=argparse.BooleanOptionalAction,
            help="share ranks by the weights of edges; with --no-weighted they are not read",
        )

    def headline(graph: gpop.Graph, result: PersonalizedPageRankResult, given: Any) -> str:
        how = {None: "", True: ", converged", False: ", NOT converged"}[result.converged]
        top = report.top(graph, result.rank)
        return f"{result.iterations} iterations{how}, from {given.name}; highest ranks\n{top}"

    return cli.main(
        argv,
        cli.App(
            name="personalized_pagerank",
            loop="all_active",
            refuses=("interleave",),
            about=__doc__,
            source="many",
            arguments=arguments,
            solve=lambda graph, given, options: gpop.personalized_pagerank(
                graph, given.source, given.damping, tolerance=given.tolerance, weighted=bool(given.weighted),
                **options,
            ),
            headline=headline,
            columns=lambda graph, result: {"rank": result.rank},
            verify=lambda graph, result, given: verify(
                graph, result, given.source, given.damping, bool(given.weighted)
            ),
        ),
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
