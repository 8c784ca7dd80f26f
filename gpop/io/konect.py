"""KONECT networks (``out.*``, ``.konect``): an edge list under a ``%`` header.

    % asym posweighted          sym | asym | bip, then the kind of weights
    % 2137 128 128              [m [n of the left side [n of the right side]]], optional
    1 2 1.5 [timestamp]

Ids 1..n become 0..n-1. ``sym`` and ``bip`` list an undirected edge once: it gets both directions.
The right side of ``bip`` has ids of its own, which follow those of the left. Timestamps are ignored,
and so is the third column of ``unweighted`` networks.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from gpop.common.errors import GraphFileError
from gpop.common.replacing import replacing
from gpop.graph.arguments import MOST_VERTICES
from gpop.graph.build import csr_edges
from gpop.graph.graph import Graph
from gpop.io.compressed import open_to_write
from gpop.io.edge_list import write_edges
from gpop.io.text import (
    Dialect,
    Piece,
    believable,
    expect_edges,
    fields_of,
    first_line,
    numbered_from_one,
    parse_block,
    text_blocks,
)
from gpop.io.text_values import finite_weights

_KIND = re.compile(rb"\A(?:%\s*\n)*%\s*(sym|asym|bip)\s+(\S+)", re.MULTILINE)
_SIZES = re.compile(rb"^%\s*(\d{1,18})(?:\s+(\d{1,18}))?(?:\s+(\d{1,18}))?\s*$", re.MULTILINE)


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Read a KONECT network; ``weighted=False`` ignores its weights, ``True`` demands them."""
    pieces: list[Piece] = []
    kind = dialect = sizes = None
    line, size = 1, 0
    for block in text_blocks(path, progress):
        size += len(block)
        if kind is None:
            kind = _KIND.match(block)
            if kind is None:
                raise GraphFileError(f"{path}: expected a header like % asym unweighted")
        if dialect is None:
            text, start, _ = first_line(block, b"%#")
            sizes = sizes or _SIZES.search(block, 0, start)
            if text:
                columns = 3 if len(fields_of(text)) > 2 and kind[2] != b"unweighted" else 2
                dialect = Dialect(columns=columns, comments=b"%#", lowest=1, further=True)
        if dialect is not None:
            pieces += parse_block(path, block, dialect, line)
        line += block.count(b"\n")
    if kind is None:
        raise GraphFileError(f"{path}: is empty, expected a header like % asym unweighted")
    has_weights = dialect.columns == 3 if dialect else kind[2] != b"unweighted"
    if weighted and not has_weights:
        raise GraphFileError(f"{path}: is {kind[2].decode('ascii', 'replace')}, expected a weighted network")
    n = _number_ids(
        path, pieces, kind[1], [int(s) if s else 0 for s in sizes.groups()] if sizes else [0, 0, 0]
    )
    if n > MOST_VERTICES:
        raise GraphFileError(f"{path}: vertex {n}, expected at most {MOST_VERTICES}")
    opposite = int(kind[1] != b"asym")
    take = has_weights if weighted is None else weighted
    believable(path, n, size)
    return numbered_from_one(pieces, n, take, progress, opposite=opposite)


def _number_ids(path: Path, pieces: list[Piece], kind: bytes, sizes: list[int]) -> int:
    """Number of vertices; the right side of a bipartite network is moved behind the left one."""
    m, left, right = sizes
    if m:
        expect_edges(path, pieces, m)
    if kind != b"bip":
        return max([left, right, *(piece.largest for piece in pieces)])
    left = max([left, *(int(piece.source.max(initial=0)) for piece in pieces)])
    right = max([right, *(int(piece.destination.max(initial=0)) for piece in pieces)])
    if left + right <= MOST_VERTICES:
        for piece in pieces:
            piece.destination[:] += piece.destination.dtype.type(left)
    return left + right


def write(graph: Graph, path: Path) -> None:
    """Write an asymmetric network, weighted when the graph is."""
    finite_weights(graph, path)
    kind = "unweighted"
    if graph.weights is not None:
        kind = "posweighted" if graph.m == 0 or graph.weights.min() > 0 else "signed"
    one = np.int64(1)
    edges = csr_edges(graph.indptr, graph.indices, graph.weights)
    with replacing(path) as temporary, open_to_write(temporary, path) as file:
        file.write(f"% asym {kind}\n% {graph.m} {graph.n} {graph.n}\n".encode())
        size = write_edges(file, edges, lambda ids: ids + one, b" ")
        believable(path, graph.n, size)  # else it would be written, and not read
