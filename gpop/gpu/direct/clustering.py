"""Edges between the neighbours of every vertex, on a GPU: each triangle is told to its three vertices.

The graph's symmetric copy is oriented and its triangles are met as in `gpop.gpu.direct.triangles`. An edge of
a directed graph counts once for each direction that it is there in: how many one of the copy stands for is
looked up in the graph's own lists, by bisection. Phases: those of triangles; looking up belongs to orient.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.gpu.device import cupy
from gpop.gpu.direct.oriented import orient, oriented_bytes
from gpop.gpu.direct.phases import Phases, device_lists
from gpop.gpu.direct.triangles import meet, source, sums
from gpop.graph.graph import Graph


class Links(NamedTuple):
    """``links`` (int64) between the ``neighbours`` (uint32: how many) of every vertex.

    The rest as in `gpop.gpu.direct.triangles.Triangles`.
    """

    links: np.ndarray
    neighbours: np.ndarray
    edges: np.ndarray
    phase_seconds: np.ndarray
    copy_seconds: float
    threads: int


def count_links(both_ways: Graph, directed: Graph | None) -> Links:
    """Count the links of a symmetric graph, or of the directed one that it was made of; all lists ascend.

    Raises
    ------
    NotEnoughMemory
        If lists and oriented lists do not fit the device.
    """
    n, m = both_ways.n, both_ways.m
    phases = Phases(source(links=True))
    chunks = phases.chunks(n + m)
    others = oriented_bytes(n, m, chunks) + 12 * n + (0 if directed is None else m // 2)
    lists, copy_seconds = device_lists(both_ways, others, "clustering")
    links, neighbours = cupy().zeros(n, np.uint64), cupy().zeros(n, np.uint32)
    claimed, told = cupy().zeros(4, np.uint64), None
    if directed is not None:
        own, more_seconds = device_lists(directed, others, "clustering")
        copy_seconds += more_seconds
    phases.mark()
    oriented = orient(phases, lists, chunks, claimed)
    phases.launch("neighbours", lists.argument, *chunks, claimed[2:], neighbours)
    if directed is not None:
        upward = oriented.upward
        told = cupy().zeros(len(upward.indices), np.uint8)
        parts = phases.chunks(n + len(upward.indices))
        phases.launch("count_edges", upward.argument, *parts, claimed[3:], own.argument, told)
    phases.mark()
    edges = meet(phases, oriented, sums(links, told))
    return Links(
        links.get().view(np.int64), neighbours.get(), np.array([m, *edges]), phases.seconds(), copy_seconds,
        phases.threads,
    )  # fmt: skip
