"""DIMACS shortest path graphs (``.gr``), and the undirected dialects of the same family.

    c comment                  p sp n m : arcs ``a u v weight``, directed (9th DIMACS challenge)
    p sp 3 2                   p edge n m, p col n m : ``e u v``, undirected (2nd DIMACS challenge)
    a 1 2 17                   p tw n m, p td n m, ... : ``u v``, undirected (PACE challenges)
    a 2 3 4

Ids 1..n become 0..n-1; undirected edges are stored once in the file and get both directions. The
number of lines must be the m of the header. A graph is written as ``p sp``, with weight 1 where it
has none.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpop.common.errors import GraphFileError
from gpop.common.parallel import ranges
from gpop.common.replacing import replacing
from gpop.graph.arguments import MOST_VERTICES
from gpop.graph.build import csr_edges
from gpop.graph.graph import Graph
from gpop.io.compressed import open_to_write
from gpop.io.libraries import demand_weights
from gpop.io.text import (
    Dialect,
    Piece,
    believable,
    expect_edges,
    fields_of,
    first_line,
    line_error,
    numbered_from_one,
    parse_block,
    text_blocks,
)
from gpop.io.text_kernels import write_lines
from gpop.io.text_values import told_name, whole_weights

_COMMENTS = b"cc"


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Read a ``.gr`` file; ``weighted=False`` ignores its weights, ``True`` demands them."""
    pieces: list[Piece] = []
    header = dialect = None
    line, size = 1, 0
    for block in text_blocks(path, progress):
        size += len(block)
        if header is None:
            text, start, end = first_line(block, _COMMENTS)
            line += block[:start].count(b"\n")
            if not text:
                continue
            header = _header(path, text, line)
            block = block[end:]
            line += 1
        if dialect is None:
            dialect = _dialect(header, first_line(block, _COMMENTS)[0])
        if dialect is not None:
            pieces += parse_block(path, block, dialect, line)
        line += block.count(b"\n")
    if header is None:
        raise GraphFileError(f"{path}: has no header, expected a line like p sp n m")
    kind, n, m = header
    expect_edges(path, pieces, m)
    has_weights = dialect.columns == 3 if dialect else kind == b"sp"
    demand_weights(path, has_weights, weighted)
    believable(path, n, size)
    take = has_weights and weighted is not False
    return numbered_from_one(pieces, n, take, progress, opposite=int(kind != b"sp"))


def _header(path: Path, text: bytes, line: int) -> tuple[bytes, int, int]:
    """(kind, n, m) of the line ``p kind n m``."""
    fields = text.split()
    if len(fields) != 4 or fields[0] != b"p" or not all(f.isdigit() and len(f) < 19 for f in fields[2:]):
        raise line_error(path, text, line, "expected a header like p sp n m")
    n, m = int(fields[2]), int(fields[3])
    if n > MOST_VERTICES:
        raise line_error(path, text, line, f"{n} vertices, expected at most {MOST_VERTICES}")
    return fields[1], n, m


def _dialect(header: tuple[bytes, int, int], text: bytes) -> Dialect | None:
    """How the edges look, from the header and the first of them; None when there is none yet."""
    kind, n, _ = header
    if not text:
        return None
    if kind == b"sp":
        return Dialect("a source destination weight", 3, _COMMENTS, 0, ord("a"), 1, n)
    lead = ord("e") if text[:1] == b"e" else 0
    columns = 3 if len(fields_of(text)) - bool(lead) == 3 else 2
    return Dialect("source destination", columns, _COMMENTS, 0, lead, 1, n)


def write(graph: Graph, path: Path) -> None:
    """Write ``p sp`` with an arc for every edge; weights must be integers."""
    weights = whole_weights(graph, path)
    edges = csr_edges(graph.indptr, graph.indices, weights)
    with replacing(path) as temporary, open_to_write(temporary, path) as file:
        file.write(b"c %s\np sp %d %d\n" % (told_name(graph), graph.n, graph.m))
        text = np.empty(65 << 17, np.uint8)
        written = 0
        for first, last in ranges(graph.m, 1 << 17):
            source, destination, its_weights = edges.chunk(first, last)
            if its_weights is None:
                its_weights = np.ones(last - first, np.uint32)
            ids = [np.add(end, 1, dtype=np.int64) for end in (source, destination)]
            size = write_lines(*ids, its_weights, ord(" "), ord("a"), text)
            file.write(text[:size].data)
            written += size
        believable(path, graph.n, written)  # else it would be written, and not read
