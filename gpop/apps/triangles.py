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
from gpop.apps.resolved import Way, resolving
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
from gpop.execution.asked import COMPILED_TARGETS
from gpop.execution.options import ShownOptions
from gpop.ranks.world import world_of


@dataclass(frozen=True, kw_only=True)
class TriangleResult(AppResult):
    """``count`` of triangles; ``seconds`` it took; whether the graph was ``symmetrized``."""

    count: int = holds(Holds.NO_VERTICES)
    symmetrized: bool = holds(Holds.NO_VERTICES)

    @property
    def seconds(self) -> float:
        """Seconds of ordering, orienting and counting."""
        return self.run.seconds


@resolving()
def triangle_count(
    graph: gpop.Graph,
    *,
    threads: int | None = None,
    target: Literal["cpu", "gpu"] = "cpu",
    **options: Unpack[ShownOptions],
) -> Way[TriangleResult]:
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
    return _Way(graph, threads, target, options).count


class _Way:
    """How to count, of what is asked for."""

    def __init__(self, graph: gpop.Graph, threads: int | None, target: str, options: dict[str, Any]) -> None:
        no_messages("triangles", options, "partition_size")
        check_target(target)
        self.threads, self.target, self.world = use_threads(threads), target, None
        if target == "gpu":
            from gpop.gpu.direct import triangles

            one_process("triangle_count", options)
        else:
            from gpop.direct import triangles

            self.world = world_of(options.get("transport", "auto"))
        self.phases, self.counted = triangles.PHASES, triangles.count_triangles
        start = time.perf_counter()
        symmetric(graph, ascending=True)
        self.prepare_seconds = time.perf_counter() - start

    def count(self, graph: gpop.Graph) -> TriangleResult:
        """The triangles, and their run when somebody asks for it."""
        simple = symmetric(graph, ascending=True)
        seconds, self.prepare_seconds = self.prepare_seconds, 0.0
        if self.target == "gpu":
            found = self.counted(simple)
        elif self.world is None:
            found = self.counted(simple, self.threads)
        else:  # each has the whole graph, and counts its share
            found = self.counted(simple, self.threads, self.world.rank, self.world.size)
            found = found._replace(count=int(self.world.sum(np.array([found.count]))[0]))
        run = Retold(partial(self._run, graph.n, graph.name, found, seconds))
        return TriangleResult._made({"run": run}, count=found.count, symmetrized=not graph.is_symmetric())

    def _run(self, n: int, name: str, found: Any, seconds: float) -> gpop.Run:
        if self.target == "gpu":
            about = on_device(self.phases, found, seconds) | {"order": "by degree"}
        else:
            about = {
                "phases": phases_of(self.phases, found), "seconds": found.seconds, "prepare_seconds": seconds,
                "threads": self.threads, "order": "by degree" if found.by_degree else "as given",
            }  # fmt: skip
        about |= {"partition_size": max(n, 1), "partitions": 1, "target": self.target}
        return direct_run(program="Triangles", graph=name, **about)


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
            targets=COMPILED_TARGETS,
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
