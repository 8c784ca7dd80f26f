"""Components on a GPU: afforest, as on the CPU (`gpop.direct.afforest`), with the same labels.

Phases (kernels/direct/components.cuh), each a kernel over all vertices or edges:

hook      a vertex takes its first neighbour for its parent, if that is smaller: one edge for each.
join      what is a root still is linked over its first edges.
compress  every vertex points at its root.
sample    the largest tree among `SAMPLES` vertices.
rest      the edges of all vertices outside of the largest tree: in a symmetric graph these hold every edge
          that matters. A directed graph is not made symmetric: all its edges are looked at. Chunks of
          vertices and edges go to warps.
flatten   every vertex points at its root; roots are counted.

Parents need no order between threads: a vertex that is no root has an ancestor, whichever store came last,
and roots are linked by compare-and-swap, the larger below the smaller. Labels are the same in every run.
Unusual: hooking to the first neighbour replaces the rounds of linking of the paper, as on the CPU; all are
compressed before the sample, so that one look at a parent tells whether a vertex is left.
Papers: M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via subgraph
sampling", IPDPS 2018; J. Jaiganesh, M. Burtscher, "A high-performance connected components implementation for
GPUs", HPDC 2018 (paths that are halved while others link).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.on_demand import OnDemand
from gpop.gpu.device import cupy
from gpop.gpu.direct.phases import Phases, device_lists, source_of
from gpop.gpu.exchange import SMALL
from gpop.gpu.left import OnDevice
from gpop.graph.graph import Graph

PHASES = ("hook", "join", "compress", "sample", "rest", "flatten")

SAMPLES = 256
_JOINED = np.int32(2)  # edges over which a root is joined; with more, too many meet at one root
_TOLD = 7  # LARGEST ... RESTED


class Forest(NamedTuple):
    """Every vertex points at its root, the smallest vertex of its component.

    ``parent`` stays on the device until somebody looks at it, where it is large. ``sampled`` of `SAMPLES`
    vertices were in the largest tree before the rest; ``edges`` and ``phase_seconds`` are what each of
    `PHASES` looked at and took; ``copy_seconds``: what copying the graph to the device took.
    """

    parent: OnDemand
    count: int
    sampled: int
    edges: np.ndarray
    phase_seconds: np.ndarray
    copy_seconds: float
    threads: int


def grow(graph: Graph, directed: bool) -> Forest:
    """The forest of a graph; ``directed=False`` promises that every edge has its opposite.

    Raises
    ------
    NotEnoughMemory
        If lists and labels do not fit the device.
    """
    lists, copy_seconds = device_lists(graph, 4 * graph.n + 8 * _TOLD, "components")
    both = cupy().zeros(2 * _TOLD + graph.n, np.uint32)  # one copy back, if it is small
    parent, told = both[2 * _TOLD :], both[: 2 * _TOLD].view(np.uint64)
    phases, n, ends = Phases(source()), np.int64(graph.n), lists.argument
    chunks = phases.chunks(graph.n + graph.m)
    launches = (
        ("hook", (ends, parent, told)),
        ("join", (ends, parent, _JOINED, told)),
        ("compress", (n, parent, told)),
        ("sample", (n, parent, told)),
        ("rest", (ends, *chunks, np.int32(directed), parent, told)),
        ("compress", (n, parent, told)),
    )
    phases.mark()
    for kernel, arguments in launches:
        if graph.n:
            phases.launch(kernel, *arguments, blocks=1 if kernel == "sample" else None)
        phases.mark()
    brought = both if both.nbytes <= SMALL else both[: 2 * _TOLD]
    found = brought.get()  # waits for the last kernel
    _, sampled, roots, _, hooked, joined, rested = found[: 2 * _TOLD].view(np.uint64).tolist()
    labels = OnDemand((lambda: found[2 * _TOLD :]) if brought is both else OnDevice(parent).on_host)
    edges = np.array([hooked, joined, 0, 0, rested, 0])
    return Forest(labels, roots, sampled, edges, phases.seconds(), copy_seconds, phases.threads)


def source() -> str:
    """The CUDA source."""
    return source_of("components", SAMPLES=SAMPLES)
