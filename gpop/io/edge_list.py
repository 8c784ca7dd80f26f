"""Text edge lists (SNAP style): one ``source destination [weight]`` per line, also gzip and xz.

Fields are parted by blanks, tabs or commas; lines that start with ``#`` or ``%`` are comments; all
lines have as many columns as the first. ``.csv`` and ``.tsv`` may begin with a line of column
names. Weights are integers or floating-point numbers.

Ids are any integers below 2^63. They are kept, with n = largest + 1, while that is at most
4 * (number of distinct ids) + 1024; sparser ids are numbered in ascending order and kept as
``original_ids``. A comment ``Nodes: N`` above the edges adds the vertices up to N - 1 under the same
rule, which have no edges. Edges come as they are: a list of undirected edges wants ``symmetrize=True``.

The text is read in blocks of whole lines, each block is parsed in pieces by all threads, and the
pieces go into the CSR as they are. What is malformed is reported with its line.
"""

from __future__ import annotations

import gzip
import lzma
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpop.build import array_edges, build_csr, csr_edges
from gpop.errors import GraphFileError, UsageError
from gpop.graph import Graph
from gpop.io.atomic import replacing
from gpop.io.renumber import dense_ids
from gpop.io.text_kernels import POWERS, parse_lines, write_lines
from gpop.memory import require_memory
from gpop.parallel import blocks, for_each
from gpop.progress import progress_bar

_BLOCK = 1 << 25  # bytes of text read at a time, and the longest line
_PIECE = 1 << 21  # bytes of text parsed at a time
_OPENERS = {".gz": gzip.open, ".xz": lzma.open}
_NUMBER = re.compile(rb"[-+.0-9eE]+")
_NODES = re.compile(rb"^[#%].*\bNodes: *(\d{1,12})\b", re.MULTILINE)
_EXPECTED = "expected: source destination [weight]"


