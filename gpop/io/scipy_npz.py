"""SciPy sparse matrices (``.npz`` of `scipy.sparse.save_npz`): entry (u, v) is the edge u -> v.

A matrix of booleans has no weights, and so is a graph without weights written. The arrays
are checked before SciPy sees the file (`gpop.io.archive`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpop.common.errors import GraphFileError
from gpop.common.replacing import replacing
from gpop.graph.arguments import MOST_VERTICES
from gpop.graph.edge_pieces import narrow
from gpop.graph.graph import Graph
from gpop.interop.edge_columns import graph_of_columns
from gpop.io.archive import check_archive
from gpop.io.libraries import demand_weights, reading
from gpop.io.text import believable


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Read a sparse matrix; ``weighted=False`` ignores its values, ``True`` demands them."""
    from scipy.sparse import load_npz

    with reading(path, "a SciPy sparse matrix"):
        size = check_archive(path)
        matrix = load_npz(path)
        rows, columns = matrix.shape
        if rows != columns or rows > MOST_VERTICES:
            raise GraphFileError(f"{path}: a matrix of {rows} x {columns}, expected a square one")
        if matrix.dtype.kind not in "biuf":
            raise GraphFileError(f"{path}: its values are {matrix.dtype}, expected numbers")
        believable(path, rows, size)
        has_weights = matrix.dtype != bool
        demand_weights(path, has_weights, weighted)
        take = has_weights and weighted is not False
        lists = matrix.format == "csr" and (has_weights or matrix.data.all())
        if not lists:
            if hasattr(matrix, "check_format"):
                matrix.check_format(full_check=True)  # conversions trust the indices
            matrix = matrix.tocoo()
        values = narrow(matrix.data) if take and matrix.data.dtype.kind == "i" else matrix.data
        if lists:
            return Graph.from_csr(matrix.indptr, matrix.indices, values if take else None)
        weights = [values] if take else None
        there = slice(None) if has_weights else matrix.data  # an entry that is stored, and False, is no edge
        return graph_of_columns([matrix.row[there]], [matrix.col[there]], weights, n=rows, progress=progress)


def write(graph: Graph, path: Path) -> None:
    """Write a CSR matrix, not compressed: it is read at the speed of the disk."""
    from scipy.sparse import csr_array, save_npz

    matrix = graph.to_scipy()
    if graph.weights is None:
        shape = (graph.n, graph.n)
        matrix = csr_array((np.ones(graph.m, bool), matrix.indices, matrix.indptr), shape=shape, copy=False)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        save_npz(file, matrix, compressed=False)
