"""python-graphblas: SuiteSparse:GraphBLAS, sparse matrix times vector over semirings, with OpenMP.

pagerank  plus_second on the transposed matrix, float32 ranks
bfs       push by any_pair with the visited vertices masked out
sssp      Bellman-Ford over the improved vertices, min_plus
"""

from __future__ import annotations

import numpy as np

import gpop
from perf.graphs import vertex
from perf.implementations import Prepared

LIBRARY = "graphblas"
DISTRIBUTION = "python-graphblas"
THREADED = True
IMPLEMENTATIONS = {name: {"graphblas": {}} for name in ("pagerank", "bfs", "sssp")}


def prepare(algorithm: str, graph: gpop.Graph, variant: dict, flags: dict, threads: int) -> Prepared:
    """The matrix is built, and transposed where it is pulled from, before the clock starts."""
    import graphblas as gb

    gb.ss.config["nthreads"] = threads
    if algorithm == "pagerank":
        return _pagerank(gb, graph, variant)
    source = vertex(graph, variant["source"])
    if algorithm == "bfs":
        edges = _matrix(gb, graph, np.ones(graph.m, np.bool_), gb.binary.any)
        return Prepared(
            call=lambda: _levels(gb, edges, source, graph.n), answer=lambda found: _dense(found, graph.n)
        )
    whole = graph.weights.dtype.kind in "iu"
    weights = graph.weights.astype(np.int64 if whole else np.float64)
    edges = _matrix(gb, graph, weights, gb.binary.min)

    def answer(found) -> np.ndarray:
        return _dense(found, graph.n) if whole else _dense(found, graph.n, np.inf)

    return Prepared(call=lambda: _distances(gb, edges, source, graph.n), answer=answer)


def _matrix(gb, graph: gpop.Graph, values: np.ndarray, duplicates):
    """The graph as a matrix; of duplicate edges the least, the sum or any, as the algorithm needs."""
    tails = np.repeat(np.arange(graph.n, dtype=np.uint64), np.diff(graph.indptr))
    return gb.Matrix.from_coo(
        tails, graph.indices.astype(np.uint64), values, nrows=graph.n, ncols=graph.n, dup_op=duplicates
    )


def _dense(found, n: int, missing: float = -1) -> np.ndarray:
    index, values = found.to_coo()
    dense = np.full(n, missing, values.dtype)
    dense[index] = values
    return dense


def _pagerank(gb, graph: gpop.Graph, variant: dict) -> Prepared:
    inward = _matrix(gb, graph, np.ones(graph.m, np.float32), gb.binary.plus).T.new()
    degree = np.maximum(np.diff(graph.indptr), 1).astype(np.float32)
    share = gb.Vector.from_dense(np.float32(variant["damping"]) / degree)
    base = np.float32((1 - variant["damping"]) / graph.n)

    def call():
        rank = gb.Vector.from_dense(np.full(graph.n, 1 / graph.n, np.float32))
        for _ in range(variant["iterations"]):
            sent = rank.ewise_mult(share, gb.binary.times).new()
            rank[:] = base
            rank(gb.binary.plus) << inward.mxv(sent, gb.semiring.plus_times)
        return rank

    return Prepared(call=call, answer=lambda rank: rank.to_dense(fill_value=0))


def _levels(gb, edges, source: int, n: int):
    level = gb.Vector(np.int64, n)
    frontier = gb.Vector(bool, n)
    frontier[source] = True
    depth = 0
    while frontier.nvals:
        level(frontier.S) << depth
        frontier(~level.S, replace=True) << frontier.vxm(edges, gb.semiring.any_pair)
        depth += 1
    return level


def _distances(gb, edges, source: int, n: int):
    distance = gb.Vector(edges.dtype, n)
    distance[source] = 0
    improved = distance.dup()
    while improved.nvals:
        offered = improved.vxm(edges, gb.semiring.min_plus).new()
        better = offered.ewise_mult(distance, gb.binary.lt).new()  # where both have a value
        improved = gb.Vector(edges.dtype, n)
        improved(better.V) << offered
        improved(~distance.S) << offered
        distance(gb.binary.min) << improved
    return distance
