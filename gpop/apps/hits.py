"""HITS: good hubs point to good authorities, good authorities are pointed to by good hubs.

authority(v) = sum over in-edges (u,v) of hub(u), hub(u) = sum over out-edges (u,v) of authority(v), each
scaled to a sum of 1: the first singular vectors of the adjacency matrix (NetworkX's ``hits``).
Algorithm: power iteration from equal scores. An iteration is two runs of PageRank's program
(`gpop.apps.affine`), one along the edges and one against them, on the graph turned round, which is kept.
On a small graph, without weights, one thread does all of it on the adjacency lists (`gpop.direct.hits`),
unless an option speaks of messages: a run of the engine takes some 25 us beside its loop, and there are two
in an iteration.
Duplicate edges count as often as they occur. Weights: not looked at unless asked for; then an edge counts as
often as its weight says.
Paper: J. Kleinberg, "Authoritative sources in a hyperlinked environment", J. ACM 46, 1999.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.affine import Affine, program_for
from gpop.apps.checkpoint_options import CHECKPOINT_OPTIONS
from gpop.apps.inputs import bulk_synchronous, not_negative
from gpop.apps.on_ranks import several
from gpop.apps.options import one_call
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.weights import finite_weights
from gpop.apps.without_messages import direct_run, only_for_messages, phases_of
from gpop.common.arguments import whole_from
from gpop.common.errors import UsageError
from gpop.common.parallel import use_threads
from gpop.common.progress import progress_bar
from gpop.cpu import loops
from gpop.execution.options import RunOptions
from gpop.layout.edge_blocks import note_ahead

MOST_OF_BOTH = 1 << 17
"""Vertices and edges of a graph that is small."""


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
        ``iterations`` done, without one all are equal; ``converged``, None where not asked.

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
        finite_weights(graph, "hits")
    limit = whole_from(0, "iterations", max_iterations if iterations is None else iterations)
    along = program_for(graph, dtype, weighted)
    if not weighted and _is_small(graph) and not _asks_for_messages(options):
        below = tolerance if iterations is None else None
        return _alone(graph, limit, below, type(along).rank.dtype, options)
    if options.get("target", "cpu") == "cpu":
        loops.begin(loops.kind_of(True, False, several(options)))  # while in-edges are looked for
    turned = graph if graph.equals_reverse() else graph.reverse()
    against = program_for(turned, dtype, weighted)
    for program in (along, against):
        program.per_edge, program.damping = 1, 1
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
        authority = hub.copy()
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


def _is_small(graph: gpop.Graph) -> bool:
    return graph.n + graph.m <= MOST_OF_BOTH and graph.facts.mapped is None


def _asks_for_messages(options: dict[str, Any]) -> bool:
    return bool(only_for_messages(options, "partition_size")) or several(options)


def _alone(
    graph: gpop.Graph, limit: int, tolerance: float | None, dtype: np.dtype, options: dict[str, Any]
) -> HitsResult:
    """Without messages; no tolerance: so many iterations."""
    from gpop.direct.hits import PHASES, Hits

    use_threads(options.get("threads"))
    begin = time.perf_counter()
    found = Hits(graph, graph if graph.equals_reverse() else graph.reverse())
    start = time.perf_counter()
    with progress_bar(limit, "hits", "iteration", bool(options.get("progress"))) as bar:
        while found.iterations < limit and not found.converged:
            bar.update(found.iterate(limit - found.iterations, tolerance or 0.0))
    run = direct_run(
        phases_of(PHASES, found), seconds=time.perf_counter() - start, prepare_seconds=start - begin,
        threads=1, partition_size=max(graph.n, 1), partitions=1, program="Hits", method="direct",
        reason="a small graph, and no option speaks of messages",
    )  # fmt: skip
    return HitsResult(
        hub=found.hub.astype(dtype, copy=False), authority=found.authority.astype(dtype, copy=False),
        iterations=found.iterations, converged=None if tolerance is None else found.converged, run=run,
    )  # fmt: skip


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
    turned, hub = csr_array(matrix.T), np.full(graph.n, 1 / max(graph.n, 1))
    authority = hub
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
