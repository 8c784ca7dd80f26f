"""Text edge lists (SNAP, GAP, CSV, TSV): one ``source destination [weight]`` per line.

Fields are parted by blanks, tabs, or one of ``, ; |`` (the first line tells); lines that start with
``#`` or ``%`` are comments; all lines have as many columns as the first. The first line may hold
column names. Weights are integers or floating-point numbers.

Ids are any integers below 2^63. They are kept, with n = largest + 1, while that is at most
4 * (number of distinct ids) + 1024; sparser ids are numbered in ascending order and kept as
``original_ids``. A comment ``Nodes: N`` above the edges adds the vertices up to N - 1 under the same
rule, which have no edges. Ids that are no integers, further columns and quotes are read by
`gpop.io.named_edges`. Edges come as they are: a list of undirected edges wants ``symmetrize=True``.
A vertex with an original id and no edges cannot be written: an edge list has no place for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gpop.common.errors import GraphFileError
from gpop.common.parallel import blocks
from gpop.common.replacing import replacing
from gpop.graph.build import Edges, csr_edges
from gpop.graph.graph import Graph
from gpop.io.compressed import open_to_write
from gpop.io.named_edges import NamedEdges, column_places, is_header, named_rows, write_named
from gpop.io.renumber import dense_ids
from gpop.io.text import (
    Dialect,
    Piece,
    csr_of,
    fields_of,
    first_line,
    malformed,
    parse_block,
    text_blocks,
)
from gpop.io.text_kernels import write_lines

HOLDS_IDS = True

_NODES = re.compile(rb"^[#%].*\bNodes: *(\d{1,12})\b", re.MULTILINE)
_SEPARATORS = b",;|"


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Read a text edge list; ``weighted=False`` ignores a third column, ``True`` demands one."""
    pieces: list[Piece] = []
    reader: Dialect | NamedEdges | None = None
    header = stated = None
    line = 1
    for block in text_blocks(path, progress):
        if reader is None:
            text, start, end = first_line(block, b"#%")
            stated = _NODES.search(block, 0, start) or stated
            if text and header is None:
                following, _, _ = first_line(block[end:], b"#%")
                if is_header(text, following, _separator(text)):
                    header = text
                    start, text = end, following
            line += block[:start].count(b"\n")
            block = block[start:]
            reader = _reader(path, text, line, header)
            if isinstance(reader, Dialect) and reader.columns == 2 and weighted:
                raise GraphFileError(f"{path}: has 2 columns, expected 3: a weighted graph")
        if isinstance(reader, NamedEdges):
            reader.add(block, line)
        elif reader is not None:
            pieces += parse_block(path, block, reader, line)
        line += block.count(b"\n")
    if isinstance(reader, NamedEdges):
        return reader.graph(weighted, progress)
    has_weights = reader is not None and reader.columns == 3
    return _to_graph(
        pieces, int(stated[1]) if stated else 0, has_weights if weighted is None else weighted, progress
    )


def _separator(text: bytes) -> int:
    """The byte that parts the fields of a line, besides blanks."""
    return next((byte for byte in _SEPARATORS if byte in text), _SEPARATORS[0])


def _reader(path: Path, text: bytes, line: int, header: bytes | None) -> Dialect | NamedEdges | None:
    """What reads lines like ``text``; None when there is no line yet."""
    if not text:
        return None
    separator = _separator(text)
    fields = fields_of(text, separator)
    places = column_places(header, separator) if header else None
    if places in (None, (0, 1), (0, 1, 2)) and len(fields) in (2, 3) and b'"' not in text:
        ids = [field.removeprefix(b"-") for field in fields[:2]]
        if all(field[:1].isdigit() for field in ids):
            return Dialect(columns=len(fields), separator=separator)
    if places is None and (len(named_rows(text.decode("utf-8", "replace"), separator)) not in (2, 3)):
        raise malformed(path, text, line, Dialect(), first=True)
    return NamedEdges(path, separator, places, header)


def _to_graph(pieces: list[Piece], stated: int, weighted: bool, progress: bool) -> Graph:
    """CSR of the parsed pieces; empties the list."""
    ends = [ids for piece in pieces for ids in (piece.source, piece.destination)]
    weights = [piece.weights if weighted else None for piece in pieces]
    largest = max((piece.largest for piece in pieces), default=-1)
    pieces.clear()  # renumbering replaces the ids piece by piece
    n, original_ids = dense_ids(ends, largest, stated)
    return Graph(*csr_of(n, ends, weights, weighted, progress), original_ids=original_ids)


def write(graph: Graph, path: Path) -> None:
    """Write one edge a line with original ids; ``.csv`` gets commas, all others tabs."""
    ids = graph.original_ids
    separator = b"," if ".csv" in [suffix.lower() for suffix in path.suffixes] else b"\t"
    edges = csr_edges(graph.indptr, graph.indices, graph.weights)
    integers = ids is None or (ids.dtype.kind in "iu" and not (len(ids) and ids.min() < 0))
    if not integers:
        write_named(graph, path, separator.decode())
        return
    with replacing(path) as temporary, open_to_write(temporary, path) as file:
        name = (graph.name or "graph").encode("unicode_escape")
        file.write(b"# %s: directed\n# Nodes: %d Edges: %d\n" % (name, graph.n, graph.m))
        write_edges(file, edges, (lambda ends: ends) if ids is None else (lambda ends: ids[ends]), separator)


def write_edges(
    file: BinaryIO, edges: Edges, rename: Callable[[np.ndarray], np.ndarray], separator: bytes
) -> None:
    """Write one edge a line, its ids renamed; any weight is written so that it is read back as it was."""
    text = np.empty(65 << 17, np.uint8)
    for first, last in blocks(edges.count, 1 << 17):
        source, destination, weights = edges.chunk(first, last)
        source, destination = rename(source), rename(destination)
        if weights is None or weights.dtype.kind in "iu":
            size = write_lines(source, destination, weights, ord(separator), 0, text)
            file.write(text[:size].data)
        else:
            columns = (source.tolist(), destination.tolist(), weights.tolist())
            lines = (separator.join(b"%d" % u for u in ends) for ends in zip(*columns[:2], strict=True))
            rows = zip(lines, columns[2], strict=True)
            file.write(b"".join(b"%s%s%r\n" % (ends, separator, weight) for ends, weight in rows))
