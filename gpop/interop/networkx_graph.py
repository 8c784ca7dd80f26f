"""NetworkX graphs: an undirected one gives both directions of every edge; node names become original ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpop.common.arguments import kind_of
from gpop.common.errors import UsageError
from gpop.graph.graph import Graph

if TYPE_CHECKING:
    import networkx


def from_networkx(graph: networkx.Graph, weight: str | None) -> Graph:
    """See `Graph.from_networkx`."""
    if not (hasattr(graph, "nodes") and hasattr(graph, "is_directed")):
        raise UsageError(f"expected a NetworkX graph, got {kind_of(graph)}")
    nodes = list(graph.nodes)
    number = {node: v for v, node in enumerate(nodes)}
    edges = [(number[u], number[v], data) for u, v, data in graph.edges(data=True)]
    if not graph.is_directed():
        edges += [(v, u, data) for u, v, data in edges if u != v]
    weights = None
    if weight is not None and any(weight in data for _, _, data in edges):
        weights = smallest(np.array([data.get(weight, 1) for _, _, data in edges]))
    src, dst = ([edge[i] for edge in edges] for i in (0, 1))
    result = Graph.from_edges(src, dst, weights, len(nodes), name=str(graph.name))
    if nodes != list(range(len(nodes))):
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
    if all(isinstance(name, int) and abs(name) < 2**63 for name in names):
        return np.array(names, np.int64)
    array = np.empty(len(names), object)
    for v, name in enumerate(names):  # one by one: a slice would unpack names that are tuples
        array[v] = name
    return array
