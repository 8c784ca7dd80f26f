"""Closeness centrality: how near a vertex is to those that reach it, by count of edges.

score(v) = r / (sum of the distances to v from the r sources that reach it), times r / (all sources) unless
told otherwise (Wasserman and Faust), so that a vertex of a small component does not pass for a central one.
All vertices are sources, which is exact, or a sample of them is, which estimates the same: v does not count
for itself. Distances are those to a vertex, as in NetworkX's ``closeness_centrality``.
Algorithm: breadth-first searches from 64 sources at a time: see `gpop.direct.distance_sums`.
Unusual: no program and no messages. A word of 64 searches could be one, but searches that are a thread's own
need no meeting of all threads at each level, of which there are thousands in a road network.
Weights are not looked at.
Papers: S. Wasserman, K. Faust, "Social network analysis", 1994; D. Eppstein, J. Wang, "Fast approximation of
centrality", 2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.inputs import SAMPLE_SEED, drawn_vertices
from gpop.apps.options import one_call
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.samples import sources_of, sources_options
from gpop.apps.without_messages import OF_MESSAGES, Phase, direct_run, no_messages
from gpop.common.parallel import use_threads
from gpop.execution.options import ShownOptions


@dataclass(frozen=True, kw_only=True)
class ClosenessResult(AppResult):
    """``score`` of every vertex, from ``sources`` (ascending)."""

    score: np.ndarray = holds(Holds.VALUES)
    sources: np.ndarray = holds(Holds.LIST, repr=False)


@one_call
def closeness(
    graph: gpop.Graph,
    sources: Any = None,
    *,
    wf_improved: bool = True,
    seed: int = SAMPLE_SEED,
    threads: int | None = None,
    **options: Unpack[ShownOptions],
) -> ClosenessResult:
    """Closeness centrality of every vertex, exact or from a sample of sources.

    Parameters
    ----------
    graph : Graph
    sources : int or sequence of int, optional
        Vertices that distances begin at: a number of them drawn at random, or the indices of some. All of
        them, which is exact, when not given.
    wf_improved : bool
        Whether scores are multiplied by the share of the sources that reach the vertex (Wasserman and Faust).
    seed : int
        Of the draw.
    threads : int, optional
        Threads to use; all that Numba was given when not set.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : ShownOptions
        ``progress`` and ``reorder``; options of messages and partitions are refused.

    Returns
    -------
    ClosenessResult
        ``score``, float64 [n]: 0 where no other source reaches; ``sources``, uint32 [k].

    Raises
    ------
    UsageError
        If a source is no vertex of the graph, for more sources than vertices, or an option of messages.

    Examples
    --------
    >>> path = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3]).symmetrize()
    >>> gpop.closeness(path).score.round(3)
    array([0.5 , 0.75, 0.75, 0.5 ])
    >>> gpop.closeness(path, sources=[0, 3]).score.round(3)
    array([0.333, 0.667, 0.667, 0.333])
    """
    from gpop.direct.distance_sums import distance_sums

    no_messages("closeness", options, "partition_size")
    threads = use_threads(threads)
    sources = drawn_vertices(graph, sources, seed)
    found = distance_sums(graph, sources, threads, bool(options.get("progress")))
    run = direct_run(
        [Phase("searches", found.edges, found.seconds)],
        seconds=found.seconds,
        prepare_seconds=found.prepare_seconds,
        threads=threads,
        partition_size=max(graph.n, 1),
        partitions=1,
        program="Closeness",
    )
    score = _scores(found.total, found.reached, sources, wf_improved)
    return ClosenessResult(score=score, sources=sources, run=run)


def _scores(total: np.ndarray, reached: np.ndarray, sources: np.ndarray, wf_improved: bool) -> np.ndarray:
    """Scores by sums of distances and numbers of sources that reach a vertex, itself left out."""
    score = reached / np.maximum(total, 1)
    if wf_improved:
        others = np.full(total.size, sources.size)
        others[sources] -= 1
        score *= reached / np.maximum(others, 1)
    return score


def verify(graph: gpop.Graph, result: ClosenessResult, wf_improved: bool = True) -> str | None:
    """None, or what is wrong: distances by SciPy's breadth-first orders, one source after the other."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    edges = (np.ones(graph.m, np.int8), graph.indices.astype(np.int64), graph.indptr)
    matrix = csr_array(edges, shape=(graph.n, graph.n))
    total, reached = np.zeros((2, graph.n), np.int64)
    for source in result.sources.tolist():
        order, parent = breadth_first_order(matrix, source)
        place = np.full(graph.n, -1)
        place[order] = np.arange(order.size)
        above, level = place[parent[order[1:]]].tolist(), [0]
        for up in above:  # parents come before their children
            level.append(level[up] + 1)
        total[order] += level
        reached[order[1:]] += 1
    expected = _scores(total, reached, result.sources, wf_improved)
    wrong = ~np.isclose(result.score, expected, rtol=1e-12, atol=0)
    vertex = int(np.argmax(wrong)) if graph.n else 0
    return (
        f"{np.count_nonzero(wrong)} scores differ from serial searches; vertex {vertex} has "
        f"{result.score[vertex]:.9g} instead of {expected[vertex]:.9g}"
        if wrong.any()
        else None
    )


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.closeness graph [--samples K|all | --sources ID[,ID...]] ...``"""

    def arguments(parser: Any) -> None:
        sources_options(parser)
        parser.add_argument(
            "--plain", action="store_true", help="do not multiply by the share of the sources that reach"
        )

    def headline(graph: gpop.Graph, result: ClosenessResult, given: Any) -> str:
        how = f"from {report.share(result.sources.size, graph.n)} as sources"
        return f"closeness {how}; highest scores\n{report.top(graph, result.score)}"

    return cli.main(
        argv,
        cli.App(
            name="closeness",
            refuses=OF_MESSAGES,
            about=__doc__,
            arguments=arguments,
            solve=lambda graph, given, options: gpop.closeness(
                graph, sources_of(graph, given), wf_improved=not given.plain, seed=given.seed, **options
            ),
            headline=headline,
            columns=lambda graph, result: {"score": result.score},
            verify=lambda graph, result, given: verify(graph, result, not given.plain),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
