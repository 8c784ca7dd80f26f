"""``shortest_path``, its length and ``has_path``: which search it is follows from the arguments.

The methods are those of NetworkX; Bellman-Ford is left to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from gpop.networkx.converted import Converted
from gpop.networkx.refusing import no_callable, refusing
from gpop.networkx.unweighted_paths import (
    all_pairs_shortest_path,
    all_pairs_shortest_path_length,
    bidirectional_shortest_path,
    single_source_shortest_path,
    single_source_shortest_path_length,
)
from gpop.networkx.weighted_paths import (
    all_pairs_dijkstra_path,
    all_pairs_dijkstra_path_length,
    bidirectional_dijkstra,
    dijkstra_path_length,
    single_source_dijkstra_path,
    single_source_dijkstra_path_length,
)


def _refuses(weight: Any, method: str) -> str | None:
    if weight is not None and method == "bellman-ford":
        return "the method is bellman-ford"
    return no_callable(weight)


def _check(method: str) -> None:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")


@refusing(_refuses)
def shortest_path(
    G: Converted, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> dict | list | Iterator:
    """`networkx.shortest_path`."""
    _check(method)
    if source is None and target is None:
        return all_pairs_shortest_path(G) if weight is None else all_pairs_dijkstra_path(G, None, weight)
    if source is not None and target is not None:
        if weight is None:
            return bidirectional_shortest_path(G, source, target)
        return bidirectional_dijkstra(G, source, target, weight)[1]
    start, graph = (target, G.turned) if source is None else (source, G)
    if weight is None:
        paths = single_source_shortest_path(graph, start)
    else:
        paths = single_source_dijkstra_path(graph, start, None, weight)
    return {node: path[::-1] for node, path in paths.items()} if source is None else paths


@refusing(_refuses)
def shortest_path_length(
    G: Converted, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    """`networkx.shortest_path_length`."""
    _check(method)
    if source is None and target is None:
        if weight is None:
            return all_pairs_shortest_path_length(G)
        return all_pairs_dijkstra_path_length(G, None, weight)
    if source is not None and target is not None:
        if weight is None:
            return len(bidirectional_shortest_path(G, source, target)) - 1
        return dijkstra_path_length(G, source, target, weight)
    start, graph = (target, G.turned) if source is None else (source, G)
    if weight is None:
        return single_source_shortest_path_length(graph, start)
    return single_source_dijkstra_path_length(graph, start, None, weight)


def has_path(G: Converted, source: Any, target: Any) -> bool:
    """`networkx.has_path`: an end that is None stands for all nodes."""
    try:
        shortest_path(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True
