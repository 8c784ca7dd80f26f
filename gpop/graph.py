"""Graph: a directed graph in compressed sparse row form (CSR).

The out-neighbours of vertex v are ``indices[indptr[v]:indptr[v + 1]]`` (uint32), ``weights`` lies
beside ``indices``, offsets are int64. An undirected graph holds every edge in both directions.
Vertices are 0 .. n-1; ``original_ids[v]`` is the name v had where it came from, when that differs.
A Graph does not change; what is derived from it is computed when asked for and kept.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from gpop.errors import UsageError
from gpop.memory import require_memory
from gpop.validate import ids_fault, offsets_fault

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

MOST_VERTICES = 2**32 - 2  # 0xFFFFFFFF marks "no vertex"


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
    cache : dict
        Derived data kept with the graph (layouts, workspaces); never copied.

    Examples
    --------
    >>> from gpop.graph import Graph
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
        self.cache: dict = {}
        self._out_degree: np.ndarray | None = None
        self._reverse: Graph | None = None
        self._symmetric: bool | None = None
        self._vertex_of: dict | None = None

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
        _check_size(n)
        indptr = np.ascontiguousarray(indptr, np.int64)
        fault = offsets_fault(indptr, len(indices)) or ids_fault(indices, n)
        if fault:
            raise UsageError(f"inconsistent CSR: {fault}")
        if indices.dtype == np.int32:  # the ids were found non-negative
            indices = indices.view(np.uint32)
        weights = _as_weights(weights, len(indices))
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
        from gpop.build import array_edges, build_csr

        src, dst = _as_ids(src, "src"), _as_ids(dst, "dst")
        if len(src) != len(dst):
            raise UsageError(f"src has {len(src)} ids and dst has {len(dst)}, expected the same number")
        weights = _as_weights(weights, len(src))
        largest = max((int(ids.max()) for ids in (src, dst) if len(ids)), default=-1)
        n = largest + 1 if n is None else int(n)
        _check_size(n)
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
        from scipy.sparse import issparse

        if not issparse(matrix):
            raise UsageError(f"expected a SciPy sparse matrix, got {type(matrix).__name__}")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise UsageError(f"the matrix has shape {matrix.shape}, expected a square one")
        matrix = matrix.tocsr()
        weights = matrix.data if weighted and matrix.dtype != bool else None
        return cls.from_csr(matrix.indptr, matrix.indices, weights, name=name)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph, *, weight: str | None = "weight") -> Graph:
        """Graph of a NetworkX graph; an undirected one gives both directions of every edge.

        Edges get the attribute ``weight`` (1 where an edge lacks it); when no edge has it, or
        ``weight=None``, there are no weights. Nodes other than 0 .. n-1 are kept in
        ``original_ids``.
        """
        nodes = list(graph.nodes)
        number = {node: v for v, node in enumerate(nodes)}
        edges = [(number[u], number[v], data) for u, v, data in graph.edges(data=True)]
        if not graph.is_directed():
            edges += [(v, u, data) for u, v, data in edges if u != v]
        weights = None
        if weight is not None and any(weight in data for _, _, data in edges):
            weights = _smallest(np.array([data.get(weight, 1) for _, _, data in edges]))
        src, dst = ([edge[i] for edge in edges] for i in (0, 1))
        result = cls.from_edges(src, dst, weights, len(nodes), name=str(graph.name))
        if nodes != list(range(len(nodes))):
            result.original_ids = _name_array(nodes)
        return result

    @property
    def out_degree(self) -> np.ndarray:
        """Number of out-edges of each vertex, uint32 [n]."""
        if self._out_degree is None:
            degree = np.empty(self.n, np.uint32)
            np.subtract(self.indptr[1:], self.indptr[:-1], out=degree, casting="unsafe")
            self._out_degree = degree
        return self._out_degree

    @property
    def nbytes(self) -> int:
        """Bytes of the CSR arrays."""
        weights = 0 if self.weights is None else self.weights.nbytes
        return self.indptr.nbytes + self.indices.nbytes + weights

    def reverse(self) -> Graph:
        """The graph with every edge turned round (its CSC), weights carried; kept once made."""
        if self._reverse is None:
            from gpop.build import build_csr, csr_edges

            edges = csr_edges(self.indptr, self.indices, self.weights).reversed()
            dtype = None if self.weights is None else self.weights.dtype
            # sources come in ascending order: they are the new destinations, sorted already
            arrays = build_csr(self.n, [edges], dtype, by_destination=False)
            self._reverse = Graph(*arrays, original_ids=self.original_ids, name=self.name)
        return self._reverse

    def symmetrize(self) -> Graph:
        """The graph with both directions of every edge, each once; a merged edge has the least weight."""
        from gpop.build import build_csr, csr_edges

        edges = csr_edges(self.indptr, self.indices, self.weights)
        dtype = None if self.weights is None else self.weights.dtype
        arrays = build_csr(self.n, [edges, edges.reversed()], dtype, "min")
        result = Graph(*arrays, original_ids=self.original_ids, name=self.name)
        result._symmetric = True
        return result

    def is_symmetric(self) -> bool:
        """Whether every edge u -> v has its v -> u (how often, and weights, do not matter)."""
        if self._symmetric is None:
            from gpop.symmetry import mirrored, rows_sorted

            ascending = self if rows_sorted(self.indptr, self.indices) else self.reverse()
            self._symmetric = mirrored(ascending.indptr, ascending.indices)
        return self._symmetric

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
            if self._vertex_of is None:
                self._vertex_of = {name: v for v, name in enumerate(ids.tolist())}
            name = original_id.item() if isinstance(original_id, np.generic) else original_id
            if name in self._vertex_of:
                return self._vertex_of[name]
            numeric = self.n and ids.dtype.kind in "iu"
            known = f"{self.n} ids in {ids.min()}..{ids.max()}" if numeric else f"{self.n} names"
        raise UsageError(
            f"vertex {original_id!r} is not in graph {self.name or '(unnamed)'}; its ids: {known}"
        )

    def to_scipy(self) -> scipy.sparse.csr_array:
        """CSR matrix with the weights (1.0 where there are none); ids are shared when they fit 31 bits."""
        from scipy.sparse import csr_array

        data = np.ones(self.m) if self.weights is None else self.weights
        small = max(self.n, self.m) < 2**31
        indptr = self.indptr.astype(np.int32) if small else self.indptr
        indices = self.indices.view(np.int32) if small else self.indices.astype(np.int64)
        return csr_array((data, indices, indptr), shape=(self.n, self.n), copy=False)

    def to_networkx(self) -> networkx.DiGraph:
        """NetworkX DiGraph with original ids (a MultiDiGraph when there are duplicate edges)."""
        import networkx

        names = range(self.n) if self.original_ids is None else self.original_ids.tolist()
        src = np.repeat(np.arange(self.n), self.out_degree).tolist()
        dst = self.indices.tolist()
        duplicates = len(set(zip(src, dst, strict=True))) < self.m
        graph = networkx.MultiDiGraph(name=self.name) if duplicates else networkx.DiGraph(name=self.name)
        graph.add_nodes_from(names)
        pairs = [(names[u], names[v]) for u, v in zip(src, dst, strict=True)]
        if self.weights is None:
            graph.add_edges_from(pairs)
        else:
            graph.add_edges_from(
                (u, v, {"weight": w}) for (u, v), w in zip(pairs, self.weights.tolist(), strict=True)
            )
        return graph

    def save(self, path: str | os.PathLike) -> None:
        """Write the graph in the format that the suffix of ``path`` names (`gpop.io`)."""
        from gpop.io import save

        save(self, path)


def _check_size(n: int) -> None:
    """Refuse vertex counts that 32-bit ids cannot hold, and what does not fit in memory."""
    if not 0 <= n <= MOST_VERTICES:
        raise UsageError(f"a graph of {n} vertices is not possible, expected 0..{MOST_VERTICES}")
    require_memory(8 * (n + 1), f"a graph of {n} vertices")


def _as_ids(ids: Any, what: str) -> np.ndarray:
    """One-dimensional array of non-negative ids as uint32 or int64, without a copy where possible."""
    ids = np.asarray(ids)
    if ids.size == 0:
        return np.empty(0, np.uint32)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise UsageError(f"{what} is {ids.dtype} {list(ids.shape)}, expected a list of integers")
    if ids.dtype.kind == "i" and ids.min() < 0:
        raise UsageError(f"{what}[{int(ids.argmin())}] is {ids.min()}, expected ids that are not negative")
    if ids.dtype.kind == "u" and ids.dtype.itemsize == 8 and ids.max() > MOST_VERTICES:
        raise UsageError(f"{what}[{int(ids.argmax())}] is {ids.max()}, expected ids below {MOST_VERTICES}")
    unsigned = np.uint32 if ids.dtype.itemsize <= 4 else np.int64
    if ids.dtype.itemsize < 4:
        ids = ids.astype(unsigned)
    return np.ascontiguousarray(ids).view(unsigned)


def _as_weights(weights: Any, m: int) -> np.ndarray | None:
    """Contiguous numeric array of length m, or None."""
    if weights is None:
        return None
    weights = np.asarray(weights)
    if weights.shape != (m,):
        raise UsageError(f"weights have shape {list(weights.shape)}, expected one for each of the {m} edges")
    if weights.dtype.kind not in "iuf" or weights.dtype.itemsize > 8:
        raise UsageError(
            f"weights are {weights.dtype}, expected integers or floating-point numbers up to 64 bits"
        )
    if weights.dtype == np.float16:  # no arithmetic for it in compiled code
        weights = weights.astype(np.float32)
    return np.ascontiguousarray(weights, weights.dtype.newbyteorder("="))


def _smallest(weights: np.ndarray) -> np.ndarray:
    """Integer weights that fit as uint32 (what the binary format holds), others as they are."""
    if weights.dtype.kind in "iu" and weights.min() >= 0 and weights.max() < 2**32:
        return weights.astype(np.uint32)
    return weights


def _name_array(names: list) -> np.ndarray:
    """Array of original ids: integers when all are, else Python objects (never changed into text)."""
    if all(isinstance(name, int) and abs(name) < 2**63 for name in names):
        return np.array(names, np.int64)
    array = np.empty(len(names), object)
    for v, name in enumerate(names):  # one by one: a slice would unpack names that are tuples
        array[v] = name
    return array
