"""Breadth-first search: a parent tree and the level of every vertex that a source reaches.

Ways: *direct*, on a small graph and on roads, see `gpop.direct.breadth_first`. *messages*, of which the rest
of this file is: level-synchronous, one iteration a level; a vertex takes the first parent that offers itself
(GPOP, Algorithm 5). Bins are read in order of their source, so on the CPU it is always the same one.
Unusual: gather touches the parent only; the level is written once per vertex by filterFunc.
Encoding: parent is uint32 in the program, 0xFFFFFFFF where not reached; read as int32 that is the -1 of
the result, so nothing is copied (int64 above 2**31 vertices).
Paper: Lakhotia, Kannan, Pati, Prasanna, "GPOP: A scalable cache- and memory-efficient framework for
graph processing over partitions".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.bfs_methods import METHODS, choose, without_messages
from gpop.apps.inputs import bulk_synchronous, one_vertex
from gpop.apps.paths import along_parents
from gpop.apps.prototype import Prototype
from gpop.apps.resolved import Way, resolving
from gpop.apps.result import AppResult, Holds, holds
from gpop.common.errors import UsageError
from gpop.common.parallel import use_threads
from gpop.execution.again import Ran
from gpop.execution.options import LimitedOptions

NOT_REACHED = 0xFFFFFFFF


class BFS(gpop.Program):
    """Level-synchronous breadth-first search."""

    parent = gpop.VertexField(np.uint32, NOT_REACHED)
    level = gpop.VertexField(np.int32, -1)
    inactive_message = NOT_REACHED
    combine = "min"  # any of the offers will do

    def scatterFunc(self, node):
        return node

    def needsFunc(self, node):
        return self.parent[node] == NOT_REACHED

    def gatherFunc(self, value, node):
        if self.parent[node] == NOT_REACHED:
            self.parent[node] = value
            return True
        return False

    def filterFunc(self, node):
        self.level[node] = self.iteration + 1
        return True


@dataclass(frozen=True, kw_only=True)
class BFSResult(AppResult):
    """``parent`` and ``level`` of every vertex (-1 where not reached; the source is its own parent)."""

    source: int = holds(Holds.VERTEX)
    parent: np.ndarray = holds(Holds.VERTICES)
    level: np.ndarray = holds(Holds.VALUES, missing=-1)

    def path(self, to: Any) -> list[Any]:
        """A path with fewest edges from the source, as original ids.

        Parameters
        ----------
        to : int, str, ...
            The original id of its end; its index where the graph has no original ids.

        Returns
        -------
        list
            From the source to ``to``, both included.

        Raises
        ------
        UsageError
            If there is no such vertex, the source does not reach it, or this is a rank's part of the answer.

        Examples
        --------
        >>> graph = gpop.read_edges({"from": ["a", "b", "c"], "to": ["b", "d", "d"]})
        >>> gpop.bfs(graph, "a").path("d")
        ['a', 'b', 'd']
        """
        self._needs_whole(self.parent, "a path")
        end = self.vertex_of(to)
        if self.parent[end] < 0:
            raise UsageError(f"{self.name_of(end)!r} is not reached from {self.name_of(self.source)!r}")
        return self.names_of(along_parents(self.parent, end))


@resolving("source")
def bfs(
    graph: gpop.Graph, source: int | str, *, method: str = "auto", **options: Unpack[LimitedOptions]
) -> Way[BFSResult]:
    """Breadth-first search from ``source`` along out-edges.

    Parameters
    ----------
    graph : Graph
    source : int or str
        Vertex index, or the name of a vertex; ``graph.vertex_of(id)`` for an original id that is a number.
    method : "auto", "messages" or "direct"
        Direct is a search on the adjacency lists, the fastest on graphs of up to 131,072 vertices and two
        million edges, or a million of both, or four million where there are four threads, and with fewer
        threads on roads and meshes (at most four edges a vertex, neighbours near each other, up to 2**23
        vertices); there auto is direct, unless an option speaks of messages or iterations. The choice and
        its reason are in ``trace.summary``.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : LimitedOptions
        ``threads, mode, ratio, model, partition_size, target, progress, callback, iterations``: see
        `gpop.run`.

    Returns
    -------
    BFSResult
        ``parent`` and ``level``, int32 [n]: -1 where not reached, missing in tables; the source is its own
        parent (GPOP, Algorithm 5). ``parent`` is int64 above 2**31 vertices. ``source``: its index.
        ``path(to)`` is a shortest path.

    Raises
    ------
    UsageError
        If ``source`` is no vertex of the graph, for an unknown method, an option of messages with
        ``method="direct"``, or one that does not fit.

    Examples
    --------
    >>> found = gpop.bfs(gpop.Graph.from_edges([0, 1, 3], [1, 2, 0], n=4), source=0)
    >>> found.level, found.parent
    (array([ 0,  1,  2, -1], dtype=int32), array([ 0,  0,  1, -1], dtype=int32))
    """
    bulk_synchronous("bfs", options)
    chosen, reason = choose(graph, method, options)
    if chosen == "direct":
        return partial(_direct, use_threads(options.get("threads")), reason)
    return partial(_by_messages, Prototype(BFS(graph), options.get("iterations"), options), reason)


def _direct(threads: int, reason: str, graph: gpop.Graph, source: Any) -> BFSResult:
    source = one_vertex(graph, source)
    parent, level, run = without_messages(graph, source, reason, threads)
    return BFSResult._made({"run": run}, source=source, parent=parent, level=level)


def _by_messages(prototype: Prototype, reason: str, graph: gpop.Graph, source: Any) -> BFSResult:
    """By a run of the program."""
    source = one_vertex(graph, source)

    def result(ran: Ran) -> BFSResult:
        ran.summary = {"method": "messages", "reason": reason}
        level, parent = ran.field("level"), ran.field("parent", _parents)
        return BFSResult._of_both({"source": source, "level": level, "parent": parent, "run": ran})

    return prototype.run(result, graph, {"parent": {source: source}, "level": {source: 0}}, source)


def _parents(parent: np.ndarray) -> np.ndarray:
    """-1 where there is none."""
    if parent.size > 1 << 31:
        return np.where(parent == NOT_REACHED, -1, parent.astype(np.int64))
    return parent.view(np.int32)  # 0xFFFFFFFF is -1


def verify(graph: gpop.Graph, result: BFSResult, source: int) -> str | None:
    """None, or what is wrong. The checks of Graph500; together they prove the levels.

    The tree says that a level is not too small (a path of that length exists), the edges say that it
    is not too large (no edge skips a level or leaves the reached part).
    """
    parent, level = result.parent, result.level
    if parent[source] != source or level[source] != 0:
        return f"source {source} has parent {parent[source]} and level {level[source]}"
    reached = level >= 0
    child = np.flatnonzero(reached & (np.arange(graph.n) != source))
    if np.any(reached != (parent >= 0)) or np.any(level[parent[child]] + 1 != level[child]):
        return "a vertex is not one level below its parent"
    tails = np.repeat(np.arange(graph.n, dtype=np.uint32), np.diff(graph.indptr))
    heads = graph.indices
    in_tree = np.zeros(graph.n, dtype=bool)
    in_tree[heads[parent[heads] == tails]] = True
    if not np.all(in_tree[child]):
        return f"vertex {child[~in_tree[child]][0]} has a parent without an edge to it"
    used = reached[tails]
    if not np.all(reached[heads[used]]) or np.any(level[heads[used]] > level[tails[used]] + 1):
        return "an edge skips a level"
    return None


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.bfs graph [--source ID] ...``"""

    def headline(graph: gpop.Graph, result: BFSResult, given: Any) -> str:
        reached = report.share(np.count_nonzero(result.level >= 0), graph.n)
        said = result.trace.summary
        return (
            f"{reached} reached from {given.name}, depth {result.level.max()}\n"
            f"method      {said['method']}: {said['reason']}"
        )

    def arguments(parser: Any) -> None:
        parser.add_argument("--method", choices=METHODS, default="auto", help="how levels are found")

    return cli.main(
        argv,
        cli.App(
            name="bfs",
            refuses=("interleave",),
            about=__doc__,
            source="one",
            solve=lambda graph, given, options: gpop.bfs(graph, given.source, method=given.method, **options),
            headline=headline,
            columns=lambda graph, result: {"parent": report.ids(graph, result.parent), "level": result.level},
            edges=lambda graph, result: graph.out_degree[result.level >= 0].sum(dtype=np.int64),
            verify=lambda graph, result, given: verify(graph, result, given.source),
            arguments=arguments,
            to_the_end=True,
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
