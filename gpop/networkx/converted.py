"""The graph that the functions of this backend get: what NetworkX keeps in dicts, as arrays.

Vertex v is the v-th node. ``lists`` are the adjacency lists in NetworkX's order, which decides what comes
first in searches; attributes of edges lie beside them. A multigraph has every neighbour once: with the number
of parallel edges, and of an attribute both the sum (for matrices) and the least (for paths).

`turned` is the same in the other direction, made of NetworkX's dicts when it is first asked for (the order of
its lists is not that of these). `engine` is a `gpop.Graph` with ascending lists, for apps. Both are kept.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np

import gpop
from gpop.graph.build import build_csr, csr_edges
from gpop.interop.networkx_graph import is_view, lists_of, numbers_of, rows_of, values_of


class Converted:
    """A NetworkX graph in arrays; it speaks as much of NetworkX's language as its own functions need.

    Parameters
    ----------
    graph : networkx.Graph
    attributes : dict of str to number
        Attributes of edges to take along, and what an edge has that lacks them.
    turned : bool
        With all edges turned round.

    Raises
    ------
    UsageError
        If an attribute is no number.

    Examples
    --------
    >>> letters = nx.DiGraph([("b", "c"), ("b", "a")])
    >>> graph = Converted(letters, {"weight": 1})
    >>> graph.nodes, graph.lists.indices, graph.turned.lists.indices
    (['b', 'c', 'a'], array([1, 2], dtype=uint32), array([0, 0], dtype=uint32))
    """

    __networkx_backend__ = "gpop"

    def __init__(self, graph: nx.Graph, attributes: dict[str, Any], turned: bool = False) -> None:
        self.nodes = list(graph)
        self.n = len(self.nodes)
        self.attributes = attributes
        self._numbers = numbers_of(self.nodes)
        self._directed, self._multigraph = graph.is_directed(), graph.is_multigraph()
        self._view = is_view(graph)
        rows = rows_of(graph._pred if turned else graph._adj, self.nodes)
        self.lists = lists_of(rows, self._numbers)
        self._often = None
        folds = {"sum": None, "least": None}
        if self._multigraph:
            parallel = (edges for row in rows for edges in row.values())
            self._often = np.fromiter(map(len, parallel), np.int64, len(self.lists.indices))
            folds = {"sum": sum, "least": min}
        self._values = {
            (name, how): values_of(rows, name, default, fold)
            for name, default in attributes.items()
            for how, fold in folds.items()
            if how == "sum" or fold is not None
        }
        self._source, self._is_turned = weakref.ref(graph), turned
        self._kept: dict[Any, Any] = {}

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator:
        return iter(self.nodes)

    def __contains__(self, node: Any) -> bool:
        try:
            return node in self.numbers
        except TypeError:  # cannot be hashed
            return False

    def is_directed(self) -> bool:
        """As NetworkX's."""
        return self._directed

    def is_multigraph(self) -> bool:
        """As NetworkX's."""
        return self._multigraph

    def nbunch_iter(self, nodes: Any = None) -> Iterator:
        """As NetworkX's, which looks at ``_adj`` for nothing but its keys."""
        return nx.Graph.nbunch_iter(self, nodes)  # type: ignore[arg-type]

    @property
    def _adj(self) -> dict[Any, int]:
        return self.numbers

    def reverse(self, copy: bool = True) -> Converted:
        """As NetworkX's, always without a copy."""
        return self.turned

    def original(self) -> nx.Graph:
        """The graph that this was made of."""
        graph = self._alive()
        return graph.reverse() if self._is_turned else graph

    def _alive(self) -> nx.Graph:
        graph = self._source()
        if graph is None:
            raise NotImplementedError("gpop: the NetworkX graph that was converted is gone")
        return graph

    @property
    def numbers(self) -> dict[Any, int]:
        """Node -> vertex."""
        if self._numbers is None:
            self._numbers = {node: v for v, node in enumerate(self.nodes)}
        return self._numbers

    @property
    def turned(self) -> Converted:
        """With the edges turned round; an undirected graph is that itself."""
        if not self._directed:
            return self
        return self.kept("turned", lambda: Converted(self._alive(), self.attributes, not self._is_turned))

    def kept(self, name: Any, make: Callable[[], Any]) -> Any:
        """What is made once and kept with the graph."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def weights(self, attribute: str | None, how: str) -> np.ndarray | None:
        """Weights of the edges beside ``lists``, None where all are 1; ``how``: "sum" or "least"."""
        if attribute is None:
            return self._often if how == "sum" else None
        if attribute not in self.attributes:
            raise NotImplementedError(f"gpop: the graph was converted without the attribute {attribute!r}")
        if (
            how == "sum"
            and self._view
            and not self._directed
            and not self.kept(
                ("alike", attribute), lambda: self._same_both_ways(self._values[attribute, "sum"])
            )
        ):
            raise NotImplementedError(f"gpop: {attribute!r} is another one in the other direction of an edge")
        values = self._values[attribute, how if self._multigraph else "sum"]
        return None if (values == 1).all() else values

    def _same_both_ways(self, values: np.ndarray) -> bool:
        """Whether undirected edges have one value each; a view of a directed graph has its two.

        NetworkX's matrices are made of one of them, its searches look at both.
        """
        tails, heads = self.tails(), self.lists.indices
        return np.array_equal(values[np.lexsort((heads, tails))], values[np.lexsort((tails, heads))])

    def engine(self, attribute: str | None = None, how: str = "least") -> gpop.Graph:
        """The graph for apps, with these weights as float64; without an attribute every neighbour once."""
        return self.kept(("engine", attribute, how), lambda: self._build(attribute, how))

    def _build(self, attribute: str | None, how: str) -> gpop.Graph:
        weights, dtype = self.weights(attribute, how), None
        if weights is not None:
            weights, dtype = weights.astype(np.float64, copy=False), np.dtype(np.float64)
        elif (attribute, how) != (None, "least"):
            return self.engine()
        graph = gpop.Graph(*build_csr(self.n, [csr_edges(*self.lists, weights)], dtype))
        graph.facts.ascending = True
        if not self._directed:
            graph.facts.symmetric = graph.facts.equals_reverse = True
        return graph

    def degrees(self) -> np.ndarray:
        """Degree of every node as NetworkX counts it: parallel edges each, a loop twice, both directions."""
        often = np.ones(len(self.lists.indices), np.int64) if self._often is None else self._often
        also = slice(None) if self._directed else self.loops()
        ends = np.bincount(self.tails(), often, self.n)
        ends += np.bincount(self.lists.indices[also], often[also], self.n)
        return ends.astype(np.int64)

    def tails(self) -> np.ndarray:
        """The vertex whose list each neighbour is in."""
        return np.repeat(np.arange(self.n), np.diff(self.lists.indptr))

    def loops(self) -> np.ndarray:
        """Which neighbours are the vertex itself."""
        return self.tails() == self.lists.indices

    def named(self, values: np.ndarray) -> dict[Any, Any]:
        """Node -> its value, in the order of the nodes, as Python's numbers."""
        return dict(zip(self.nodes, values.tolist(), strict=True))

    def nodes_of(self, vertices: np.ndarray) -> list:
        """The nodes of these vertices, in their order."""
        return list(map(self.nodes.__getitem__, vertices.tolist()))
