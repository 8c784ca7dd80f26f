"""Graphs from arrays: CSR as it is, or the ends of every edge; what `Graph` inherits."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from gpop.common.errors import UsageError
from gpop.graph.arguments import as_ids, as_names, as_size, as_weights
from gpop.graph.validate import ids_fault, offsets_fault


class FromArrays:
    """``from_csr`` and ``from_edges`` of `gpop.graph.graph.Graph`."""

    @classmethod
    def from_csr(
        cls,
        indptr: Any,
        indices: Any,
        weights: Any = None,
        *,
        original_ids: Any = None,
        name: str = "",
    ) -> Self:
        """Graph over CSR arrays, checked; without a copy of int64 offsets and 32-bit ids.

        Parameters
        ----------
        indptr : array of int, [n + 1]
            Where the neighbours of each vertex begin.
        indices : array of int, [m]
            Destinations of the edges, 0 .. n-1.
        weights : array of numbers, [m], optional
            Beside ``indices``.
        original_ids : array of int or of names, [n], optional
            What each vertex is called elsewhere.
        name : str
            For messages and output.

        Returns
        -------
        Graph

        Raises
        ------
        UsageError
            If the arrays are no CSR: of wrong types or lengths, offsets that descend, ids outside the graph.

        Examples
        --------
        >>> import gpop
        >>> gpop.Graph.from_csr([0, 1, 2], [1, 0]).m
        2
        """
        indptr, indices = np.asarray(indptr), np.asarray(indices)
        if indptr.ndim != 1 or indices.ndim != 1 or len(indptr) == 0:
            raise UsageError("CSR arrays have the wrong shape, expected offsets [n+1] and ids [m]")
        if indices.size == 0:
            indices = indices.astype(np.uint32)
        if indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
            raise UsageError(f"CSR arrays are {indptr.dtype} and {indices.dtype}, expected integers")
        n = as_size(len(indptr) - 1)
        indptr = np.ascontiguousarray(indptr, np.int64)
        fault = offsets_fault(indptr, len(indices)) or ids_fault(indices, n)
        if fault:
            raise UsageError(f"inconsistent CSR: {fault}")
        if indices.dtype == np.int32:  # the ids were found non-negative
            indices = indices.view(np.uint32)
        weights = as_weights(weights, len(indices))
        if original_ids is not None:
            original_ids = as_names(original_ids, n)
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
    ) -> Self:
        """Graph of the edges ``src[i] -> dst[i]``; adjacency lists are sorted by destination.

        Parameters
        ----------
        src, dst : array of int, [m]
            Vertex ids, 0 .. n-1.
        weights : array of numbers, [m], optional
            One for each edge.
        n : int, optional
            Number of vertices; the largest id + 1 when not given.
        duplicates : "keep", "first", "min", "max" or "sum"
            What becomes of edges that occur several times: keep all, or one edge with the weight that came
            first, the least, the greatest or the sum (integer weights are summed in 64 bits).
        name : str
            For messages and output.

        Returns
        -------
        Graph

        Raises
        ------
        UsageError
            For arrays of different lengths or that are no numbers, and ids outside the graph.
        NotEnoughMemory
            If the graph would not fit; found out before it is built.

        Examples
        --------
        >>> import gpop
        >>> graph = gpop.Graph.from_edges([1, 0, 1], [0, 1, 0], [5, 7, 3], duplicates="min")
        >>> graph.m, graph.weights.tolist()
        (2, [7, 3])
        """
        from gpop.graph.build import array_edges, build_csr

        src, dst = as_ids(src, "src"), as_ids(dst, "dst")
        if len(src) != len(dst):
            raise UsageError(f"src has {len(src)} ids and dst has {len(dst)}, expected the same number")
        weights = as_weights(weights, len(src))
        largest = max((int(ids.max()) for ids in (src, dst) if len(ids)), default=-1)
        n = as_size(largest + 1 if n is None else n)
        if largest >= n:
            raise UsageError(f"vertex id {largest} is outside the graph, expected ids in 0..{n - 1}")
        if weights is not None and duplicates == "sum" and weights.dtype.kind in "iu":
            weights = weights.astype(np.int64 if weights.dtype.kind == "i" else np.uint64)
        dtype = None if weights is None else weights.dtype
        return cls(*build_csr(n, [array_edges(src, dst, weights)], dtype, duplicates), name=name)
