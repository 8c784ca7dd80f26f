"""Connected, weakly and strongly connected components, in the order in which NetworkX finds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

import gpop
from gpop.apps.cc import ComponentsResult
from gpop.networkx.converted import Converted
from gpop.networkx.kernels.breadth_first import breadth_first, limit_of
from gpop.networkx.kernels.strong import strong_components


def _sets(G: Converted, component: np.ndarray) -> Iterator[set]:
    """The nodes of each component, by the number of the component."""
    order = np.argsort(component, kind="stable")
    ordered, nodes = component[order], G.nodes_of(order)
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, len(nodes)) if nodes else ()
    first = 0
    for last in map(int, ends):
        yield set(nodes[first:last])
        first = last


def _weak(G: Converted) -> ComponentsResult:
    return gpop.connected_components(G.engine())


def _not_null(G: Converted) -> None:
    if G.n == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")


def connected_components(G: Converted) -> Iterator[set]:
    """`networkx.connected_components`: a label is the first node of its component."""
    yield from _sets(G, _weak(G).label)


def number_connected_components(G: Converted) -> int:
    """`networkx.number_connected_components`."""
    return int(_weak(G).count)


def is_connected(G: Converted) -> bool:
    """`networkx.is_connected`."""
    _not_null(G)
    return _weak(G).count == 1


def node_connected_component(G: Converted, n: Any) -> set:
    """`networkx.node_connected_component`."""
    return set(G.nodes_of(breadth_first(G.lists, [G.numbers[n]], limit_of(None)).order))


weakly_connected_components = connected_components
number_weakly_connected_components = number_connected_components
is_weakly_connected = is_connected


def strongly_connected_components(G: Converted) -> Iterator[set]:
    """`networkx.strongly_connected_components`."""
    yield from _sets(G, strong_components(G.lists)[0])


def number_strongly_connected_components(G: Converted) -> int:
    """`networkx.number_strongly_connected_components`."""
    return strong_components(G.lists)[1]


def is_strongly_connected(G: Converted) -> bool:
    """`networkx.is_strongly_connected`."""
    _not_null(G)
    return strong_components(G.lists)[1] == 1
