"""METIS and Chaco graphs (``.graph``, ``.metis``): undirected, one adjacency list a line, every edge twice.

    % comment
    n m [fmt [ncon]]
    [size] [vertex weights] neighbour [weight] neighbour [weight] ...       (n such lines)

The digits of ``fmt`` say whether the lines have vertex sizes (100), ``ncon`` vertex weights (10) and
edge weights (1). Vertex sizes and weights are skipped. Some writers set the digit 100 without
writing sizes: then the number of edges decides. Ids 1..n become 0..n-1. The lists must hold 2 m
neighbours (a loop may stand once for its two), or m when each edge is listed once, as some writers of
directed graphs do; they are taken as they are. Empty lines at the end may be missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpop.common.errors import GraphFileError, UsageError
from gpop.common.memory import require_memory
from gpop.common.parallel import for_each
from gpop.common.replacing import replacing
from gpop.graph.arguments import MOST_VERTICES
from gpop.graph.build import build_csr, csr_edges
from gpop.graph.edge_pieces import narrow
from gpop.graph.graph import Graph
from gpop.graph.symmetry import rows_sorted
from gpop.io.compressed import open_to_write
from gpop.io.libraries import demand_weights
from gpop.io.text import (
    believable,
    exact_weights,
    first_line,
    join,
    line_error,
    pieces_of,
    text_blocks,
)
from gpop.io.text_kernels import POWERS
from gpop.io.text_values import told_name, whole_weights
from gpop.io.token_kernels import parse_rows, write_rows

_EDGES = 1 << 18  # edges written at a time
_EXPECTED = "a header: n m [fmt [ncon]]"


class _Header(NamedTuple):
    n: int
    m: int
    sizes: bool
    weights_per_vertex: int
    weighted: bool


class _Rows(NamedTuple):
    """Consecutive lines."""

    neighbours: np.ndarray
    weights: np.ndarray | None
    degrees: np.ndarray


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Read a METIS file; ``weighted=False`` ignores edge weights, ``True`` demands them."""
    try:
        return _read(path, weighted, progress, sizes=True)
    except _SizesMissing as missing:
        try:
            return _read(path, weighted, progress, sizes=False)
        except GraphFileError:
            raise GraphFileError(str(missing)) from None


class _SizesMissing(GraphFileError):
    """The lines are wrong when their first number is a vertex size."""


def _read(path: Path, weighted: bool | None, progress: bool, sizes: bool) -> Graph:
    header = None
    parts: list[_Rows] = []
    line, size = 1, 0
    for block in text_blocks(path, progress):
        size += len(block)
        if header is None:
            text, start, end = first_line(block, b"%")
            line += block[:start].count(b"\n")
            if not text:
                continue
            header = _header(path, text, line)
            demand_weights(path, header.weighted, weighted)
            line += 1
            block = block[end:]
            skipped = header.weights_per_vertex + (sizes and header.sizes)
            error = _SizesMissing if sizes and header.sizes else GraphFileError
        parts += _parse_block(path, block, header, skipped, line, error)
        line += block.count(b"\n")
    if header is None:
        raise GraphFileError(f"{path}: is empty, expected {_EXPECTED}")
    return _to_graph(path, parts, header, size, weighted is not False, progress, error)


def _header(path: Path, text: bytes, line: int) -> _Header:
    fields = text.split()
    if not 2 <= len(fields) <= 4 or not all(field.isdigit() and len(field) < 19 for field in fields):
        raise line_error(path, text, line, f"expected {_EXPECTED}")
    fmt = fields[2].decode().zfill(3) if len(fields) > 2 else "000"
    if len(fmt) > 3 or set(fmt) - {"0", "1"}:
        raise line_error(path, text, line, "an unknown fmt, expected three digits 0 or 1")
    n, m = int(fields[0]), int(fields[1])
    if n > MOST_VERTICES:
        raise line_error(path, text, line, f"{n} vertices, expected at most {MOST_VERTICES}")
    per_vertex = (int(fields[3]) if len(fields) > 3 else 1) if fmt[1] == "1" else 0
    return _Header(n, m, fmt[0] == "1", per_vertex, fmt[2] == "1")


