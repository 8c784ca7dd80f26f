"""What is compiled into an engine beside the program's functions, and what follows: types, ways, sizes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpop.common.errors import ProgramError
from gpop.gpu import limits
from gpop.gpu.emitted import Emitted
from gpop.model.choosers import MOST_VERTICES_SWEPT
from gpop.model.gpu_sizes import DeviceSizes
from gpop.model.strategies import PC, PULL, Strategy
from gpop.plan.hidden import MASK_NONE, MASK_SENT

COMBINES = {None: 0, "min": 1, "max": 2, "add": 3, "or": 4}
SWAP, FOLD, OWNER = range(3)
"""How a pushed message reaches its vertex (layout.cuh)."""


class Traits(NamedTuple):
    """What is compiled into an engine beside the emitted functions."""

    bits: int
    weight_dtype: np.dtype | None
    bin_weight_dtype: np.dtype | None
    all_active: bool
    mask: int
    inactive: Any
    combine: str | None
    push: int
    track: bool
    live: bool
    strategies: tuple[Strategy, ...]
    """Those that a run may choose: at most one of each of the three."""
    parameters: tuple[int, ...] = ()
    """Of a strategy that has some: lanes of a virtual warp, and vertices that it takes at once."""
    masked: bool = False
    aggregation: str | None = None
    """See `gpop.model.asked.AGGREGATIONS`."""
    streamed: bool = False
    """Whether arrays that grow with the edges are read page by page (stored.cuh)."""
    tree: bool = False
    """Whether a decision tree is asked (tree.cuh)."""
    clustered: bool = False
    """Whether a cluster of blocks has iterations in which few vertices are active (levels_loop.cuh)."""
    swept: bool = False
    """Whether levels may look at all edges (sweep.cuh)."""
    asks: bool = False
    """Whether vertices may ask in levels (level_ask.cuh)."""
    told: bool = False
    """Whether a rank is told who is active elsewhere, and nothing else (peers.cuh)."""

    @property
    def sparse(self) -> Strategy | None:
        """Sends for single vertices, or gathers for them in every iteration."""
        others = (self.pulling, self.few)
        return next((s for s in self.strategies if s.mode != PC and s not in others), None)

    @property
    def dense(self) -> Strategy | None:
        """Sends for whole partitions."""
        return next((strategy for strategy in self.strategies if strategy.mode == PC), None)

    @property
    def pulling(self) -> Strategy | None:
        """Gathers for single vertices in some iterations."""
        asks = (s for s in self.strategies if s.mode == PULL and s.auto and not s.by_name)
        return None if self.all_active else next(asks, None)

    @property
    def few(self) -> Strategy | None:
        """Takes over from `sparse` while few vertices are active."""
        return next((strategy for strategy in self.strategies if strategy.few), None)


def folded_dtype(gathered: np.dtype, combine: str | None) -> np.dtype:
    """Type in which messages are combined: that of the message, or the one of 4 bytes that holds it.

    Examples
    --------
    >>> folded_dtype(np.dtype(np.int8), "min"), folded_dtype(np.dtype(np.float64), "add")
    (dtype('int32'), dtype('float64'))
    """
    if combine == "or" and gathered.kind == "f":
        raise ProgramError(f"combine = 'or' needs messages that are whole numbers, these are {gathered}")
    if gathered.itemsize >= 4:
        return gathered
    return np.dtype(np.int32 if gathered.kind == "i" else np.uint32)


def total_dtype(folded: np.dtype, traits: Traits) -> np.dtype:
    """Type in which all messages of a vertex are combined, in one cell of global memory.

    float32 loses a hub's small messages when they are pushed one by one: those sums are float64. Partition-
    centric messages come as sums of runs, few per vertex, so that nothing is to be gained there.
    """
    wide = traits.combine == "add" and traits.sparse is not None and folded == np.float32
    return np.dtype(np.float64) if wide else folded


def combine_of(combine: str | None, gathered: np.dtype, written: list[np.dtype]) -> str | None:
    """The declared fold, or None where messages must be gathered one by one all the same.

    A sum of whole numbers is combined in the type of the messages; a wider field has room for sums that this
    type has not.

    Examples
    --------
    >>> combine_of("add", np.dtype(np.uint8), [np.dtype(np.int64)]), combine_of("min", np.dtype(np.uint8), [])
    (None, 'min')
    """
    if combine == "add" and gathered.kind != "f":
        if any(field.kind == "f" or field.itemsize > gathered.itemsize for field in written):
            return None
    return combine


def push_of(emitted: Emitted, combine: str | None) -> int:
    """How source-centric messages reach their vertex.

    Sums are folded with the hardware's atomic add (a vertex with many in-edges would swap for ever);
    a minimum rarely changes anything, so ``gatherFunc`` on a copy mostly ends after a look.
    """
    can_swap = len(emitted.written) <= 1
    if combine is not None and (combine == "add" or not can_swap):
        return FOLD
    return SWAP if can_swap else OWNER


def queues(emitted: Emitted, traits: Traits) -> bool:
    """Whether messages that change a hub wait in its queue (swap.cuh)."""
    return traits.push == SWAP and traits.combine is None and len(emitted.written) == 1


def nobody_waits(emitted: Emitted, traits: Traits) -> bool:
    """Whether any message that would make a vertex active does, whoever comes between (level_edges.cuh)."""
    asked = {"needsFunc", "priorityFunc"}.intersection(emitted.defined)
    return emitted.extreme is not None and not asked and not queues(emitted, traits)


def one_phase(traits: Traits) -> bool:
    """Whether vertices gather, and send again, at once (rows.cuh)."""
    return traits.sparse is not None and traits.sparse.one_phase


def most_entries(traits: Traits) -> int:
    """Vertices of a level for which there is room: as many as its edges, or as a graph that is swept has."""
    return MOST_VERTICES_SWEPT if traits.swept else limits.LEVEL_EDGES


def folds_rows(emitted: Emitted, traits: Traits) -> bool:
    """Whether the messages of a row of HYB are combined before gatherFunc hears of them (hyb.cuh)."""
    hyb = traits.sparse is not None and "hyb" in traits.sparse.layouts
    early = "needsFunc" in emitted.defined and traits.combine != "add"
    return hyb and traits.combine is not None and not early


def device_sizes(emitted: Emitted, traits: Traits, live: bool) -> DeviceSizes:
    """What the model's functions are told about this engine; ``live``: nothing is kept by scatter."""
    frontier, weighted = not traits.all_active, traits.weight_dtype is not None
    message, folded = emitted.message_dtype, folded_dtype(emitted.gathered_dtype, traits.combine)
    total = total_dtype(folded, traits)
    edge_weight = traits.bin_weight_dtype if traits.streamed else traits.weight_dtype
    cells = [total] if traits.push == FOLD else emitted.written_dtypes[:1]
    cell = sum(dtype.itemsize for dtype in cells)
    return DeviceSizes(
        kept=0 if live else limits.VERTEX_BYTES * (frontier and not traits.masked) + message.itemsize,
        listed=(limits.VERTEX_BYTES + limits.OFFSET_BYTES) * (frontier and not traits.masked),
        offset=limits.OFFSET_BYTES,
        edge=limits.VERTEX_BYTES,
        weight=edge_weight.itemsize if weighted else 0,
        id=limits.ID_BYTES,
        bin_weight=traits.bin_weight_dtype.itemsize if weighted and traits.dense else 0,
        source=limits.ID_BYTES,
        value=0 if live else message.itemsize,
        mark=int(traits.mask == MASK_SENT),
        partial=folded.itemsize,
        segment=limits.SEGMENT_BYTES,
        vertex=cell,
        inactive=cell if traits.mask == MASK_NONE else 0,
        total=total.itemsize,
        probe=limits.VERTEX_BYTES * frontier,
        early=int("needsFunc" in emitted.defined),
        row=limits.VERTEX_BYTES * folds_rows(emitted, traits),
    )


