"""Matrix Market files (``.mtx``): entry (u, v) of a coordinate matrix is the edge u -> v.

    %%MatrixMarket matrix coordinate real|integer|pattern general|symmetric|skew-symmetric
    % comment
    n n entries
    u v [value]

Rows 1..n become vertices 0..n-1. Symmetric matrices store one triangle and get both directions, a
skew-symmetric one with the opposite value; pattern matrices have no weights. Dense (``array``) and
complex matrices are refused.

The entries are read like any text edge list, and not by SciPy (1.17) or fast_matrix_market (1.7), which
share a reader: it ends the process on a NUL byte and on a last line ``2 1 7t`` without a newline, takes
``7t`` and ``1e`` for numbers, and needs 5.6 to 6.7 times the memory of the graph (this: 2.2) at the same
speed.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpop.common.errors import GraphFileError
from gpop.common.replacing import replacing
from gpop.graph.arguments import MOST_VERTICES
from gpop.graph.build import csr_edges
from gpop.graph.graph import Graph
from gpop.io.compressed import open_to_write
from gpop.io.edge_list import write_edges
from gpop.io.libraries import demand_weights
from gpop.io.text import (
    Dialect,
    Piece,
    believable,
    expect_edges,
    first_line,
    line_error,
    numbered_from_one,
    parse_block,
    text_blocks,
)
from gpop.io.text_values import finite_weights

_WEIGHTS = {"pattern": None, "integer": np.int64, "real": np.float64, "double": np.float64}
_SYMMETRIES = {"general": 0, "symmetric": 1, "hermitian": 1, "skew-symmetric": -1}


class _Header(NamedTuple):
    n: int
    entries: int
    weight_type: type | None
    symmetry: int  # 0, or the sign of the opposite entry


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Read a Matrix Market file; ``weighted=False`` ignores its values, ``True`` demands them."""
    pieces: list[Piece] = []
    header = dialect = None
    line, size = 1, 0
    for block in text_blocks(path, progress):
        size += len(block)
        if header is None:
            header, length = _header(path, block)
            demand_weights(path, header.weight_type is not None, weighted)
            columns = 2 if header.weight_type is None else 3
            expected = "row column" + " value" * (columns == 3)
            dialect = Dialect(expected, columns, b"%%", 0, 0, 1, header.n)
            line += block[:length].count(b"\n")
            block = block[length:]
        pieces += parse_block(path, block, dialect, line)
        line += block.count(b"\n")
    if header is None:
        raise GraphFileError(f"{path}: is empty, expected a line %%MatrixMarket matrix ...")
    expect_edges(path, pieces, header.entries)
    if header.weight_type is np.float64:  # also where all values look like integers
        pieces = [piece._replace(weights=piece.weights.astype(np.float64)) for piece in pieces]
    take = header.weight_type is not None and weighted is not False
    believable(path, header.n, size)
    return numbered_from_one(pieces, header.n, take, progress, opposite=header.symmetry)


def _header(path: Path, block: bytes) -> tuple[_Header, int]:
    """The header, and its length in bytes."""
    first = block[: block.index(b"\n")]
    words = first.decode("ascii", "replace").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise line_error(path, first, 1, "expected %%MatrixMarket matrix coordinate ...")
    layout, field, symmetry = words[2:]
    if layout != "coordinate" or field not in _WEIGHTS or symmetry not in _SYMMETRIES:
        reason = (
            "expected coordinate, then real, integer or pattern, then general, symmetric or skew-symmetric"
        )
        raise line_error(path, first, 1, reason)
    text, start, end = first_line(block, b"%")
    line = 1 + block[:start].count(b"\n")
    sizes = text.split()
    if len(sizes) != 3 or not all(number.isdigit() and len(number) < 19 for number in sizes):
        raise line_error(path, text, line, "expected: rows columns entries")
    rows, columns, entries = map(int, sizes)
    if rows != columns:
        raise line_error(path, text, line, "expected a square matrix")
    if rows > MOST_VERTICES:
        raise line_error(path, text, line, f"expected at most {MOST_VERTICES} vertices")
    return _Header(rows, entries, _WEIGHTS[field], _SYMMETRIES[symmetry]), end


def write(graph: Graph, path: Path) -> None:
    """Write a general coordinate matrix: pattern, integer or real as the weights are."""
    finite_weights(graph, path)
    field = (
        b"pattern" if graph.weights is None else b"real" if graph.weights.dtype.kind == "f" else b"integer"
    )
    edges = csr_edges(graph.indptr, graph.indices, graph.weights)
    with replacing(path) as temporary, open_to_write(temporary, path) as file:
        file.write(b"%%%%MatrixMarket matrix coordinate %s general\n" % field)
        file.write(b"%d %d %d\n" % (graph.n, graph.n, graph.m))
        size = write_edges(file, edges, lambda ids: ids + np.int64(1), b" ")
        believable(path, graph.n, size)  # else it would be written, and not read
