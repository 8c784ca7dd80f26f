"""Shortest paths that count edges: from a node, to a node, between two, between all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from gpop.networkx.converted import Converted
from gpop.networkx.kernels.breadth_first import Search, breadth_first, limit_of, path_between


def _search(G: Converted, end: Any, turned: bool, cutoff: Any, missing: str) -> Search:
    if end not in G:
        raise nx.NodeNotFound(missing)
    return breadth_first((G.turned if turned else G).lists, [G.numbers[end]], limit_of(cutoff))


def _lengths(G: Converted, end: Any, found: Search) -> dict:
    """From the end as it was given (as 1.0 for the node 1)."""
    return {end: 0} | dict(zip(G.nodes_of(found.order), found.level.tolist(), strict=True))


def _paths(G: Converted, found: Search) -> Iterator[tuple[Any, Any, Any]]:
    """(node, the one before it) in the order of the search, without the first."""
    return zip(G.nodes_of(found.order[1:]), G.nodes_of(found.parent[1:]), strict=True)


def single_source_shortest_path_length(G: Converted, source: Any, cutoff: Any = None) -> dict:
    """`networkx.single_source_shortest_path_length`."""
    return _lengths(G, source, _search(G, source, False, cutoff, f"Source {source} is not in G"))


def single_target_shortest_path_length(G: Converted, target: Any, cutoff: Any = None) -> dict:
    """`networkx.single_target_shortest_path_length`."""
    return _lengths(G, target, _search(G, target, True, cutoff, f"Target {target} is not in G"))


def single_source_shortest_path(G: Converted, source: Any, cutoff: Any = None) -> dict[Any, list]:
    """`networkx.single_source_shortest_path`."""
    found = _search(G, source, False, cutoff, f"Source {source} not in G")
    paths = {source: [source]}
    for node, before in _paths(G, found):
        paths[node] = [*paths[before], node]
    return paths


def single_target_shortest_path(G: Converted, target: Any, cutoff: Any = None) -> dict[Any, list]:
    """`networkx.single_target_shortest_path`."""
    found = _search(G, target, True, cutoff, f"Target {target} not in G")
    paths = {target: [target]}
    for node, after in _paths(G, found):
        paths[node] = [node, *paths[after]]
    return paths


def all_pairs_shortest_path_length(G: Converted, cutoff: Any = None) -> Iterator[tuple[Any, dict]]:
    """`networkx.all_pairs_shortest_path_length`."""
    for node in G:
        yield node, single_source_shortest_path_length(G, node, cutoff)


def all_pairs_shortest_path(G: Converted, cutoff: Any = None) -> Iterator[tuple[Any, dict]]:
    """`networkx.all_pairs_shortest_path`."""
    for node in G:
        yield node, single_source_shortest_path(G, node, cutoff)


def bidirectional_shortest_path(G: Converted, source: Any, target: Any) -> list:
    """`networkx.bidirectional_shortest_path`."""
    for end, what in ((source, "Source"), (target, "Target")):
        if end not in G:
            raise nx.NodeNotFound(f"{what} {end} is not in G")
    path = path_between(G.lists, G.turned.lists, G.numbers[source], G.numbers[target])
    if path is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return [G.nodes[v] for v in path]
