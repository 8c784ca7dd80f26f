"""Runs on a graph whose edges are on disk (`gpop.layout.mapped`): whether they stay there, and how they come.

They stay where what the run may look at is expected not to fit in memory (``residency="auto"``), or if that
is asked for (``"mapped"``). Then

- arrays of messages, which grow with the edges, lie in a file without a name (`gpop.common.spill`);
- a run through blocks of in-edges, which reads everything once an iteration in a known order, has a thread
  that reads ahead (read_ahead.py);
- others read what they touch: page by page while the active edges are few, with the system's own reading
  ahead when they are many.

Otherwise they are read before the run begins, and stay in memory as long as there is enough of it.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpop.common.memory import available_bytes, require_memory
from gpop.common.spill import POPULATE, Spill, advise, resident_bytes
from gpop.cpu.read_ahead import ReadAhead
from gpop.cpu.workspace import Workspace
from gpop.graph.graph import Graph
from gpop.layout.bins import Bins
from gpop.layout.edge_blocks import Blocks
from gpop.model.strategies import PULL
from gpop.plan.plan import Plan

DENSE = 8
"""From one active edge of so many on, more of what the system reads ahead is used than not."""

_BINS = ("indices", "narrow", "weights", "sources", "ids", "id_weights")
_IN_EDGES = ("in_indices", "in_weights")
_BLOCKS = ("refs", "targets", "block_weights")


class Disk:
    """The edges of one run. ``stays``: on disk. ``told``: what the trace says of it, filled in at the end."""

    def __init__(self, graph: Graph, names: list[str], stays: bool) -> None:
        self.mapped, self.graph, self.stays = graph.facts.mapped, graph, stays
        self.arrays = {name: self.mapped.arrays[name] for name in names}
        self.ahead: ReadAhead | None = None
        self.sparse: bool | None = None
        self.told: dict[str, Any] = {"residency": "mapped" if stays else "memory"}

    @contextmanager
    def room(self) -> Iterator[None]:
        """While a run prepares: what grows with the edges goes to a file, if the edges stay in theirs."""
        if not self.stays:
            yield
            return
        folder = self.mapped.arrays.folder
        folder = folder if os.access(folder, os.W_OK) else Path(tempfile.gettempdir())
        with Spill(folder, available_bytes() // 2).begin():
            yield

    def begin(self, layout: Bins | Blocks, space: Workspace, threads: int) -> None:
        """The run begins: read everything, or begin to read ahead."""
        if not self.stays:
            for array in self.arrays.values():
                advise(array, mmap.MADV_NORMAL)
                advise(array, POPULATE)
            return
        self.before = self._resident()
        if isinstance(layout, Blocks):
            for array in self.arrays.values():
                advise(array, mmap.MADV_RANDOM)  # what the system adds lies behind: units go backwards
            self.ahead = ReadAhead(self.mapped.arrays, layout, space.mode, threads, available_bytes())

    def expect(self, edges: int) -> None:
        """The next iteration has so many active edges."""
        sparse = edges * DENSE < self.graph.m
        if self.ahead is None and sparse != self.sparse:
            self.sparse = sparse
            for array in self.arrays.values():
                advise(array, mmap.MADV_RANDOM if sparse else mmap.MADV_NORMAL)

    def passed(self) -> None:
        """An iteration is over."""
        if self.ahead is not None:
            self.ahead.restart()

    def end(self) -> None:
        """The run is over, or has failed; a second time does no harm."""
        if self.ahead is not None:
            self.ahead.stop()
            self.told |= self.ahead.told()
            self.ahead = None
        elif self.stays and self.sparse is not None:
            self.told |= {
                "file_bytes": self.mapped.nbytes,
                "new_bytes": max(0, self._resident() - self.before),
            }
            self.sparse = None

    def _resident(self) -> int:
        return sum(map(resident_bytes, self.arrays.values()))


def open_disk(graph: Graph, plan: Plan, residency: str) -> Disk:
    """Decide where the edges are during a run.

    Raises
    ------
    NotEnoughMemory
        If ``residency`` is "memory" and they do not fit there.
    """
    mapped = graph.facts.mapped
    mapped.put(graph)
    names, messages = list(_BINS + _IN_EDGES), plan.types.message.itemsize * mapped.bins.messages
    if type(plan.program).all_active and plan.may(PULL) and plan.partition_size is None:
        names, messages = list(_BLOCKS), 0
    elif not plan.may(PULL):
        names = list(_BINS)
    if plan.types.weight is None:
        names = [
            name
            for name in names
            if name not in ("weights", "narrow", "id_weights", "in_weights", "block_weights")
        ]
    names = [name for name in names if name in mapped.arrays]
    needed = sum(mapped.arrays[name].nbytes for name in names)
    if residency == "memory":
        require_memory(
            needed - sum(resident_bytes(mapped.arrays[name]) for name in names), f"{graph!r}: its layout"
        )
    stays = residency == "mapped" or (residency == "auto" and needed + messages > available_bytes())
    return Disk(graph, names, stays)
