"""Vertices as callers give them, checked once and in one place.

A whole number is the index of a vertex, whatever ids the graph came with: ``source=5`` does not change its
meaning with the file. A name (text, or whatever else is no whole number) is an original id. An original id
that is a whole number is given by ``graph.vertex_of(id)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from gpop.common.arguments import as_index, plain, whole_from
from gpop.common.errors import UsageError
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind

Seeds: TypeAlias = int | str | Iterable[int] | Iterable[str] | np.ndarray
"""Vertices that are given: an index or a name, or several."""


def one_vertex(graph: Graph, source: Any, what: str = "source") -> int:
    """``source``, an index or a name, as an index of the graph, or a `UsageError`.

    Examples
    --------
    >>> one_vertex(Graph.from_edges([0, 1], [1, 2]), np.uint32(2))
    2
    >>> import gpop
    >>> one_vertex(gpop.read_edges({"from": ["bo"], "to": ["anna"]}), "anna")
    1
    """
    vertex = as_index(source)
    if vertex is None:
        if graph.original_ids is not None and graph.original_ids.dtype.kind not in "iu":
            return graph.vertex_of(source)
        raise UsageError(
            f"{what} {plain(source)!r}: expected a vertex index (an integer); graph.vertex_of(id) finds that "
            "of an original id"
        )
    if not 0 <= vertex < graph.n:
        known = f"its vertices are 0 to {graph.n - 1}" if graph.n else "it has no vertices"
        raise UsageError(f"{what} {vertex} is not in the graph: {known}")
    return vertex


def many_vertices(graph: Graph, seeds: Any, what: str = "seed") -> np.ndarray:
    """``seeds`` (one index or name, or several) as a sorted array of indices without duplicates.

    Examples
    --------
    >>> many_vertices(Graph.from_edges([0, 1], [1, 2]), [2, 0, 2])
    array([0, 2], dtype=uint32)
    """
    listed = seeds
    if type(seeds) is not list:
        if isinstance(seeds, Mapping):
            raise UsageError(f"{what}s {seeds!r}: expected a list of vertices, which have no weights here")
        listed = list(seeds) if np.iterable(seeds) and not np.isscalar(seeds) else [seeds]
    if not listed:
        raise UsageError(f"no {what} given: expected at least one vertex index")
    return np.array(sorted({one_vertex(graph, vertex, what) for vertex in listed}), dtype=np.uint32)


SAMPLE_SEED = 27491095
"""Of random sources, where none is given."""

FEW = 1 << 10
"""Random sources that are kept for the next call."""


def weighted_vertices(graph: Graph, weights: Mapping[Any, Any], what: str = "seed") -> dict[int, float]:
    """A weight for each vertex that is named, in that order; those of one that is named twice are added.

    Examples
    --------
    >>> import gpop
    >>> weighted_vertices(gpop.read_edges({"from": ["bo"], "to": ["anna"]}), {"anna": 1, 0: 3, 1: 0.5})
    {1: 1.5, 0: 3.0}
    """
    numbers, found = [as_number(weight) for weight in weights.values()], dict[int, float]()
    for vertex, number in zip(weights, numbers, strict=True):
        index = one_vertex(graph, vertex, what)
        found[index] = found.get(index, 0.0) + number
    if not (all(number >= 0 for number in numbers) and 0 < sum(numbers) < float("inf")):
        raise UsageError(
            f"{what}s {weights!r}: expected weights that are finite and not negative, one of them above 0"
        )
    return found


def drawn_vertices(graph: Graph, sources: Any, seed: int = SAMPLE_SEED) -> np.ndarray:
    """All vertices (None), so many at random (an int), or those given, ascending and each once.

    Examples
    --------
    >>> drawn_vertices(Graph.from_edges([0, 1], [1, 2]), [2, 0])
    array([0, 2], dtype=uint32)
    >>> drawn_vertices(Graph.from_edges([0, 1], [1, 2]), 2, seed=1).size
    2
    """
    if sources is None:
        return np.arange(graph.n, dtype=np.uint32)
    count = None if type(sources) is list or np.iterable(sources) else as_index(sources)
    if count is None:
        return many_vertices(graph, sources, "source")
    if not 1 <= count <= graph.n:
        raise UsageError(f"sources = {count}: expected 1 to {graph.n} vertices, or a list of indices")
    draw = _drawn if count <= FEW else _drawn.__wrapped__
    return draw(graph.n, count, whole_from(0, "seed", seed)).copy()


@lru_cache(maxsize=16)
def _drawn(n: int, count: int, seed: int) -> np.ndarray:
    """So many of ``n`` vertices. To draw a few takes 20 us."""
    return np.sort(np.random.default_rng(seed).choice(n, count, replace=False)).astype(np.uint32)


def not_negative(name: str, value: Any) -> float:
    """``value`` as a number from 0 on, or a `UsageError`.

    Examples
    --------
    >>> not_negative("tolerance", 0)
    0.0
    """
    number = as_number(value)
    if not number >= 0:
        raise UsageError(f"{name} {plain(value)!r}: expected a number that is not negative")
    return number


def positive(name: str, value: Any) -> float:
    """``value`` as a finite number above 0, or a `UsageError`.

    Examples
    --------
    >>> positive("epsilon", 1e-6)
    1e-06
    """
    number = as_number(value)
    if not 0 < number < float("inf"):
        raise UsageError(f"{name} {plain(value)!r}: expected a number above 0")
    return number


def as_number(value: Any) -> float:
    """``value`` as a number; NaN where it is none.

    Examples
    --------
    >>> as_number("0.5"), as_number(None)
    (0.5, nan)
    """
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def from_0_to_1(name: str, value: Any) -> float:
    """``value`` as a number from 0 to 1, or a `UsageError`.

    Examples
    --------
    >>> from_0_to_1("damping", 1)
    1.0
    """
    number = as_number(value)
    if not 0 <= number <= 1:
        raise UsageError(f"{name} {plain(value)!r}: expected a number from 0 to 1")
    return number


def per_vertex(graph: Graph, value: Any, what: str) -> np.ndarray | float:
    """A number, or one for each vertex, or a `UsageError`.

    Examples
    --------
    >>> per_vertex(Graph.from_edges([0], [1]), [1, 2], "beta")
    array([1., 2.])
    """
    try:
        values = np.asarray(value)
    except ValueError:  # lists of several lengths
        values = np.asarray(None)
    if values.dtype.kind not in "iufb" or values.shape not in ((), (graph.n,)):
        raise UsageError(
            f"{what} of type {values.dtype}, {values.shape}: expected a number, or {graph.n} of them"
        )
    if not np.isfinite(values).all():
        raise UsageError(f"{what} holds {values[~np.isfinite(values)].flat[0]}: expected finite numbers")
    return values.astype(np.float64) if values.ndim else float(values)


def score_dtype(dtype: Any) -> np.dtype:
    """float32 or float64, or a `UsageError`.

    Examples
    --------
    >>> score_dtype("f4")
    dtype('float32')
    """
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = None
    if dtype is None or kind is None or kind not in (np.float32, np.float64):  # None equals float64
        raise UsageError(f"dtype {dtype if kind is None else kind}: expected float32 or float64")
    return kind


def bulk_synchronous(what: str, options: dict[str, Any]) -> None:
    """Refuse ``interleave=True`` for an app whose iterations must not run into each other."""
    if options.get("interleave"):
        raise UsageError(f"{what} cannot be interleaved: each of its iterations is a step of its own")


def in_order_of_ids(graph: Graph) -> np.ndarray | None:
    """Vertices by ascending original ids where these are numbers; None where they come in that order.

    Where an answer depends on which of two vertices comes first, it is the ids that decide: then it is the
    same in every order of the vertices (``reorder=``).

    Examples
    --------
    >>> graph = Graph.from_csr([0, 1, 2, 2], [1, 2], original_ids=np.array([7, 9, 5]))
    >>> in_order_of_ids(graph)
    array([2, 0, 1])
    """
    ids = graph.original_ids
    if ids is None or ids.dtype.kind not in "iu" or (ids[1:] > ids[:-1]).all():
        return None
    return np.argsort(ids, kind="stable")


def is_simple(graph: Graph) -> bool:
    """Whether a graph with ascending lists has no loop and no edge twice; looked up once.

    Examples
    --------
    >>> is_simple(Graph.from_csr([0, 2, 2], [1, 1]))
    False
    """
    if graph.facts.simple is None:
        from gpop.graph.symmetry import rows_simple

        graph.facts.simple = rows_simple(graph.indptr, graph.indices)
    return graph.facts.simple


def symmetric(graph: Graph, ascending: bool = False, same_weights: bool = False) -> Graph:
    """The graph itself if every edge has its opposite, else its symmetric copy, kept with the graph.

    ``ascending=True``: also with adjacency lists in ascending order, which the copy always has.
    ``same_weights=True``: opposite edges also have the same weights, and occur as often.
    """
    if (graph.equals_reverse() if same_weights else graph.is_symmetric()) and (
        not ascending or graph.has_ascending_lists()
    ):
        return graph
    both = graph.store.get(Kind.SYMMETRIC)
    if both is None:
        both = graph.symmetrize()
        both.facts = graph.facts.of_same_file()
        both.facts.symmetric = both.facts.ascending = True
        graph.store.put(Kind.SYMMETRIC, both, holds=(both.indptr, both.indices, both.weights), graph=both)
    return both
