"""``reorder=`` of the one-call functions: run on the same graph with its vertices in another order.

The order decides how many messages an edge costs (r, see `gpop.layout.bins`) and how far neighbours are.
No app knows of it but by the decorator of its one-call function (options.py): vertices that are given are
translated, the app runs on the relabelled graph, and its result is translated back, so that arrays, sources
and parents are in the ids of the given graph. The relabelled graph is kept with the given
one for the next call. Cost and gain are in ``trace.summary["reorder"]``.

What a field of a result holds, and so how it is translated, its class says: `gpop.apps.result.Holds`.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from gpop.apps.holds import Holds, held
from gpop.apps.inputs import (
    SAMPLE_SEED,
    drawn_vertices,
    many_vertices,
    one_vertex,
    per_vertex,
    weighted_vertices,
)
from gpop.apps.result import AppResult
from gpop.common.cached import cached
from gpop.common.errors import UsageError
from gpop.common.inlined import KERNEL
from gpop.common.parallel import for_each, ranges, worker_count
from gpop.common.progress import activity
from gpop.graph.expect import expect_graph
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.graph.transform import ORDERS, relabel
from gpop.layout.partition import partition_bits

P = ParamSpec("P")
Result = TypeVar("Result", bound=AppResult)

_TAKEN = {"source": one_vertex, "seeds": many_vertices}
"""Parameters that are vertices, and how they are checked."""

_BY_VERTEX = ("beta",)
"""Parameters that may have a value for each vertex."""

_PIECE = 1 << 16  # vertices


class Reordered(NamedTuple):
    """A graph in another order: ``old[new[v]]`` is v. ``summary`` says what it cost and gained."""

    graph: Graph
    old: np.ndarray
    new: np.ndarray
    summary: dict[str, Any]


def reorderable(function: Callable[P, Result]) -> Callable[P, Result]:
    """The function with one more option, ``reorder``: "none" or one of `gpop.graph.transform.ORDERS`.

    Examples
    --------
    >>> import gpop
    >>> graph = Graph.from_edges([0, 2, 2, 2], [2, 0, 1, 3])
    >>> found = gpop.bfs(graph, source=0, reorder="degree")
    >>> found.parent.tolist(), found.trace.summary["reorder"]["order"]
    ([0, 2, 0, 2], 'degree')
    """
    parameters = inspect.signature(function)

    @wraps(function)
    def call(graph: Graph, *arguments: Any, reorder: str = "none", **options: Any) -> AppResult:
        expect_graph(graph, function.__name__)
        if reorder == "none":
            return function(graph, *arguments, **options)
        other = reordered(graph, reorder)
        bound = parameters.bind(other.graph, *arguments, **options)
        for name, check in _TAKEN.items():
            if isinstance(given := bound.arguments.get(name), Mapping):
                weights = weighted_vertices(graph, given, name.rstrip("s"))
                bound.arguments[name] = {int(other.new[vertex]): each for vertex, each in weights.items()}
            elif name in bound.arguments:
                bound.arguments[name] = other.new[check(graph, bound.arguments[name], name.rstrip("s"))]
        if bound.arguments.get("sources") is not None:  # drawn here: the same ones in any order
            seed = bound.arguments.get("seed", SAMPLE_SEED)
            bound.arguments["sources"] = other.new[drawn_vertices(graph, bound.arguments["sources"], seed)]
        for name in _BY_VERTEX:
            if name in bound.arguments:
                given = per_vertex(graph, bound.arguments[name], name)
                bound.arguments[name] = given[other.old] if isinstance(given, np.ndarray) else given
        return restored(function(*bound.args, **bound.kwargs), other)

    option = inspect.Parameter("reorder", inspect.Parameter.KEYWORD_ONLY, default="none", annotation="str")
    *named, last = parameters.parameters.values()
    rest = [option, last] if last.kind is last.VAR_KEYWORD else [last, option]
    call.__signature__ = parameters.replace(parameters=[*named, *rest])
    return call


def reordered(graph: Graph, order: str) -> Reordered:
    """The graph in this order, made once and kept with it."""
    if order not in ORDERS:
        raise UsageError(f"reorder {order!r}: expected none, {', '.join(ORDERS)}")
    kept = graph.store.get(Kind.REORDERED, order)
    if kept is None:
        start = time.perf_counter()
        plain = Graph(graph.indptr, graph.indices, graph.weights, name=graph.name)
        plain.facts.symmetric = graph.is_symmetric() if order in ("bfs", "rcm") else graph.facts.symmetric
        with activity(f"reordering by {order}"):
            other = relabel(plain, order)
        other.facts.symmetric = plain.facts.symmetric
        old = other.original_ids.astype(np.uint32)
        if graph.original_ids is not None and graph.original_ids.dtype.kind in "iu":
            other.original_ids = graph.original_ids[old]  # what decides between vertices that are alike
        new = np.empty_like(old)
        new[old] = np.arange(graph.n, dtype=np.uint32)
        summary = {"order": order, "seconds": time.perf_counter() - start}
        summary |= {"r_before": messages_per_edge(graph), "r_after": messages_per_edge(other)}
        kept = Reordered(other, old, new, summary)
        holds = (other.indptr, other.indices, other.weights, other.original_ids, old, new)
        graph.store.put(Kind.REORDERED, kept, order, about=order, holds=holds, graph=other)
    return kept


def restored(result: AppResult, other: Reordered) -> AppResult:
    """A result of the reordered graph, in the ids of the given one."""
    old, new = other.old, other.new
    run = result.run
    run.trace.summary["reorder"] = other.summary
    touched = None if run.touched is None else np.sort(old[run.touched])
    changed: dict[str, Any] = {"run": replace(run, frontier=np.sort(old[run.frontier]), touched=touched)}
    kinds = held(result)
    order = slice(None)
    for name in (name for name, what in kinds.items() if what is Holds.LIST):
        listed = old[getattr(result, name)]
        order = np.argsort(listed)
        changed[name] = listed[order]
    for name, what in kinds.items():
        value = getattr(result, name)
        if what is Holds.BESIDE_LIST:
            changed[name] = value[order]
        elif what is Holds.VERTEX:
            changed[name] = int(old[value])
        elif what is Holds.VALUES:
            changed[name] = value[new]
        elif what is Holds.COMPONENTS:
            changed[name] = smallest(value[new])
        elif what in (Holds.VERTICES, Holds.LABELS):
            value = value[new]
            changed[name] = np.where(value < 0, value, old[value]).astype(value.dtype)
    return replace(result, **changed)


def smallest(label: np.ndarray) -> np.ndarray:
    """Labels that are the smallest vertex with an equal one.

    >>> smallest(np.array([2, 3, 2, 3, 4])).tolist()
    [0, 1, 0, 1, 4]
    """
    first = np.empty_like(label)
    first[label[::-1]] = np.arange(len(label), dtype=label.dtype)[::-1]  # of equal ones the last stays
    return first[label]


def messages_per_edge(graph: Graph) -> float:
    """r, with the partitions that a run on all cores would have.

    >>> messages_per_edge(Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 0], n=4))
    1.0
    """
    bits = np.uint32(partition_bits(graph.n, worker_count(), edges=graph.m))
    pieces = ranges(graph.n, _PIECE)
    counts = np.zeros(len(pieces), np.int64)

    def count(i):
        counts[i] = _messages(*pieces[i], bits, graph.indptr, graph.indices)

    for_each(len(pieces), count)
    return float(counts.sum() / max(graph.m, 1))


@cached(**KERNEL)
def _messages(first, last, bits, indptr, indices):
    """Runs of neighbours in one partition, over the lists of some vertices."""
    count = 0
    for v in range(first, last):
        for e in range(indptr[v], indptr[v + 1]):
            count += e == indptr[v] or indices[e] >> bits != indices[e - 1] >> bits
    return count
