"""A share of a text edge list: about equal numbers of bytes for each process, cut at the ends of lines.

The first process reads the beginning and says how lines look, so that all read them alike. A line that is no
edge is told with its number in the file: the lines before it are only counted then. Compressed files, and
names as ids, for which one process needs to have seen all, are read whole.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from gpop.common.errors import GraphFileError
from gpop.common.others import Others
from gpop.graph.renumber import dense_ids
from gpop.io.compressed import opener
from gpop.io.edge_list import Beginning, beginning, doubt_edges, reader_of, with_two_lines
from gpop.io.share import Share
from gpop.io.sniff import Options
from gpop.io.text import BLOCK, MARK, Dialect, Piece, parse_block, whole_lines

_STEP = 1 << 14  # bytes read at a time where the end of a line, or the second line, is looked for


class _Plan(NamedTuple):
    """How all processes read the file."""

    begun: Beginning
    dialect: Dialect | None
    """None: there are no edges."""
    begin: int
    """The byte with which the first edge begins."""
    size: int


def read_share(
    path: Path, others: Others, *, weighted: bool | None = None, options: Options | None = None
) -> Share | None:
    """The process's share of the edges; None where the file has to be read whole."""
    plan = others.first_ones(_plan_of(path, weighted, options) if others.rank == 0 else None)
    if plan is None:
        return None
    if plan.dialect is not None:
        others.first_alone(lambda: parse_block(path, b"#\n", plan.dialect, 1))  # compiles what all use
    pieces, read = _parsed(path, plan, others.rank, others.size)
    ends = [ids for piece in pieces for ids in (piece.source, piece.destination)]
    weights = [piece.weights for piece in pieces] if plan.begun.weighted else None
    largest = max((piece.largest for piece in pieces), default=-1)
    edges = int(others.sum(np.array([sum(len(piece.source) for piece in pieces)]))[0])
    pieces.clear()  # renumbering replaces the ids piece by piece
    if others.rank == 0:
        doubt_edges(path, plan.begun, edges)
    largest = int(others.most(np.array([largest]))[0])
    n, original_ids = dense_ids(ends, largest, plan.begun.stated, others)
    return Share(n, original_ids, ends, weights, read)


def _plan_of(path: Path, weighted: bool | None, options: Options | None) -> _Plan | None:
    if opener(path) is not None:
        return None
    with open(path, "rb") as file:
        mark = len(MARK) if file.read(len(MARK)) == MARK else 0
        file.seek(mark)
        head = with_two_lines(whole_lines(path, partial(file.read, _STEP)))
        size = os.fstat(file.fileno()).st_size
    begun = beginning(path, head, weighted, options)
    dialect = reader_of(path, begun.layout, head[begun.start :])
    if begun.layout is not None and not isinstance(dialect, Dialect):
        return None
    return _Plan(begun, dialect, mark + begun.start, size)


def _parsed(path: Path, plan: _Plan, share: int, shares: int) -> tuple[list[Piece], int]:
    """The edges of a share, and how many bytes were read."""
    pieces: list[Piece] = []
    if plan.dialect is None:
        return pieces, 0
    with open(path, "rb") as file:
        first, last = (border(file, plan.begin, plan.size, at, shares) for at in (share, share + 1))
        file.seek(first)
        line = plan.begun.line
        for block in whole_lines(path, lambda: file.read(min(BLOCK, last - file.tell()))):
            try:
                pieces += parse_block(path, block, plan.dialect, line)
            except GraphFileError:
                parse_block(path, block, plan.dialect, line + _lines(path, plan.begin, first))
                raise
            line += block.count(b"\n")
    return pieces, last - first


def border(file: BinaryIO, begin: int, size: int, share: int, shares: int) -> int:
    """Where a share of the bytes from ``begin`` on begins: with a line.

    Examples
    --------
    >>> import io
    >>> [border(io.BytesIO(b"#\\n1 2\\n3 4\\n5 6\\n"), 2, 14, share, 2) for share in range(3)]
    [2, 10, 14]
    """
    at = begin + (size - begin) * share // shares
    if share in (0, shares):
        return at
    file.seek(max(at - 1, begin))  # a line that begins there is whole
    while data := file.read(_STEP):
        end = data.find(b"\n") + 1
        if end:
            return file.tell() - len(data) + end
    return size


def _lines(path: Path, begin: int, end: int) -> int:
    """How many lines end between two bytes of a file."""
    with open(path, "rb") as file:
        file.seek(begin)
        count = 0
        while data := file.read(min(BLOCK, end - file.tell())):
            count += data.count(b"\n")
    return count
