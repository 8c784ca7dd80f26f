"""NetworkX graphs: an undirected one gives both directions of every edge; node names become original ids.

Reading goes along the adjacency that NetworkX keeps (a dict of dicts), in its order: a pass for the lengths
of the lists, one for the neighbours, one for each attribute. Nothing is made for an edge but one number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gpop.common.arguments import kind_of
from gpop.common.errors import UsageError
from gpop.graph.build import build_csr, csr_edges
from gpop.graph.edge_pieces import integers_type
from gpop.graph.graph import Graph

if TYPE_CHECKING:
    import networkx

Rows = list[dict[Any, Any]]
"""Of each node, its neighbours and what NetworkX holds of the edge to each (of parallel edges: a dict)."""


class Lists(NamedTuple):
    """Adjacency lists in NetworkX's order: those of v are ``indices[indptr[v]:indptr[v + 1]]``.

    A neighbour with parallel edges is in the list once.
    """

    indptr: np.ndarray
    indices: np.ndarray


def numbers_of(nodes: list) -> dict[Any, int] | None:
    """Node -> vertex; None where the nodes are 0, 1, 2 ... themselves.

    >>> numbers_of(["a", "b"]), numbers_of([0, 1])
    ({'a': 0, 'b': 1}, None)
    """
    if nodes == list(range(len(nodes))):
        return None
    return dict(zip(nodes, range(len(nodes)), strict=True))


def rows_of(adjacency: Mapping[Any, Mapping], nodes: list) -> Rows:
    """The rows of these nodes, in their order; those of a view are copied, whose length may be another.

    >>> rows_of({"a": {"b": {}}, "b": {}}, ["b", "a"])
    [{}, {'b': {}}]
    """
    rows = map(adjacency.__getitem__, nodes)
    return [row if isinstance(row, dict) else dict(row.items()) for row in rows]


def lists_of(rows: Rows, numbers: dict[Any, int] | None) -> Lists:
    """The neighbours as vertices.

    >>> lists_of([{2: {}, 1: {}}, {}, {0: {}}], None).indices
    array([2, 1, 0], dtype=uint32)
    """
    indptr = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=indptr[1:])
    flat: Iterable = chain.from_iterable(rows)
    return Lists(
        indptr,
        np.fromiter(flat if numbers is None else map(numbers.__getitem__, flat), np.uint32, int(indptr[-1])),
    )


def values_of(
    rows: Rows, attribute: Any, default: Any, fold: Callable[[Iterable], Any] | None = None
) -> np.ndarray:
    """An attribute of all edges in the order of `lists_of`; ``fold`` makes one value of parallel edges.

    Raises
    ------
    UsageError
        If a value is no number that NumPy has.

    Examples
    --------
    >>> values_of([{1: {"w": 3}}, {0: {}}], "w", 1)
    array([3, 1])
    >>> values_of([{1: {"a": {"w": 3}, "b": {"w": 4}}}, {}], "w", 1, sum)
    array([7])
    """
    edges = chain.from_iterable(map(dict.values, rows))
    if fold is not None:
        found = [fold(data.get(attribute, default) for data in parallel.values()) for parallel in edges]
        return _numbers(found, attribute)
    try:
        found = list(map(dict.get, edges, repeat(attribute), repeat(default)))
    except TypeError:  # a graph of a class that keeps attributes in another kind of mapping
        found = [data.get(attribute, default) for row in rows for data in row.values()]
    return _numbers(found, attribute)


def _numbers(found: list, attribute: Any) -> np.ndarray:
    """int64 or float64; booleans count as 0 and 1."""
    try:
        values = np.array(found) if found else np.empty(0, np.int64)
    except ValueError:  # lists of several lengths
        values = np.empty(0, object)
    if values.ndim != 1 or values.dtype.kind not in "biuf" or values.dtype == np.uint64:
        raise UsageError(f"attribute {attribute!r} of the edges: expected numbers of 64 bits")
    if values.dtype.kind == "f":
        large = np.abs(values) >= 2.0**53
        if large.any() and any(isinstance(found[i], int) for i in np.flatnonzero(large)):
            raise UsageError(f"attribute {attribute!r}: a whole number among fractions is 2**53 or more")
        return values.astype(np.float64, copy=False)
    return values.astype(np.int64, copy=False)


def is_view(graph: networkx.Graph) -> bool:
    """Whether the graph looks at the edges of another one; it keeps its own in a dict.

    >>> import networkx as nx
    >>> is_view(nx.path_graph(3)), is_view(nx.DiGraph([(0, 1)]).to_undirected(as_view=True))
    (False, True)
    """
    return not isinstance(getattr(graph, "_adj", None), dict)


def _with_own_edges(view: networkx.Graph) -> networkx.Graph:
    """An undirected view with every edge as NetworkX lists it: once, with the attributes of one direction."""
    import networkx

    multiple = view.is_multigraph()
    graph = networkx.MultiGraph(name=view.name) if multiple else networkx.Graph(name=view.name)
    graph.add_nodes_from(view)
    graph.add_edges_from(view.edges(data=True, **{"keys": True} if multiple else {}))
    return graph


def from_networkx(graph: networkx.Graph, weight: str | None) -> Graph:
    """See `Graph.from_networkx`."""
    if isinstance(graph, type) or not (hasattr(graph, "nodes") and hasattr(graph, "is_directed")):
        raise UsageError(f"expected a NetworkX graph, got {kind_of(graph)}")
    if is_view(graph) and not graph.is_directed():
        graph = _with_own_edges(graph)
    nodes = list(graph.nodes)
    numbers, rows = numbers_of(nodes), rows_of(graph.adj, nodes)
    if graph.is_multigraph():
        parallel = [[*keyed.values()] for row in rows for keyed in row.values()]
        indptr, indices = lists_of(rows, numbers)
        often = np.fromiter(map(len, parallel), np.int64, len(parallel))
        indptr = np.append(0, np.cumsum(often))[indptr]
        indices = np.repeat(indices, often)
        edges = [*chain.from_iterable(parallel)]
    else:
        indptr, indices = lists_of(rows, numbers)
        edges = [*chain.from_iterable(row.values() for row in rows)]
    weights = None
    if weight is not None and any(weight in data for data in edges):
        weights = smallest(_numbers([data.get(weight, 1) for data in edges], weight))
    dtype = None if weights is None else weights.dtype
    arrays = build_csr(len(nodes), [csr_edges(indptr, indices, weights)], dtype)
    result = Graph(*arrays, name=str(graph.name))
    if numbers is not None:
        result.original_ids = name_array(nodes)
    return result


def to_networkx(graph: Graph) -> networkx.DiGraph:
    """See `Graph.to_networkx`."""
    import networkx

    names = range(graph.n) if graph.original_ids is None else graph.original_ids.tolist()
    src = np.repeat(np.arange(graph.n), graph.out_degree).tolist()
    dst = graph.indices.tolist()
    duplicates = len(set(zip(src, dst, strict=True))) < graph.m
    result = networkx.MultiDiGraph(name=graph.name) if duplicates else networkx.DiGraph(name=graph.name)
    result.add_nodes_from(names)
    pairs = [(names[u], names[v]) for u, v in zip(src, dst, strict=True)]
    if graph.weights is None:
        result.add_edges_from(pairs)
    else:
        result.add_edges_from(
            (u, v, {"weight": w}) for (u, v), w in zip(pairs, graph.weights.tolist(), strict=True)
        )
    return result


def smallest(weights: np.ndarray) -> np.ndarray:
    """Integer weights that fit as uint32 (what the binary format holds), others as they are."""
    if weights.dtype.kind in "iu" and weights.min() >= 0 and weights.max() < 2**32:
        return weights.astype(np.uint32)
    return weights


def name_array(names: list) -> np.ndarray:
    """Array of original ids: integers when all are, else Python objects (never changed into text)."""
    if all(isinstance(name, int | np.integer) for name in names):
        dtype = integers_type(int(min(names, default=0)), int(max(names, default=0)))
        if dtype is not None:
            return np.array(names, dtype)
    array = np.empty(len(names), object)
    for v, name in enumerate(names):  # one by one: a slice would unpack names that are tuples
        array[v] = name
    return array
