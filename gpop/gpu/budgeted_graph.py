"""A device graph within a budget: all that a run makes on the device comes from a pool with this limit.

Where a budget has room for all edges they lie on the device as without one, whole arrays; where it has not
they are cut into pages (gpop/gpu/streamed_graph.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from gpop.common.errors import NotEnoughMemory
from gpop.common.memory import readable
from gpop.gpu.device import cupy
from gpop.gpu.device_graph import DeviceGraph
from gpop.graph.graph import Graph
from gpop.layout.bins import Bins

CSR, IN_EDGES, BINS = ("indices", "weights"), ("in_indices", "in_weights"), ("ids", "id_weights", "sources")
PAGED = CSR + IN_EDGES + BINS
"""Arrays that grow with the edges."""

UNIT = 512
"""The pool's memory comes in multiples of so many bytes."""


def rounded(nbytes: int) -> int:
    """Bytes that an array takes of the pool.

    >>> rounded(0), rounded(1), rounded(1024)
    (0, 512, 1024)
    """
    return -(-nbytes // UNIT) * UNIT


class BudgetedGraph(DeviceGraph):
    """``budget``: most bytes of the device, of all that is made while `allocating`."""

    away_bytes = 0
    """Bytes of edges that are read over the link."""

    def __init__(self, graph: Graph, bins: Bins, turned: bool, budget: int) -> None:
        super().__init__(graph, bins, turned)
        self.budget = budget
        self.pool = cupy().cuda.MemoryPool()
        self.pool.set_limit(size=budget)
        self.queues: dict[str, tuple[int, np.dtype]] = {}
        """Room for messages that wait at hubs (`gpop.gpu.workspace.queue_shapes`)."""

    @contextmanager
    def allocating(self) -> Iterator[None]:
        """Arrays that are made meanwhile are of the budget."""
        with cupy().cuda.using_allocator(self.pool.malloc):
            try:
                yield
            except cupy().cuda.memory.OutOfMemoryError:
                raise NotEnoughMemory(
                    f"{self.graph!r}: more than {readable(self.budget)} of device memory is needed"
                ) from None

    def needed_bytes(self, names: tuple[str, ...]) -> int:
        """Bytes that it takes at least to have these arrays."""
        return sum(rounded(self._size(name)) for name in {*map(self._place, names)})

    def load(self, names: tuple[str, ...]) -> None:
        """What it took to make the arrays is free again."""
        super().load(names)
        self.pool.free_all_blocks()

    @property
    def resident_bytes(self) -> int:
        """Bytes of edges on the device."""
        return sum(array.nbytes for name, array in self.arrays.items() if name == self._place(name) in PAGED)