def _parse_block(path, block, header, skipped, line, error):
    """The rows of the pieces of a block."""
    bounds = pieces_of(block)
    require_memory(8 * len(block), f"{path}: its edges")
    data = np.frombuffer(block, np.uint8)
    parts: list = [None] * len(bounds)
    faults: dict[int, int] = {}

    def parse(i):
        text = data[slice(*bounds[i])]
        most = len(text) // (4 if header.weighted else 2) + 1
        neighbours = np.empty(most, np.uint32)
        integers, floats = np.empty((2, most if header.weighted else 0), np.int64)
        floats = floats.view(np.float64)
        degrees = np.empty(np.count_nonzero(text == ord("\n")), np.uint32)
        rows, edges, kinds, bad = parse_rows(
            text, skipped, header.weighted, header.n, POWERS, neighbours, integers, floats, degrees
        )
        weights = None
        if bad < 0 and header.weighted:
            weights, bad = exact_weights(text, kinds, integers[:edges], floats[:edges])
        if bad >= 0:
            faults[i] = block.rfind(b"\n", 0, bounds[i][0] + bad) + 1
            return
        parts[i] = _Rows(narrow(neighbours[:edges]), weights, narrow(degrees[:rows]))

    for_each(len(parts), parse)
    if faults:
        at = faults[min(faults)]
        pairs = "neighbour weight ..." if header.weighted else "neighbour ..."
        text = block[at : block.index(b"\n", at)]
        reason = f"expected {'numbers to skip, then ' if skipped else ''}{pairs} with ids in 1..{header.n}"
        raise error(str(line_error(path, text, line + block[:at].count(b"\n"), reason)))
    return parts


def _to_graph(path, parts, header, size, take_weights, progress, error) -> Graph:
    """CSR of the parsed lines, with every list in ascending order; empties ``parts``."""
    n = header.n
    believable(path, n, size)
    weighted = header.weighted and take_weights
    require_memory(8 * (n + 1) + 8 * sum(len(part.neighbours) for part in parts), f"{path}: n={n}")
    degrees = join([part.degrees for part in parts])
    if degrees[n:].any():
        raise error(f"{path}: more than {n} adjacency lists, expected n = {n} as in its header")
    indptr = np.zeros(n + 1, np.int64)
    given = min(n, len(degrees))
    np.cumsum(degrees[:n], out=indptr[1 : given + 1], dtype=np.int64)
    indptr[given + 1 :] = indptr[given]
    lists = [part.neighbours for part in parts], [part.weights for part in parts]
    parts.clear()
    indices = join(lists[0])
    weights = join(lists[1]) if weighted else None
    possible = (2 * header.m, header.m)
    if len(indices) not in possible and len(indices) + _loops(indptr, indices) != 2 * header.m:
        raise error(f"{path}: its lists hold {len(indices)} neighbours, expected 2 m = {2 * header.m}")
    if not rows_sorted(indptr, indices):
        edges = csr_edges(indptr, indices, weights)
        dtype = None if weights is None else weights.dtype
        indptr, indices, weights = build_csr(n, [edges], dtype, progress=progress)
    return Graph(indptr, indices, weights)


def _loops(indptr: np.ndarray, indices: np.ndarray) -> int:
    """Number of edges from a vertex to itself."""
    own = np.repeat(np.arange(len(indptr) - 1, dtype=np.uint32), np.diff(indptr))
    return int(np.count_nonzero(own == indices))


def write(graph: Graph, path: Path) -> None:
    """Write an undirected graph: every edge must have its opposite of the same weight."""
    weights = whole_weights(graph, path)
    if weights is not None and len(weights) and weights.min() < 0:
        raise UsageError(f"{path}: a weight is {weights.min()}, expected weights that are not negative")
    if not graph.equals_reverse():
        raise UsageError(
            f"{path}: a METIS graph is undirected, expected both directions of every edge with the same "
            "weight (graph.symmetrize() adds them)"
        )
    fmt = b"" if weights is None else b" 001"
    m = (graph.m + _loops(graph.indptr, graph.indices)) // 2
    with replacing(path) as temporary, open_to_write(temporary, path) as file:
        file.write(b"%% %s\n%d %d%s\n" % (told_name(graph), graph.n, m, fmt))
        v = 0
        while v < graph.n:
            last = int(np.searchsorted(graph.indptr, graph.indptr[v] + _EDGES, "right")) - 1
            last = min(max(last, v + 1), v + _EDGES, graph.n)
            text = np.empty(42 * int(graph.indptr[last] - graph.indptr[v]) + last - v, np.uint8)
            file.write(text[: write_rows(graph.indptr, graph.indices, weights, v, last, text)].data)
            v = last
