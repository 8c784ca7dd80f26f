"""Minimum spanning forest: in each component the edges of least weight in all that hold it together.

Algorithm: Boruvka's, by all threads: see `gpop.direct.spanning_forest`. Between edges of equal weight their
vertices decide, the smaller one first, by their ids where these are numbers, else by index; so there is one
forest only, whatever the number of threads. Without weights every edge weighs 1.
Unusual: no program and no messages; an edge has its weight for both its ends, and trees have no vertex that
could own them. The graph is taken as undirected: an edge weighs what its lighter direction does, and a
directed graph is made symmetric first, which the result says (``symmetrized``).
Encoding: a tree hangs from its first vertex; every other one has a parent and the weight of the edge to it.
Papers: O. Boruvka, "O jistem problemu minimalnim", 1926; and see `gpop.direct.spanning_forest`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.inputs import in_order_of_ids, symmetric
from gpop.apps.options import one_call
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.weights import edge_with
from gpop.apps.without_messages import OF_MESSAGES, Phase, direct_run, no_messages
from gpop.common.errors import UsageError
from gpop.common.parallel import use_threads
from gpop.execution.options import ShownOptions


@dataclass(frozen=True, kw_only=True)
class SpanningForestResult(AppResult):
    """``parent`` of every vertex, ``weight`` of the edge to it, their ``total``, and how many ``trees``."""

    parent: np.ndarray = holds(Holds.VERTICES)
    weight: np.ndarray = holds(Holds.VALUES, missing="has_parent")
    total: float = holds(Holds.NO_VERTICES)
    trees: int = holds(Holds.NO_VERTICES)
    symmetrized: bool = holds(Holds.NO_VERTICES)

    @property
    def has_parent(self) -> np.ndarray:
        """Whether a vertex is not the first of its tree."""
        return self.parent >= 0

    @property
    def edges(self) -> np.ndarray:
        """The edges of the forest, int64 [n - trees, 2]: parent and vertex, by ascending vertex."""
        below = np.flatnonzero(self.has_parent)
        return np.column_stack([self.parent[below], below])


@one_call
def spanning_forest(
    graph: gpop.Graph, *, threads: int | None = None, **options: Unpack[ShownOptions]
) -> SpanningForestResult:
    """Minimum spanning forest; the same for every number of threads.

    Parameters
    ----------
    graph : Graph
        Taken as undirected, with the lighter weight of two opposite edges. Weights may be negative; without
        any, each edge weighs 1.
    threads : int, optional
        Threads to use; all that Numba was given when not set.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : ShownOptions
        ``progress`` and ``reorder``; options of messages and partitions are refused.

    Returns
    -------
    SpanningForestResult
        ``parent``, int64 [n], -1 for the first vertex of a tree; ``weight`` [n] of the edge to it, in the
        type of the weights, 0 where there is none; ``total`` of the weights; ``trees``, how many;
        ``symmetrized``: whether some edge had no opposite of the same weight. ``edges`` are rows of parent
        and vertex.

    Raises
    ------
    UsageError
        For a weight that is no number, a number of threads that is not possible, or an option of messages.

    Examples
    --------
    >>> found = gpop.spanning_forest(gpop.Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 4], [5, 7, 2, 1]))
    >>> found.edges.tolist(), found.total, found.trees
    ([[0, 1], [0, 2], [3, 4]], 8, 2)
    """
    from gpop.direct.spanning_forest import sortable, span

    no_messages("spanning_forest", options, "partition_size")
    threads = use_threads(threads)
    weights = graph.weights
    if weights is not None and weights.dtype.kind == "f" and np.isnan(weights).any():
        wrong = edge_with(graph, np.isnan(weights))
        raise UsageError(f"spanning_forest needs weights that are numbers: {wrong}")
    start = time.perf_counter()
    both_ways = symmetric(graph, same_weights=True)
    first = in_order_of_ids(both_ways)
    keys = sortable(both_ways.weights, both_ways.m)
    prepare_seconds = time.perf_counter() - start
    found = span(both_ways, keys, first, threads)
    weight = np.zeros(graph.n, np.uint32 if weights is None else weights.dtype)
    below = found.via >= 0
    weight[below] = 1 if weights is None else both_ways.weights[found.via[below]]
    known = sum(each.seconds for each in found.rounds)
    hang = Phase("hang", int(np.count_nonzero(below)), found.seconds - known)
    run = direct_run(
        [*(Phase(f"round {i}", each.edges, each.seconds) for i, each in enumerate(found.rounds)), hang],
        seconds=found.seconds,
        prepare_seconds=prepare_seconds,
        threads=threads,
        partition_size=max(graph.n, 1),
        partitions=1,
        program="SpanningForest",
        graph=graph.name,
    )
    return SpanningForestResult(
        parent=found.parent,
        weight=weight,
        total=_total(weight[below]),
        trees=graph.n - int(np.count_nonzero(below)),
        symmetrized=both_ways is not graph,
        run=run,
    )


def _total(weights: np.ndarray) -> float:
    """Sum of whole numbers, exact whatever their size; of others in one order, that of their size."""
    if weights.dtype.kind == "f":
        ordered = np.sort(weights)
        with np.errstate(over="ignore", invalid="ignore"):
            total = ordered.sum(dtype=np.float64)
            if not np.isfinite(total):  # perhaps halfway: fewer than 2^32 of a 2^32nd are never too large
                total = np.ldexp(np.ldexp(ordered, -32).sum(dtype=np.float64), 32)
        return float(total)
    wide = weights.astype(np.uint64 if weights.dtype.kind == "u" else np.int64)
    low = (wide & wide.dtype.type(0xFFFFFFFF)).astype(np.uint64)
    return (int((wide >> wide.dtype.type(32)).sum()) << 32) + int(low.sum())


def verify(graph: gpop.Graph, result: SpanningForestResult) -> str | None:
    """None, or what is wrong: SciPy's components, and Kruskal's total by its `minimum_spanning_tree`."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    tails = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    weights = np.ones(graph.m) if graph.weights is None else graph.weights.astype(np.float64)
    low, high = np.minimum(tails, graph.indices), np.maximum(tails, graph.indices)
    order = np.lexsort((weights, high, low))
    low, high, weights = low[order], high[order], weights[order]
    least = np.append(True, (low[1:] != low[:-1]) | (high[1:] != high[:-1]))[: graph.m] & (low != high)
    low, high, weights = low[least].astype(np.int32), high[least].astype(np.int32), weights[least]
    scale = 2.0**-64 if np.abs(weights).max(initial=0) > 1e280 else 1.0  # sums of such are infinite
    weights, most = weights * scale, np.finfo(np.float64).max * scale
    shape = (graph.n, graph.n)
    # SciPy takes a weight of 0 for no edge, which the least of large ones would be with 1 added.
    shift = max(1.0, np.abs(weights).max(initial=0)) - weights.min(initial=0)
    kruskal = minimum_spanning_tree(csr_array((weights + shift, (low, high)), shape))
    total = float(kruskal.sum() - shift * kruskal.nnz)
    edges = np.sort(result.edges, axis=1)
    known = {(u, v): w for u, v, w in zip(low.tolist(), high.tolist(), weights.tolist(), strict=True)}
    mine = [known.get((u, v)) for u, v in edges.tolist()]
    if None in mine:
        return f"{mine.count(None)} edges of the forest are not in the graph"
    graph_parts = connected_components(csr_array((weights + shift, (low, high)), shape), directed=False)[0]
    parts = connected_components(csr_array((np.ones(len(edges)), edges.T), shape), directed=False)[0]
    if parts != graph_parts or result.trees != parts or len(edges) != graph.n - parts:
        return f"{parts} trees of {len(edges)} edges, but SciPy finds {graph_parts} components"
    allowed = 1e-9 * float(np.abs(weights).sum()) + 1e-12
    found, given = np.clip([total, result.total * scale], -most, most)  # of which more is infinite
    if abs(total - sum(mine)) > allowed or abs(found - given) > allowed:
        return f"a total of {result.total:.9g}, but SciPy finds {found / scale:.9g}"
    return None


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.spanning_forest graph ...``"""

    def headline(graph: gpop.Graph, result: SpanningForestResult, given: Any) -> str:
        note = "\nnote: the graph is directed; its edges were taken both ways" if result.symmetrized else ""
        return f"{graph.n - result.trees:,} edges of weight {result.total:,} in {result.trees:,} trees{note}"

    return cli.main(
        argv,
        cli.App(
            name="spanning_forest",
            refuses=OF_MESSAGES,
            about=__doc__,
            solve=lambda graph, given, options: gpop.spanning_forest(graph, **options),
            headline=headline,
            columns=lambda graph, result: {
                "parent": report.ids(graph, result.parent), "weight": result.weight
            },
            edges=lambda graph, result: graph.m,
            verify=lambda graph, result, given: verify(graph, result),
        ),
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
