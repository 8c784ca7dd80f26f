"""Greedy colouring, and label propagation class by class of such a colouring.

A colouring depends on the order of the nodes. Orders that depend on how Python iterates over sets, or are
functions of the user, are left to NetworkX, as is the interchange of colours.
"""

from __future__ import annotations

import random
from collections.abc import ValuesView
from typing import Any

import networkx as nx
import numpy as np

from gpop.networkx.converted import Converted
from gpop.networkx.kernels.sequential import greedy_colours, most_frequent_labels
from gpop.networkx.refusing import refusing


def _largest_first(G: Converted) -> np.ndarray:
    """By descending degree, else as they are."""
    return np.argsort(-G.degrees(), kind="stable")


def _random_sequential(G: Converted) -> np.ndarray:
    """Shuffled by the random numbers that NetworkX would have taken."""
    order = list(range(G.n))
    random.shuffle(order)
    return np.array(order)


ORDERS = {"largest_first": _largest_first, "random_sequential": _random_sequential}


def _refuses(strategy: Any, interchange: bool) -> str | None:
    known = isinstance(strategy, str) and strategy in nx.coloring.greedy_coloring.STRATEGIES
    if callable(strategy) or (known and strategy not in ORDERS):
        return f"the strategy is none of {', '.join(ORDERS)}"
    return "colours are interchanged" if interchange else None


@refusing(_refuses)
def greedy_color(G: Converted, strategy: Any = "largest_first", interchange: bool = False) -> dict[Any, int]:
    """`networkx.greedy_color`."""
    if G.n == 0:
        return {}
    if strategy not in ORDERS:
        raise nx.NetworkXError(f"strategy must be callable or a valid string. {strategy} not valid.")
    order = ORDERS[strategy](G)
    colour = greedy_colours(G.lists, order)
    return dict(zip(G.nodes_of(order), colour[order].tolist(), strict=True))


def label_propagation_communities(G: Converted) -> ValuesView[set]:
    """`networkx.label_propagation_communities`: all vertices of a colour could move at once."""
    colour = greedy_colours(G.lists, _largest_first(G))
    label = most_frequent_labels(G.lists, np.argsort(colour, kind="stable"))
    communities: dict[int, set] = {}
    for node, of in zip(G.nodes, label.tolist(), strict=True):
        communities.setdefault(of, set()).add(node)
    return communities.values()
