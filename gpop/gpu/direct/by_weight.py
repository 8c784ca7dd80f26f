"""The adjacency lists with the lightest edge first, on a GPU: the layout of `gpop.layout.by_weight`.

Edges go to the device block by block, each a stretch of whole lists; there a key of every edge, its vertex
and its weight, is sorted (kernels/direct/by_weight.cuh). Kept with the graph: 8 bytes an edge and 8 a vertex.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from gpop.gpu.device import cupy, require_device_memory
from gpop.gpu.direct.phases import LITTLE, Phases, source_of
from gpop.gpu.left import make_room
from gpop.gpu.structs import argument
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind

BLOCK_EDGES = 1 << 24
"""Of a block, unless one list has more."""

_SORTING_BYTES = 56
"""Of an edge of the block: the edge, its key and its place, both twice while they are sorted."""

LINES = np.dtype([("n", "i8"), ("indptr", "u8"), ("lines", "u8")])
"""``struct Lines`` of kernels/direct/shortest_paths_plan.cuh."""


class DeviceLines(NamedTuple):
    """Lists by weight on the device, and how many edges the longest has."""

    indptr: Any
    lines: Any
    longest: int

    @property
    def argument(self) -> np.ndarray:
        """``struct Lines``."""
        return argument(np.array([(len(self.indptr) - 1, self.indptr.data.ptr, self.lines.data.ptr)], LINES))


def device_lines(graph: Graph, others: int, what: str) -> tuple[DeviceLines, float]:
    """The lists of a graph with whole-number weights below 2**32, and the seconds that making them took.

    ``others``: bytes that must have room on the device beside them.

    Raises
    ------
    NotEnoughMemory
        If both together do not fit the device.
    """
    key = "lines", cupy().cuda.runtime.getDevice()
    kept = graph.store.get(Kind.DEVICE, key)
    if kept is not None and others <= LITTLE:
        return kept, 0.0
    longest = kept.longest if kept else int(graph.out_degree.max(initial=0))
    block = min(graph.m, max(BLOCK_EDGES, longest))
    needed = others + (0 if kept else 8 * (graph.m + graph.n + 1) + _SORTING_BYTES * block)
    make_room(graph, needed)
    require_device_memory(needed, f"{what} of {graph!r}")
    if kept is not None:
        return kept, 0.0
    start = time.perf_counter()
    lines = DeviceLines(cupy().asarray(np.asarray(graph.indptr)), cupy().empty(graph.m, np.uint64), longest)
    _sort(graph, lines, block)
    graph.store.put(Kind.DEVICE, lines, key, about="edges by weight")
    return lines, time.perf_counter() - start


def _sort(graph: Graph, lines: DeviceLines, block: int) -> None:
    phases, indptr, first = Phases(source()), graph.indptr, 0
    while first < graph.n:
        begin = int(indptr[first])
        last = int(np.searchsorted(indptr, begin + block, side="right")) - 1
        end = int(indptr[last])
        if end > begin:
            indices = cupy().asarray(np.asarray(graph.indices[begin:end]))
            weights = cupy().asarray(graph.weights[begin:end].astype(np.uint32))
            keys = cupy().empty(end - begin, np.uint64)
            phases.launch("keys", np.int64(first), np.int64(last), lines.indptr, weights, keys)
            order = keys.argsort()
            phases.launch("lines", np.int64(end - begin), order, keys, indices, lines.lines[begin:end])
        first = last
    phases.mark()
    phases.seconds()


def source() -> str:
    """The CUDA source."""
    return source_of("by_weight")
