"""Components on a GPU: afforest, as on the CPU (`gpop.direct.afforest`), with the same labels.

Phases (kernels/direct/components.cuh), each a kernel over all vertices or edges; of a small graph (`FEW`) one
block does all of them:

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

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np

from gpop.common.on_demand import OnDemand
from gpop.gpu.device import cupy, current_stream, pinned
from gpop.gpu.direct.phases import DeviceLists, Phases, device_lists, source_of
from gpop.gpu.exchange import SMALL
from gpop.gpu.left import OnDevice
from gpop.gpu.mail import UNIT, Mail
from gpop.graph.graph import Graph

PHASES = ("hook", "join", "compress", "sample", "rest", "flatten")

SAMPLES = 256
_JOINED = np.int32(2)  # edges over which a root is joined; with more, too many meet at one root
_TOLD = 7  # LARGEST ... RESTED
_TIMES = len(PHASES) + 1

FEW = 1 << 13
"""Vertices and edges up to which one block is through before the host has launched all phases."""

FEW_THREADS = 512
"""Of that block."""


class Forest(NamedTuple):
    """Every vertex points at its root, the smallest vertex of its component.

    ``parent`` stays on the device until somebody looks at it, where it is large. ``sampled`` of `SAMPLES`
    vertices were in the largest tree before the rest; ``looked_at``: edges of the phases that look at some;
    ``marks``: when each of `PHASES` began and the last one ended, in ``unit`` seconds; ``copy_seconds``: what
    copying the graph to the device took.
    """

    parent: OnDemand
    count: int
    sampled: int
    looked_at: tuple[int, int, int]
    marks: Sequence[float]
    unit: float
    copy_seconds: float
    threads: int

    @property
    def edges(self) -> np.ndarray:
        """What each of `PHASES` looked at."""
        hooked, joined, rested = self.looked_at
        return np.array([hooked, joined, 0, 0, rested, 0])

    @property
    def phase_seconds(self) -> np.ndarray:
        """What each took."""
        return self.unit * np.diff(self.marks)


def grow(graph: Graph, directed: bool) -> Forest:
    """The forest of a graph; ``directed=False`` promises that every edge has its opposite.

    Raises
    ------
    NotEnoughMemory
        If lists and labels do not fit the device.
    """
    # Where one block does all, labels lie in a block that is there: room is asked for elsewhere.
    idle, copy_seconds = _idle(graph, directed) if _in_one(graph) else [], 0.0
    if not idle:
        lists, copy_seconds = device_lists(graph, 4 * graph.n + 8 * (_TOLD + _TIMES), "components")
        idle = _idle(graph, directed)
    ready = idle.pop() if idle else _Ready(graph, lists, directed)
    forest = ready.grow(copy_seconds)
    idle.append(ready)
    return forest


def _idle(graph: Graph, directed: bool) -> list[_Ready]:
    """What earlier calls have laid out for the graph and do not use, while its lists are where they were."""
    key = "components", cupy().cuda.runtime.getDevice(), directed
    made_with, idle = graph.store.noted(key) or (None, [])
    if made_with is not cupy():
        idle = []
        graph.store.note(key, (cupy(), idle))
    return idle


def _in_one(graph: Graph) -> bool:
    """Whether one block does all."""
    return 0 < graph.n <= FEW - graph.m


class _Ready:
    """Launches on a graph, laid out once for many calls, one at a time, and the block of small labels.

    ``told``, numbers for the host, and labels lie in one block: one copy brings both, or the mail of a single
    block of threads (`gpop.gpu.mail`).
    """

    def __init__(self, graph: Graph, lists: DeviceLists, directed: bool) -> None:
        self.phases, self.in_one = Phases(source()), _in_one(graph)
        self.parent, self.told = np.zeros(1, np.uint64), np.zeros(1, np.uint64)  # where they are
        parent, told, n, ends = self.parent, self.told, np.array([graph.n]), lists.argument
        chunks = [np.array([each]) for each in self.phases.chunks(graph.n + graph.m)]
        lay_out = self.phases.laid_out
        compress = lay_out("compress", (n, parent, told))
        whole = (ends, *chunks, np.array([directed], np.int32), np.array([_JOINED]), parent, told)
        launches = (
            lay_out("hook", (ends, parent, told)),
            lay_out("join", (ends, parent, np.array([_JOINED]), told)),
            compress,
            lay_out("sample", (n, parent, told), blocks=1),
            lay_out("rest", (ends, *chunks, np.array([directed], np.int32), parent, told)),
            compress,
        )
        self.launches = launches if graph.n else (None,) * len(launches)
        times_end = 8 * (_TOLD + _TIMES)
        self.labels = slice(times_end, times_end + 4 * graph.n)
        self.nbytes = -(-self.labels.stop // UNIT) * UNIT
        is_small = self.in_one or self.nbytes <= SMALL
        self.block = cupy().empty(self.nbytes, np.uint8) if is_small else None
        self.brought = pinned(8 * _TOLD if self.block is None else self.nbytes, np.dtype(np.uint8))
        self.brought_at = int(self.brought.ctypes.data)
        numbers = _TOLD + _TIMES if self.in_one else _TOLD
        self.numbers = memoryview(self.brought)[: 8 * numbers].cast("q")
        if self.in_one:
            self.mail = Mail(self.brought_at, int(self.block.data.ptr), 0, self.nbytes)
            self.whole = lay_out("all", (*whole, self.mail.argument), blocks=1, threads=FEW_THREADS)

    def grow(self, copy_seconds: float) -> Forest:
        """The forest; labels that are not small stay where they are."""
        block = cupy().empty(self.nbytes, np.uint8) if self.block is None else self.block
        at, runtime, stream = block.data.ptr, cupy().cuda.runtime, current_stream()
        self.told[0], self.parent[0] = at, at + self.labels.start
        try:
            if self.in_one:
                self.whole(stream)
            else:
                self._launch_all(at, stream)
                size = self.brought.size
                runtime.memcpyAsync(self.brought_at, at, size, runtime.memcpyDeviceToHost, stream)
            runtime.streamSynchronize(stream)
        except BaseException:  # an interrupt; what is brought must not come to what lies there next
            with suppress(runtime.CUDARuntimeError):
                runtime.streamSynchronize(stream)
            raise
        _, sampled, roots, _, hooked, joined, rested, *times = self.numbers.tolist()
        if self.block is None:
            labels = OnDemand(OnDevice(block[self.labels].view(np.uint32)).on_host)
        else:
            labels = OnDemand(partial(self.brought[self.labels].copy().view, np.uint32))
        told = labels, roots, sampled, (hooked, joined, rested)
        if self.in_one:
            return Forest(*told, times, 1e-9, copy_seconds, FEW_THREADS)
        marks = np.cumsum([0.0, *self.phases.seconds()])
        return Forest(*told, marks, 1.0, copy_seconds, self.phases.threads)

    def _launch_all(self, at: int, stream: int) -> None:
        """A launch a phase, with events between them."""
        cupy().cuda.runtime.memsetAsync(at, 0, 8 * _TOLD, stream)
        self.phases.mark()
        for launch in self.launches:
            if launch:
                launch(stream)
            self.phases.mark()


def source() -> str:
    """The CUDA source."""
    return source_of("components", SAMPLES=SAMPLES, SMALL_THREADS=FEW_THREADS)
