"""Strongly connected components: every vertex gets the smallest vertex that it reaches and is reached from.

Algorithm: the component of a hub by searching forward and backward from it, then one depth-first search over
what is left: see `gpop.direct.strong`.
Unusual: no program and no messages. Both searches stop at the first edge that says something, and what is
left is trees of small components, a step after the other. The in-edges of a directed graph are built for
the first call and kept with the graph.
Encoding: labels are uint32 vertex indices; a vertex whose label is itself represents its component.
Papers: see there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.options import one_call
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.without_messages import OF_MESSAGES, direct_run, no_messages, phases_of
from gpop.common.parallel import use_threads
from gpop.execution.options import ShownOptions
from gpop.layout.in_edges import in_edges


@dataclass(frozen=True, kw_only=True)
class StrongComponentsResult(AppResult):
    """``label`` of every vertex, and ``count`` of components."""

    label: np.ndarray = holds(Holds.COMPONENTS)
    count: int = holds(Holds.NO_VERTICES)


@one_call
def strong_components(
    graph: gpop.Graph, *, threads: int | None = None, **options: Unpack[ShownOptions]
) -> StrongComponentsResult:
    """Strongly connected components.

    Parameters
    ----------
    graph : Graph
    threads : int, optional
        Threads to use; all that Numba was given when not set.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : ShownOptions
        ``progress`` and ``reorder``; options of messages and partitions are refused.

    Returns
    -------
    StrongComponentsResult
        ``label``, uint32 [n]: the smallest vertex of the component; ``count`` of components.

    Raises
    ------
    UsageError
        For a number of threads that is not possible, or an option of messages.

    Examples
    --------
    >>> found = gpop.strong_components(gpop.Graph.from_edges([0, 1, 2, 2], [1, 2, 1, 3]))
    >>> found.label, found.count
    (array([0, 1, 1, 3], dtype=uint32), 3)
    """
    from gpop.direct.strong import PHASES, find_components

    no_messages("strong_components", options, "partition_size")
    threads = use_threads(threads)
    start = time.perf_counter()
    incoming = in_edges(graph, weighted=False)
    prepare_seconds = time.perf_counter() - start
    found = find_components(graph, incoming, threads)
    run = direct_run(
        phases_of(PHASES, found),
        seconds=found.seconds,
        prepare_seconds=prepare_seconds,
        threads=threads,
        partition_size=max(graph.n, 1),
        partitions=1,
        program="StrongComponents",
    )
    return StrongComponentsResult(label=found.label, count=found.count, run=run)


def verify(graph: gpop.Graph, result: StrongComponentsResult) -> str | None:
    """None, or what is wrong: SciPy's components."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    edges = (np.ones(graph.m, np.int8), graph.indices.astype(np.int64), graph.indptr)
    matrix = csr_array(edges, shape=(graph.n, graph.n))
    count, component = connected_components(matrix, directed=True, connection="strong")
    if count != result.count:
        return f"{result.count} components, but SciPy finds {count}"
    smallest = np.unique(component, return_index=True)[1]
    wrong = np.count_nonzero(smallest[component] != result.label)
    return f"{wrong} labels are not the smallest vertex of their component" if wrong else None


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.strong_components graph ...``"""

    def headline(graph: gpop.Graph, result: StrongComponentsResult, given: Any) -> str:
        largest = int(np.bincount(result.label).max()) if graph.n else 0
        return f"{result.count:,} strong components, the largest with {report.share(largest, graph.n)}"

    return cli.main(
        argv,
        cli.App(
            name="strong_components",
            refuses=OF_MESSAGES,
            about=__doc__,
            solve=lambda graph, given, options: gpop.strong_components(graph, **options),
            headline=headline,
            columns=lambda graph, result: {"label": report.ids(graph, result.label)},
            edges=lambda graph, result: graph.m,
            verify=lambda graph, result, given: verify(graph, result),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
