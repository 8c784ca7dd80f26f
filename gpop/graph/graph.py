"""Graph: a directed graph in compressed sparse row form (CSR).

The out-neighbours of vertex v are ``indices[indptr[v]:indptr[v + 1]]`` (uint32), ``weights`` lies
beside ``indices``, offsets are int64. An undirected graph holds every edge in both directions.
Vertices are 0 .. n-1; ``original_ids[v]`` is the name v had where it came from, when that differs.
A Graph does not change; what is derived from it (derived.py) is computed when asked for and kept.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Hashable
from typing import Any

import numpy as np

from gpop.common.above import module_above
from gpop.common.arguments import as_index, plain
from gpop.common.errors import UsageError
from gpop.graph.arguments import as_names
from gpop.graph.derived import Derived
from gpop.graph.facts import Facts
from gpop.graph.from_arrays import FromArrays
from gpop.graph.interchange import Interchange
from gpop.graph.kept import Kind, Store
from gpop.graph.kept_bytes import Bytes

FIXED = frozenset(("n", "m", "indptr", "indices", "weights"))
"""Attributes of a graph that are never set again."""


class Graph(FromArrays, Derived, Interchange):
    """A directed graph in CSR form; make one with a ``from_`` method or `gpop.load`.

    The constructor takes arrays of the final types as they are; `from_csr` checks and converts.

    Parameters
    ----------
    indptr : ndarray of int64, [n + 1]
        Where the neighbours of each vertex begin.
    indices : ndarray of uint32, [m]
        Destinations of the edges.
    weights : ndarray, [m], optional
        Of any numeric type, beside ``indices``.
    original_ids : ndarray, [n], optional
        What each vertex was called where it came from.
    name : str
        For messages and output.

    Attributes
    ----------
    n, m : int
        Numbers of vertices and of edges.
    store : Store
        Derived data kept with the graph (layouts, workspaces, copies on a device); `kept` lists it and
        `drop` frees it. A copy, or what comes out of a pickle, begins without it; edges that are mapped
        from a file travel as plain arrays.
    facts : Facts
        What was found out about the graph.

    Examples
    --------
    >>> from gpop.graph.graph import Graph
    >>> graph = Graph.from_edges([0, 0, 2], [1, 2, 1])
    >>> graph
    Graph(3 vertices, 3 edges)
    >>> graph.indptr.tolist(), graph.indices.tolist()
    ([0, 2, 2, 3], [1, 2, 1])
    """

    def __init__(
        self,
        indptr: np.ndarray,
        indices: np.ndarray,
        weights: np.ndarray | None = None,
        *,
        original_ids: np.ndarray | None = None,
        name: str = "",
    ) -> None:
        self.n = len(indptr) - 1
        self.m = len(indices)
        self.indptr = indptr
        self.indices = indices
        self.weights = weights
        self.original_ids = original_ids
        self.name = name
        self.facts = Facts()
        self.store = Store((indptr, indices, weights))

    def __setattr__(self, name: str, value: Any) -> None:
        """Of edges that are set nobody would hear who has made something of those that were there."""
        if name in FIXED and name in vars(self):
            raise UsageError(
                f"Graph.{name} cannot be set: a graph does not change; make another one, such as "
                "Graph.from_csr(graph.indptr, graph.indices, weights, original_ids=graph.original_ids)"
            )
        if name == "original_ids" and "store" in vars(self):
            value = None if value is None else as_names(value, self.n)
            self.store.discard(Kind.IDS)
            self.store.discard(Kind.REORDERED)  # the order of ids decides between vertices that are alike
            self.store.forget()
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles take along: the graph and what is known of it, nothing built for runs."""
        state = {**self.__dict__, "facts": self.facts.copied()}
        del state["store"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.store = Store((self.indptr, self.indices, self.weights))

    def __repr__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        weighted = "" if self.weights is None else f", {self.weights.dtype} weights"
        return f"Graph({name}{self.n} vertices, {self.m} edges{weighted})"

    def _repr_html_(self) -> str:
        """What a notebook shows: sizes, and how many vertices have which out-degree."""
        from gpop.common import html
        from gpop.common.histogram import histogram

        said = f"{self.n:,} vertices, {self.m:,} edges"
        if self.weights is not None:
            said += f", {self.weights.dtype} weights"
        if self.original_ids is not None:
            said += ", original ids"
        title = html.escape(f"Graph {self.name}".rstrip())
        picture = html.bars(histogram(self.out_degree), "out-degree")
        return f"<div><strong>{title}</strong><br>{said}<br>{picture}</div>"

    def _with_edges(self, arrays: tuple[np.ndarray | None, ...]) -> Graph:
        """A graph of these arrays of CSR, with the same vertices."""
        return Graph(*arrays, original_ids=self.original_ids, name=self.name)

    @property
    def out_degree(self) -> np.ndarray:
        """Number of out-edges of each vertex, uint32 [n]."""
        degree = self.store.get(Kind.DEGREES)
        if degree is None:
            degree = np.empty(self.n, np.uint32)
            np.subtract(self.indptr[1:], self.indptr[:-1], out=degree, casting="unsafe")
            degree = self.store.put_first(Kind.DEGREES, degree)
        return degree

    @property
    def nbytes(self) -> int:
        """Bytes of the CSR arrays."""
        weights = 0 if self.weights is None else self.weights.nbytes
        return self.indptr.nbytes + self.indices.nbytes + weights

    def vertex_of(self, original_id: Any) -> int:
        """The vertex with this original id.

        Parameters
        ----------
        original_id : int, str, ...
            One of ``original_ids``; a vertex index where the graph has none.

        Returns
        -------
        int

        Raises
        ------
        UsageError
            If no vertex has it.

        Examples
        --------
        >>> Graph.from_edges([0], [1]).vertex_of(1)
        1
        """
        ids = self.original_ids
        if ids is None:
            vertex = as_index(original_id)
            if vertex is not None and 0 <= vertex < self.n:
                return vertex
            known = f"0..{self.n - 1}" if self.n else "none: it has no vertices"
        else:
            index = self.store.get(Kind.IDS)
            if index is None:
                index = {name: v for v, name in enumerate(ids.tolist())}
                held = sum(map(sys.getsizeof, itertools.chain([index], index, index.values())))
                self.store.put(Kind.IDS, index, holds=Bytes(held))
            name, numeric = plain(original_id), ids.dtype.kind in "iu"
            if isinstance(name, Hashable) and name in index and not (numeric and isinstance(name, bool)):
                return index[name]
            known = f"{self.n} ids in {ids.min()}..{ids.max()}" if numeric and self.n else f"{self.n} names"
        raise UsageError(
            f"vertex {plain(original_id)!r} is not in graph {self.name or '(unnamed)'}; its ids: {known}"
        )

    def save(self, path: str | os.PathLike) -> None:
        """Write the graph to a file: `gpop.save`, which says what edge lists do not hold.

        Parameters
        ----------
        path : str or path
            Its suffix names the format.

        Raises
        ------
        UsageError
            For an unknown suffix.
        GraphFileError
            If the file cannot be written, or its format has no room for the graph.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "pair.el")
        >>> Graph.from_edges([0], [1]).save(path)
        >>> path.read_text().splitlines()[-1].split()
        ['0', '1']
        """
        module_above("io").save(self, path)
