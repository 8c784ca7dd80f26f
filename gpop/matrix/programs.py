"""HPGraph's algorithms in the matrix view: BFS top-down and bottom-up, SSSP, PageRank, triangles.

Encodings: depth -1 and parent 2**32-1 where not reached; distance 2**31-1 where not reached or farther, exact
below; ranks are those of the paper, which sum up to n where every vertex has out-edges. Papers: HPGraph,
section 4; Beamer, Asanovic, Patterson, "Direction-optimizing breadth-first search" (SC 2012) for bottom-up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.apps.inputs import from_0_to_1, not_negative, one_vertex, symmetric
from gpop.apps.weights import edge_with, heaviest_weight
from gpop.common.errors import UsageError
from gpop.execution.finished import Run
from gpop.graph.expect import expect_graph
from gpop.graph.graph import Graph
from gpop.matrix.front import MatrixProgram
from gpop.program.fields import HARMLESS, Parameter

NOBODY, FARTHEST = 2**32 - 1, 2**31 - 1


class BFS(MatrixProgram):
    """The predecessor is found in SPMV, the depth is written in APPLY; a vertex is reached once."""

    Edges_type = "in-edges"
    Node_property = {"parent": (np.uint32, NOBODY), "depth": (np.int32, -1)}
    Reduce = "min"
    inactive_message = NOBODY

    @staticmethod
    def Gather(node):
        return node

    Update = {
        "parent": lambda y, parent: parent if parent != NOBODY else y,
        "depth": lambda depth, iteration: depth if depth >= 0 else iteration + 1,
    }


class BottomUpBFS(BFS):
    """Vertices without a parent look for one and stop at the first, when the engine or ``mode`` says so.

    Which of the vertices of the level before it is depends on who asks first; in `BFS` it is the smallest.
    """

    @staticmethod
    def Visited(parent, y):
        return parent != NOBODY or y != NOBODY


class SSSP(MatrixProgram):
    """Algorithm 1 of the paper: Bellman-Ford, weights are whole numbers."""

    Edges_type = "in-edges"
    Node_property = {"distance": (np.uint32, FARTHEST)}
    Reduce = "min"
    inactive_message = HARMLESS

    @staticmethod
    def Gather(distance, weight):
        return np.uint32(distance + np.uint32(weight))

    @staticmethod
    def Update(y, distance):
        return y if y < distance else distance


class PageRank(MatrixProgram):
    """All vertices are active until none changes by more than ``tolerance``."""

    Edges_type = "in-edges"
    Node_property = {"rank": (np.float32, 1)}
    Reduce = "add"
    all_active = True
    d = Parameter(np.float32, 0.15)
    tolerance = Parameter(np.float32, 0)

    @staticmethod
    def Gather(rank, out_degree):
        return rank / np.float32(out_degree)

    @staticmethod
    def Update(y, rank, d, tolerance):
        new = d + (np.float32(1) - d) * y
        return new if abs(new - rank) > tolerance else rank


class Neighbours(MatrixProgram):
    """Stage 1 of triangles: which of 64 vertices, a bit each, are among the out-neighbours of every row."""

    Edges_type = "out-edges"
    Node_property = {"neighbours": (np.uint64, 0), "own": (np.uint64, 0)}
    Reduce = "or"

    @staticmethod
    def Gather(own):
        return own

    @staticmethod
    def Update(y):
        return y


_PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_BYTES, _ONES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
_1, _2, _4, _56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


def _bits_set(x):
    """How many bits of 64 are set."""
    x = x - ((x >> _1) & _PAIRS)
    x = (x & _FOURS) + ((x >> _2) & _FOURS)
    x = (x + (x >> _4)) & _BYTES
    return (x * _ONES) >> _56


class Common(MatrixProgram):
    """Stage 2: for every edge the size of the intersection of what both ends have, summed up at its head."""

    Edges_type = "in-edges"
    Node_property = {"count": (np.uint64, 0), "neighbours": (np.uint64, 0), "y": (np.uint64, 0)}

    @staticmethod
    def Gather(neighbours):
        return neighbours

    @staticmethod
    def Reduce(y, value, neighbours):
        return y + _bits_set(value & neighbours)

    @staticmethod
    def Update(y, count):
        return count + y


def bfs(
    graph: Graph, source: int, *, bottom_up: bool = True, **options: Any
) -> tuple[np.ndarray, np.ndarray, Run]:
    """Depth and parent of every vertex; ``bottom_up`` lets vertices ask where that is better.

    Examples
    --------
    >>> depth, parent, _ = bfs(Graph.from_edges([0, 1, 0], [1, 2, 3], n=5), 0, target="python")
    >>> depth.tolist(), parent[:4].tolist()
    ([0, 1, 2, 1, -1], [0, 0, 1, 0])
    """
    expect_graph(graph, "bfs in the matrix view")
    source = one_vertex(graph, source)
    program = (BottomUpBFS if bottom_up else BFS)(graph)
    program.parent[source], program.depth[source] = source, 0
    run = program.run([source], **options)
    return program.depth, program.parent, run


def sssp(graph: Graph, source: int, **options: Any) -> tuple[np.ndarray, Run]:
    """Distances from the source along edges with whole-number weights; 2**31-1 where no path is shorter.

    Raises
    ------
    UsageError
        For weights that are no whole numbers from 0 to 2**31-1: distances have 32 bits.

    Examples
    --------
    >>> lengths = np.array([2, 7, 3], np.uint32)
    >>> sssp(Graph.from_edges([0, 0, 1], [1, 2, 2], lengths), 0, target="python")[0].tolist()
    [0, 2, 5]
    """
    name = "sssp in the matrix view"
    expect_graph(graph, name)
    source = one_vertex(graph, source)
    fits = heaviest_weight(graph, name) <= FARTHEST
    if not (fits and (graph.weights.dtype.kind in "iu" or (graph.weights % 1 == 0).all())):
        wrong = edge_with(graph, (graph.weights > FARTHEST) | (graph.weights % 1 != 0))
        raise UsageError(f"{name} needs weights that are whole numbers up to {FARTHEST}: {wrong}")
    program = SSSP(graph)
    program.distance[source] = 0
    return program.distance, program.run([source], **options)


def pagerank(
    graph: Graph, *, d: float = 0.15, tolerance: float = 1e-4, iterations: int = 100, **options: Any
) -> tuple[np.ndarray, Run]:
    """``rank = d + (1 - d) * sum of rank / out-degree over in-edges``, from 1 on.

    Raises
    ------
    UsageError
        For a ``d`` that is not from 0 to 1, or a negative tolerance.

    Examples
    --------
    >>> pagerank(Graph.from_edges([0, 1, 2], [1, 2, 0]), target="python")[0].tolist()
    [1.0, 1.0, 1.0]
    """
    program = PageRank(graph)
    program.d, program.tolerance = from_0_to_1("d", d), not_negative("tolerance", tolerance)
    return program.rank, program.run(iterations=iterations, **options)


def triangles(graph: Graph, **options: Any) -> int:
    """Number of triangles of the graph, taken as undirected and simple.

    Edges lead to the vertex of the larger degree, of equal ones to the larger id: there are no circles, and
    each triangle is met once, at the edge between its first and its second vertex; 64 vertices at a time are
    the third.

    Examples
    --------
    >>> triangles(Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3]), target="python")
    1
    """
    expect_graph(graph, "triangles in the matrix view")
    upwards = _upwards(symmetric(graph, ascending=True))
    lists, common = Neighbours(upwards), Common(upwards)
    heads = np.flatnonzero(np.bincount(upwards.indices, minlength=upwards.n))
    for first in range(0, heads.size, 64):
        batch = heads[first : first + 64]
        lists.own[batch] = np.uint64(1) << np.arange(batch.size, dtype=np.uint64)
        rows = lists.run(batch, iterations=1, **options).frontier
        common.neighbours[rows] = lists.neighbours[rows]
        common.run(rows, iterations=1, **options)
        lists.neighbours[rows] = common.neighbours[rows] = lists.own[batch] = 0
    return int(common.count.sum())


def _upwards(simple: Graph) -> Graph:
    """Of every edge the direction towards the larger (degree, id)."""
    tails = np.repeat(np.arange(simple.n, dtype=np.uint32), simple.out_degree)
    degree, heads = simple.out_degree.astype(np.int64), simple.indices
    kept = (degree[tails] < degree[heads]) | ((degree[tails] == degree[heads]) & (tails < heads))
    return Graph.from_edges(tails[kept], heads[kept], n=simple.n)
