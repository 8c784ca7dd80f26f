"""LDBC Graphalytics data sets: ``NAME.properties``, which names files of vertices and of edges. Read only.

    graph.NAME.vertex-file = NAME.v          one id a line, of every vertex, isolated ones included
    graph.NAME.edge-file = NAME.e            source destination [weight], an undirected edge once
    graph.NAME.directed = false
    graph.NAME.edge-properties.names = weight
    graph.NAME.edge-properties.types = real
    graph.NAME.bfs.source-vertex = 6         parameters of algorithms, for `perf.graphalytics`

Vertices are in ascending order of their ids, which are kept unless they are 0 .. n-1. An undirected edge gets
both directions. Weights called real are float64, as the benchmark demands; others keep their type. Text is
read as in `gpop.io.text`, packed or not.
Paper: A. Iosup et al., "The LDBC Graphalytics benchmark", specification 1.0.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpop.common.errors import GraphFileError, UsageError
from gpop.common.memory import own_pages
from gpop.common.parallel import for_each, ranges
from gpop.graph.arguments import MOST_VERTICES
from gpop.graph.edge_pieces import csr_of
from gpop.graph.graph import Graph
from gpop.io.libraries import demand_weights
from gpop.io.text import Dialect, Piece, first_line, line_error, parse_block, text_blocks

HOLDS_IDS = True

_COMMENTS = b"##"
_IDS = 1 << 20  # treated at a time
_SPARSE = 16  # times as large as their number, ids are searched for
_GONE = np.uint32(0xFFFFFFFF)


class DataSet(NamedTuple):
    """What a properties file says; ``parameters`` of algorithms go by names like bfs.source-vertex."""

    name: str
    vertices: Path
    edges: Path
    directed: bool
    weights: str
    algorithms: tuple[str, ...]
    parameters: dict[str, str]


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Read the graph of a data set; ``weighted=False`` ignores its weights, ``True`` demands them."""
    data = data_set(path)
    demand_weights(path, bool(data.weights), weighted)
    ids = _vertices(data.vertices, progress)
    pieces, line, dialect = [], 1, None
    for block in text_blocks(data.edges, progress):
        if dialect is None and first_line(block, _COMMENTS)[0]:
            dialect = Dialect("source destination weight", 3, _COMMENTS, further=True)
            if not data.weights:
                dialect = Dialect("source destination", 2, _COMMENTS, further=True)
        if dialect is not None:
            pieces += parse_block(data.edges, block, dialect, line)
        line += block.count(b"\n")
    ends = [end for piece in pieces for end in (piece.source, piece.destination)]
    takes = bool(data.weights) and weighted is not False
    weights = [_typed(piece, data.weights) if takes else None for piece in pieces]
    pieces.clear()
    _number(ends, ids, data)
    opposite = 0 if data.directed else 1
    graph = Graph(*csr_of(len(ids), ends, weights, takes, progress, opposite=opposite))
    if not data.directed:
        graph.facts.symmetric = True
    if len(ids) and not (ids[0] == 0 and ids[-1] == len(ids) - 1):
        graph.original_ids = ids
    return graph


def write(graph: Graph, path: Path) -> None:
    """Refuse: a data set is more than a graph."""
    raise UsageError(f"{path}: data sets of Graphalytics are only read, expected another format to write")


