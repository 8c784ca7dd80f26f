"""HITS: good hubs point to good authorities, good authorities are pointed to by good hubs.

authority(v) = sum over in-edges (u,v) of hub(u), hub(u) = sum over out-edges (u,v) of authority(v), each
scaled to a sum of 1: the first singular vectors of the adjacency matrix (NetworkX's ``hits``).
Algorithm: power iteration from equal hubs. An iteration is two runs of PageRank's program
(`gpop.apps.affine`), one along the edges and one against them, on the graph turned round, which is kept.
Duplicate edges count as often as they occur. Weights: not looked at unless asked for; then an edge counts as
often as its weight says.
Paper: J. Kleinberg, "Authoritative sources in a hyperlinked environment", J. ACM 46, 1999.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.affine import Affine, program_for
from gpop.apps.checkpoint_options import CHECKPOINT_OPTIONS
from gpop.apps.inputs import bulk_synchronous, not_negative
from gpop.apps.options import one_call
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.weights import edge_weights
from gpop.common.arguments import whole_from
from gpop.common.errors import UsageError
from gpop.common.progress import progress_bar
from gpop.execution.options import RunOptions
from gpop.layout.edge_blocks import note_ahead


@dataclass(frozen=True, kw_only=True)
class HitsResult(AppResult):
    """``hub`` and ``authority`` of every vertex; ``converged`` is None when the number was given."""

    hub: np.ndarray = holds(Holds.VALUES)
    authority: np.ndarray = holds(Holds.VALUES)
    iterations: int = holds(Holds.NO_VERTICES)
    converged: bool | None = holds(Holds.NO_VERTICES)


@one_call
def hits(
    graph: gpop.Graph,
    iterations: int | None = None,
    tolerance: float = 1e-8,
    *,
    weighted: bool = False,
    dtype: Any = np.float64,
    max_iterations: int = 100,
    **options: Unpack[RunOptions],
) -> HitsResult:
    """Hub and authority score of every vertex.

    Parameters
    ----------
    graph : Graph
    iterations : int, optional
        Run exactly so many. Otherwise until the sum of absolute changes is below ``tolerance``, at most
        ``max_iterations``.
    tolerance : float
        Sum of the absolute changes of all hub scores in an iteration, below which it has converged.
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
        ``threads, mode, ratio, model, partition_size, target, progress``: see `gpop.run`.

    Returns
    -------
    HitsResult
        ``hub`` and ``authority``, of type ``dtype`` [n], each with a sum of 1 (0 without edges);
        ``iterations`` done; ``converged``, None where not asked.

    Raises
    ------
    UsageError
        For a value outside what is said above, or an option that does not fit.

    Examples
    --------
    >>> found = gpop.hits(gpop.Graph.from_edges([0, 0, 1], [1, 2, 2]))
    >>> found.hub.round(3), found.authority.round(3)
    (array([0.618, 0.382, 0.   ]), array([0.   , 0.382, 0.618]))
    """
    bulk_synchronous("hits", options)
    if options.get("callback") is not None:
        raise UsageError("callback means nothing to hits: an iteration is two runs")
    if options.get("checkpoint") is not None:
        raise UsageError("checkpoint means nothing to hits: an iteration is two runs")
    tolerance = not_negative("tolerance", tolerance)
    if weighted:
        edge_weights(graph, "hits")
    turned = graph if graph.equals_reverse() else graph.reverse()
    along, against = program_for(graph, dtype, weighted), program_for(turned, dtype, weighted)
    for program in (along, against):
        program.per_edge, program.damping = 1, 1
    limit = whole_from(0, "iterations", max_iterations if iterations is None else iterations)
    for each in (graph, turned):
        note_ahead(each, limit)
    hub, runs, converged = np.full(graph.n, 1 / max(graph.n, 1), along.rank.dtype), [], None
    with progress_bar(limit, "hits", "iteration", bool(options.pop("progress", False))) as bar:
        while len(runs) < 2 * limit and not converged:
            authority = _sums(along, hub, runs, options)
            before, hub = hub, _sums(against, authority, runs, options)
            if iterations is None:
                converged = float(np.abs(hub - before).sum(dtype=np.float64)) < tolerance
            bar.update(1)
    if not runs:
        authority = np.zeros_like(hub)
        runs.append(gpop.run(along, iterations=0, **options))
    summary = {**runs[-1].trace.summary, "program": "Hits"}
    trace = gpop.Trace(summary)
    for run in runs:
        for record in run.trace:
            trace.append(**{name: value for name, value in record.items() if name != "iteration"})
    run = replace(
        runs[-1],
        iterations=len(trace),
        trace=trace,
        seconds=sum(run.seconds for run in runs),
        prepare_seconds=sum(run.prepare_seconds for run in runs),
        converged=bool(converged),
    )
    return HitsResult(hub=hub, authority=authority, iterations=len(trace) // 2, converged=converged, run=run)


def _sums(program: Affine, scores: np.ndarray, runs: list[gpop.Run], options: dict[str, Any]) -> np.ndarray:
    """Sums of scores along the edges of a program's graph, scaled to a sum of 1."""
    program.share = scores
    runs.append(gpop.run(program, iterations=1, **options))
    total = float(program.rank.sum(dtype=np.float64))
    return program.rank / total if total > 0 else program.rank.copy()


def verify(graph: gpop.Graph, result: HitsResult, weighted: bool = False) -> str | None:
    """None, or what is wrong: the same number of steps by SciPy's sparse product."""
    from scipy.sparse import csr_array

    data = graph.weights.astype(np.float64) if weighted else np.ones(graph.m)
    matrix = csr_array((data, graph.indices.astype(np.int64), graph.indptr), shape=(graph.n, graph.n))
    turned, hub, authority = csr_array(matrix.T), np.full(graph.n, 1 / max(graph.n, 1)), np.zeros(graph.n)
    for _ in range(result.iterations):
        authority = turned @ hub
        authority /= authority.sum() or 1
        hub = matrix @ authority
        hub /= hub.sum() or 1
    allowed = 1e-11 if result.hub.dtype == np.float64 else 1e-5
    for name, right in (("hub", hub), ("authority", authority)):
        error = float(np.abs(getattr(result, name) - right).sum())
        if error > allowed:
            return f"the {name} scores differ by {error:.2g} in all from SciPy's power iteration"
    return None


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.hits graph ...``"""

    def arguments(parser: Any) -> None:
        parser.add_argument("--tolerance", type=float, default=1e-8, help="stop when hubs change by less")
        parser.add_argument(
            "--weighted", action=argparse.BooleanOptionalAction, help="multiply by the weights of edges"
        )

    def headline(graph: gpop.Graph, result: HitsResult, given: Any) -> str:
        how = {None: "", True: ", converged", False: ", NOT converged"}[result.converged]
        hubs, authorities = (report.top(graph, each, most=5) for each in (result.hub, result.authority))
        return f"{result.iterations} iterations{how}; best hubs\n{hubs}\nbest authorities\n{authorities}"

    return cli.main(
        argv,
        cli.App(
            name="hits",
            loop="all_active",
            in_parts=False,
            refuses=("interleave", *CHECKPOINT_OPTIONS),
            about=__doc__,
            arguments=arguments,
            solve=lambda graph, given, options: gpop.hits(
                graph, tolerance=given.tolerance, weighted=bool(given.weighted), **options
            ),
            headline=headline,
            columns=lambda graph, result: {"hub": result.hub, "authority": result.authority},
            verify=lambda graph, result, given: verify(graph, result, bool(given.weighted)),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
