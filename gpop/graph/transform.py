"""Graph -> graph: what is done to a graph before it is used. The given graph is never changed.

``symmetrize`` and ``reverse`` are methods of `Graph`, and `gpop.direct.components` finds the largest
component; here is the rest: self-loops, duplicates, weights, and new orders of the vertices. Every function
keeps weights, and original ids where vertices move or go. Each predicts its memory before it allocates.

Random weights depend on the seed and on the pair of ends only: opposite edges, and duplicates, get the
same one, and neither the order of the edges nor the number of threads matters.
"""

from __future__ import annotations

import numpy as np

from gpop.common.cached import cached
from gpop.common.errors import UsageError
from gpop.common.inlined import KERNEL
from gpop.common.memory import require_memory
from gpop.common.parallel import for_each, ranges
from gpop.common.random_bits import below, stream
from gpop.graph.arguments import as_ids, as_weights
from gpop.graph.build import Edges, build_csr, check_duplicates, csr_edges
from gpop.graph.graph import Graph
from gpop.graph.modify import hashes, weight_dtype

ORDERS = ("degree", "random", "bfs", "rcm")

_PIECE = 1 << 16  # vertices
_GONE = np.uint32(0xFFFFFFFF)


def remove_self_loops(graph: Graph) -> Graph:
    """The graph without edges from a vertex to itself.

    Examples
    --------
    >>> remove_self_loops(Graph.from_edges([0, 0, 1], [0, 1, 1])).m
    1
    """
    return take(graph, None, drop_loops=True)


def remove_duplicates(graph: Graph, policy: str = "first") -> Graph:
    """The graph with every edge once, adjacency sorted.

    Parameters
    ----------
    graph : Graph
    policy
        Weight of an edge that occurred several times: the ``"first"``, the ``"min"``, the ``"max"`` or
        the ``"sum"`` (integers are summed in 64 bits).

    Examples
    --------
    >>> graph = Graph.from_edges([0, 0, 0], [1, 2, 1], [7, 1, 5])
    >>> remove_duplicates(graph, "sum").weights.tolist()
    [12, 1]
    """
    check_duplicates(policy)
    weights = graph.weights
    if weights is not None and policy == "sum" and weights.dtype.kind in "iu":
        weights = weights.astype(np.int64 if weights.dtype.kind == "i" else np.uint64)
    dtype = None if weights is None else weights.dtype
    arrays = build_csr(graph.n, [csr_edges(graph.indptr, graph.indices, weights)], dtype, policy)
    return Graph(*arrays, original_ids=graph.original_ids, name=graph.name)


def random_weights(graph: Graph, low: int, high: int, seed: int = 1) -> Graph:
    """The graph with random integer weights from ``low`` to ``high``, both included.

    uint32, or int64 when ``low`` is negative.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 1, 0], [1, 0, 2, 2])
    >>> weights = random_weights(ring, 1, 255, seed=7).weights
    >>> weights.dtype, bool(weights[0] == weights[2])      # 0 -> 1 and 1 -> 0
    (dtype('uint32'), True)
    """
    dtype = weight_dtype(low, high)
    require_memory(graph.m * np.dtype(dtype).itemsize, f"weights of {graph.m} edges")
    weights = np.empty(graph.m, dtype)
    pieces = ranges(graph.n, _PIECE)

    def fill(i):
        _pair_weights(
            np.uint64(seed % 2**64), graph.indptr, graph.indices, *pieces[i], low, np.uint64(high - low + 1),
            weights,
        )  # fmt: skip

    for_each(len(pieces), fill)
    return with_weights(graph, weights)


def with_weights(graph: Graph, weights: np.ndarray | None) -> Graph:
    """The graph with these weights, one for each edge, or with none; the rest is shared.

    Examples
    --------
    >>> with_weights(Graph.from_edges([0, 1], [1, 0]), np.array([2.5, 1.5]))
    Graph(2 vertices, 2 edges, float64 weights)
    """
    weights = as_weights(weights, graph.m)
    return Graph(
        graph.indptr, graph.indices, weights, original_ids=graph.original_ids, name=graph.name
    )  # fmt: skip


def relabel(graph: Graph, order: str | np.ndarray, seed: int = 1) -> Graph:
    """The graph with its vertices in another order; ``original_ids`` says who they were.

    Parameters
    ----------
    graph : Graph
    order
        The old vertices in their new order, or one of

        - ``"degree"``: by descending out-degree, equal ones in their old order;
        - ``"random"``: shuffled by ``seed``;
        - ``"bfs"``: in the order of a breadth-first search that ignores directions, from vertex 0 and
          again from the first vertex that is left;
        - ``"rcm"``: reverse Cuthill-McKee (SciPy), which keeps neighbours close together.

    Examples
    --------
    >>> star = Graph.from_edges([2, 2, 0, 1], [0, 1, 2, 2])
    >>> by_degree = relabel(star, "degree")
    >>> by_degree.original_ids.tolist(), by_degree.indptr.tolist()
    ([2, 0, 1], [0, 2, 3, 4])
    """
    require_memory(20 * graph.n, f"another order of {graph.n} vertices")
    if isinstance(order, str):
        order = _order(graph, order, seed)
    new = np.full(graph.n, _GONE, np.uint32)
    order = as_ids(order, "order")
    if order.shape != (graph.n,) or (graph.n and not (order.min() >= 0 and order.max() < graph.n)):
        raise UsageError(f"an order of {graph.n} vertices must name each of 0..{graph.n - 1} once")
    new[order] = np.arange(graph.n, dtype=np.uint32)
    if (new == _GONE).any():
        raise UsageError(f"the order leaves out vertex {int((new == _GONE).argmax())}, expected each once")
    edges = csr_edges(graph.indptr, graph.indices, graph.weights)

    def chunk(first, last):
        source, destination, weights = edges.chunk(first, last)
        return new[source], new[destination], weights

    dtype = None if graph.weights is None else graph.weights.dtype
    arrays = build_csr(graph.n, [Edges(graph.m, chunk)], dtype)
    return Graph(*arrays, original_ids=_names(graph, order), name=graph.name)


