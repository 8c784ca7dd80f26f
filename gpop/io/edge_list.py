"""Text edge lists (SNAP, GAP, CSV, TSV): one ``source destination [weight]`` per line.

Fields are parted by blanks or one of tab ``, ; |``; the first line may hold column names
(`gpop.io.sniff` says how both are found out, and when that is refused). Lines that start with ``#`` or
``%`` are comments; all lines have as many columns as the first. Weights are integers or floating-point
numbers with a decimal point.

Ids are any integers below 2^63. They are kept, with n = largest + 1, while that is at most
4 * (number of distinct ids) + 1024; sparser ids are numbered in ascending order and kept as
``original_ids``. A comment ``Nodes: N`` above the edges adds the vertices up to N - 1 under the same
rule, which have no edges; ``Edges: M`` beside it warns of a file that has other edges. Ids that are no
integers, further columns and quotes are read by `gpop.io.named_edges`. Edges come as they are: a list of
undirected edges wants ``symmetrize=True``.
A vertex with an original id and no edges is not written: an edge list has no place for it.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from gpop.common.errors import GraphFileError
from gpop.common.parallel import ranges
from gpop.common.replacing import replacing
from gpop.graph.arguments import as_ids
from gpop.graph.build import Edges, csr_edges
from gpop.graph.edge_pieces import csr_of
from gpop.graph.graph import Graph
from gpop.graph.renumber import dense_enough, dense_ids
from gpop.io.compressed import open_to_write
from gpop.io.ids import distinct
from gpop.io.named_edges import NamedEdges, write_named
from gpop.io.sniff import Layout, Options, layout_of, reads_as_integers
from gpop.io.text import Dialect, Piece, first_line, parse_block, text_blocks
from gpop.io.text_kernels import write_lines
from gpop.io.text_values import finite_weights, told_name

HOLDS_IDS = ONLY_EDGES = True
OPTIONS = ("delimiter", "columns", "header")

_NODES = re.compile(rb"^[#%].*\bNodes: *(\d{1,12})\b(?:.*\bEdges: *(\d{1,15})\b)?", re.MULTILINE)


def read(
    path: Path, *, weighted: bool | None = None, progress: bool = False, options: Options | None = None
) -> Graph:
    """Read a text edge list; ``weighted=False`` ignores its weights, ``True`` demands them."""
    pieces: list[Piece] = []
    reader: Dialect | NamedEdges | None = None
    blocks = text_blocks(path, progress)
    head = with_two_lines(blocks)
    begun = beginning(path, head, weighted, options)
    line, head = begun.line, head[begun.start :]
    for block in itertools.chain([head], blocks):
        head = b""  # not held while the others are parsed
        if reader is None:
            reader = reader_of(path, begun.layout, block)
        if isinstance(reader, NamedEdges):
            reader.add(block, line)
        elif reader is not None:
            pieces += parse_block(path, block, reader, line)
        line += block.count(b"\n")
    if isinstance(reader, NamedEdges):
        graph = reader.graph(progress)
    else:
        graph = _to_graph(pieces, begun.stated, begun.weighted, progress)
    doubt_edges(path, begun, graph.m)
    return graph


class Beginning(NamedTuple):
    """What the first lines say about the others."""

    layout: Layout | None
    """None: there is no line."""
    start: int
    """Bytes before the first edge."""
    line: int
    """Number of the line of the first edge."""
    stated: int
    """Vertices that a comment says there are, or 0."""
    edges: int | None
    """Edges that it says there are."""
    weighted: bool


def beginning(path: Path, head: bytes, weighted: bool | None, options: Options | None) -> Beginning:
    """What the text up to the second line that is neither blank nor a comment says about the file."""
    text, start, end = _first_line(head)
    stated = [*_NODES.finditer(head, 0, start)]
    vertices = int(stated[-1][1]) if stated else 0  # the last one: those before may be of a name
    edges = int(stated[-1][2]) if stated and stated[-1][2] else None
    if not text:
        return Beginning(None, 0, 1, vertices, edges, bool(weighted))
    line = 1 + head[:start].count(b"\n")
    layout = layout_of(path, text, _first_line(head[end:])[0], line, options or Options())
    if weighted is not None:
        layout = _with_weights(path, layout, weighted)
    start, line = (start, line) if layout.header is None else (end, line + 1)
    return Beginning(layout, start, line, vertices, edges, len(layout.places) == 3)


def doubt_edges(path: Path, begun: Beginning, found: int) -> None:
    """Warn of a file that does not hold the edges that its comment says: it may have been cut off."""
    if begun.edges not in (None, found):
        warnings.warn_explicit(
            f"{path}: has {found} edges, and its comment says {begun.edges}: is it whole?",
            UserWarning,
            "gpop",
            0,
        )


def _first_line(block: bytes) -> tuple[bytes, int, int]:
    """`first_line` with the tabs around it, which may part empty fields."""
    text, start, end = first_line(block, b"#%")
    return text and block[start:end].strip(b" \r\n"), start, end


def with_two_lines(blocks: Iterator[bytes]) -> bytes:
    """The first blocks, as many as it takes to see two lines that are neither blank nor comments."""
    head = b""
    for block in blocks:
        head += block
        _, _, end = first_line(head, b"#%")
        if first_line(head[end:], b"#%")[0]:
            break
    return head


def _with_weights(path: Path, layout: Layout, weighted: bool) -> Layout:
    """The layout with the weights that are demanded, or without those that are not wanted."""
    if weighted and len(layout.places) == 2:
        raise GraphFileError(f"{path}: has {layout.count} columns, expected 3: a weighted graph")
    return layout if weighted else layout._replace(places=layout.places[:2])


def reader_of(path: Path, layout: Layout | None, block: bytes) -> Dialect | NamedEdges | None:
    """What reads lines like the first one of a block; None when there is no line yet."""
    text = _first_line(block)[0]
    if layout is None or not text:
        return None
    if reads_as_integers(layout, text):
        return Dialect(columns=layout.count, separator=layout.separator)
    return NamedEdges(path, layout)


def _to_graph(pieces: list[Piece], stated: int, weighted: bool, progress: bool) -> Graph:
    """CSR of the parsed pieces; empties the list."""
    ends = [ids for piece in pieces for ids in (piece.source, piece.destination)]
    weights = [piece.weights if weighted else None for piece in pieces]
    largest = max((piece.largest for piece in pieces), default=-1)
    pieces.clear()  # renumbering replaces the ids piece by piece
    n, original_ids = dense_ids(ends, largest, stated)
    return Graph(*csr_of(n, ends, weights, weighted, progress), original_ids=original_ids)


def tells_size(graph: Graph, ends: int) -> bool:
    """Whether the file says how many vertices there are, and is believed when ``ends`` have edges."""
    return dense_enough(graph.n - 1, ends)


def write(graph: Graph, path: Path) -> None:
    """Write one edge a line with original ids; ``.csv`` gets commas, all others tabs."""
    finite_weights(graph, path)
    ids = distinct(graph, path)
    separator = b"," if ".csv" in [suffix.lower() for suffix in path.suffixes] else b"\t"
    edges = csr_edges(graph.indptr, graph.indices, graph.weights)
    if ids is not None and ids.dtype.kind == "U":
        write_named(graph, ids.tolist(), path, separator.decode())
        return
    if ids is not None:
        as_ids(ids, f"{path}: original_ids")
    with replacing(path) as temporary, open_to_write(temporary, path) as file:
        told = (told_name(graph), graph.n, graph.m)
        file.write(b"# %s: directed\n# Nodes: %d Edges: %d\n" % told)
        write_edges(file, edges, (lambda ends: ends) if ids is None else (lambda ends: ids[ends]), separator)


def write_edges(
    file: BinaryIO, edges: Edges, rename: Callable[[np.ndarray], np.ndarray], separator: bytes
) -> int:
    """Write one edge a line, its ids renamed; any finite weight is read back as it was. Returns the bytes."""
    text = np.empty(65 << 17, np.uint8)
    written = 0
    for first, last in ranges(edges.count, 1 << 17):
        source, destination, weights = edges.chunk(first, last)
        source, destination = rename(source), rename(destination)
        if weights is None or weights.dtype.kind in "iu":
            size = write_lines(source, destination, weights, ord(separator), 0, text)
            file.write(text[:size].data)
            written += size
        else:
            columns = (source.tolist(), destination.tolist(), weights.tolist())
            lines = (separator.join(b"%d" % u for u in ends) for ends in zip(*columns[:2], strict=True))
            rows = zip(lines, columns[2], strict=True)
            lines = b"".join(b"%s%s%r\n" % (ends, separator, weight) for ends, weight in rows)
            file.write(lines)
            written += len(lines)
    return written
