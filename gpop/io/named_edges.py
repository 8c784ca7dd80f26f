"""Edge lists whose ids are names: text ids, quoted fields, or columns picked by their header.

A dictionary numbers the names in the order in which they first appear. Large plain blocks are parted
by pyarrow where it is installed (`gpop.io.named_arrow`), all others line by line (`gpop.io.fields`); the
graph is the same. Names that are all integers are treated as the numbers they are.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from gpop.common.errors import UsageError
from gpop.common.memory import require_memory
from gpop.common.replacing import replacing
from gpop.graph.edge_pieces import integers_type
from gpop.graph.graph import Graph
from gpop.interop.edge_columns import graph_of_columns
from gpop.io.compressed import open_to_write
from gpop.io.fields import BLANK_BYTES, is_integer, is_number, part, weight
from gpop.io.named_arrow import Columns, columns_of
from gpop.io.sniff import Layout
from gpop.io.text import join, line_error


class NamedEdges:
    """Collects edges of named vertices block by block, then makes a graph."""

    def __init__(self, path: Path, layout: Layout):
        self.path = path
        self.layout = layout
        self.header = layout.header and layout.header.strip(BLANK_BYTES)
        self.number: dict[str, int] = {}
        self.sources: list[np.ndarray] = []
        self.targets: list[np.ndarray] = []
        self.weights: list[np.ndarray] = []

    def add(self, block: bytes, line: int) -> None:
        """Take the lines of a block, the first of which has number ``line``."""
        require_memory(20 * len(block), f"{self.path}: its names")
        columns = columns_of(block, self.layout)
        if columns is None:
            self._add_lines(block, line)
        else:
            self._add_columns(columns)

    def _add_columns(self, columns: Columns) -> None:
        """Take columns of codes; every name of theirs is looked up once."""
        number = self.number
        numbers = np.array([number.setdefault(name, len(number)) for name in columns.names], np.int64)
        self.sources.append(numbers[columns.source])
        self.targets.append(numbers[columns.target])
        if columns.weights is not None:
            self.weights.append(columns.weights)

    def _add_lines(self, block: bytes, line: int) -> None:
        source: list[int] = []
        target: list[int] = []
        weights: list[int | float] = []
        for i, raw in enumerate(block.split(b"\n")[:-1]):
            text = raw.strip(BLANK_BYTES)
            if not text or text[:1] in b"#%":
                continue
            fault = "the column names once more" if text == self.header else None
            fault = fault or self._take(raw.strip(b" \r"), source, target, weights)
            if fault:
                raise line_error(self.path, raw, line + i, fault)
        self.sources.append(np.array(source, np.int64))
        self.targets.append(np.array(target, np.int64))
        if len(self.layout.places) == 3:
            whole = all(isinstance(weight, int) for weight in weights)
            dtype = integers_type(min(weights, default=0), max(weights, default=0)) if whole else None
            self.weights.append(np.array(weights, dtype or np.float64))

    def _take(self, raw: bytes, source: list, target: list, weights: list) -> str | None:
        """Add one edge to the lists, or say what is wrong with it."""
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            return "expected UTF-8 text"
        _, header, count, places = self.layout
        fields = part(text, self.layout.separator)
        if fields is None:
            return "its quotes are not those of CSV"
        if len(fields) != count:
            found = f"{len(fields)} column{'s' * (len(fields) != 1)}"
            return f"{found}, expected {count} as in the {'header' if header else 'first line'}"
        if "\0" in text or "\r" in text:
            return "a control character, expected text"
        u, v = fields[places[0]], fields[places[1]]
        if not u or not v:
            return "an empty name, expected: source destination [weight]"
        if len(places) == 3:
            number = weight(fields[places[2]])
            if number is None:
                what = "has a decimal comma" if "," in fields[places[2]] else "is no number"
                return f"its weight {what}, expected: source destination [weight]"
            weights.append(number)
        source.append(self.number.setdefault(u, len(self.number)))
        target.append(self.number.setdefault(v, len(self.number)))
        return None

    def graph(self, progress: bool) -> Graph:
        """The graph of all edges taken."""
        weights = None
        if len(self.layout.places) == 3:
            weights = join(self.weights)
            if weights.dtype != np.float64 and weights.min(initial=0) >= 0 and weights.max(initial=0) < 2**32:
                weights = weights.astype(np.uint32)
        pieces = None if weights is None else [weights]
        ends = [join(self.sources), join(self.targets)]
        names = list(self.number)
        if all(map(is_integer, names)):
            values = np.array([int(name) for name in names], np.int64)
            return graph_of_columns(*([values[end]] for end in ends), pieces, progress=progress)
        return graph_of_columns(*([end] for end in ends), pieces, names=np.array(names), progress=progress)


def write_named(graph: Graph, names: list[str], path: Path, separator: str) -> None:
    """Write one edge a line under a header; names that would not be read as they are are refused."""
    parts = set("\t\n\r\"'\0" + (",;|" if separator == "," else " "))
    for name in names:
        if not name or name.strip() != name or set(name) & parts or name[0] in "#%" or not _is_utf8(name):
            raise _unwritten(path, name, "names without blanks, quotes and separators")
    strange = _no_integer(graph, names)
    if strange is not None:
        raise _unwritten(path, strange, "names that are not read as numbers")
    weights = None if graph.weights is None else graph.weights.tolist()
    columns = ["source", "target", "weight"][: 2 if weights is None else 3]
    with replacing(path) as temporary, open_to_write(temporary, path) as packed:
        file = io.TextIOWrapper(packed, "utf-8", newline="\n")
        file.write(separator.join(columns) + "\n")
        for v, name in enumerate(names):
            for e in range(graph.indptr[v], graph.indptr[v + 1]):
                row = [name, names[graph.indices[e]]] + ([] if weights is None else [repr(weights[e])])
                if row == columns:
                    raise _unwritten(path, name, "no edge that reads like the header")
                file.write(separator.join(row) + "\n")
        file.flush()
        file.detach()


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_integer(graph: Graph, names: list[str]) -> str | None:
    """A name of an edge's end that a reader would take for another number, or refuse among numbers."""
    ends = np.union1d(np.flatnonzero(graph.out_degree), graph.indices).tolist()
    used = [names[v] for v in ends]
    if all(map(is_integer, used)):
        return next((name for name in used if str(int(name)) != name), None)
    edge = (names[int(graph.out_degree.astype(bool).argmax())], names[graph.indices[0]])
    return next(name for name in used if not is_integer(name)) if all(map(is_number, edge)) else None


def _unwritten(path: Path, name: str, expected: str) -> UsageError:
    return UsageError(
        f"{path}: vertex {name!r} cannot be written in an edge list, expected {expected} "
        "(.parquet and .graphml store any name)"
    )
