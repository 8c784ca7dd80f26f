"""What the text formats share: blocks of whole lines, edges parsed by all threads, errors with their line.

The text is read in blocks of whole lines, each block is cut into pieces that the threads parse, and
the pieces go into the CSR as they are: the text is never held as a whole. A piece has 8 bytes an edge,
and 4 or 8 of weights, in memory of its own that is given back while the CSR grows.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpop.common.errors import GraphFileError
from gpop.common.memory import own_copy, require_memory
from gpop.common.parallel import for_each, worker_count
from gpop.common.progress import progress_bar
from gpop.graph.edge_pieces import common_type, csr_of, integers_type, narrow, told_type
from gpop.graph.graph import Graph
from gpop.io.compressed import opener, read_some
from gpop.io.text_kernels import FLOAT, POWERS, SHORT, parse_lines

_PIECE = 1 << 21  # bytes of text parsed at a time
BLOCK = 2 * max(2, worker_count()) * _PIECE  # bytes of text read at a time
_LONGEST_LINE = 1 << 25
MARK = b"\xef\xbb\xbf"  # with which some editors begin a file
_NUMBER = re.compile(rb"[-+.0-9eE]+")


class Dialect(NamedTuple):
    """How the lines of a format look."""

    expected: str = "source destination [weight]"
    columns: int = 2
    comments: bytes = b"#%"  # two bytes, either of which starts a comment line
    separator: int = 0  # stands between two fields; 0: blanks do
    lead: int = 0  # the letter that begins every edge line, 0: none
    lowest: int = 0
    highest: int = 2**63 - 1
    further: bool = False  # columns after the last one are ignored


class Piece(NamedTuple):
    """The edges of some consecutive lines."""

    source: np.ndarray
    destination: np.ndarray
    weights: np.ndarray | None
    largest: int


def text_blocks(path: Path, progress: bool) -> Iterator[bytes]:
    """The text in blocks of whole lines; a last line without a newline gets one."""
    unpack = opener(path)
    with open(path, "rb") as raw, unpack(raw) if unpack else raw as file:
        size, told = os.fstat(raw.fileno()).st_size, raw.seekable()  # a pipe has no size and no place
        with progress_bar(size, "loading", "B", progress) as bar:
            done = 0

            def more() -> bytes:
                data = read_some(path, file, BLOCK)
                return data if done else data.removeprefix(MARK)

            for block in whole_lines(path, more):
                if not done:
                    _predict(path, block, size)
                yield block
                at = raw.tell() if told else done + len(block)
                bar.update(at - done)
                done = at


def whole_lines(path: Path, more: Callable[[], bytes]) -> Iterator[bytes]:
    """What ``more`` reads piece by piece, in blocks of whole lines; the last gets a newline if need be."""
    rest = b""
    while data := more():
        cut = data.rfind(b"\n") + 1
        block = b"".join((rest, memoryview(data)[:cut])) if cut else b""
        rest = data[cut:] if cut else rest + data
        data = b""  # not held twice while the block is parsed
        if len(rest) > _LONGEST_LINE:
            raise GraphFileError(f"{path}: a line of more than {_LONGEST_LINE} bytes, expected a text file")
        if block:
            yield block
    if rest:
        yield rest + b"\n"


def _predict(path: Path, block: bytes, size: int) -> None:
    """NotEnoughMemory when a file of ``size`` bytes, packed or not, with lines like these is too large."""
    edges = size * block.count(b"\n") // len(block)
    require_memory(8 * edges, f"{path}: about {edges} edges or more")


def first_line(block: bytes, comments: bytes) -> tuple[bytes, int, int]:
    """The first line that is neither blank nor a comment, stripped, with its start and end."""
    start = 0
    while start < len(block):
        end = block.index(b"\n", start) + 1
        text = block[start:end].strip()
        if text and text[:1] not in comments:
            return text, start, end
        start = end
    return b"", start, start


def pieces_of(block: bytes) -> list[tuple[int, int]]:
    """Cut a block into pieces of whole lines: [(first byte, last byte + 1), ...]."""
    cuts = [0]
    while cuts[-1] < len(block):
        cuts.append(block.find(b"\n", min(cuts[-1] + _PIECE, len(block) - 1)) + 1)
    return list(itertools.pairwise(cuts))


def line_error(path: Path, text: bytes, line: int, reason: str) -> GraphFileError:
    """The error for one line, which is shown."""
    shown = text.rstrip(b"\r\n").decode("ascii", "backslashreplace")
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return GraphFileError(f"{path}, line {line}: {shown!r}: {reason}")


def fields_of(text: bytes, separator: int = 0) -> list[bytes]:
    """The columns of a line: parted by blanks (0), or by one separator with blanks around it."""
    return [field.strip() for field in text.split(bytes([separator]))] if separator else text.split()


def malformed(path: Path, text: bytes, line: int, dialect: Dialect) -> GraphFileError:
    """The error for a line that is not an edge, with the most telling reason."""
    fields = fields_of(text.strip(b" \r\n"), dialect.separator)
    if dialect.lead and fields[:1] == [bytes([dialect.lead])]:
        fields = fields[1:]
    ids = [field.removeprefix(b"-") for field in fields[:2]]
    numbers = len(ids) == 2 and all(field.isdigit() for field in ids)
    count = len(fields)
    reason = f"expected: {dialect.expected}"
    if count < dialect.columns or (count > dialect.columns and not dialect.further):
        reason = f"{count} column{'s' * (count != 1)}, expected {dialect.columns} as in the first line"
    elif numbers and ids != fields[:2]:
        reason = f"a negative id, expected ids from {dialect.lowest}"
    elif numbers and dialect.highest == 2**63 - 1 and any(len(f) > 19 or int(f) >= 2**63 for f in ids):
        reason = "an id that is too large, expected ids below 2^63"
    elif numbers and any(len(f) > 19 or not dialect.lowest <= int(f) <= dialect.highest for f in ids):
        reason = f"an id outside {dialect.lowest}..{dialect.highest}"
    return line_error(path, text, line, reason)


def parse_block(path: Path, block: bytes, dialect: Dialect, line: int) -> list[Piece]:
    """Parse a block of whole lines, the first of which has number ``line``."""
    bounds = pieces_of(block)
    require_memory(8 * len(block), f"{path}: its edges")
    data = np.frombuffer(block, np.uint8)
    weighted = dialect.columns == 3
    pieces: list = [None] * len(bounds)
    errors: dict[int, int] = {}

    def parse(i):
        text = data[slice(*bounds[i])]
        most = np.count_nonzero(text == ord("\n"))
        source, destination = np.empty(most, np.int64), np.empty(most, np.int64)
        integers, floats = np.empty((2, most if weighted else 0), np.int64)
        floats = floats.view(np.float64)
        edges, largest, kinds, bad = parse_lines(
            text,
            dialect.columns,
            dialect.lead,
            dialect.comments,
            dialect.separator,
            dialect.lowest,
            dialect.highest,
            dialect.further,
            POWERS,
            source,
            destination,
            integers,
            floats,
        )
        weights = None
        if bad < 0 and weighted:
            weights, bad = exact_weights(text, kinds, integers[:edges], floats[:edges])
        if bad >= 0:
            errors[i] = block.rfind(b"\n", 0, bounds[i][0] + bad) + 1
            return
        pieces[i] = Piece(narrow(source[:edges]), narrow(destination[:edges]), weights, largest)

    for_each(len(pieces), parse)
    if errors:
        at = errors[min(errors)]
        text = block[at : block.index(b"\n", at)]
        raise malformed(path, text, line + block[:at].count(b"\n"), dialect)
    return pieces


def exact_weights(text: np.ndarray, kinds: int, integers: np.ndarray, floats: np.ndarray):
    """(weights as the kernels left them, -1), or where in ``text`` one is too large for a float."""
    if kinds in (0, SHORT):
        return narrow(integers), -1
    left = np.flatnonzero(np.isnan(floats))
    if not kinds & FLOAT:
        whole = _long_integers(integers, left, [int(_number(text, at)) for at in integers[left].tolist()])
        if whole is not None:
            return whole, -1
    weights = own_copy(floats)
    for e in left:
        at = int(integers[e])
        weights[e] = float(_number(text, at))
        if np.isinf(weights[e]):
            return weights, at
    return weights, -1


def _number(text: np.ndarray, at: int) -> bytes:
    return _NUMBER.match(text[at : at + 2000].tobytes())[0]


def _long_integers(integers: np.ndarray, places: np.ndarray, numbers: list[int]) -> np.ndarray | None:
    """The integers with these numbers at these places, if they are of 64 bits, signed or unsigned."""
    whole = own_copy(integers)
    whole[places] = 0
    dtype = integers_type(min(*numbers, int(whole.min())), max(numbers))
    if dtype is not None:
        whole = own_copy(whole, dtype)
        whole[places] = np.array(numbers, dtype)
    return whole if dtype is not None else None


def join(parts: list[np.ndarray]) -> np.ndarray:
    """All parts in one array of a type that holds them all; empties the list, part by part."""
    joined = np.empty(sum(map(len, parts)), common_type(map(told_type, parts)))
    last = 0
    for i in range(len(parts)):
        first, last = last, last + len(parts[i])
        joined[first:last] = parts[i]
        parts[i] = None
    parts.clear()
    return joined


def believable(path: Path, n: int, size: int) -> None:
    """GraphFileError when a header says ``n`` vertices, of which ``size`` bytes can hardly give any an edge.

    So that a forged header cannot ask for memory that the file does not bear out.
    """
    if n > (1 << 20) + 64 * size:
        raise GraphFileError(
            f"{path}: its header says {n} vertices, expected no more than its text bears out"
        )


def expect_edges(path: Path, pieces: list[Piece], m: int) -> None:
    """GraphFileError when the pieces do not hold the ``m`` edges that a header says."""
    found = sum(len(piece.source) for piece in pieces)
    if found != m:
        raise GraphFileError(f"{path}: has {found} edges, expected {m} as in its header")


def numbered_from_one(
    pieces: list[Piece], n: int, weighted: bool, progress: bool, *, opposite: int = 0
) -> Graph:
    """Graph of pieces with ids 1..n, which become 0..n-1; empties the list."""
    ends = []
    weights = [piece.weights if weighted else None for piece in pieces]
    while pieces:
        piece = pieces.pop(0)
        for ids in (piece.source, piece.destination):
            ids -= ids.dtype.type(1)
            ends.append(ids)
    return Graph(*csr_of(n, ends, weights, weighted, progress, opposite=opposite))
