"""Communities by label propagation: every vertex takes the most frequent label of its neighbours, at once.

The definition is that of LDBC Graphalytics (CDLP). A vertex begins with its own id as its label. In each
iteration all take the label that is most frequent among their in- and out-neighbours, of several the
smallest; one without neighbours keeps its own. In a directed graph a neighbour in both directions counts
twice. Duplicate edges count as often as they occur.
Algorithm: `gpop.direct.label_propagation`, which looks again only where something has changed.
Unusual: no program and no messages, since the most frequent of some labels is no fold of one after the other.
Encoding: a label is the vertex whose id it is. Ids (``graph.original_ids``) are compared where they are
numbers, else vertex indices are; a file's ids come in ascending order, so that it is the same.
Papers: A. Iosup et al., "The LDBC Graphalytics benchmark", specification 1.0, section 2.3; U. N. Raghavan,
R. Albert, S. Kumara, "Near linear time algorithm to detect community structures in large-scale networks",
Physical Review E 76, 2007.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.inputs import in_order_of_ids
from gpop.apps.options import one_call
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.without_messages import OF_MESSAGES, Phase, direct_run, no_messages
from gpop.common.arguments import whole_from
from gpop.common.parallel import use_threads
from gpop.execution.options import ShownOptions


@dataclass(frozen=True, kw_only=True)
class LabelsResult(AppResult):
    """``label`` of every vertex, ``count`` of them, and whether ``converged``: one more would change none."""

    label: np.ndarray = holds(Holds.LABELS)
    count: int = holds(Holds.NO_VERTICES)
    iterations: int = holds(Holds.NO_VERTICES)
    converged: bool = holds(Holds.NO_VERTICES)


@one_call
def label_propagation(
    graph: gpop.Graph, iterations: int = 10, *, threads: int | None = None, **options: Unpack[ShownOptions]
) -> LabelsResult:
    """Communities by synchronous label propagation, exactly as LDBC Graphalytics defines it (CDLP).

    Parameters
    ----------
    graph : Graph
        Neighbours of a directed one are those of both directions.
    iterations : int
        At most so many; fewer where an iteration changes nothing.
    threads : int, optional
        Threads to use; all that Numba was given when not set.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : ShownOptions
        ``progress`` and ``reorder``; options of messages and partitions are refused.

    Returns
    -------
    LabelsResult
        ``label``, uint32 [n]: a vertex, whose id is the label (``graph.original_ids[label]`` where there are
        such); ``count`` of different labels; ``iterations`` done; ``converged``.

    Raises
    ------
    UsageError
        For a number of iterations or threads that is not possible, or an option of messages.

    Examples
    --------
    >>> two = gpop.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]).symmetrize()
    >>> found = gpop.label_propagation(two)
    >>> found.label.tolist(), found.count
    ([0, 0, 0, 2, 2, 2], 2)
    """
    from gpop.direct.label_propagation import propagate

    no_messages("label_propagation", options, "partition_size")
    iterations = whole_from(0, "iterations", iterations)
    threads = use_threads(threads)
    start = time.perf_counter()
    inward = graph if graph.equals_reverse() else graph.reverse()
    order = in_order_of_ids(graph)
    label = np.arange(graph.n, dtype=np.uint32)
    if order is not None:
        label[order] = np.arange(graph.n, dtype=np.uint32)
    prepare_seconds = time.perf_counter() - start
    steps = propagate(graph, inward, label, iterations, threads)
    run = direct_run(
        (Phase(f"iteration {i}", step.edges, step.seconds) for i, step in enumerate(steps)),
        seconds=sum(step.seconds for step in steps),
        prepare_seconds=prepare_seconds,
        threads=threads,
        partition_size=max(graph.n, 1),
        partitions=1,
        program="LabelPropagation",
        graph=graph.name,
        changed=[step.changed for step in steps],
    )
    return LabelsResult(
        label=label if order is None else order[label].astype(np.uint32),
        count=int(np.count_nonzero(np.bincount(label))),
        iterations=len(steps),
        converged=bool(steps) and steps[-1].changed == 0,
        run=run,
    )


def verify(graph: gpop.Graph, result: LabelsResult, iterations: int = 10) -> str | None:
    """None, or what is wrong: as many products of SciPy's matrices, neighbours by vertices times labels."""
    from scipy.sparse import csr_array

    once = (np.ones(graph.m, np.int32), graph.indices.astype(np.int64), graph.indptr)
    matrix = csr_array(once, (graph.n, graph.n))
    matrix = matrix + matrix.T
    order = in_order_of_ids(graph)
    order = np.arange(graph.n) if order is None else order
    label = np.argsort(order)
    for _ in range(iterations):
        ones = np.ones(graph.n, np.int32)
        counts = (matrix @ csr_array((ones, (np.arange(graph.n), label)), matrix.shape)).tocsr()
        counts.sort_indices()
        some = np.diff(counts.indptr) > 0
        most = np.zeros(graph.n, np.int32)
        most[some] = np.maximum.reduceat(counts.data, counts.indptr[:-1][some]) if some.any() else 0
        vertex = np.repeat(np.arange(graph.n), np.diff(counts.indptr))
        best = np.flatnonzero(counts.data == most[vertex])[::-1]
        label[vertex[best]] = counts.indices[best]  # of several the one that is written last: the smallest
    wrong = np.count_nonzero(order[label] != result.label)
    return f"{wrong} labels differ from those that SciPy finds" if wrong else None


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.label_propagation graph [--iterations N] ...``"""

    def headline(graph: gpop.Graph, result: LabelsResult, given: Any) -> str:
        largest = int(np.bincount(result.label).max(initial=0))
        how = ", converged" if result.converged else ""
        return (
            f"{result.count:,} communities after {result.iterations} iterations{how}, "
            f"the largest with {report.share(largest, graph.n)}"
        )

    def asked(given: Any) -> int:
        return 10 if given.iterations is None else given.iterations

    return cli.main(
        argv,
        cli.App(
            name="label_propagation",
            refuses=tuple(option for option in OF_MESSAGES if option != "iterations"),
            about=__doc__,
            solve=lambda graph, given, options: gpop.label_propagation(graph, **options),
            headline=headline,
            columns=lambda graph, result: {"label": report.ids(graph, result.label)},
            verify=lambda graph, result, given: verify(graph, result, asked(given)),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