def data_set(path: Path) -> DataSet:
    """What a properties file says, checked.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tiny.properties")
    >>> _ = path.write_text("graph.tiny.vertex-file = tiny.v\\ngraph.tiny.edge-file = tiny.e\\n"
    ...                     "graph.tiny.directed = true\\ngraph.tiny.bfs.source-vertex = 7\\n")
    >>> data = data_set(path)
    >>> data.name, data.directed, data.parameters
    ('tiny', True, {'bfs.source-vertex': '7'})
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise GraphFileError(f"{path}: expected text, lines like graph.NAME.directed = true") from None
    said: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text and text[0] not in "#!":
            key, equals, value = text.partition("=")
            if not equals:
                raise line_error(path, line.encode(), number, "expected a property: key = value")
            said[key.strip()] = value.strip()
    named = [key.removesuffix(".vertex-file") for key in said if key.endswith(".vertex-file")]
    if len(named) != 1 or not named[0].startswith("graph."):
        raise GraphFileError(f"{path}: expected one property graph.NAME.vertex-file, as in Graphalytics")
    prefix = f"{named[0]}."
    own = {key.removeprefix(prefix): value for key, value in said.items() if key.startswith(prefix)}
    for key in ("edge-file", "directed"):
        if key not in own:
            raise GraphFileError(f"{path}: has no property {prefix}{key}")
    if own["directed"] not in ("true", "false"):
        raise GraphFileError(f"{path}: {prefix}directed = {own['directed']}: expected true or false")
    names = own.get("edge-properties.names", "")
    if "," in names:
        raise GraphFileError(f"{path}: {prefix}edge-properties.names = {names}: expected one, a weight")
    return DataSet(
        name=named[0].removeprefix("graph."),
        vertices=path.parent / own["vertex-file"],
        edges=path.parent / own["edge-file"],
        directed=own["directed"] == "true",
        weights=own.get("edge-properties.types", "real") if names else "",
        algorithms=tuple(name.strip() for name in own.get("algorithms", "").split(",") if name.strip()),
        parameters={key: value for key, value in own.items() if key.count(".") == 1 and "-file" not in key},
    )


def columns(path: Path, kinds: tuple[type, ...], progress: bool = False) -> list[np.ndarray]:
    """The columns of a file of numbers parted by blanks, of these kinds; what is no such table is refused."""
    found: list[list[np.ndarray]] = [[np.empty(0, kind)] for kind in kinds]
    line = 1
    for block in text_blocks(path, progress):
        fields = block.split()
        try:
            if len(fields) != len(kinds) * sum(bool(text.strip()) for text in block.splitlines()):
                raise ValueError
            for column, kind in enumerate(kinds):
                found[column].append(np.array(fields[column :: len(kinds)], "S").astype(kind))
        except (ValueError, OverflowError):
            raise _misfit(path, block, line, kinds) from None
        line += block.count(b"\n")
    return [np.concatenate(parts) for parts in found]


def _misfit(path: Path, block: bytes, line: int, kinds: tuple[type, ...]) -> GraphFileError:
    """The error for the first line of a block that is no row of such a table."""
    expected = "expected " + " and ".join(
        "a whole number" if kind is np.int64 else "a number" for kind in kinds
    )
    for number, text in enumerate(block.splitlines(), line):
        fields = text.split()
        try:
            for field, kind in zip(fields, kinds, strict=bool(fields)):
                np.array([field]).astype(kind)
        except (ValueError, OverflowError):
            return line_error(path, text, number, expected)
    return GraphFileError(f"{path}: {expected} in each line")


def _vertices(path: Path, progress: bool) -> np.ndarray:
    """The ids in a file of vertices, ascending."""
    ids = np.sort(columns(path, (np.int64,), progress)[0])
    if len(ids) > MOST_VERTICES:
        raise GraphFileError(f"{path}: {len(ids)} vertices, expected at most {MOST_VERTICES}")
    if len(ids) and ids[0] < 0:
        raise GraphFileError(f"{path}: has vertex {ids[0]}, expected ids from 0 on")
    twice = np.flatnonzero(ids[1:] == ids[:-1])
    if twice.size:
        raise GraphFileError(f"{path}: has vertex {ids[twice[0]]} twice")
    return ids


def _typed(piece: Piece, kind: str) -> np.ndarray:
    return piece.weights.astype(np.float64) if kind == "real" else piece.weights


def _number(ends: list[np.ndarray], ids: np.ndarray, data: DataSet) -> None:
    """Replace the ids in a list of arrays by vertices: by a table, or where ids are sparse by searching."""
    n, largest = len(ids), int(ids[-1]) if len(ids) else -1
    table = np.full(largest + 2 if largest < _SPARSE * n else 0, _GONE)
    if table.size:
        table[ids] = np.arange(n, dtype=np.uint32)

    def vertices(part: np.ndarray) -> np.ndarray:
        if table.size or not n:
            return table[np.minimum(part, largest + 1)] if n else np.full(len(part), _GONE)
        place = np.minimum(np.searchsorted(ids, part), n - 1)
        return np.where(ids[place] == part, place, _GONE).astype(np.uint32)

    def number(i):
        given = ends[i]
        found = own_pages(len(given), np.uint32)
        for first, last in ranges(len(given), _IDS):
            found[first:last] = vertices(given[first:last].astype(np.int64))
            strange = np.flatnonzero(found[first:last] == _GONE)
            if strange.size:
                where = f"vertex {given[first + strange[0]]}, which is not in {data.vertices.name}"
                raise GraphFileError(f"{data.edges}: an edge of {where}")
        ends[i] = found

    for_each(len(ends), number)
