"""Phases of an algorithm on the device: lists that stay there with the graph, launches, times.

A phase is one or more kernels of ``kernels/direct/``; the stream runs them one after the other and the host
waits for the last one only. Events between the phases tell their times. A kernel has as many blocks as are
resident at once; each of them takes its next part of the work when it has done one.
"""

from __future__ import annotations

import time
from collections import defaultdict
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gpop.gpu.device import cupy, current_device, require_device_memory
from gpop.gpu.kernel import compile_kernel
from gpop.gpu.kernel_files import kernel_text
from gpop.gpu.launch import Launch
from gpop.gpu.left import make_room
from gpop.gpu.structs import argument
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.model.asked import WARP

THREADS = 256
"""Of a block."""

RESIDENT = 2048
"""Threads of a multiprocessor."""

CHUNKS_PER_WARP = 8
LEAST_SHARE, MOST_SHARE = 256, 4096
"""Vertices and edges of a chunk (kernels/direct/chunks.cuh): where it begins has to be searched for."""

LITTLE = 1 << 20
"""Bytes beside kept lists of which the driver is not asked whether they fit: that takes 10 us each time."""

LISTS = np.dtype([("n", "i8"), ("indptr", "u8"), ("indices", "u8")])
"""``struct Lists`` of chunks.cuh."""


class Chunks(NamedTuple):
    """How many there are, and the vertices and edges of each."""

    count: np.int64
    share: np.int64


class DeviceLists(NamedTuple):
    """CSR on the device."""

    indptr: Any
    indices: Any

    @property
    def argument(self) -> np.ndarray:
        """``struct Lists``."""
        return argument(
            np.array([(len(self.indptr) - 1, self.indptr.data.ptr, self.indices.data.ptr)], LISTS)
        )


def device_lists(graph: Graph, others: int, what: str) -> tuple[DeviceLists, float]:
    """The lists of a graph, kept with it, and the seconds that copying took; with room for ``others`` bytes.

    Raises
    ------
    NotEnoughMemory
        If both together do not fit the device.
    """
    key = "lists", cupy().cuda.runtime.getDevice()
    kept = graph.store.get(Kind.DEVICE, key)
    if kept is not None and others <= LITTLE:
        return kept, 0.0
    needed = others + (0 if kept else graph.indptr.nbytes + graph.indices.nbytes)
    make_room(graph, needed)
    require_device_memory(needed, f"{what} of {graph!r}")
    if kept is not None:
        return kept, 0.0
    start = time.perf_counter()
    lists = DeviceLists(*(cupy().asarray(np.asarray(array)) for array in (graph.indptr, graph.indices)))
    graph.store.put(Kind.DEVICE, lists, key, about="lists")
    return lists, time.perf_counter() - start


def source_of(*names: str, **constants: int) -> str:
    """The text of these files of ``kernels/direct/``, with constants in front."""
    defined = "".join(f"#define {word} {value}\n" for word, value in constants.items())
    return defined + kernel_text(tuple(f"direct/{name}" for name in names))


_free_events: dict[int, list[Any]] = defaultdict(list)
"""By device: events that nobody waits for. To make one takes as long as a launch."""


@lru_cache(maxsize=64)
def _kernel(module: Any, name: str) -> Any:
    return module.get_function(f"gpop_{name}")


class Phases:
    """The kernels of a source, launched phase by phase."""

    def __init__(self, source: str, cooperative: bool = False) -> None:
        self.module = compile_kernel(source, cooperative)
        self.threads = current_device().multiprocessors * RESIDENT
        self.events: list[Any] = []
        self.free_events = _free_events[cupy().cuda.Device().id]

    def launch(self, kernel: str, *arguments: Any, blocks: int | None = None, threads: int = THREADS) -> None:
        """One kernel; structs and numbers go by value, arrays by their address."""
        blocks = blocks or self.threads // threads
        _kernel(self.module, kernel)((blocks,), (threads,), arguments)

    def laid_out(
        self,
        kernel: str,
        arguments: tuple[np.ndarray, ...],
        blocks: int | None = None,
        threads: int = THREADS,
    ) -> Launch:
        """The same for many launches; arguments are arrays of one item, addresses among them."""
        return Launch(_kernel(self.module, kernel), blocks or self.threads // threads, threads, arguments)

    def mark(self) -> None:
        """A phase begins here, and the one before ends."""
        self.events.append(self.free_events.pop() if self.free_events else cupy().cuda.Event())
        self.events[-1].record()

    def seconds(self) -> np.ndarray:
        """What each phase took; waits for the last one, and ends with it."""
        self.events[-1].synchronize()
        elapsed = cupy().cuda.get_elapsed_time
        taken = [1e-3 * elapsed(before, after) for before, after in pairwise(self.events)]
        self.free_events.extend(self.events)
        self.events.clear()
        return np.array(taken)

    def chunks(self, numbers: int) -> Chunks:
        """Chunks of so many vertices and edges."""
        share = numbers * WARP // (CHUNKS_PER_WARP * self.threads)
        share = min(MOST_SHARE, max(LEAST_SHARE, share))
        return Chunks(np.int64(-(-numbers // share)), np.int64(share))
