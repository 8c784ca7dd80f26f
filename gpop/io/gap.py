"""Serialised graphs of the GAP Benchmark Suite (``.sg``, weighted ``.wsg``): little-endian, no magic number.

    u8 directed, i64 m, i64 n, i64 offsets[n + 1], neighbours[m]
    and when directed the same of the reverse graph: i64 offsets[n + 1], neighbours[m]

A neighbour is an i32 id, in ``.wsg`` followed by its i32 weight. An undirected graph holds every
edge in both directions, and m counts both. The size of the file must be what the header says; the
reverse graph is not read (`Graph.reverse` makes it).
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np

from gpop.common.errors import GraphFileError, UsageError
from gpop.common.memory import require_memory
from gpop.common.parallel import ranges
from gpop.common.progress import progress_bar
from gpop.common.replacing import replacing
from gpop.common.write_arrays import write_array
from gpop.graph.graph import Graph
from gpop.graph.validate import ids_fault, offsets_fault
from gpop.io.binary import exact_weights, fill, store

_HEADER = struct.Struct("<Bqq")
_MOST = 2**31 - 1  # ids are signed
_PAIRS = 1 << 20  # weighted edges converted at a time


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Read a serialised graph; ``weighted=False`` drops the weights of a ``.wsg``."""
    pairs = path.suffix.lower() == ".wsg"
    if weighted and not pairs:
        raise GraphFileError(f"{path}: .sg has no weights, expected a weighted graph (.wsg)")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        header = file.read(_HEADER.size)
    n, m = _identify(path, header, size, pairs)
    take_weights = pairs and weighted is not False
    require_memory(8 * (n + 1) + (16 if pairs else 4) * m, f"{path}: n={n}, m={m}")
    indptr = np.empty(n + 1, np.int64)
    stored = np.empty(m, np.uint64 if pairs else np.uint32)
    with progress_bar(n + 1 + m, "loading", "value", progress) as bar:
        fill(path, _HEADER.size, "<i8", indptr, bar)
        fault = offsets_fault(indptr, m)
        if fault:
            raise GraphFileError(f"{path}: {fault}")
        fill(path, _HEADER.size + 8 * (n + 1), "<u8" if pairs else "<u4", stored, bar)
    weights = None
    indices = stored
    if pairs:
        indices = np.empty(m, np.uint32)
        weights = np.empty(m if take_weights else 0, np.int32)
        for first, last in ranges(m, _PAIRS):
            indices[first:last] = stored[first:last] & np.uint64(0xFFFFFFFF)
            if take_weights:
                weights[first:last] = (stored[first:last] >> np.uint64(32)).astype(np.uint32).view(np.int32)
    fault = ids_fault(indices, n)
    if fault:
        raise GraphFileError(f"{path}: {fault}")
    if not take_weights:
        weights = None
    elif weights.min(initial=0) >= 0:
        weights = weights.view(np.uint32)
    return Graph(indptr, indices, weights)


def _identify(path: Path, header: bytes, size: int, pairs: bool) -> tuple[int, int]:
    """(n, m) of the header; GraphFileError when the file does not have the size that follows from it."""
    if len(header) < _HEADER.size:
        raise GraphFileError(f"{path}: {size} bytes, expected a header of {_HEADER.size}")
    directed, m, n = _HEADER.unpack(header)

    def length(edge: int) -> int:
        return _HEADER.size + (1 + directed) * (8 * (n + 1) + edge * m)

    if directed > 1 or not 0 <= n <= _MOST or m < 0:
        raise GraphFileError(f"{path}: directed={directed}, n={n}, m={m} is no header of a serialised graph")
    if size != length(8 if pairs else 4):
        other = ".sg" if pairs else ".wsg"
        hint = f"; it is a {other} by its size" if size == length(4 if pairs else 8) else ""
        raise GraphFileError(
            f"{path}: {size} bytes, expected {length(8 if pairs else 4)} for n={n}, m={m}{hint}"
        )
    return n, m


def write(graph: Graph, path: Path) -> None:
    """Write a serialised graph, undirected when it equals its reverse."""
    pairs = path.suffix.lower() == ".wsg"
    if pairs != (graph.weights is not None):
        kind, ending = ("no weights", ".sg") if pairs else ("weights", ".wsg")
        raise UsageError(f"{path}: the graph has {kind}, expected a name ending in {ending}")
    if graph.n > _MOST:
        raise UsageError(f"{path}: {graph.n} vertices, expected at most {_MOST} for this format")
    weights = exact_weights(graph.weights, np.int32, path) if pairs else None
    directed = not graph.equals_reverse()
    parts = [(graph, weights)]
    if directed:
        turned = graph.reverse()
        parts.append((turned, exact_weights(turned.weights, np.int32, path) if pairs else None))
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(_HEADER.pack(directed, graph.m, graph.n))
        for part, its_weights in parts:
            store(file, part.indptr, "<i8")
            if not pairs:
                store(file, part.indices, "<u4")
                continue
            for first, last in ranges(part.m, _PAIRS):
                rows = np.stack([part.indices[first:last].view(np.int32), its_weights[first:last]], axis=1)
                write_array(rows.astype("<i4", copy=False), file)
