"""Triangle counting: how many sets of three vertices are joined by three edges, exactly, in 64 bits.

Algorithm: each triangle is counted once, on lists of smaller neighbours after ordering the vertices by
degree, with rows of bits for the vertices of high degree: see `gpop.direct.triangles`. On a GPU by tables in
shared memory: `gpop.gpu.direct.triangles`.
Unusual: no program and no messages. The graph is taken as undirected and simple: directions, self-loops
and duplicate edges do not matter. A directed graph is made symmetric first, which the result says
(``symmetrized``), and the symmetric graph is kept with the given graph for the next call.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Unpack

import numpy as np

import gpop
from gpop.apps import cli
from gpop.apps.inputs import symmetric
from gpop.apps.options import one_call
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.without_messages import (
    OF_ALL_BUT_TARGET,
    check_target,
    direct_run,
    no_messages,
    on_device,
    one_process,
    phases_of,
)
from gpop.common.on_demand import Retold
from gpop.common.parallel import use_threads
from gpop.execution.options import ShownOptions
from gpop.ranks.world import World, world_of


@dataclass(frozen=True, kw_only=True)
class TriangleResult(AppResult):
    """``count`` of triangles; ``seconds`` it took; whether the graph was ``symmetrized``."""

    count: int = holds(Holds.NO_VERTICES)
    symmetrized: bool = holds(Holds.NO_VERTICES)

    @property
    def seconds(self) -> float:
        """Seconds of ordering, orienting and counting."""
        return self.run.seconds


@one_call
def triangle_count(
    graph: gpop.Graph,
    *,
    threads: int | None = None,
    target: Literal["cpu", "gpu"] = "cpu",
    **options: Unpack[ShownOptions],
) -> TriangleResult:
    """Number of triangles of the graph, taken as undirected, without self-loops and duplicates.

    Parameters
    ----------
    graph : Graph
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
    TriangleResult
        ``count`` of triangles; ``symmetrized``: whether some edge had no opposite; ``seconds``.

    Raises
    ------
    UsageError
        For a number of threads that is not possible, an option of messages, or a GPU that is not there.
    NotEnoughMemory
        If the graph does not fit the GPU.

    Examples
    --------
    >>> gpop.triangle_count(gpop.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])).count
    1
    """
    no_messages("triangles", options, "partition_size")
    check_target(target)
    threads = use_threads(threads)
    start = time.perf_counter()
    simple = symmetric(graph, ascending=True)
    prepare_seconds = time.perf_counter() - start
    if target == "gpu":
        one_process("triangle_count", options)
        count, about = _on_gpu(simple, prepare_seconds)
    else:
        world = world_of(options.get("transport", "auto"))
        count, about = _on_cpu(simple, prepare_seconds, threads, world)
    about |= {"partition_size": max(graph.n, 1), "partitions": 1, "target": target, "graph": graph.name}
    run = Retold(partial(direct_run, program="Triangles", **about))
    return TriangleResult.made({"run": run}, count=count, symmetrized=not graph.is_symmetric())


def _on_cpu(
    simple: gpop.Graph, prepare_seconds: float, threads: int, world: World | None
) -> tuple[int, dict[str, Any]]:
    """The count, and what `direct_run` is to know."""
    from gpop.direct.triangles import PHASES, count_triangles

    if world is None:
        found = count_triangles(simple, threads)
    else:  # each has the whole graph, and counts its share
        found = count_triangles(simple, threads, world.rank, world.size)
        found = found._replace(count=int(world.sum(np.array([found.count]))[0]))
    order = "by degree" if found.by_degree else "as given"
    seconds = {"seconds": found.seconds, "prepare_seconds": prepare_seconds}
    return found.count, {"phases": phases_of(PHASES, found), "threads": threads, "order": order, **seconds}


def _on_gpu(simple: gpop.Graph, prepare_seconds: float) -> tuple[int, dict[str, Any]]:
    """The same."""
    from gpop.gpu.direct.triangles import PHASES, count_triangles

    found = count_triangles(simple)
    return found.count, {"order": "by degree", **on_device(PHASES, found, prepare_seconds)}


def verify(graph: gpop.Graph, result: TriangleResult) -> str | None:
    """None, or what is wrong: paths a-b-c that an edge a-c closes, in SciPy, edges to the larger degree."""
    matrix = gpop.Graph(graph.indptr, graph.indices).to_scipy().astype(bool)
    matrix = (matrix + matrix.T).tocoo()
    u, v = matrix.coords
    degree = np.bincount(u, minlength=graph.n)
    upward = (degree[u] < degree[v]) | ((degree[u] == degree[v]) & (u < v))
    matrix.data = upward.astype(np.int64)
    above = matrix.tocsr()
    above.eliminate_zeros()
    total, rows = 0, 4096
    for first in range(0, graph.n, rows):
        block = above[first : first + rows]
        total += int((block @ above).multiply(block).sum())
    return None if total == result.count else f"{result.count} triangles, but SciPy finds {total}"


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.triangles graph ...``"""

    def headline(graph: gpop.Graph, result: TriangleResult, given: Any) -> str:
        note = "\nnote: the graph is directed; its edges were taken both ways" if result.symmetrized else ""
        return f"{result.count:,} triangles{note}\norder       {result.trace.summary['order']}"

    return cli.main(
        argv,
        cli.App(
            name="triangles",
            refuses=OF_ALL_BUT_TARGET,
            in_parts=False,
            about=__doc__,
            solve=lambda graph, given, options: gpop.triangle_count(graph, **options),
            headline=headline,
            columns=None,
            edges=lambda graph, result: graph.m,
            verify=lambda graph, result, given: verify(graph, result),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
