"""Binary CSR, the format of the original GPOP: little-endian, no magic number.

    n, m, offsets[n], edges[m] [, weights[m]]          (offsets[n] = m is not stored)

| layout               | n   | m   | offsets | edges | weights |
|----------------------|-----|-----|---------|-------|---------|
| 32-bit               | u32 | u32 | u32     | u32   | u32     |
| 64-bit offsets       | u32 | u64 | u64     | u32   | u32     |  (HUGE_EDGE)
| 64-bit offsets + ids | u64 | u64 | u64     | u64   | u32     |  (HUGE_VERTEX)

Which layout a file has, and whether it has weights, follows from its size and its header. One
pair can tie: a weighted 32-bit file with m = n + 1 is as long as an unweighted one with 64-bit
offsets. Then offsets and ids decide; when they fit both ways, ``weighted`` does, or it is an error.

Reading predicts memory from the header first, then fills the final arrays block by block in
several threads, checking each block while it is in the cache; nothing is held twice. A file whose
graph does not fit in memory, but whose offsets do, is mapped: its 32-bit edges and weights stay in the
file, private to the process when written to, and come and go with the pages that are used.
"""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpop.common import spill
from gpop.common.errors import GraphFileError, NotEnoughMemory
from gpop.common.memory import require_memory
from gpop.common.progress import progress_bar
from gpop.common.replacing import replacing
from gpop.graph.arguments import MOST_VERTICES
from gpop.graph.graph import Graph
from gpop.graph.validate import ids_fault, offsets_fault
from gpop.io.binary import exact_weights, fill, store


class _Layout(NamedTuple):
    name: str
    header: tuple[str, str]  # dtypes of n and m
    offset: str
    edge: str


_LAYOUTS = (
    _Layout("32-bit", ("<u4", "<u4"), "<u4", "<u4"),
    _Layout("64-bit offsets", ("<u4", "<u8"), "<u8", "<u4"),
    _Layout("64-bit offsets and ids", ("<u8", "<u8"), "<u8", "<u8"),
)


