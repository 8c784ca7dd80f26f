"""Shortest paths by the weights of edges: Dijkstra's, from one node or several, to one, between two or all.

Negative, infinite and undefined weights are left to NetworkX, as are weights that are computed by a function.
Where some weights are whole numbers and others are not, all distances are floats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from gpop.networkx.converted import Converted
from gpop.networkx.kernels.dijkstra import NOBODY, Paths, dijkstra, path_between
from gpop.networkx.refusing import no_callable, refusing

by_name = refusing(no_callable)


class Lengths(NamedTuple):
    """Of the edges beside the lists, float64, and whether they are whole numbers, which are exact then."""

    edges: np.ndarray
    whole: bool

    def listed(self, distances: np.ndarray) -> list:
        """Distances as Python's numbers, whole ones as such."""
        return (distances.astype(np.int64) if self.whole else distances).tolist()


def lengths_of(G: Converted, weight: Any) -> Lengths:
    """The lengths; those that Dijkstra's algorithm is not for are refused."""
    return G.kept(("lengths", weight), lambda: _checked_lengths(G, weight))


def _checked_lengths(G: Converted, weight: Any) -> Lengths:
    lengths = None if weight is None else G.weights(weight, "least")
    if lengths is None:
        return Lengths(np.ones(len(G.lists.indices)), True)
    if lengths.size and not (lengths.min() >= 0 and lengths.max() < np.inf):
        raise NotImplementedError(f"gpop: {weight!r} is negative, infinite or no number on some edge")
    whole = lengths.dtype.kind == "i"
    if whole and lengths.size and int(lengths.max()) * G.n > 2**53:
        raise NotImplementedError(f"gpop: lengths of paths by {weight!r} may be above 2**53")
    return Lengths(lengths.astype(np.float64, copy=False), whole)


def _search(G: Converted, sources: Iterable, weight: Any, target: Any = None, cutoff: Any = None) -> Paths:
    if not sources:
        raise ValueError("sources must not be empty")
    for source in sources:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} not found in graph")
    lengths, first = lengths_of(G, weight), [G.numbers[source] for source in sources]
    return dijkstra(G.lists, lengths.edges, first, G.numbers.get(target, NOBODY), cutoff)


def _distances(G: Converted, sources: Iterable, found: Paths, weight: Any) -> dict:
    """Node -> distance; a source is as it was given, and has the whole number 0 whatever the weights."""
    listed, none = lengths_of(G, weight).listed(found.distance), dict.fromkeys(sources, 0)
    return none | dict(zip(G.nodes_of(found.order), listed, strict=True)) | none


def _paths(G: Converted, sources: Iterable, found: Paths) -> dict[Any, list]:
    paths = {source: [source] for source in sources}
    for node, before in zip(G.nodes_of(found.order), G.nodes_of(found.parent), strict=True):
        if node not in paths:
            paths[node] = [*paths[before], node]
    return paths


@by_name
def multi_source_dijkstra(
    G: Converted, sources: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    """`networkx.multi_source_dijkstra`."""
    if sources and target in sources and all(source in G for source in sources):
        return 0, [target]
    found = _search(G, sources, weight, target, cutoff)
    if target is None:
        return _distances(G, sources, found, weight), _paths(G, sources, found)
    if not found.order.size or found.order[-1] != G.numbers.get(target, NOBODY):
        raise nx.NetworkXNoPath(f"No path to {target}.")
    before = dict(zip(found.order.tolist(), found.parent.tolist(), strict=True))
    path = [int(found.order[-1])]
    while before[path[-1]] != path[-1]:
        path.append(before[path[-1]])
    return lengths_of(G, weight).listed(found.distance[-1:])[0], [G.nodes[v] for v in reversed(path)]


@by_name
def multi_source_dijkstra_path(
    G: Converted, sources: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, list]:
    """`networkx.multi_source_dijkstra_path`."""
    return _paths(G, sources, _search(G, sources, weight, None, cutoff))


@by_name
def multi_source_dijkstra_path_length(
    G: Converted, sources: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict:
    """`networkx.multi_source_dijkstra_path_length`."""
    return _distances(G, sources, _search(G, sources, weight, None, cutoff), weight)


@by_name
def single_source_dijkstra(
    G: Converted, source: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    """`networkx.single_source_dijkstra`."""
    return multi_source_dijkstra(G, {source}, target, cutoff, weight)


@by_name
def single_source_dijkstra_path(
    G: Converted, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, list]:
    """`networkx.single_source_dijkstra_path`."""
    return multi_source_dijkstra_path(G, {source}, cutoff, weight)


@by_name
def single_source_dijkstra_path_length(
    G: Converted, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict:
    """`networkx.single_source_dijkstra_path_length`."""
    return multi_source_dijkstra_path_length(G, {source}, cutoff, weight)


@by_name
def dijkstra_path(G: Converted, source: Any, target: Any, weight: Any = "weight") -> list:
    """`networkx.dijkstra_path`."""
    return single_source_dijkstra(G, source, target, None, weight)[1]


@by_name
def dijkstra_path_length(G: Converted, source: Any, target: Any, weight: Any = "weight") -> Any:
    """`networkx.dijkstra_path_length`."""
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    try:
        if target is None:  # no node: here it does not stand for all
            raise nx.NetworkXNoPath
        return multi_source_dijkstra(G, {source}, target, None, weight)[0]
    except nx.NetworkXNoPath as error:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}") from error


@by_name
def all_pairs_dijkstra(G: Converted, cutoff: Any = None, weight: Any = "weight") -> Iterator[tuple]:
    """`networkx.all_pairs_dijkstra`."""
    for node in G:
        yield node, single_source_dijkstra(G, node, None, cutoff, weight)


@by_name
def all_pairs_dijkstra_path(G: Converted, cutoff: Any = None, weight: Any = "weight") -> Iterator[tuple]:
    """`networkx.all_pairs_dijkstra_path`."""
    for node in G:
        yield node, single_source_dijkstra_path(G, node, cutoff, weight)


@by_name
def all_pairs_dijkstra_path_length(
    G: Converted, cutoff: Any = None, weight: Any = "weight"
) -> Iterator[tuple]:
    """`networkx.all_pairs_dijkstra_path_length`."""
    for node in G:
        yield node, single_source_dijkstra_path_length(G, node, cutoff, weight)


@by_name
def bidirectional_dijkstra(
    G: Converted, source: Any, target: Any, weight: Any = "weight"
) -> tuple[Any, list]:
    """`networkx.bidirectional_dijkstra`."""
    for end, what in ((source, "Source"), (target, "Target")):
        if end not in G:
            raise nx.NodeNotFound(f"{what} {end} is not in G")
    if source == target:
        return 0, [source]
    lengths, back = lengths_of(G, weight), G.turned
    found = path_between(
        G.lists, lengths.edges, back.lists, lengths_of(back, weight).edges,
        G.numbers[source], G.numbers[target],
    )  # fmt: skip
    if found is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return lengths.listed(found[0])[0], [G.nodes[v] for v in found[1]]
