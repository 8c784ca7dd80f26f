"""Edge lists whose ids are names: text ids, quoted fields, or columns picked by their header.

Python's csv module parts the fields (blanks are parted by str.split), a dictionary numbers the names
in the order in which they first appear: about a tenth of the speed of the compiled integer reader.
Names that are all integers are treated as the numbers they are.
"""

from __future__ import annotations

import csv
import io
import math
from array import array
from pathlib import Path

import numpy as np

from gpop.common.errors import GraphFileError, UsageError
from gpop.common.memory import require_memory
from gpop.common.replacing import replacing
from gpop.graph.graph import Graph
from gpop.interop.edge_columns import SOURCE, TARGET, WEIGHT, graph_of_columns
from gpop.io.compressed import open_to_write
from gpop.io.text import line_error


def named_rows(text: str, separator: int) -> list[str]:
    """The fields of one line."""
    if chr(separator) not in text:
        return text.split()
    try:
        return [
            field.strip()
            for field in next(csv.reader([text], delimiter=chr(separator), skipinitialspace=True))
        ]
    except (csv.Error, StopIteration):
        return []


def _lower(text: bytes, separator: int) -> list[str]:
    return [name.lower().strip("\"'") for name in named_rows(text.decode("utf-8", "replace"), separator)]


def is_header(text: bytes, following: bytes, separator: int) -> bool:
    """Whether the first line holds column names: known ones, or words above numbers."""
    names = _lower(text, separator)
    if len(names) < 2 or not all(name[:1].isalpha() or name[:1] == "_" for name in names):
        return False
    if names[0] in SOURCE and names[1] in TARGET:
        return True
    below = named_rows(following.decode("utf-8", "replace"), separator)
    return len(below) == len(names) and (
        (any(name in SOURCE for name in names) and any(name in TARGET for name in names))
        or all(_is_number(field) for field in below[:2])
        or (len(below) == 3 and _is_number(below[2]))
    )


def column_places(header: bytes, separator: int) -> tuple[int, ...]:
    """The places of source, target and (when there is one) weight among the columns of a header."""
    names = _lower(header, separator)
    places = []
    for place, known in ((0, SOURCE), (1, TARGET)):
        places.append(next((i for i, name in enumerate(names) if name in known), place))
    if places[0] == places[1]:
        places = [0, 1]
    weight = next((i for i, name in enumerate(names) if name in WEIGHT and i not in places), None)
    if weight is None and len(names) == 3 and sorted(places) == [0, 1]:
        weight = 2  # a third column is the weight, whatever its name
    return tuple(places) if weight is None else (*places, weight)


def is_integer(name: str) -> bool:
    """Whether a name is an id that an integer array holds.

    >>> is_integer("007"), is_integer("7b"), is_integer(str(2**63))
    (True, False, False)
    """
    return name.isascii() and name.isdigit() and len(name) < 20 and int(name) < 2**63


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class NamedEdges:
    """Collects edges of named vertices block by block, then makes a graph."""

    def __init__(self, path: Path, separator: int, places: tuple[int, ...] | None, header: bytes | None):
        self.path = path
        self.separator = separator
        self.places = places
        self.header = header
        self.columns = 0  # known after the first line
        self.number: dict[str, int] = {}
        self.source, self.target = array("q"), array("q")
        self.weights: list[int | float] = []

    def add(self, block: bytes, line: int) -> None:
        """Take the lines of a block, the first of which has number ``line``."""
        require_memory(20 * len(block), f"{self.path}: its names")
        lines = block.split(b"\n")[:-1]
        for i, raw in enumerate(lines):
            text = raw.strip()
            if not text or text[:1] in b"#%":
                continue
            try:
                fields = named_rows(text.decode(), self.separator)
            except UnicodeDecodeError:
                raise line_error(self.path, raw, line + i, "expected UTF-8 text") from None
            fault = "the column names once more" if text == self.header else self._take(fields)
            if fault:
                raise line_error(self.path, raw, line + i, fault)

    def _take(self, fields: list[str]) -> str | None:
        """Add one edge, or say what is wrong with it."""
        if not self.columns:
            self.columns = len(fields)
            self.places = self.places or tuple(range(self.columns))
        if len(fields) != self.columns:
            found = f"{len(fields)} column{'s' * (len(fields) != 1)}"
            return f"{found}, expected {self.columns} as in the first line"
        if max(self.places) >= self.columns:
            return f"{self.columns} columns, expected as many as in the header"
        source, target = fields[self.places[0]], fields[self.places[1]]
        if not source or not target:
            return "an empty name, expected: source destination [weight]"
        if len(self.places) == 3:
            weight = _weight(fields[self.places[2]])
            if weight is None:
                return "its weight is no number, expected: source destination [weight]"
            self.weights.append(weight)
        self.source.append(self.number.setdefault(source, len(self.number)))
        self.target.append(self.number.setdefault(target, len(self.number)))
        return None

    def graph(self, weighted: bool | None, progress: bool) -> Graph:
        """The graph of all edges taken."""
        has_weights = self.places is not None and len(self.places) == 3
        if weighted and not has_weights:
            raise GraphFileError(f"{self.path}: has 2 columns, expected 3: a weighted graph")
        weights = None
        if has_weights and weighted is not False:
            whole = all(isinstance(weight, int) for weight in self.weights)
            weights = np.array(self.weights, np.int64 if whole else np.float64)
            if whole and weights.min(initial=0) >= 0 and weights.max(initial=0) < 2**32:
                weights = weights.astype(np.uint32)
        ends = [
            np.frombuffer(ids, np.int64) if len(ids) else np.empty(0, np.int64)
            for ids in (self.source, self.target)
        ]
        pieces = None if weights is None else [weights]
        names = list(self.number)
        if all(is_integer(name) for name in names):
            values = np.array([int(name) for name in names], np.int64)
            return graph_of_columns(*([values[end]] for end in ends), pieces, progress=progress)
        return graph_of_columns(*([end] for end in ends), pieces, names=np.array(names), progress=progress)


def _weight(text: str) -> int | float | None:
    """The number, None when it is none, infinite or an integer beyond 63 bits."""
    try:
        return int(text) if len(text) < 19 else float(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def write_named(graph: Graph, path: Path, separator: str) -> None:
    """Write one edge a line under a header; names that blanks or quotes would break are refused."""
    names = [str(name) for name in graph.original_ids.tolist()]
    for name in names:
        bare = name.strip()
        clean = bare == name and name and not set(name) & set("\t\n\r\"'") and name[0] not in "#%"
        if not clean or (separator == "," and set(name) & set(",;|")) or (separator != "," and " " in name):
            raise UsageError(
                f"{path}: vertex {name!r} cannot be written in an edge list, expected names without blanks, "
                "quotes and separators (.parquet and .graphml store any name)"
            )
    weights = None if graph.weights is None else graph.weights.tolist()
    columns = ["source", "target", "weight"][: 2 if weights is None else 3]
    with replacing(path) as temporary, open_to_write(temporary, path) as packed:
        file = io.TextIOWrapper(packed, "utf-8", newline="\n")
        file.write(separator.join(columns) + "\n")
        for v, name in enumerate(names):
            for e in range(graph.indptr[v], graph.indptr[v + 1]):
                row = [name, names[graph.indices[e]]] + ([] if weights is None else [repr(weights[e])])
                file.write(separator.join(row) + "\n")
        file.flush()
        file.detach()
