"""Graph: a directed graph in compressed sparse row form (CSR).

The out-neighbours of vertex v are ``indices[indptr[v]:indptr[v + 1]]`` (uint32), ``weights`` lies
beside ``indices``, offsets are int64. An undirected graph holds every edge in both directions.
Vertices are 0 .. n-1; ``original_ids[v]`` is the name v had where it came from, when that differs.
A Graph does not change; what is derived from it is computed when asked for and kept.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from gpop.common.above import module_above
from gpop.common.arguments import plain
from gpop.common.errors import UsageError
from gpop.graph.arguments import as_ids, as_weights, check_size
from gpop.graph.facts import Facts
from gpop.graph.kept import Bytes, KeptList, Kind, Store
from gpop.graph.validate import ids_fault, offsets_fault

if TYPE_CHECKING:
    import networkx
    import pandas
    import pyarrow
    import scipy.sparse


class Graph:
    """A directed graph in CSR form; make one with a ``from_`` method or `gpop.load`.

    Attributes
    ----------
    n, m : int
        Numbers of vertices and of edges.
    indptr, indices, weights
        int64 offsets [n+1], uint32 destinations [m], and None or a numeric array [m].
    original_ids
        None, or the original id of each vertex [n].
    name : str
        For messages and output.
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
    ):
        """Take arrays of the final dtypes as they are; `from_csr` checks and converts."""
        self.n = len(indptr) - 1
        self.m = len(indices)
        self.indptr = indptr
        self.indices = indices
        self.weights = weights
        self.original_ids = original_ids
        self.name = name
        self.facts = Facts()
        self.store = Store((indptr, indices, weights))

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

    @classmethod
    def from_csr(
        cls,
        indptr: Any,
        indices: Any,
        weights: Any = None,
        *,
        original_ids: np.ndarray | None = None,
        name: str = "",
    ) -> Graph:
        """Graph over CSR arrays, checked; without a copy of int64 offsets and 32-bit ids.

        >>> Graph.from_csr([0, 1, 2], [1, 0]).m
        2
        """
        indptr, indices = np.asarray(indptr), np.asarray(indices)
        if indptr.ndim != 1 or indices.ndim != 1 or len(indptr) == 0:
            raise UsageError("CSR arrays have the wrong shape, expected offsets [n+1] and ids [m]")
        if indices.size == 0:
            indices = indices.astype(np.uint32)
        if indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
            raise UsageError(f"CSR arrays are {indptr.dtype} and {indices.dtype}, expected integers")
        n = len(indptr) - 1
        check_size(n)
        indptr = np.ascontiguousarray(indptr, np.int64)
        fault = offsets_fault(indptr, len(indices)) or ids_fault(indices, n)
        if fault:
            raise UsageError(f"inconsistent CSR: {fault}")
        if indices.dtype == np.int32:  # the ids were found non-negative
            indices = indices.view(np.uint32)
        weights = as_weights(weights, len(indices))
        if original_ids is not None and len(original_ids) != n:
            raise UsageError(f"original_ids has {len(original_ids)} entries, expected n = {n}")
        indices = np.ascontiguousarray(indices, np.uint32)
        return cls(indptr, indices, weights, original_ids=original_ids, name=name)

    @classmethod
    def from_edges(
        cls,
        src: Any,
        dst: Any,
        weights: Any = None,
        n: int | None = None,
        duplicates: str = "keep",
        *,
        name: str = "",
    ) -> Graph:
        """Graph of the edges ``src[i] -> dst[i]``; adjacency lists are sorted by destination.

        Parameters
        ----------
        src, dst
            Vertex ids of one length, 0 .. n-1.
        weights
            None, or a number for each edge.
        n
            Number of vertices; the largest id + 1 when not given.
        duplicates
            What becomes of edges that occur several times: ``"keep"`` all, or one edge with the
            weight that came ``"first"``, the ``"min"``, the ``"max"`` or the ``"sum"`` (integer
            weights are summed in 64 bits).

        Examples
        --------
        >>> graph = Graph.from_edges([1, 0, 1], [0, 1, 0], [5, 7, 3], duplicates="min")
        >>> graph.m, graph.weights.tolist()
        (2, [7, 3])
        """
        from gpop.graph.build import array_edges, build_csr

        src, dst = as_ids(src, "src"), as_ids(dst, "dst")
        if len(src) != len(dst):
            raise UsageError(f"src has {len(src)} ids and dst has {len(dst)}, expected the same number")
        weights = as_weights(weights, len(src))
        largest = max((int(ids.max()) for ids in (src, dst) if len(ids)), default=-1)
        n = largest + 1 if n is None else n
        check_size(n)
        if largest >= n:
            raise UsageError(f"vertex id {largest} is outside the graph, expected ids in 0..{n - 1}")
        if weights is not None and duplicates == "sum" and weights.dtype.kind in "iu":
            weights = weights.astype(np.int64 if weights.dtype.kind == "i" else np.uint64)
        dtype = None if weights is None else weights.dtype
        return cls(*build_csr(n, [array_edges(src, dst, weights)], dtype, duplicates), name=name)

    @classmethod
    def from_scipy(cls, matrix: scipy.sparse.sparray, *, weighted: bool = True, name: str = "") -> Graph:
        """Graph of a square SciPy sparse matrix: entry (u, v) is the edge u -> v and its weight.

        Stored zeros are edges. A matrix of booleans has no weights; ``weighted=False`` drops them.
        """
        return module_above("interop.scipy_matrix").from_scipy(matrix, weighted, name)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph, *, weight: str | None = "weight") -> Graph:
        """Graph of a NetworkX graph; an undirected one gives both directions of every edge.

        Edges get the attribute ``weight`` (1 where an edge lacks it); when no edge has it, or
        ``weight=None``, there are no weights. Nodes other than 0 .. n-1 are kept in
        ``original_ids``.
        """
        return module_above("interop.networkx_graph").from_networkx(graph, weight)

    @classmethod
    def from_pandas(
        cls,
        frame: pandas.DataFrame,
        source: Any = None,
        target: Any = None,
        weight: Any = None,
        *,
        n: int | None = None,
        duplicates: str = "keep",
        name: str = "",
    ) -> Graph:
        """Graph of a pandas DataFrame with one row for each edge.

        Parameters
        ----------
        source, target
            Columns of the ends; by default those with a usual name (source, src, from, ...; target,
            dst, to, ...), else the first two. Integers are ids; what is sparse is numbered and kept
            in ``original_ids`` like in text edge lists. Anything else is a name, numbered in the
            order of first appearance (all sources, then all targets).
        weight
            Column of the weights; by default one that is called weight, w, ...; False for none.
        n
            Number of vertices, for ids that are 0 .. n-1.
        duplicates
            As in `from_edges`.

        Examples
        --------
        >>> pandas = __import__("pytest").importorskip("pandas")
        >>> frame = pandas.DataFrame({"from": ["a", "b", "a"], "to": ["b", "c", "b"], "w": [1.5, 2, 3]})
        >>> graph = Graph.from_pandas(frame, duplicates="sum")
        >>> graph.original_ids.tolist(), graph.indices.tolist(), graph.weights.tolist()
        (['a', 'b', 'c'], [1, 2], [4.5, 2.0])
        """
        return module_above("interop.pandas_frame").from_pandas(
            frame, source, target, weight, n, duplicates, name
        )

    @classmethod
    def from_arrow(
        cls,
        table: Any,
        source: str | None = None,
        target: str | None = None,
        weight: Any = None,
        *,
        n: int | None = None,
        duplicates: str = "keep",
        name: str = "",
    ) -> Graph:
        """Graph of an edge table with the Arrow C stream interface: pyarrow, Polars, DuckDB, ...

        Columns, ids and duplicates are treated like in `from_pandas`; needs the package pyarrow.

        Examples
        --------
        >>> pyarrow = __import__("pytest").importorskip("pyarrow")
        >>> Graph.from_arrow(pyarrow.table({"src": [0, 1], "dst": [1, 2], "weight": [5, 7]}))
        Graph(3 vertices, 2 edges, int64 weights)
        """
        return module_above("interop.arrow_table").from_arrow(
            table, source, target, weight, n, duplicates, name
        )

    @property
    def out_degree(self) -> np.ndarray:
        """Number of out-edges of each vertex, uint32 [n]."""
        degree = self.store.get(Kind.DEGREES)
        if degree is None:
            degree = np.empty(self.n, np.uint32)
            np.subtract(self.indptr[1:], self.indptr[:-1], out=degree, casting="unsafe")
            self.store.put(Kind.DEGREES, degree)
        return degree

    @property
    def nbytes(self) -> int:
        """Bytes of the CSR arrays."""
        weights = 0 if self.weights is None else self.weights.nbytes
        return self.indptr.nbytes + self.indices.nbytes + weights

    def reverse(self) -> Graph:
        """The graph with every edge turned round (its CSC), weights carried; kept once made."""
        turned = self.store.get(Kind.REVERSE)
        if turned is None:
            from gpop.graph.build import build_csr, csr_edges

            edges = csr_edges(self.indptr, self.indices, self.weights).reversed()
            dtype = None if self.weights is None else self.weights.dtype
            # sources come in ascending order: they are the new destinations, sorted already
            arrays = build_csr(self.n, [edges], dtype, by_destination=False)
            turned = Graph(*arrays, original_ids=self.original_ids, name=self.name)
            self.store.put(Kind.REVERSE, turned, holds=arrays, graph=turned)
        return turned

    def kept(self) -> KeptList:
        """What is kept with the graph and with graphs made of it, and the bytes of each on host and device.

        Examples
        --------
        >>> import gpop
        >>> graph = Graph.from_edges([0, 0, 2], [1, 2, 1])
        >>> _ = graph.reverse()
        >>> graph.kept()
        kind     what  host  device
        reverse        44 B     0 B
        total          44 B     0 B
        """
        return self.store.listed()

    def drop(self, kind: str | None = None) -> None:
        """Free what is kept, all or one kind (as `kept` names it), on the host and on a device.

        What is dropped is built again when a run needs it. A run on the graph in another thread is waited
        for.

        Raises
        ------
        UsageError
            If there is no such kind, or from a callback of a run on the graph.

        Examples
        --------
        >>> graph = Graph.from_edges([0, 0, 2], [1, 2, 1])
        >>> _ = graph.reverse()
        >>> graph.drop("reverse")
        >>> len(graph.kept())
        0
        """
        from gpop.graph.exclusive import exclusive

        with exclusive(self):
            self.store.drop(kind)

    def symmetrize(self) -> Graph:
        """The graph with both directions of every edge, each once; a merged edge has the least weight."""
        from gpop.graph.build import build_csr, csr_edges

        edges = csr_edges(self.indptr, self.indices, self.weights)
        dtype = None if self.weights is None else self.weights.dtype
        arrays = build_csr(self.n, [edges, edges.reversed()], dtype, "min")
        result = Graph(*arrays, original_ids=self.original_ids, name=self.name)
        result.facts.symmetric = True
        return result

    def is_symmetric(self) -> bool:
        """Whether every edge u -> v has its v -> u (how often, and weights, do not matter).

        Found by a fingerprint: a False is certain, a True wrong with probability 2**-64.
        """
        if self.facts.symmetric is None:
            from gpop.graph.symmetry import mirrored, rows_sorted

            ascending = self if rows_sorted(self.indptr, self.indices) else self.reverse()
            self.facts.symmetric = mirrored(ascending.indptr, ascending.indices)
        return self.facts.symmetric

    def equals_reverse(self) -> bool:
        """Whether turning every edge round gives the same edges, as often and with the same weights.

        Found by a fingerprint, as in `is_symmetric`.
        """
        if self.facts.equals_reverse is None:
            from gpop.graph.symmetry import mirrored

            self.facts.equals_reverse = mirrored(self.indptr, self.indices, self.weights, exactly=True)
        return self.facts.equals_reverse

    def vertex_of(self, original_id: Any) -> int:
        """The vertex with this original id; UsageError when there is none.

        >>> Graph.from_edges([0], [1]).vertex_of(1)
        1
        """
        ids = self.original_ids
        if ids is None:
            if isinstance(original_id, int | np.integer) and 0 <= original_id < self.n:
                return int(original_id)
            known = f"0..{self.n - 1}" if self.n else "none: it has no vertices"
        else:
            index = self.store.get(Kind.IDS)
            if index is None:
                index = {name: v for v, name in enumerate(ids.tolist())}
                held = sum(map(sys.getsizeof, itertools.chain([index], index, index.values())))
                self.store.put(Kind.IDS, index, holds=Bytes(held))
            name = plain(original_id)
            if isinstance(name, Hashable) and name in index:
                return index[name]
            numeric = self.n and ids.dtype.kind in "iu"
            known = f"{self.n} ids in {ids.min()}..{ids.max()}" if numeric else f"{self.n} names"
        raise UsageError(
            f"vertex {plain(original_id)!r} is not in graph {self.name or '(unnamed)'}; its ids: {known}"
        )

    def to_scipy(self) -> scipy.sparse.csr_array:
        """CSR matrix with the weights (1.0 where there are none); ids are shared when they fit 31 bits."""
        return module_above("interop.scipy_matrix").to_scipy(self)

    def to_networkx(self) -> networkx.DiGraph:
        """NetworkX DiGraph with original ids (a MultiDiGraph when there are duplicate edges)."""
        return module_above("interop.networkx_graph").to_networkx(self)

    def to_pandas(self) -> pandas.DataFrame:
        """DataFrame with columns source, target and, when there are weights, weight; original ids."""
        return module_above("interop.pandas_frame").to_pandas(self)

    def to_arrow(self) -> pyarrow.Table:
        """Arrow table with columns source, target and, when there are weights, weight; original ids."""
        return module_above("interop.arrow_table").to_arrow(self)

    def save(self, path: str | os.PathLike) -> None:
        """Write the graph in the format that the suffix of ``path`` names (`gpop.io`)."""
        module_above("io").save(self, path)
