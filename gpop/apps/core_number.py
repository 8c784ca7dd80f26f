"""Core numbers: the largest k so that a vertex is in a part of the graph where all have k neighbours or more.

Algorithm: vertices are peeled off in order of the neighbours that they have left: see `gpop.direct.cores`.
Unusual: no program and no messages. A vertex would send "I am gone" over each of its edges once, which bins
can only make dearer: an edge is looked at once here from each end. The graph is taken as undirected and
simple: directions, self-loops and duplicate edges do not matter. A directed graph is made symmetric first,
which the result says (``symmetrized``), and the symmetric graph is kept with the given graph.
Papers: see there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.inputs import is_simple, symmetric
from gpop.apps.options import one_call
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.without_messages import OF_MESSAGES, Phase, direct_run, no_messages
from gpop.common.parallel import use_threads
from gpop.execution.options import ShownOptions


@dataclass(frozen=True, kw_only=True)
class CoreResult(AppResult):
    """``core`` number of every vertex, the largest of them, and whether the graph was ``symmetrized``."""

    core: np.ndarray = holds(Holds.VALUES)
    degeneracy: int = holds(Holds.NO_VERTICES)
    symmetrized: bool = holds(Holds.NO_VERTICES)


@one_call
def core_number(
    graph: gpop.Graph, *, threads: int | None = None, **options: Unpack[ShownOptions]
) -> CoreResult:
    """Core number of every vertex of the graph, taken as undirected and simple.

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
    CoreResult
        ``core``, uint32 [n]; ``degeneracy``, the largest of them; ``symmetrized``: whether some edge had no
        opposite.

    Raises
    ------
    UsageError
        For a number of threads that is not possible, or an option of messages.

    Examples
    --------
    >>> found = gpop.core_number(gpop.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3]))
    >>> found.core, found.degeneracy
    (array([2, 2, 2, 1], dtype=uint32), 2)
    """
    from gpop.direct.cores import core_numbers

    no_messages("core_number", options, "partition_size")
    threads = use_threads(threads)
    start = time.perf_counter()
    undirected = symmetric(graph, ascending=True)
    simple = is_simple(undirected)
    prepare_seconds = time.perf_counter() - start
    found = core_numbers(undirected, simple, threads)
    run = direct_run(
        [Phase("peel", found.edges, found.seconds)],
        seconds=found.seconds,
        prepare_seconds=prepare_seconds,
        threads=threads,
        partition_size=max(graph.n, 1),
        partitions=1,
        program="CoreNumber",
    )
    return CoreResult(
        core=found.core,
        degeneracy=int(found.core.max(initial=0)),
        symmetrized=not graph.is_symmetric(),
        run=run,
    )


def verify(graph: gpop.Graph, result: CoreResult) -> str | None:
    """None, or what is wrong: the definition, from both sides.

    Enough neighbours have as large a number (none is too large); and in rounds of NumPy everything with a
    number of k goes when those with at most k neighbours left do (none is too small).
    """
    tails = np.repeat(np.arange(graph.n), np.diff(graph.indptr)).astype(np.int64)
    low, high = np.minimum(tails, graph.indices), np.maximum(tails, graph.indices)
    pairs = np.unique((low << 32 | high)[low != high])
    low, high = pairs >> 32, pairs & 0xFFFFFFFF
    tails, heads = np.concatenate([low, high]), np.concatenate([high, low])
    core = result.core.astype(np.int64)
    enough = np.bincount(tails[core[heads] >= core[tails]], minlength=graph.n)
    if np.any(enough < core):
        vertex = int(np.argmax(enough < core))
        return f"vertex {vertex} has only {enough[vertex]} neighbours of core number {core[vertex]} or more"
    order = np.argsort(tails, kind="stable")
    heads, degree = heads[order], np.bincount(tails, minlength=graph.n)
    begin = np.cumsum(degree) - degree
    left, gone = degree.copy(), np.zeros(graph.n, bool)
    for k in np.unique(core).tolist():
        candidates = np.flatnonzero(core == k)
        going = candidates[left[candidates] <= k]
        while going.size:
            gone[going] = True
            first = np.repeat(begin[going] - np.cumsum(degree[going]) + degree[going], degree[going])
            touched = heads[first + np.arange(first.size)]
            np.subtract.at(left, touched, 1)
            touched = np.unique(touched)
            going = touched[(core[touched] == k) & (left[touched] <= k) & ~gone[touched]]
        if not gone[candidates].all():
            return f"vertex {candidates[~gone[candidates]][0]} has a larger core number than {k}"
    return None


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.core_number graph ...``"""

    def headline(graph: gpop.Graph, result: CoreResult, given: Any) -> str:
        note = "\nnote: the graph is directed; its edges were taken both ways" if result.symmetrized else ""
        inner = int(np.count_nonzero(result.core == result.degeneracy))
        return f"degeneracy {result.degeneracy}; {report.share(inner, graph.n)} in the innermost core{note}"

    return cli.main(
        argv,
        cli.App(
            name="core_number",
            refuses=OF_MESSAGES,
            about=__doc__,
            solve=lambda graph, given, options: gpop.core_number(graph, **options),
            headline=headline,
            columns=lambda graph, result: {"core": result.core},
            edges=lambda graph, result: graph.m,
            verify=lambda graph, result, given: verify(graph, result),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
