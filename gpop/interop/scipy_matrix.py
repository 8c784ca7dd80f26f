"""SciPy sparse matrices: entry (u, v) is the edge u -> v, its value the weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpop.common.arguments import kind_of
from gpop.common.errors import UsageError
from gpop.graph.graph import Graph

if TYPE_CHECKING:
    import scipy.sparse


def from_scipy(matrix: scipy.sparse.sparray, weighted: bool, name: str) -> Graph:
    """See `Graph.from_scipy`."""
    from scipy.sparse import issparse

    if not issparse(matrix):
        raise UsageError(f"expected a SciPy sparse matrix, got {kind_of(matrix)}")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise UsageError(f"the matrix has shape {matrix.shape}, expected a square one")
    matrix = matrix.tocsr()
    if matrix.dtype == bool and not matrix.data.all():  # an entry that is stored, and False, is no edge
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    weights = matrix.data if weighted and matrix.dtype != bool else None
    return Graph.from_csr(matrix.indptr, matrix.indices, weights, name=name)


def to_scipy(graph: Graph) -> scipy.sparse.csr_array:
    """See `Graph.to_scipy`."""
    from scipy.sparse import csr_array

    data = np.ones(graph.m) if graph.weights is None else graph.weights
    small = max(graph.n, graph.m) < 2**31
    indptr = graph.indptr.astype(np.int32) if small else graph.indptr
    indices = graph.indices.view(np.int32) if small else graph.indices.astype(np.int64)
    return csr_array((data, indices, indptr), shape=(graph.n, graph.n), copy=False)
