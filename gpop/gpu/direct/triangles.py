"""Triangles on a GPU: each once, on lists of the neighbours with more neighbours; exactly, in 64 bits.

Phases, all on the device:

orient  (kernels/direct/oriented.cuh) the lists of upper neighbours, by degree: counted for each chunk of the
        graph, added up, written. No vertex is renumbered, so nothing is sorted.
search  (kernels/direct/triangles.cuh) for an edge of a vertex with a short list, the shorter of both lists
        looked up in the longer one by bisection.
hash    the same of vertices with long lists, on a table in shared memory.

Papers: O. Green, P. Yalamanchili, L.-M. Munguía, "Fast triangle counting on the GPU", IA3 2014 (orientation,
searching); S. Pandey et al., "TRUST: triangle counting reloaded on GPUs", TPDS 2021 (tables).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpop.gpu.device import cupy
from gpop.gpu.direct.phases import THREADS, DeviceLists, Phases, device_lists, source_of
from gpop.graph.graph import Graph

PHASES = ("orient", "search", "hash")

LONG = 64
"""Vertices with more upper neighbours have tables."""

TABLE_BITS = 12
"""Of the places of a table: 16 KiB, so that a multiprocessor has all its threads."""

_COUNTED, _WRITTEN, _SEARCHED, _HASHED, _LONG, _LONG_EDGES, _FOUND = range(7)
"""Places of ``told``: what is claimed of the kernels' chunks and vertices, and what they add up."""


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
    n, most = graph.n, graph.m // 2
    phases = Phases(source())
    chunks, share = phases.chunks(n + graph.m)
    others = 4 * most + 16 * n + 16 * int(chunks)
    lists, copy_seconds = device_lists(graph, others, "triangles")
    told = cupy().zeros(_FOUND + 1, np.uint64)
    phases.mark()
    upward, degree = _oriented(phases, lists, chunks, share, told)
    phases.mark()
    size = len(upward.indices)
    searched, hashed, long, long_edges, found = (told[at:] for at in range(_SEARCHED, _FOUND + 1))
    parts = phases.chunks(n + size)
    phases.launch("search", upward.argument, *parts, np.int32(LONG), searched, found)
    phases.mark()
    phases.launch("list_long", upward.argument, np.int32(LONG), long, long_edges, degree)
    phases.launch("hash", upward.argument, degree, long, hashed, found)
    phases.mark()
    *_, in_long, count = told.get().tolist()
    edges = np.array([graph.m, size - in_long, in_long])
    return Triangles(count, edges, phases.seconds(), copy_seconds, phases.threads)


def _oriented(
    phases: Phases, lists: DeviceLists, chunks: np.int64, share: np.int64, told: Any
) -> tuple[DeviceLists, Any]:
    """Upper neighbours of every vertex, and an array of a word a vertex that is free again."""
    n = len(lists.indptr) - 1
    degree, kept = cupy().zeros(n, np.uint32), cupy().zeros(int(chunks) + 1, np.int64)
    common = (lists.argument, chunks, share, degree)
    phases.launch("degrees", lists.argument, degree)
    phases.launch("count_upward", *common, told[_COUNTED:], kept)
    kept = cupy().cumsum(kept)
    upward = DeviceLists(cupy().zeros(n + 1, np.int64), cupy().zeros(int(kept[-1]), np.uint32))
    phases.launch("write_upward", *common, told[_WRITTEN:], kept, upward.indptr, upward.indices)
    return upward, degree


def source() -> str:
    """The CUDA source."""
    return source_of("oriented", "triangles", TABLE_BITS=TABLE_BITS, HASH_THREADS=THREADS)
