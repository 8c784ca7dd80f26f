"""Device arrays that a run works in. Made for each run, in one block: filling it costs microseconds, and so
would every array of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.gpu import limits
from gpop.gpu.device import cupy
from gpop.gpu.device_graph import PADDING, DeviceGraph
from gpop.gpu.emitted import Emitted
from gpop.gpu.hyb_arrays import partials
from gpop.gpu.structs import SPACE
from gpop.gpu.traits import (
    FOLD,
    Traits,
    folded_dtype,
    folds_rows,
    most_entries,
    nobody_waits,
    one_phase,
    queues,
    total_dtype,
)
from gpop.graph.graph import Graph
from gpop.plan.hidden import MASK_SENT
from gpop.program.folds import identity

ALIGNED = 512
"""Bytes at which an array begins, as if it had been allocated alone."""

Shapes = dict[str, tuple[int, np.dtype]]
"""Length and type of arrays, by name."""


def workspace_shapes(layout: DeviceGraph, emitted: Emitted, traits: Traits) -> Shapes:
    """Length and type of every array; 0 for those that the program or its strategies have no use for."""
    graph, bins = layout.graph, layout.bins
    n, words, k = graph.n, graph.n // 32 + 2, int(bins.k)
    message = emitted.message_dtype
    folded = folded_dtype(emitted.gathered_dtype, traits.combine)
    pushes, sends_all = traits.sparse is not None, traits.dense is not None
    frontier, buckets = not traits.all_active, "priorityFunc" in emitted.defined
    slots = bins.messages + PADDING if sends_all else 0
    rows = partials(n, layout.hyb_shape) if folds_rows(emitted, traits) else 0
    heavy = 0 if one_phase(traits) else 2 * (2 * graph.m // limits.HEAVY + 1)
    marks = nobody_waits(emitted, traits)
    room = min(most_entries(traits), n) + (graph.m // limits.PIECE if traits.swept else 0)  # level_store.cuh
    lengths = {
        "values": (slots if not traits.combine else 0, message),
        "partials": (rows or (slots if traits.combine and not traits.streamed else 0), folded),
        "sent": (
            rows * frontier or (slots if not traits.combine and traits.mask == MASK_SENT else 0),
            np.uint8,
        ),
        "vertex_value": (n * (1 + one_phase(traits)) if pushes else 0, message),
        "folded": (
            n if traits.combine and (sends_all or traits.push == FOLD) else 0,
            total_dtype(folded, traits),
        ),
        "arrived": (words if traits.combine == "add" and frontier else 0, np.uint32),
        "frontier_bits": (words if frontier else 0, np.uint32),
        "active_bits": (words if frontier else 0, np.uint32),
        "level_bits": (words if traits.swept and not marks else 0, np.uint32),
        "level_marks": (2 * n + 1 if traits.swept and marks else 0, np.uint32),
        "listed_bits": (words if traits.push == FOLD and frontier else 0, np.uint32),
        "touched_bits": (words if traits.track else 0, np.uint32),
        "list": (n if frontier else 0, np.uint32),
        "candidates": (n if frontier else 0, np.uint32),
        "waiting_bits": (words if buckets else 0, np.uint32),
        "entries": (4 * 4 * room if traits.few else 0, np.uint32),
        "heavy": (heavy if pushes or frontier else 0, np.uint32),
        "mode": (k, np.uint8),
        "active_vertices": (k, np.uint32),
        "active_edges": (k, np.uint64),
        "tree": (0, np.uint8),  # `gpop.gpu.tree` has it
        "changes": (2 * limits.MOST_BLOCKS if emitted.settles else 0, np.float64),
    }
    return {name: (length, np.dtype(dtype)) for name, (length, dtype) in lengths.items()}


def queue_shapes(layout: DeviceGraph, emitted: Emitted, traits: Traits, room: int) -> Shapes:
    """The queues of hubs (swap.cuh): of as many as fit ``room`` bytes, those with most in-edges first."""
    message, first = emitted.gathered_dtype, layout.hub_first
    hubs = 0
    if queues(emitted, traits):
        hubs = int(np.searchsorted(first * message.itemsize, max(room, 0), side="right")) - 1
    count = np.dtype(np.uint32)
    return {"waiting": (int(first[hubs]), message), "waiting_count": (hubs, count), "called": (hubs, count)}


class Workspace:
    """The arrays behind ``struct Space``; `struct` are the bytes of that, ``nbytes`` what the arrays take."""

    def __init__(self, graph: Graph, shapes: Shapes, traits: Traits, fixed: dict[str, Any]) -> None:
        self.shapes, self.fixed, self._n = shapes, fixed, graph.n
        self._at, size = {}, 0
        for name, (length, dtype) in shapes.items():
            self._at[name] = size
            size += -(-length * dtype.itemsize // ALIGNED) * ALIGNED
        self._block = cupy().zeros(size, np.uint8)
        if (start := identity(traits.combine, shapes["folded"][1])) != 0 and shapes["folded"][0]:
            self["folded"].fill(start)
        self.heavy_size = 0
        if traits.all_active and shapes["heavy"][0]:
            self.heavy_size = self._list_heavy(graph)
        space = np.zeros(1, SPACE)
        first = self._block.data.ptr
        for name in SPACE.names:
            space[name] = fixed[name].data.ptr if name in fixed else first + self._at[name]
        self.struct = space.tobytes()
        self.nbytes = self._block.nbytes + sum(array.nbytes for array in fixed.values())

    def __getitem__(self, name: str) -> Any:
        if name in self.fixed:
            return self.fixed[name]
        (length, dtype), at = self.shapes[name], self._at[name]
        return self._block[at : at + length * dtype.itemsize].view(dtype)

    def _list_heavy(self, graph: Graph) -> int:
        """Every vertex is active: the pieces of the heavy ones are listed once."""
        degree = graph.out_degree.astype(np.int64)
        vertices = np.flatnonzero(degree > limits.HEAVY)
        count = -(-degree[vertices] // limits.HEAVY)
        first = np.cumsum(count) - count
        pieces = np.empty((int(count.sum()), 2), np.uint32)
        pieces[:, 0] = np.repeat(vertices, count)
        pieces[:, 1] = np.arange(len(pieces)) - np.repeat(first, count)
        self["heavy"][: pieces.size].set(pieces.ravel())
        return len(pieces)

    def active(self) -> np.ndarray:
        """The vertices that are active, or wait."""
        active = self._vertices_in("frontier_bits")
        if not self.shapes["waiting_bits"][0]:
            return active
        return np.union1d(active, self._vertices_in("waiting_bits"))

    def touched(self) -> np.ndarray | None:
        """The vertices that ever were active, where somebody wants to know."""
        return self._vertices_in("touched_bits") if self.shapes["touched_bits"][0] else None

    def _vertices_in(self, name: str) -> np.ndarray:
        """The vertices whose bit is set, ascending."""
        words = self[name].get()
        return np.flatnonzero(np.unpackbits(words.view(np.uint8), count=self._n, bitorder="little")).astype(
            np.uint32
        )
