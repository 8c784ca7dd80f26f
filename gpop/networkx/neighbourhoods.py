"""Triangles, clustering coefficients and core numbers of undirected graphs.

NetworkX weighs directions and weights in ways of its own; directed and weighted ones are left to it.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

import gpop
from gpop.apps.clustering import ClusteringResult
from gpop.networkx.converted import Converted
from gpop.networkx.refusing import refusing


def _kind(G: Any) -> str | None:
    return "the graph is directed" if G.is_directed() else None


undirected = refusing(_kind)
unweighted = refusing(lambda G, weight: "edges are weighted" if weight is not None else _kind(G))


def _links(G: Converted, parallel: bool = False) -> ClusteringResult:
    """What the app finds; ``parallel``: whether NetworkX takes graphs with parallel edges."""
    if G.is_multigraph() and not parallel:
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")
    return gpop.clustering(G.engine())


def _each(G: Converted, nodes: Any, values: list) -> Any:
    """Node -> value, of those that are asked for; the value itself where that is one node."""
    if nodes is None:
        return dict(zip(G.nodes, values, strict=True))
    if nodes in G:
        return values[G.numbers[nodes]]
    return {node: values[G.numbers[node]] for node in G.nbunch_iter(nodes)}


def triangles(G: Converted, nodes: Any = None) -> Any:
    """`networkx.triangles`."""
    return _each(G, nodes, _links(G, nodes is None).triangles.tolist())


@unweighted
def clustering(G: Converted, nodes: Any = None, weight: Any = None) -> Any:
    """`networkx.clustering`: the whole number 0 where there is no triangle."""
    found = _links(G)
    pairs = found.neighbours.astype(np.int64) * (found.neighbours.astype(np.int64) - 1)
    shares = np.divide(found.links, pairs, out=np.zeros(G.n), where=found.links > 0)
    return _each(G, nodes, [share or 0 for share in shares.tolist()])


@unweighted
def average_clustering(G: Converted, nodes: Any = None, weight: Any = None, count_zeros: bool = True) -> Any:
    """`networkx.average_clustering`."""
    values = clustering(G, nodes).values()
    if not count_zeros:
        values = [value for value in values if value]
    return sum(values) / len(values)


@undirected
def transitivity(G: Converted) -> Any:
    """`networkx.transitivity`: the whole number 0 where there is no triangle."""
    found = _links(G)
    neighbours = found.neighbours.astype(np.int64)
    links, pairs = int(found.links.sum()), int((neighbours * (neighbours - 1)).sum())
    return links / pairs if links else 0


@undirected
def core_number(G: Converted) -> dict[Any, int]:
    """`networkx.core_number`."""
    if G.loops().any():
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return G.named(gpop.core_number(G.engine()).core)