def lane_ids(traits: Traits) -> int:
    """Ids that one thread takes at once."""
    return limits.MOST_LANE_IDS if traits.weight_dtype is None else limits.MOST_LANE_IDS // 2


def cells_bytes(emitted: Emitted, traits: Traits) -> int:
    """Shared memory for a cell per vertex of a partition, staged or folded, and a bit; whole vectors."""
    folded = folded_dtype(emitted.gathered_dtype, traits.combine).itemsize if traits.combine else 0
    cells = whole_vectors(max(emitted.message_dtype.itemsize, folded) << traits.bits)
    return cells + whole_vectors((1 << traits.bits) // 8 + 4)


def whole_vectors(nbytes: int) -> int:
    """Bytes of so many that are whole vectors of 16."""
    return -(-nbytes // 16) * 16


def shared_bytes(emitted: Emitted, traits: Traits) -> int:
    """Dynamic shared memory of a block: the cells, and for ``combine`` a window of runs per warp.

    Where all gather by owners there are neither, and what is not taken is cache. Levels have entries there.
    """
    least = limits.LEVEL_SHARED if traits.swept else limits.LEAST_SHARED
    if traits.push == OWNER:
        return least
    buffers = 0
    if traits.combine:
        folded = folded_dtype(emitted.gathered_dtype, traits.combine)
        buffers = limits.BLOCK_THREADS * lane_ids(traits) * folded.itemsize
    return max(least, cells_bytes(emitted, traits) + buffers)
