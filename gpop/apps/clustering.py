"""Local clustering coefficient: of the edges that could join a vertex's neighbours, the share that is there.

The definition is that of LDBC Graphalytics (LCC). The neighbourhood N(v) is the union of out- and
in-neighbours. Edges between its members count with their directions, so that there can be
|N(v)| (|N(v)| - 1), and in an undirected graph, which holds every edge both ways, the coefficient is the
usual one: 2 triangles / (|N(v)| (|N(v)| - 1)). With fewer than two neighbours it is 0.
Algorithm: every triangle once, on lists of smaller neighbours: see `gpop.direct.clustering`, and for a GPU
`gpop.gpu.direct.clustering`.
Unusual: no program and no messages. Loops and duplicate edges do not count.
Paper: A. Iosup et al., "The LDBC Graphalytics benchmark", specification 1.0, section 2.3.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.inputs import symmetric
from gpop.apps.options import one_call
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.without_messages import (
    OF_ALL_BUT_TARGET,
    check_target,
    direct_run,
    no_messages,
    on_device,
    phases_of,
)
from gpop.common.errors import UsageError
from gpop.common.parallel import use_threads
from gpop.execution.asked import COMPILED_TARGETS
from gpop.execution.options import ShownOptions


@dataclass(frozen=True, kw_only=True)
class ClusteringResult(AppResult):
    """``coefficient`` of every vertex, ``links`` (edges) between its ``neighbours``, whether ``directed``."""

    coefficient: np.ndarray = holds(Holds.VALUES)
    links: np.ndarray = holds(Holds.VALUES)
    neighbours: np.ndarray = holds(Holds.VALUES)
    directed: bool = holds(Holds.NO_VERTICES)

    @property
    def triangles(self) -> np.ndarray:
        """Triangles that each vertex is in, int64 [n]; of an undirected graph."""
        if self.directed:
            raise UsageError("triangles of a directed graph: make it symmetric first (graph.symmetrize())")
        return self.links // 2

    @property
    def average(self) -> float:
        """Mean of the coefficients."""
        return float(self.coefficient.mean()) if self.coefficient.size else 0.0

    @property
    def transitivity(self) -> float:
        """Share of the pairs of neighbours, of all vertices, that have an edge; pairs are ordered ones."""
        possible = float((self.neighbours * (self.neighbours - 1.0)).sum())
        return float(self.links.sum() / possible) if possible else 0.0


@one_call
def clustering(
    graph: gpop.Graph,
    *,
    threads: int | None = None,
    target: Literal["cpu", "gpu"] = "cpu",
    **options: Unpack[ShownOptions],
) -> ClusteringResult:
    """Local clustering coefficient of every vertex, by the definition of LDBC Graphalytics.

    Parameters
    ----------
    graph : Graph
        Neighbours of a directed one are those in either direction; edges between them count one by one.
    threads : int, optional
        Threads to use; all that Numba was given when not set.
    target : "cpu" or "gpu"
        Where to count.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : ShownOptions
        ``progress`` and ``reorder``; options of messages and partitions are refused.

    Returns
    -------
    ClusteringResult
        ``coefficient``, float64 [n]; ``links``, int64 [n]: edges between neighbours; ``neighbours``, uint32
        [n]; ``directed``: whether some edge had no opposite. From these ``triangles`` (int64 [n], undirected
        graphs), ``average`` and ``transitivity``.

    Raises
    ------
    UsageError
        For a number of threads that is not possible, an option of messages, or a GPU that is not there.
    NotEnoughMemory
        If the graph does not fit the GPU.

    Examples
    --------
    >>> square = gpop.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2]).symmetrize()
    >>> found = gpop.clustering(square)
    >>> found.coefficient.round(3).tolist(), found.triangles.tolist(), found.transitivity
    ([0.667, 1.0, 0.667, 1.0], [2, 1, 2, 1], 0.75)
    >>> gpop.clustering(gpop.Graph.from_edges([0, 0, 1], [1, 2, 2])).coefficient.tolist()
    [0.5, 0.5, 0.5]
    """
    no_messages("clustering", options, "partition_size")
    check_target(target)
    threads = use_threads(threads)
    directed = not graph.is_symmetric()
    found, about = _on_gpu(graph, directed) if target == "gpu" else _on_cpu(graph, directed, threads)
    possible = found.neighbours * (found.neighbours - 1.0)
    coefficient = np.divide(found.links, possible, out=np.zeros(graph.n), where=possible > 0)
    run = direct_run(
        partition_size=max(graph.n, 1),
        partitions=1,
        target=target,
        program="Clustering",
        graph=graph.name,
        **about,
    )
    return ClusteringResult(
        coefficient=coefficient, links=found.links, neighbours=found.neighbours, directed=directed, run=run
    )


def _on_cpu(graph: gpop.Graph, directed: bool, threads: int) -> tuple[Any, dict[str, Any]]:
    """Links and neighbours, and what `direct_run` is to know."""
    from gpop.direct.clustering import PHASES, count_links

    start = time.perf_counter()
    ascending = graph.has_ascending_lists()
    inward = graph.reverse() if directed or not ascending else graph
    outward = graph if ascending else inward.reverse() if directed else inward
    prepare_seconds = time.perf_counter() - start
    found = count_links(outward, inward, threads)
    order = "by degree" if found.by_degree else "as given"
    seconds = {"seconds": found.seconds, "prepare_seconds": prepare_seconds}
    return found, {"phases": phases_of(PHASES, found), "threads": threads, "order": order, **seconds}


def _on_gpu(graph: gpop.Graph, directed: bool) -> tuple[Any, dict[str, Any]]:
    """The same."""
    from gpop.gpu.direct.clustering import count_links
    from gpop.gpu.direct.triangles import PHASES

    start = time.perf_counter()
    both_ways = symmetric(graph, ascending=True)
    outward = graph if graph.has_ascending_lists() else graph.reverse().reverse()
    prepare_seconds = time.perf_counter() - start
    found = count_links(both_ways, outward if directed else None)
    return found, {"order": "by degree", **on_device(PHASES, found, prepare_seconds)}


def verify(graph: gpop.Graph, result: ClusteringResult) -> str | None:
    """None, or what is wrong: paths v-u-w whose ends are neighbours, in products of SciPy's matrices."""
    matrix = gpop.Graph(graph.indptr, graph.indices).to_scipy().astype(bool)
    matrix.setdiag(False)
    matrix.eliminate_zeros()
    either, one_way = (matrix + matrix.T).astype(np.int64), matrix.astype(np.int64)
    degree, rows = np.diff(either.indptr), 4096
    links = np.zeros(graph.n)
    for first in range(0, graph.n, rows):
        block = either[first : first + rows]
        links[first : first + rows] = (block @ one_way).multiply(block).sum(axis=1)
    expected = links / np.maximum(degree * (degree - 1.0), 1)
    wrong = np.flatnonzero(~np.isclose(result.coefficient, expected, rtol=1e-12, atol=0))
    if wrong.size:
        v = wrong[0]
        both = f"vertex {v} has {result.coefficient[v]:.6g}, by SciPy {expected[v]:.6g}"
        return f"{wrong.size} coefficients are wrong: {both}"
    return None


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.clustering graph ...``"""

    def headline(graph: gpop.Graph, result: ClusteringResult, given: Any) -> str:
        note = "\nnote: the graph is directed; so are the edges between neighbours" if result.directed else ""
        return (
            f"average coefficient {result.average:.6g}, transitivity {result.transitivity:.6g}{note}\n"
            f"most edges between neighbours\n{report.top(graph, result.links)}"
        )

    return cli.main(
        argv,
        cli.App(
            name="clustering",
            refuses=OF_ALL_BUT_TARGET,
            targets=COMPILED_TARGETS,
            about=__doc__,
            solve=lambda graph, given, options: gpop.clustering(graph, **options),
            headline=headline,
            columns=lambda graph, result: {"coefficient": result.coefficient, "links": result.links},
            edges=lambda graph, result: graph.m,
            verify=lambda graph, result, given: verify(graph, result),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