class _Piece(NamedTuple):
    """The edges of some consecutive lines."""

    source: np.ndarray
    destination: np.ndarray
    weights: np.ndarray | None
    largest: int


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Read a text edge list; ``weighted=False`` ignores a third column, ``True`` demands one."""
    pieces: list[_Piece] = []
    columns = 0
    stated = None
    line = 1
    opener = _OPENERS.get(path.suffix.lower(), open)
    with open(path, "rb") as raw, opener(raw, "rb") if opener is not open else raw as file:
        size = os.fstat(raw.fileno()).st_size
        with progress_bar(size, "loading", "B", progress) as bar:
            done = 0
            for block in _line_blocks(path, file):
                if not columns:
                    columns, skipped = _first_columns(path, block, line)
                    stated = _NODES.search(block, 0, skipped) or stated
                    line += block[:skipped].count(b"\n")
                    block = block[skipped:]
                if columns == 2 and weighted:
                    raise GraphFileError(f"{path}: has 2 columns, expected 3: a weighted graph")
                if columns:
                    pieces += _parse_block(path, block, columns, line)
                line += block.count(b"\n")
                bar.update(raw.tell() - done)
                done = raw.tell()
    weighted = columns == 3 if weighted is None else weighted
    return _to_graph(pieces, int(stated[1]) if stated else 0, weighted, progress)


def _line_blocks(path: Path, file) -> Iterator[bytes]:
    """The text in blocks of whole lines; a last line without a newline gets one."""
    rest = b""
    first = True
    while data := _decompressed(path, file):
        data = data.removeprefix(b"\xef\xbb\xbf") if first else data  # the mark some editors put in front
        first = False
        cut = data.rfind(b"\n") + 1
        if cut:
            yield rest + data[:cut]
            rest = b""
        rest += data[cut:]
        if len(rest) > _BLOCK:
            raise GraphFileError(f"{path}: a line of more than {_BLOCK} bytes, {_EXPECTED}")
    if rest:
        yield rest + b"\n"


def _decompressed(path: Path, file) -> bytes:
    """The next bytes of the text."""
    try:
        return file.read(_BLOCK)
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise GraphFileError(f"{path}: damaged compressed data: {error}") from None


def _first_columns(path: Path, block: bytes, line: int) -> tuple[int, int]:
    """Number of columns of the first line with an edge (0: none in this block), and bytes to skip."""
    start = 0
    named = path.name.lower().endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.xz", ".tsv.xz"))
    while start < len(block):
        end = block.index(b"\n", start) + 1
        text = block[start:end].strip()
        if text and text[:1] not in b"#%":
            fields = _fields(text)
            if named and all(field[:1].isalpha() or field[:1] in b"_\"'" for field in fields):
                named = False  # one line of column names
            elif len(fields) in (2, 3):
                return len(fields), start
            else:
                raise _malformed(path, block[start:end], line + block[:start].count(b"\n"), 0)
        start = end
    return 0, start


def _fields(text: bytes) -> list[bytes]:
    """The columns of a line: parted by blanks, or by one comma with blanks around it."""
    return [field for part in text.split(b",") for field in (part.split() or [b""])]


def _malformed(path: Path, text: bytes, line: int, columns: int) -> GraphFileError:
    """The error for one line, with the most telling reason."""
    fields = _fields(text.strip())
    ids = [field.removeprefix(b"-") for field in fields[:2]]
    numbers = all(field.isdigit() for field in ids)
    if columns and len(fields) != columns:
        reason = f"{len(fields)} column{'s' * (len(fields) != 1)}, expected {columns} as in the first line"
    elif numbers and ids != fields[:2]:
        reason = "a negative id, expected ids from 0"
    elif numbers and any(len(field) > 19 or int(field) >= 2**63 for field in ids):
        reason = "an id that is too large, expected ids below 2^63"
    else:
        reason = _EXPECTED
    shown = text.rstrip(b"\r\n").decode("ascii", "backslashreplace")
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return GraphFileError(f"{path}, line {line}: {shown!r}: {reason}")


def _parse_block(path: Path, block: bytes, columns: int, line: int) -> list[_Piece]:
    """Parse a block of whole lines, the first of which has number ``line``."""
    cuts = [0]
    while cuts[-1] < len(block):
        cuts.append(block.find(b"\n", min(cuts[-1] + _PIECE, len(block) - 1)) + 1)
    require_memory(8 * len(block), f"{path}: its edges")
    data = np.frombuffer(block, np.uint8)
    pieces: list = [None] * (len(cuts) - 1)
    errors: dict[int, int] = {}

    def parse(i):
        text = data[cuts[i] : cuts[i + 1]]
        most = np.count_nonzero(text == ord("\n"))
        source, destination = np.empty(most, np.int64), np.empty(most, np.int64)
        integers, floats = np.empty((2, most if columns == 3 else 0), np.int64)
        floats = floats.view(np.float64)
        edges, largest, all_integers, bad = parse_lines(
            text, columns, POWERS, source, destination, integers, floats
        )
        if bad >= 0:
            errors[i] = cuts[i] + bad
            return
        weights = None
        if columns == 3 and all_integers:
            weights = _narrow(integers[:edges])
        elif columns == 3:
            weights = floats[:edges].copy()
            for e in np.flatnonzero(np.isnan(weights)):
                at = cuts[i] + int(integers[e])
                weights[e] = float(_NUMBER.match(block, at)[0])
                if np.isinf(weights[e]):
                    errors[i] = block.rfind(b"\n", 0, at) + 1
                    return
        pieces[i] = _Piece(_narrow(source[:edges]), _narrow(destination[:edges]), weights, largest)

    for_each(len(pieces), parse)
    if errors:
        at = errors[min(errors)]
        text = block[at : block.index(b"\n", at)]
        raise _malformed(path, text, line + block[:at].count(b"\n"), columns)
    return pieces


def _narrow(numbers: np.ndarray) -> np.ndarray:
    """A copy as uint32 where that holds the numbers, else as int64."""
    if len(numbers) == 0 or (numbers.min() >= 0 and numbers.max() < 2**32):
        return numbers.astype(np.uint32)
    return numbers.copy()


def _to_graph(pieces: list[_Piece], stated: int, weighted: bool, progress: bool) -> Graph:
    """CSR of the parsed pieces; empties the list."""
    ends = [ids for piece in pieces for ids in (piece.source, piece.destination)]
    weights = [piece.weights if weighted else None for piece in pieces]
    largest = max((piece.largest for piece in pieces), default=-1)
    pieces.clear()  # renumbering replaces the ids piece by piece
    n, original_ids = dense_ids(ends, largest, stated)
    dtype = None
    if weighted:
        dtype = np.result_type(*{array.dtype for array in weights}) if weights else np.dtype(np.uint32)
        weights = [array.astype(dtype, copy=False) for array in weights]
    sources = [array_edges(*edges) for edges in zip(ends[::2], ends[1::2], weights, strict=True)]
    return Graph(*build_csr(n, sources, dtype, progress=progress), original_ids=original_ids)


def write(graph: Graph, path: Path) -> None:
    """Write one edge a line with original ids; ``.csv`` gets commas, all others tabs."""
    ids = graph.original_ids
    if ids is not None and (ids.dtype.kind not in "iu" or (len(ids) and ids.min() < 0)):
        raise UsageError(
            f"{path}: the original ids are names, expected non-negative integers in an edge list"
        )
    separator = b"," if ".csv" in path.suffixes else b"\t"
    opener = _OPENERS.get(path.suffix.lower(), open)
    edges = csr_edges(graph.indptr, graph.indices, graph.weights)
    with replacing(path) as temporary, opener(temporary, "wb") as file:
        file.write(f"# {graph.name or 'graph'}: directed\n# Nodes: {graph.n} Edges: {graph.m}\n".encode())
        text = np.empty(63 << 18, np.uint8)
        for first, last in blocks(graph.m, 1 << 18):
            source, destination, weights = edges.chunk(first, last)
            if ids is not None:
                source, destination = ids[source], ids[destination]
            if weights is None or weights.dtype.kind in "iu":
                size = write_lines(source, destination, weights, ord(separator), text)
                file.write(text[:size].data)
            else:
                columns = (source.tolist(), destination.tolist(), weights.tolist())
                lines = (separator.join(b"%d" % u for u in ends) for ends in zip(*columns[:2], strict=True))
                rows = zip(lines, columns[2], strict=True)
                file.write(b"".join(b"%s%s%r\n" % (ends, separator, weight) for ends, weight in rows))