class Content(NamedTuple):
    """One way to read a file: a layout, the counts of its header, with or without weights."""

    layout: _Layout
    n: int
    m: int
    weighted: bool

    def positions(self) -> tuple[int, int, int, int]:
        """Byte positions of the offsets, the edges, the weights, and the end."""
        offsets = sum(np.dtype(d).itemsize for d in self.layout.header)
        edges = offsets + self.n * np.dtype(self.layout.offset).itemsize
        weights = edges + self.m * np.dtype(self.layout.edge).itemsize
        return offsets, edges, weights, weights + 4 * self.m * self.weighted

    def __str__(self) -> str:
        weights = " and weights" if self.weighted else ""
        return f"{self.layout.name}{weights} (n={self.n}, m={self.m}): {self.positions()[3]} bytes"


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Read a binary CSR file; ``weighted=False`` skips its weights, ``True`` demands them."""
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        content = identify(path, file, size, weighted)
        n, m = content.n, content.m
        if n > MOST_VERTICES:
            raise GraphFileError(f"{path}: {n} vertices, expected at most {MOST_VERTICES}")
        take_weights = content.weighted and weighted is not False
        offsets_at, edges_at, weights_at, _ = content.positions()
        mapped = _must_be_mapped(path, content, take_weights)
        data = spill.of_file(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)) if mapped else None
        indptr = np.empty(n + 1, np.int64)
        indptr[n] = m
        indices = np.frombuffer(data, np.uint32, m, edges_at) if mapped else np.empty(m, np.uint32)
        weights = None
        if take_weights:
            weights = np.frombuffer(data, np.uint32, m, weights_at) if mapped else np.empty(m, np.uint32)
        faults: dict[int, str] = {}
        with progress_bar(n + m * (1 + take_weights), "loading", "value", progress) as bar:
            fill(path, offsets_at, content.layout.offset, indptr[:n], bar)
            fault = offsets_fault(indptr, m)
            if fault:
                raise GraphFileError(f"{path} ({content}): {fault}")
            if mapped:
                fault = ids_fault(indices, n)
            else:
                fill(path, edges_at, content.layout.edge, indices, bar, n, faults)
                fault = faults[min(faults)] if faults else None
            if fault:
                raise GraphFileError(f"{path} ({content}): {fault}")
            if weights is not None and not mapped:
                fill(path, weights_at, "<u4", weights, bar)
    return Graph(indptr, indices, weights)


def _must_be_mapped(path: Path, content: Content, take_weights: bool) -> bool:
    """Whether the graph does not fit in memory unless edges and weights stay in the file.

    NotEnoughMemory when it does not fit then either, or the file's edges are not those of a Graph.
    """
    n, m = content.n, content.m
    file_is_graph = content.layout.edge == "<u4" and np.dtype("<u4").isnative
    if spill.active() and file_is_graph:
        return True
    whole = (8 * (n + 1) + (8 if take_weights else 4) * m, f"{path}: n={n}, m={m}")
    with suppress(NotEnoughMemory):
        require_memory(*whole)
        return False
    if file_is_graph:
        with suppress(NotEnoughMemory):
            require_memory(8 * (n + 1), f"{path}: its offsets")
            return True
    require_memory(*whole)
    return True


def write(graph: Graph, path: Path) -> None:
    """Write a graph, in the narrowest layout that holds it and cannot be mistaken for another."""
    weights = None if graph.weights is None else exact_weights(graph.weights, np.uint32, path)
    tie = weights is not None and graph.m == graph.n + 1
    layout = _LAYOUTS[0] if graph.m < 2**32 and not tie else _LAYOUTS[1]
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(
            np.array(graph.n, layout.header[0]).tobytes() + np.array(graph.m, layout.header[1]).tobytes()
        )
        store(file, graph.indptr[:-1], layout.offset)
        store(file, graph.indices, "<u4")
        if weights is not None:
            store(file, weights, "<u4")


def identify(path: Path, file, size: int, weighted: bool | None) -> Content:
    """The one way to read the file; GraphFileError when there is none or more than one."""
    header = file.read(16)
    ways = []
    for layout in _LAYOUTS:
        first = np.dtype(layout.header[0]).itemsize
        second = np.dtype(layout.header[1]).itemsize
        if len(header) >= first + second:
            n = int(np.frombuffer(header[:first], layout.header[0])[0])
            m = int(np.frombuffer(header[first : first + second], layout.header[1])[0])
            ways += [Content(layout, n, m, with_weights) for with_weights in (False, True)]
    if not ways:
        raise GraphFileError(f"{path}: {size} bytes, expected a binary CSR with a header of at least 8 bytes")
    fitting = [way for way in ways if way.positions()[3] == size]
    if not fitting:
        plain = "; ".join(str(way) for way in ways if way.n <= MOST_VERTICES and way.positions()[3] < 2**62)
        raise GraphFileError(f"{path}: {size} bytes do not match the header, expected one of {plain}")
    if fitting[0].m == 0:  # no weights and zero weights are the same
        return fitting[-1] if weighted else fitting[0]
    if len(fitting) > 1:
        fitting = [way for way in fitting if _contents_fit(path, way)] or fitting[:1]
    if len(fitting) > 1 and weighted is not None:
        fitting = [way for way in fitting if way.weighted == weighted]
    if len(fitting) > 1:
        both = " or ".join(str(way) for way in fitting)
        raise GraphFileError(f"{path}: ambiguous, {both}; expected weighted=True or weighted=False to decide")
    if weighted and not fitting[0].weighted:
        raise GraphFileError(f"{path}: has no weights, expected a weighted graph")
    return fitting[0]


def _contents_fit(path: Path, way: Content) -> bool:
    """Whether the offsets and ids of the file are valid when it is read this way."""
    require_memory(8 * way.n + 8 * way.m, f"{path}: {way}")
    offsets_at, edges_at, _, _ = way.positions()
    offsets = np.fromfile(path, way.layout.offset, way.n, offset=offsets_at)
    indptr = np.append(offsets, offsets.dtype.type(way.m)).astype(np.int64)
    indices = np.fromfile(path, way.layout.edge, way.m, offset=edges_at)
    return offsets_fault(indptr, way.m) is None and ids_fault(indices, way.n) is None
