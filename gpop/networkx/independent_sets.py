"""Maximal independent sets: NetworkX's conditions, gpop's set.

Which of the many sets it is follows in NetworkX from how Python iterates over a set of nodes. Here the random
numbers decide about a first node, where none is given, and about the priorities by which gpop finds the rest.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

import gpop
from gpop.networkx.converted import Converted


def maximal_independent_set(G: Converted, nodes: Any = None, seed: Any = None) -> list:
    """`networkx.maximal_independent_set`: a valid one, the same for the same seed."""
    chosen = set(nodes) if nodes else {seed.choice(G.nodes)}
    if not all(node in G for node in chosen):
        raise nx.NetworkXUnfeasible(f"{chosen} is not a subset of the nodes of G")
    member = np.zeros(G.n, bool)
    member[[G.numbers[node] for node in chosen]] = True
    tails, heads = G.tails(), G.lists.indices
    covered = np.zeros(G.n, bool)
    covered[heads[member[tails]]] = True
    if (covered & member).any():
        raise nx.NetworkXUnfeasible(f"{chosen} is not an independent set of G")
    free = ~(covered | member)
    left, number = np.flatnonzero(free), np.cumsum(free) - 1
    inside = free[tails] & free[heads]
    rest = gpop.Graph.from_edges(number[tails[inside]], number[heads[inside]], n=left.size)
    more = gpop.independent_set(rest, seed=seed.randrange(1 << 31)).vertices
    return [*chosen, *G.nodes_of(left[more])]
