"""Greedy colouring: no two neighbours have the same colour, and each the least that was left for it.

Algorithm: vertices by descending degree (largest first; Welsh, Powell), equal ones by their ids, or by index
where ids are no numbers; each takes the least colour that no earlier neighbour has. Threads work on it at the
same time and come to the same colours: see `gpop.direct.coloring`. At most one colour more than the largest
degree, and mostly far fewer.
Unusual: no program and no messages, since the least number that is not among some is no fold of one after the
other. The graph is taken as undirected, a directed one is made symmetric first, which the result says
(``symmetrized``). Loops do not matter.
Papers: D. J. A. Welsh, M. B. Powell, "An upper bound for the chromatic number of a graph", The Computer
Journal 10, 1967; and see `gpop.direct.coloring`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.inputs import in_order_of_ids, symmetric
from gpop.apps.options import one_call
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.without_messages import OF_MESSAGES, Phase, direct_run, no_messages
from gpop.common.parallel import use_threads
from gpop.execution.options import ShownOptions


@dataclass(frozen=True, kw_only=True)
class ColoringResult(AppResult):
    """``color`` of every vertex, from 0 on, ``count`` of them, and whether the graph was ``symmetrized``."""

    color: np.ndarray = holds(Holds.VALUES)
    count: int = holds(Holds.NO_VERTICES)
    symmetrized: bool = holds(Holds.NO_VERTICES)


@one_call
def coloring(
    graph: gpop.Graph, *, threads: int | None = None, **options: Unpack[ShownOptions]
) -> ColoringResult:
    """Colour the vertices greedily, largest degree first; the same for every number of threads.

    Parameters
    ----------
    graph : Graph
        Edges of a directed one are taken both ways.
    threads : int, optional
        Threads to use; all that Numba was given when not set.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : ShownOptions
        ``progress`` and ``reorder``; options of messages and partitions are refused.

    Returns
    -------
    ColoringResult
        ``color``, uint32 [n], as NetworkX's ``greedy_color`` with ``largest_first`` gives it; ``count`` of
        colours; ``symmetrized``: whether some edge had no opposite.

    Raises
    ------
    UsageError
        For a number of threads that is not possible, or an option of messages.

    Examples
    --------
    >>> found = gpop.coloring(gpop.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2]))
    >>> found.color.tolist(), found.count
    ([0, 2, 1, 2], 3)
    """
    from gpop.direct.coloring import PHASES, greedy_colors

    no_messages("coloring", options, "partition_size")
    threads = use_threads(threads)
    start = time.perf_counter()
    both_ways = symmetric(graph)
    first = in_order_of_ids(both_ways)
    prepare_seconds = time.perf_counter() - start
    found = greedy_colors(both_ways, first, threads)
    times = (found.order_seconds, found.seconds - found.order_seconds)
    run = direct_run(
        map(Phase, PHASES, (0, both_ways.m), times),
        seconds=found.seconds,
        prepare_seconds=prepare_seconds,
        threads=threads,
        partition_size=max(graph.n, 1),
        partitions=1,
        program="Coloring",
        graph=graph.name,
    )
    count = int(found.color.max(initial=0)) + (graph.n > 0)
    return ColoringResult(color=found.color, count=count, symmetrized=both_ways is not graph, run=run)


def verify(graph: gpop.Graph, result: ColoringResult) -> str | None:
    """None, or what is wrong: two neighbours alike, or a colour that a vertex has passed over, in NumPy."""
    tails = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    color = result.color.astype(np.int64)
    ends = np.concatenate([tails, graph.indices]), np.concatenate([graph.indices, tails])
    no_loop = ends[0] != ends[1]
    mine, other = color[ends[0][no_loop]], color[ends[1][no_loop]]
    alike = np.count_nonzero(mine == other) // 2
    if alike:
        return f"{alike} edges join vertices of the same color"
    # As many smaller colours among the neighbours as there are smaller colours.
    below = np.unique(np.column_stack([ends[0][no_loop], other])[other < mine], axis=0)[:, 0]
    passed = np.flatnonzero(np.bincount(below, minlength=graph.n) != color)
    if passed.size:
        return f"vertex {passed[0]} has color {color[passed[0]]}, but a smaller one was left"
    return None if result.count == np.unique(color).size else f"{result.count} colors, but there are others"


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.coloring graph ...``"""

    def headline(graph: gpop.Graph, result: ColoringResult, given: Any) -> str:
        note = "\nnote: the graph is directed; its edges were taken both ways" if result.symmetrized else ""
        most = int(np.bincount(result.color).max(initial=0))
        return f"{result.count} colors, the most frequent for {report.share(most, graph.n)}{note}"

    return cli.main(
        argv,
        cli.App(
            name="coloring",
            refuses=OF_MESSAGES,
            about=__doc__,
            solve=lambda graph, given, options: gpop.coloring(graph, **options),
            headline=headline,
            columns=lambda graph, result: {"color": result.color},
            edges=lambda graph, result: graph.m,
            verify=lambda graph, result, given: verify(graph, result),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
