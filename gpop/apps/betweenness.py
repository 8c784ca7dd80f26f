"""Betweenness centrality: how many shortest paths run through a vertex, by count of edges.

score(v) = sum over pairs s, t (neither is v) of the share of the shortest paths from s to t that contain v,
over all sources s or over a sample of them. Algorithm: Brandes, level by level: `gpop.direct.betweenness`.
Unusual: no program and no messages, though two programs could say it (counts of paths down the levels, then
dependencies up). Each would run once for every source, where a search here costs microseconds on a small
graph, and a level could not be summed without looking at levels, which is where most of the time goes.
Parallel edges are paths of their own; weights are not looked at.
Normalised scores are those of NetworkX: the mean share over the pairs that there are. Raw ones are the sum
over ordered pairs from the given sources; NetworkX halves them for an undirected graph.
Papers: see there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.inputs import SAMPLE_SEED, drawn_vertices
from gpop.apps.resolved import Way, resolving
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.samples import sources_of, sources_options
from gpop.apps.without_messages import OF_MESSAGES, Phase, direct_run, no_messages
from gpop.common.errors import UsageError
from gpop.common.on_demand import Retold
from gpop.common.parallel import use_threads
from gpop.direct.betweenness import Scores, dependencies
from gpop.execution.options import ShownOptions


@dataclass(frozen=True, kw_only=True)
class BetweennessResult(AppResult):
    """``score`` of every vertex, from ``sources`` (ascending)."""

    score: np.ndarray = holds(Holds.VALUES)
    sources: np.ndarray = holds(Holds.LIST, repr=False)


@resolving("sources")
def betweenness(
    graph: gpop.Graph,
    sources: Any = None,
    *,
    normalized: bool = True,
    seed: int = SAMPLE_SEED,
    threads: int | None = None,
    **options: Unpack[ShownOptions],
) -> Way[BetweennessResult]:
    """Betweenness centrality of every vertex, exact or from a sample of sources.

    Parameters
    ----------
    graph : Graph
        Parallel edges are paths of their own; NetworkX looks at one of them.
    sources : int or sequence of int, optional
        Vertices that paths begin at: a number of them drawn at random, or the indices of some. All of them,
        which is exact, when not given.
    normalized : bool
        True: divide by the number of pairs that begin at a source, neither end of them the vertex itself
        (``betweenness_centrality`` of NetworkX, also of a sample). A vertex that is the only source has no
        such pair: its score is nan. False: the sum over ordered pairs from these sources; in a symmetric
        graph each unordered pair counts twice.
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
    BetweennessResult
        ``score``, float64 [n]; ``sources``, uint32 [k]: where paths began.

    Raises
    ------
    UsageError
        If a source is no vertex of the graph, for more sources than vertices, an option of messages, or where
        there are more than 1e308 shortest paths between two vertices.

    Examples
    --------
    >>> path = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3]).symmetrize()
    >>> gpop.betweenness(path).score.round(3)
    array([0.   , 0.667, 0.667, 0.   ])
    >>> gpop.betweenness(path, sources=[0], normalized=False).score
    array([0., 2., 1., 0.])
    >>> twice = gpop.Graph.from_edges([0, 0, 0, 1, 2], [1, 1, 2, 3, 3])  # two of three paths go through 1
    >>> gpop.betweenness(twice, sources=[0], normalized=False).score.round(3)
    array([0.   , 0.667, 0.333, 0.   ])
    """
    no_messages("betweenness", options, "partition_size")
    return partial(_scored, normalized, seed, use_threads(threads), bool(options.get("progress")))


def _scored(
    normalized: bool, seed: int, threads: int, progress: bool, graph: gpop.Graph, sources: Any = None
) -> BetweennessResult:
    sources = drawn_vertices(graph, sources, seed)
    n, k = graph.n, sources.size
    of_pairs = normalized and n > 2
    found = dependencies(graph, sources, threads, progress, k * (n - 2) if of_pairs else 1)
    if found.overflow:
        raise UsageError(
            f"betweenness: {graph.name or 'the graph'} has more than 1e308 shortest paths between two "
            "vertices, too many to count in float64"
        )
    if of_pairs:  # a source is no end of those that begin at itself
        found.score[sources] *= k / (k - 1) if k > 1 else np.nan
    run = Retold(partial(_run, threads, n, found))
    return BetweennessResult._made({"run": run}, score=found.score, sources=sources)


def _run(threads: int, n: int, found: Scores) -> gpop.Run:
    return direct_run(
        [Phase("searches", found.edges, found.seconds)],
        seconds=found.seconds,
        prepare_seconds=found.prepare_seconds,
        threads=threads,
        partition_size=max(n, 1),
        partitions=1,
        program="Betweenness",
    )


def verify(graph: gpop.Graph, result: BetweennessResult, normalized: bool = True) -> str | None:
    """None, or what is wrong: Brandes over lists of edges in NumPy, with dependencies passed upwards."""
    expected = np.zeros(graph.n)
    degree = np.diff(graph.indptr)
    for source in result.sources.tolist():
        level, count = np.full(graph.n, -1), np.zeros(graph.n)
        level[source], count[source] = 0, 1
        frontier, walked = np.array([source]), []
        while frontier.size:
            below = len(walked) + 1
            tails = np.repeat(frontier, degree[frontier])
            offsets = np.arange(tails.size) - np.repeat(
                np.cumsum(degree[frontier]) - degree[frontier], degree[frontier]
            )
            heads = graph.indices[graph.indptr[tails] + offsets]
            new = level[heads] < 0
            tails, heads = tails[new], heads[new]
            frontier = np.unique(heads)
            level[frontier] = below
            np.add.at(count, heads, count[tails])
            walked.append((tails, heads))
        dependency = np.zeros(graph.n)
        for tails, heads in reversed(walked):
            np.add.at(dependency, tails, count[tails] / count[heads] * (1 + dependency[heads]))
        dependency[source] = 0
        expected += dependency
    if normalized and graph.n > 2:
        pairs = result.sources.size - np.isin(np.arange(graph.n), result.sources)
        with np.errstate(invalid="ignore"):
            expected /= pairs * (graph.n - 2.0)
    wrong = np.flatnonzero(~np.isclose(result.score, expected, rtol=1e-9, atol=1e-12, equal_nan=True))
    if not wrong.size:
        return None
    return (
        f"{wrong.size} scores differ from a serial search; vertex {wrong[0]} has "
        f"{result.score[wrong[0]]:.9g} instead of {expected[wrong[0]]:.9g}"
    )


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.betweenness graph [--samples K|all | --sources ID[,ID...]] ...``"""

    def arguments(parser: Any) -> None:
        sources_options(parser)
        parser.add_argument("--raw", action="store_true", help="sums over ordered pairs, not their mean")

    def headline(graph: gpop.Graph, result: BetweennessResult, given: Any) -> str:
        how = f"from {report.share(result.sources.size, graph.n)} as sources"
        return f"betweenness {how}; highest scores\n{report.top(graph, np.nan_to_num(result.score))}"

    return cli.main(
        argv,
        cli.App(
            name="betweenness",
            refuses=OF_MESSAGES,
            about=__doc__,
            arguments=arguments,
            solve=lambda graph, given, options: gpop.betweenness(
                graph, sources_of(graph, given), normalized=not given.raw, seed=given.seed, **options
            ),
            headline=headline,
            columns=lambda graph, result: {"score": result.score},
            verify=lambda graph, result, given: verify(graph, result, not given.raw),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