def _order(graph: Graph, kind: str, seed: int) -> np.ndarray:
    """The old vertices in their new order."""
    if kind == "degree":
        return np.argsort(-graph.out_degree.astype(np.int64), kind="stable")
    if kind == "random":
        return np.argsort(hashes(seed, graph.n), kind="stable")
    if kind not in ORDERS:
        raise UsageError(f"order {kind!r} is unknown, expected one of {', '.join(ORDERS)}")
    both_ways = graph if graph.is_symmetric() else graph.symmetrize()
    if kind == "bfs":
        return _bfs_order(both_ways.indptr, both_ways.indices)
    if graph.n == 0:
        return np.empty(0, np.int64)
    if max(both_ways.n, both_ways.m) >= 2**31:
        raise UsageError(
            f"rcm of {both_ways.n} vertices and {both_ways.m} edges is not possible, SciPy takes below 2^31"
        )
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    require_memory(
        5 * both_ways.m + 12 * both_ways.n, f"rcm of {both_ways.n} vertices and {both_ways.m} edges"
    )
    parts = (
        np.ones(both_ways.m, np.int8),
        both_ways.indices.view(np.int32),
        both_ways.indptr.astype(np.int32),
    )
    matrix = csr_array(parts, shape=(graph.n, graph.n))
    return reverse_cuthill_mckee(matrix, symmetric_mode=True)


def _names(graph: Graph, order: np.ndarray) -> np.ndarray:
    """Original ids of the vertices ``order``."""
    return order.astype(np.int64) if graph.original_ids is None else graph.original_ids[order]


def take(graph: Graph, rows: np.ndarray | None, drop_loops: bool = False) -> Graph:
    """The lists of some vertices, which lead to no others, renumbered; ``None`` for all as they are."""
    n = graph.n if rows is None else len(rows)
    width = 0 if graph.weights is None else graph.weights.itemsize
    require_memory(8 * n + 4 * graph.n + (4 + width) * graph.m, f"{n} vertices of {graph.name or 'a graph'}")
    rows = np.arange(n, dtype=np.uint32) if rows is None else rows
    new = np.full(graph.n, _GONE, np.uint32)
    new[rows] = np.arange(n, dtype=np.uint32)
    indptr = np.zeros(n + 1, np.int64)
    pieces = ranges(n, _PIECE)

    def count(i):
        _count_rows(graph.indptr, graph.indices, rows, *pieces[i], drop_loops, indptr)

    for_each(len(pieces), count)
    np.cumsum(indptr, out=indptr)
    indices = np.empty(indptr[-1], np.uint32)
    weights = None if graph.weights is None else np.empty(indptr[-1], graph.weights.dtype)

    def copy(i):
        old = (graph.indptr, graph.indices, graph.weights)
        _copy_rows(*old, rows, new, *pieces[i], drop_loops, indptr, indices, weights)

    for_each(len(pieces), copy)
    ids = graph.original_ids if n == graph.n else _names(graph, rows)
    return Graph(indptr, indices, weights, original_ids=ids, name=graph.name)


@cached(**KERNEL)
def _count_rows(indptr, indices, rows, first, last, drop_loops, counts):
    for i in range(first, last):
        v = rows[i]
        count = indptr[v + 1] - indptr[v]
        if drop_loops:
            for e in range(indptr[v], indptr[v + 1]):
                count -= indices[e] == v
        counts[i + 1] = count


@cached(**KERNEL)
def _copy_rows(
    indptr, indices, weights, rows, new, first, last, drop_loops, new_indptr, new_indices, new_weights
):
    for i in range(first, last):
        v = rows[i]
        at = new_indptr[i]
        for e in range(indptr[v], indptr[v + 1]):
            if drop_loops and indices[e] == v:
                continue
            new_indices[at] = new[indices[e]]
            if weights is not None:
                new_weights[at] = weights[e]
            at += 1


@cached(**KERNEL)
def _pair_weights(seed, indptr, indices, first, last, low, span, weights):
    for v in range(first, last):
        for e in range(indptr[v], indptr[v + 1]):
            u = np.uint64(indices[e])
            pair = min(u, np.uint64(v)) << np.uint64(32) | max(u, np.uint64(v))
            weights[e] = low + np.int64(below(stream(seed, pair), span))


@cached
def _bfs_order(indptr, indices):
    n = len(indptr) - 1
    order = np.empty(n, np.uint32)
    seen = np.zeros(n, np.bool_)
    done = 0
    found = 0
    for root in range(n):
        if seen[root]:
            continue
        seen[root] = True
        order[found] = root
        found += 1
        while done < found:
            v = order[done]
            done += 1
            for e in range(indptr[v], indptr[v + 1]):
                u = indices[e]
                if not seen[u]:
                    seen[u] = True
                    order[found] = u
                    found += 1
    return order
