"""Graphie's runtime on a GPU: values stay there, active edge partitions come through one buffer per stream.

A super-step goes through the active partitions: first those whose edges still lie in a stream's buffer, then
the others, dealt to the streams in turns, copy and kernel one after the other on the stream. Flags of
partitions that became active come back to the host at its end. Values are updated in place, so that numbers
of super-steps depend on the order in which blocks run. Paper and encodings: graphie.py; kernel: graphie.cu.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from gpop.common.parallel import for_each, ranges
from gpop.gpu.device import cupy, current_device, pinned_copy
from gpop.gpu.kernel import OPTIONS
from perf.graphie import Ids, Partitions, Renamed

FAR = 2**32 - 1
BLOCK = 256
SHARED = 4096
"""Shared memory comes in multiples of so many bytes, so that few kernels are compiled."""

PIECE = 1 << 10
"""Sources whose edges a thread names at once."""

STEPS = {"bfs": 1, "cc": 0}
"""What an edge adds; `FAR`: its weight."""


@njit(nogil=True)
def _name(first, last, indptr, heads, ids, sources, targets):
    """Ids of both ends of the edges of these sources."""
    for vertex in range(first, last):
        for edge in range(indptr[vertex], indptr[vertex + 1]):
            sources[edge] = ids[vertex]
            targets[edge] = ids[heads[edge]]


def pinned_edges(renamed: Renamed, ids: Ids) -> list[np.ndarray]:
    """Sources, targets and, where there are some, weights of all edges, which copies may read in place."""
    room, nothing = max(len(renamed.heads), 1), np.empty(0, np.uint32)
    sources, targets = pinned_copy(nothing, room), pinned_copy(nothing, room)
    names, pieces = ids.ids.astype(np.uint32), ranges(renamed.sources, PIECE)
    given = renamed.indptr, renamed.heads, names, sources, targets
    for_each(len(pieces), lambda i: _name(*pieces[i], *given))
    edges = [sources, targets]
    if renamed.weights is not None:
        edges.append(pinned_copy(renamed.weights, room, np.dtype(np.uint32)))
    return edges


class Streamed(NamedTuple):
    """A run: values by renamed vertex, active and transferred partitions of each super-step, and seconds."""

    values: np.ndarray
    active: list[int]
    transferred: list[int]
    seconds: float


class Runtime:
    """One graph in partitions through ``streams`` buffers of the size of the largest.

    ``edges``: those of another number of streams, whose partitions are the same.
    """

    def __init__(
        self,
        renamed: Renamed,
        parts: Partitions,
        ids: Ids,
        streams: int,
        edges: list[np.ndarray] | None = None,
    ) -> None:
        self.renamed, self.parts, self.ids = renamed, parts, ids
        self.edges = pinned_edges(renamed, ids) if edges is None else edges
        size = int(np.diff(parts.first).max(initial=1))
        self.buffers = [[cupy().zeros(size, np.uint32) for _ in self.edges] for _ in range(streams)]
        self.streams = [cupy().cuda.Stream() for _ in range(streams)]
        self.before = cupy().asarray(ids.before.astype(np.uint32))
        self.shared = -(-(4 * BLOCK + parts.count) // SHARED) * SHARED
        source = Path(__file__).with_name("graphie.cu").read_text()
        code = f"#define SHARED_BYTES {self.shared}\n{source}"
        self.kernel = cupy().RawModule(code=code, options=OPTIONS).get_function("update")

    @property
    def nbytes(self) -> int:
        """Of the device: buffers of edges, tables of partitions, and a value for every vertex."""
        buffers = sum(array.nbytes for each in self.buffers for array in each)
        return buffers + self.before.nbytes + self.parts.count + 4 * len(self.renamed.new_to_old)

    def run(self, app: str, source: int, reuse: bool = True, only_active: bool = True) -> Streamed:
        """One run from a renamed vertex; components begin everywhere."""
        parts, n = self.parts, len(self.renamed.new_to_old)
        begin = np.arange(n, dtype=np.uint32) if app == "cc" else np.full(n, FAR, np.uint32)
        active = np.full(parts.count, app == "cc")
        if app != "cc":
            begin[source] = 0
            active[parts.of_source[source]] = True
        values, flags = cupy().asarray(begin), cupy().zeros(parts.count, np.uint8)
        resident, found = np.full(len(self.streams), -1), Streamed(begin, [], [], 0.0)
        start, end = cupy().cuda.Event(), cupy().cuda.Event()
        start.record()
        while active.any():
            for first in np.flatnonzero(active & (parts.continued > 0)):
                active[first : first + parts.continued[first] + 1] = True
            if not only_active:
                active[:] = True
            here = np.flatnonzero(reuse & (resident >= 0) & active[resident])
            rest = np.setdiff1d(np.flatnonzero(active), resident[here])
            for stream in here.tolist():
                self._launch(app, stream, int(resident[stream]), values, flags, copies=False)
            for turn, part in enumerate(rest.tolist()):
                self._launch(app, turn % len(self.streams), part, values, flags, copies=True)
                resident[turn % len(self.streams)] = part
            for stream in self.streams:
                stream.synchronize()
            found.active.append(int(active.sum()))
            found.transferred.append(len(rest))
            active = flags.get().astype(bool)
            flags.set(np.zeros(parts.count, np.uint8))
        end.record()
        last = values.get()
        return found._replace(values=last, seconds=1e-3 * cupy().cuda.get_elapsed_time(start, end))

    def _launch(self, app: str, stream: int, part: int, values: Any, flags: Any, copies: bool) -> None:
        """A partition on its stream: its edges to the buffer, unless they are there, and the kernel."""
        first, last = (int(edge) for edge in self.parts.first[part : part + 2])
        buffers, count = self.buffers[stream], last - first
        blocks = max(1, min(-(-count // BLOCK), 8 * current_device().multiprocessors))
        with self.streams[stream]:
            if copies:
                for buffer, edges in zip(buffers, self.edges, strict=True):
                    buffer[:count].set(edges[first:last], stream=self.streams[stream])
            arguments = (
                buffers[0], buffers[1], buffers[-1], np.uint32(count), np.uint32(STEPS.get(app, FAR)),
                values, self.before, np.uint32(self.parts.count), np.uint32(self.ids.most), flags,
            )  # fmt: skip
            self.kernel((blocks,), (BLOCK,), arguments, shared_mem=self.shared)
