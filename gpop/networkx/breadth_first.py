"""Breadth-first searches: edges, trees, layers, in the order in which NetworkX visits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from gpop.networkx.converted import Converted
from gpop.networkx.kernels.breadth_first import Search, breadth_first, limit_of
from gpop.networkx.refusing import refusing

sorted_neighbors = refusing(
    lambda sort_neighbors: None if sort_neighbors is None else "sort_neighbors is a function of nodes"
)


def _search(G: Converted, source: Any, reverse: bool, depth_limit: Any) -> Search:
    """The search, from a node that must be there."""
    vertex = G.numbers.get(source)
    if vertex is None:
        raise nx.NetworkXError(f"The node {source} is not in the {'di' * G.is_directed()}graph.")
    return breadth_first((G.turned if reverse else G).lists, [vertex], limit_of(depth_limit))


@sorted_neighbors
def bfs_edges(
    G: Converted, source: Any, reverse: bool = False, depth_limit: Any = None, sort_neighbors: None = None
) -> Iterator[tuple]:
    """`networkx.bfs_edges`."""
    found = _search(G, source, reverse, depth_limit)
    yield from zip(G.nodes_of(found.parent[1:]), G.nodes_of(found.order[1:]), strict=True)


@sorted_neighbors
def bfs_tree(
    G: Converted, source: Any, reverse: bool = False, depth_limit: Any = None, sort_neighbors: None = None
) -> nx.DiGraph:
    """`networkx.bfs_tree`."""
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(bfs_edges(G, source, reverse, depth_limit))
    return tree


@sorted_neighbors
def bfs_predecessors(
    G: Converted, source: Any, depth_limit: Any = None, sort_neighbors: None = None
) -> Iterator[tuple]:
    """`networkx.bfs_predecessors`."""
    found = _search(G, source, False, depth_limit)
    yield from zip(G.nodes_of(found.order[1:]), G.nodes_of(found.parent[1:]), strict=True)


@sorted_neighbors
def bfs_successors(
    G: Converted, source: Any, depth_limit: Any = None, sort_neighbors: None = None
) -> Iterator[tuple[Any, list]]:
    """`networkx.bfs_successors`."""
    found = _search(G, source, False, depth_limit)
    children, parent = G.nodes_of(found.order[1:]), found.parent[1:]
    begins = np.append(0, np.flatnonzero(parent[1:] != parent[:-1]) + 1)  # children of one come together
    if not children:
        yield source, []
        return
    for first, last, node in zip(
        begins.tolist(), [*begins[1:].tolist(), len(children)], G.nodes_of(parent[begins]), strict=True
    ):
        yield node, children[first:last]


def bfs_layers(G: Converted, sources: Any) -> Iterator[list]:
    """`networkx.bfs_layers`."""
    if sources in G:
        sources = [sources]
    first = list(set(sources))
    for source in first:
        if source not in G:
            raise nx.NetworkXError(f"The node {source} is not in the graph.")
    if first:
        found = breadth_first(G.lists, [G.numbers[source] for source in first], limit_of(None))
        yield first
        for layer in _layers(found)[1:]:
            yield G.nodes_of(layer)


def descendants_at_distance(G: Converted, source: Any, distance: Any) -> set:
    """`networkx.descendants_at_distance`."""
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    found = breadth_first(G.lists, [G.numbers[source]], limit_of(distance))
    return set(G.nodes_of(found.order[found.level == distance]))


def _layers(found: Search) -> list[np.ndarray]:
    """The order, cut where the level changes."""
    return np.split(found.order, np.flatnonzero(found.level[1:] != found.level[:-1]) + 1)
