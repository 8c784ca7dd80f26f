"""Katz centrality: score(v) = alpha * sum over in-edges (u,v) of score(u) + beta(v).

Algorithm: that iteration from beta on, with PageRank's program (`gpop.apps.affine`), until scores change by
less than a tolerance on average. It converges where alpha is below 1 / (the largest eigenvalue of the graph).
Scores are scaled to a Euclidean norm of 1 unless told otherwise (NetworkX's ``katz_centrality``).
Duplicate edges count as often as they occur. Weights: not looked at unless asked for; then an edge carries
weight * score(u).
Paper: L. Katz, "A new status index derived from sociometric analysis", Psychometrika 18, 1953.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.affine import Iteration, program_for
from gpop.apps.inputs import as_number, not_negative, per_vertex
from gpop.apps.resolved import Way, resolving
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.weights import finite_weights
from gpop.common.arguments import plain
from gpop.common.errors import UsageError
from gpop.execution.options import RunOptions
from gpop.program.recipes import Declared, Scaled


@dataclass(frozen=True, kw_only=True)
class KatzResult(AppResult):
    """``score`` of every vertex; ``converged`` is None when the number of iterations was given."""

    score: np.ndarray = holds(Holds.VALUES)
    iterations: int = holds(Holds.NO_VERTICES)
    converged: bool | None = holds(Holds.NO_VERTICES)


@resolving()
def katz(
    graph: gpop.Graph,
    alpha: float = 0.1,
    beta: Any = 1.0,
    iterations: int | None = None,
    tolerance: float = 1e-6,
    *,
    normalized: bool = True,
    weighted: bool = False,
    dtype: Any = np.float64,
    max_iterations: int = 1000,
    **options: Unpack[RunOptions],
) -> Way[KatzResult]:
    """Katz centrality of every vertex.

    Parameters
    ----------
    graph : Graph
    alpha : float
        What remains of a score over an edge.
    beta : float or sequence of float
        What a vertex has of its own: the same for all, or one for each, in the order of vertices.
    iterations : int, optional
        Run exactly so many. Otherwise until the mean of absolute changes is below ``tolerance``, at most
        ``max_iterations``.
    tolerance : float
        Mean of the absolute changes of scores (before they are scaled), below which it has converged.
    normalized : bool
        Whether scores are scaled to a Euclidean norm of 1.
    weighted : bool
        Whether an edge carries the score times its weight.
    dtype : numpy.float64 or numpy.float32
        Type of the scores.
    max_iterations : int
        Most iterations where ``iterations`` is not given.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : RunOptions
        ``threads, mode, ratio, model, partition_size, target, progress, callback``: see `gpop.run`.

    Returns
    -------
    KatzResult
        ``score``, of type ``dtype`` [n]; ``iterations`` done; ``converged``, None where not asked.

    Raises
    ------
    UsageError
        For a value outside what is said above, an option that does not fit, or where scores grow without end
        because alpha is too large.

    Examples
    --------
    >>> path = gpop.Graph.from_edges([0, 1], [1, 2])
    >>> gpop.katz(path, normalized=False).score
    array([1.  , 1.1 , 1.11])
    """
    tolerance, rate = not_negative("tolerance", tolerance), as_number(alpha)
    if not np.isfinite(rate):
        raise UsageError(f"alpha {plain(alpha)!r}: expected a number")
    program = program_for(graph, dtype, weighted)
    if weighted:
        finite_weights(graph, "katz")
    program.damping, program.base = rate, 1
    own, fields, kind = per_vertex(graph, beta, "beta"), program._fields, type(program).share.dtype
    fields.recipes["per_edge"] = Declared(graph.n, kind, kind.type(1))
    if isinstance(own, np.ndarray):
        fields["start"] = own.astype(kind)
        begins = Scaled(fields, "start", 1)
    else:
        begins = fields.recipes["start"] = Declared(graph.n, kind, kind.type(own))
    fields.recipes["rank"] = fields.recipes["share"] = begins
    iteration = Iteration(
        "katz", program, options,
        iterations=iterations, max_iterations=max_iterations, below=tolerance * max(graph.n, 1),
    )  # fmt: skip
    return partial(_katz, iteration, normalized)


def _katz(iteration: Iteration, normalized: bool, graph: gpop.Graph) -> KatzResult:
    score, told = iteration.run(graph)
    # Not by BLAS, whose threads would be up against those of the run.
    if normalized and (most := np.abs(score).max(initial=0)) > 0:
        # Times a power of two, which is exact: squares of very large or small values are infinite or 0.
        score = np.ldexp(score, -np.frexp(most)[1])
        score = score / np.sqrt(np.square(score).sum())
    return KatzResult._of_both({"score": score, **told})


def verify(
    graph: gpop.Graph,
    result: KatzResult,
    alpha: float = 0.1,
    beta: Any = 1.0,
    normalized: bool = True,
    weighted: bool = False,
) -> str | None:
    """None, or what is wrong: the same number of steps by SciPy's sparse product."""
    from scipy.sparse import csr_array

    data = graph.weights.astype(np.float64) if weighted else np.ones(graph.m)
    matrix = csr_array((data, graph.indices.astype(np.int64), graph.indptr), shape=(graph.n, graph.n))
    turned, start = csr_array(matrix.T), np.zeros(graph.n) + beta
    score = start
    for _ in range(result.iterations):
        score = alpha * (turned @ score) + start
    if normalized and graph.n:
        score = score / (np.abs(score).max() or 1)  # whose squares may be infinite, or 0
        score = score / (np.linalg.norm(score) or 1)
    error = float(np.abs(score - result.score).max(initial=0)) / float(np.abs(score).max(initial=1e-300))
    allowed = 1e-11 if result.score.dtype == np.float64 else 1e-5
    return None if error <= allowed else f"a score differs by {error:.2g} of the largest from SciPy's"


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.katz graph [--alpha A] ...``"""

    def arguments(parser: Any) -> None:
        parser.add_argument("--alpha", type=float, default=0.1, help="what remains of a score over an edge")
        parser.add_argument("--beta", type=float, default=1.0, help="what every vertex has of its own")
        parser.add_argument("--tolerance", type=float, default=1e-6, help="mean change to stop at")
        parser.add_argument("--raw", action="store_true", help="scores as they are, not of norm 1")
        parser.add_argument(
            "--weighted", action=argparse.BooleanOptionalAction, help="multiply by the weights of edges"
        )

    def headline(graph: gpop.Graph, result: KatzResult, given: Any) -> str:
        how = {None: "", True: ", converged", False: ", NOT converged"}[result.converged]
        return f"{result.iterations} iterations{how}; highest scores\n{report.top(graph, result.score)}"

    return cli.main(
        argv,
        cli.App(
            name="katz",
            loop="all_active",
            refuses=("interleave",),
            about=__doc__,
            arguments=arguments,
            solve=lambda graph, given, options: gpop.katz(
                graph, given.alpha, given.beta, tolerance=given.tolerance, normalized=not given.raw,
                weighted=bool(given.weighted), **options,
            ),
            headline=headline,
            columns=lambda graph, result: {"score": result.score},
            verify=lambda graph, result, given: verify(
                graph, result, given.alpha, given.beta, not given.raw, bool(given.weighted)
            ),
        ),
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
