"""Triangles on a GPU: each once, on lists of the neighbours with more neighbours; exactly, in 64 bits.

Phases, all on the device:

orient  the lists of upper neighbours (`gpop.gpu.direct.oriented`).
search  (kernels/direct/triangles.cuh) for an edge of a vertex with a short list, the shorter of both lists
        looked up in the longer one by bisection.
hash    the same of vertices with long lists, on a table in shared memory.

For clustering (`gpop.gpu.direct.clustering`) each triangle is told to its three vertices instead.
Papers: O. Green, P. Yalamanchili, L.-M. Munguía, "Fast triangle counting on the GPU", IA3 2014 (orientation,
searching); S. Pandey et al., "TRUST: triangle counting reloaded on GPUs", TPDS 2021 (tables).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.gpu.device import cupy
from gpop.gpu.direct.oriented import Oriented, orient, oriented_bytes
from gpop.gpu.direct.phases import THREADS, Phases, device_lists, source_of
from gpop.gpu.structs import argument
from gpop.graph.graph import Graph

PHASES = ("orient", "search", "hash")

LONG = 64
"""Vertices with more upper neighbours have tables."""

TABLE_BITS = 12
"""Of the places of a table: 16 KiB, so that a multiprocessor has all its threads."""

SUMS = np.dtype([("sum", "u8"), ("edges", "u8")])
"""``struct Sums`` of triangles.cuh."""

_TOLD = 4  # chunks searched, vertices hashed; vertices with long lists, their edges


class Triangles(NamedTuple):
    """How many; the edges and seconds of each of `PHASES`, and of copying the graph to the device."""

    count: int
    edges: np.ndarray
    phase_seconds: np.ndarray
    copy_seconds: float
    threads: int


def count_triangles(graph: Graph) -> Triangles:
    """Count the triangles of a symmetric graph with ascending lists; loops and duplicates are left out.

    Raises
    ------
    NotEnoughMemory
        If lists and oriented lists do not fit the device.
    """
    phases = Phases(source(links=False))
    chunks = phases.chunks(graph.n + graph.m)
    lists, copy_seconds = device_lists(graph, oriented_bytes(graph.n, graph.m, chunks), "triangles")
    claimed, count = cupy().zeros(2, np.uint64), cupy().zeros(1, np.uint64)
    phases.mark()
    oriented = orient(phases, lists, chunks, claimed)
    phases.mark()
    edges = meet(phases, oriented, sums(count))
    return Triangles(
        int(count.get()[0]), np.array([graph.m, *edges]), phases.seconds(), copy_seconds, phases.threads
    )


def meet(phases: Phases, oriented: Oriented, adds: np.ndarray) -> tuple[int, int]:
    """Search and hash, two phases; how many edges each had."""
    upward, vertices = oriented
    size = len(upward.indices)
    told = cupy().zeros(_TOLD, np.uint64)
    searched, hashed, long, long_edges = (told[at:] for at in range(_TOLD))
    chunks = phases.chunks(len(vertices) + size)
    phases.launch("search", upward.argument, *chunks, np.int32(LONG), searched, adds)
    phases.mark()
    phases.launch("list_long", upward.argument, np.int32(LONG), long, long_edges, vertices)
    phases.launch("hash", upward.argument, vertices, long, hashed, adds)
    phases.mark()
    in_long = int(told.get()[-1])
    return size - in_long, in_long


def sums(added: np.ndarray, edges: np.ndarray | None = None) -> np.ndarray:
    """``struct Sums``."""
    return argument(np.array([(added.data.ptr, 0 if edges is None else edges.data.ptr)], SUMS))


def source(links: bool) -> str:
    """The CUDA source; ``links``: of clustering."""
    return source_of("triangles", LINKS=int(links), TABLE_BITS=TABLE_BITS, HASH_THREADS=THREADS)
