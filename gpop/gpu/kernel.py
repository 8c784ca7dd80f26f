"""The CUDA source of a program's engine: types and traits, the emitted functions, then the kernels.

`make_source` needs no GPU and no CuPy; `compile_kernel` does.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gpop.common.errors import ProgramError
from gpop.common.progress import activity
from gpop.gpu.emit import semantics
from gpop.gpu.emitted import Emitted
from gpop.gpu.hyb_arrays import COO_CHUNK, ELL_AHEAD
from gpop.gpu.kernel_files import kernel_text
from gpop.gpu.strategies import kernels_of, record_values, strategy_source
from gpop.gpu.structs import CONTROL, FETCHED_AT, GRAPH, SPACE, TRACE_COLUMNS, TRACE_ROWS, WANTED_AT
from gpop.model.gpu_bytes import DeviceSizes
from gpop.model.strategies import AGGREGATIONS, PC, PULL, Strategy
from gpop.model.trees import LEAF
from gpop.plan.chosen import KEEP
from gpop.plan.hidden import MASK_NONE, MASK_SENT

COMMON = ("stored", "layout", "team", "strip", "fold", "swap", "deliver", "inbox", "queue", "send")
"""Files of ``kernels/`` that all strategies build on, in the order in which they are compiled."""

ENGINE = ("lists", "buckets", "frontier", "tree", "engine")
"""Those that come after the strategies; then how an iteration is launched: `FUSED`, `STEPPED`, or on one of
several ranks."""

FUSED, STEPPED, RANKED = ("loop", "load"), ("step",), ("loop", "load", "exchange")

OPTIONS = ("--std=c++17", "--fmad=false")  # the CPU does not contract a * b + c either
BLOCK_THREADS = 1024
VERTEX_BYTES, OFFSET_BYTES, ID_BYTES, SEGMENT_BYTES = 4, 8, 2, 32
"""Of a vertex in CSR and in lists (a word of the frontier's bits has as many), of an offset, of a local id
in the bins, and of the header of a segment (layout.cuh)."""

LEVEL_EDGES = 1 << 18
"""Most active vertices, and most edges of them, of an iteration that has little to do (levels.cuh)."""

MOST_LISTED = 1 << 18
"""Vertices of a new bucket are listed where at most so many waited; else they are bits (buckets.cuh)."""

HEAVY = 256
"""Vertices with more edges are pushed in pieces of so many."""

HUB = 512
"""A vertex with more in-edges is gathered by a warp of its own (owner.cuh)."""

PAGE_BYTES = 1 << 16
"""Of streamed arrays: copied to the device, or left with the host, as a whole (stored.cuh)."""

PARAMETERS = ("VIRTUAL_WARP", "CHUNK")
"""Names of `Traits.parameters` (virtual_warps.cuh)."""

MOST_LANE_IDS = 16
"""Ids that one thread takes at once (strip.cuh); half as many where each comes with a weight: registers."""

LEAST_SHARED = 1 << 14
"""Candidates of a sparse iteration want some, and vertices that wait for a warp (in_edges.cuh)."""

COMBINES = {None: 0, "min": 1, "max": 2, "add": 3, "or": 4}
SWAP, FOLD, OWNER = range(3)
"""How a pushed message reaches its vertex (layout.cuh)."""

C_TYPES = {
    "b1": "bool", "i1": "signed char", "u1": "unsigned char", "i2": "short", "u2": "unsigned short",
    "i4": "int", "u4": "unsigned", "i8": "long long", "u8": "unsigned long long",
    "f4": "float", "f8": "double",
}  # fmt: skip


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
    """See `gpop.model.strategies.AGGREGATIONS`."""
    streamed: bool = False
    """Whether arrays that grow with the edges are read page by page (stored.cuh)."""
    tree: bool = False
    """Whether a decision tree is asked (tree.cuh)."""

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


def c_name(dtype: np.dtype) -> str:
    """C++ type of a NumPy scalar type.

    Examples
    --------
    >>> c_name(np.dtype(np.uint32)), c_name(np.dtype(bool))
    ('unsigned', 'bool')
    """
    return C_TYPES[f"{dtype.kind}{dtype.itemsize}"]


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


def one_phase(traits: Traits) -> bool:
    """Whether vertices gather, and send again, at once (rows.cuh)."""
    return traits.sparse is not None and traits.sparse.one_phase


def folds_rows(emitted: Emitted, traits: Traits) -> bool:
    """Whether the messages of a row of HYB are combined before gatherFunc hears of them (hyb.cuh)."""
    hyb = traits.sparse is not None and "hyb" in traits.sparse.layouts
    early = "needsFunc" in emitted.defined and traits.combine != "add"
    return hyb and traits.combine is not None and not early


def _constant(value: Any, dtype: np.dtype) -> str:
    """A scalar as a C++ expression with exactly its bits."""
    value = dtype.type(value)
    if dtype.kind == "f":
        bits = int(value.view(f"u{dtype.itemsize}"))
        return f"__int_as_float({bits:#x})" if dtype.itemsize == 4 else f"__longlong_as_double({bits:#x}LL)"
    if dtype.kind == "u":
        return f"({c_name(dtype)}){int(value)}ULL"
    return f"({c_name(dtype)})({int(value) + 1}LL - 1)"


def make_source(emitted: Emitted, traits: Traits, launched: tuple[str, ...] = FUSED) -> str:
    """The whole translation unit."""
    weighted = traits.weight_dtype is not None
    weight = traits.weight_dtype if weighted else np.dtype(np.uint32)
    bin_weight = traits.bin_weight_dtype if weighted else np.dtype(np.uint32)
    folded = folded_dtype(emitted.gathered_dtype, traits.combine)
    frontier_sum = traits.combine == "add" and not traits.all_active
    types = {
        "Message": emitted.message_dtype,
        "Gathered": emitted.gathered_dtype,
        "Weight": weight,
        "BinWeight": bin_weight,
        "EdgeWeight": bin_weight if traits.streamed else weight,
        "Folded": folded,
        "Total": total_dtype(folded, traits),
    }
    values = {
        "BITS": traits.bits,
        "ALL_ACTIVE": int(traits.all_active),
        "WEIGHTED": int(weighted),
        "MASK": traits.mask,
        "INACTIVE": _constant(traits.inactive, emitted.message_dtype) if traits.inactive is not None else 0,
        "COMBINE": COMBINES[traits.combine],
        "COUNTS_ARRIVALS": int(frontier_sum),
        "PUSH": traits.push,
        "FOLDS_PUSHED": int(traits.push == FOLD),
        "PRIORITISED": int("priorityFunc" in emitted.defined),
        "RANKED": int(launched is RANKED),
        "MASKED": int(traits.masked and not traits.all_active),
        "ONE_PHASE": int(one_phase(traits)),
        "AGGREGATE": (None, *AGGREGATIONS).index(traits.aggregation),
        "TRACK": int(traits.track),
        "LIVE": int(traits.live),
        "HAS_INIT": int("initFunc" in emitted.defined),
        "SWAPPABLE": int(len(emitted.written) == 1),
        "BLOCK_THREADS": BLOCK_THREADS,
        "HEAVY": HEAVY,
        "LEVEL_EDGES": LEVEL_EDGES,
        "MOST_LISTED": MOST_LISTED,
        "HUB": HUB,
        "QUEUES": int(queues(emitted, traits)),
        "ENDS_EARLY": int("needsFunc" in emitted.defined),
        "FOLDS_ROWS": int(folds_rows(emitted, traits)),
        "ELL_AHEAD": ELL_AHEAD,
        "COO_CHUNK": COO_CHUNK,
        "LANE_IDS": lane_ids(traits),
        "STAGED_BITS_AT": _whole_vectors(emitted.message_dtype.itemsize << traits.bits),
        "SHARED_BYTES": shared_bytes(emitted, traits),
        "BUFFERS_AT": cells_bytes(emitted, traits),
        "TRACE_ROWS": TRACE_ROWS,
        "TRACE_COLUMNS": TRACE_COLUMNS,
        "FETCHED_AT": FETCHED_AT,
        "WANTED_AT": WANTED_AT,
        "STREAMED": int(traits.streamed),
        "HAS_TREE": int(traits.tree),
        "LEAF": LEAF,
        "KEEP": KEEP,
        "PAGE_BYTES": PAGE_BYTES,
        **record_values(),
        **dict(zip(PARAMETERS, traits.parameters, strict=False)),
    }
    lines = [semantics(), emitted.source]
    if "iteration" in (emitted.state_dtype.names or ()):
        lines.append("#define ADVANCE(state, now) state.iteration = now")
    else:
        lines.append("#define ADVANCE(state, now)")
    for name, answer in (("initFunc", "false"), ("filterFunc", "true"), ("needsFunc", "true")):
        if name not in emitted.defined:
            lines.append(
                f"template <class Self> __device__ bool {name}(Self&, unsigned) {{ return {answer}; }}"
            )
    lines += [f"typedef {c_name(dtype)} {name};" for name, dtype in types.items()]
    lines += [f"#define {name} {value}" for name, value in values.items()]
    sizes = [device_sizes(emitted, traits, live) for live in (False, True)]
    few = traits.few if launched is FUSED else None  # it ends no iteration in the middle
    chosen = traits.sparse, traits.dense, traits.pulling, few
    lines.append(strategy_source(*chosen, *sizes, traits.streamed))
    others = kernels_of(tuple(strategy for strategy in traits.strategies if not strategy.few))
    ends = kernels_of((few,)) if few else []
    lines.append(kernel_text((*COMMON, *others, *ENGINE, *ends, *launched)))
    lines += [
        f'static_assert(sizeof({name}) == {dtype.itemsize}, "{name} and its mirror differ");'
        for name, dtype in (("Graph", GRAPH), ("Space", SPACE), ("Control", CONTROL))
    ]
    return "\n".join(lines) + "\n"


def device_sizes(emitted: Emitted, traits: Traits, live: bool) -> DeviceSizes:
    """What the model's functions are told about this engine; ``live``: nothing is kept by scatter."""
    frontier, weighted = not traits.all_active, traits.weight_dtype is not None
    message, folded = emitted.message_dtype, folded_dtype(emitted.gathered_dtype, traits.combine)
    total = total_dtype(folded, traits)
    edge_weight = traits.bin_weight_dtype if traits.streamed else traits.weight_dtype
    cells = [total] if traits.push == FOLD else emitted.written_dtypes[:1]
    cell = sum(dtype.itemsize for dtype in cells)
    return DeviceSizes(
        kept=0 if live else VERTEX_BYTES * (frontier and not traits.masked) + message.itemsize,
        listed=(VERTEX_BYTES + OFFSET_BYTES) * (frontier and not traits.masked),
        offset=OFFSET_BYTES,
        edge=VERTEX_BYTES,
        weight=edge_weight.itemsize if weighted else 0,
        id=ID_BYTES,
        bin_weight=traits.bin_weight_dtype.itemsize if weighted and traits.dense else 0,
        source=ID_BYTES,
        value=0 if live else message.itemsize,
        mark=int(traits.mask == MASK_SENT),
        partial=folded.itemsize,
        segment=SEGMENT_BYTES,
        vertex=cell,
        inactive=cell if traits.mask == MASK_NONE else 0,
        total=total.itemsize,
        probe=VERTEX_BYTES * frontier,
        early=int("needsFunc" in emitted.defined),
        row=VERTEX_BYTES * folds_rows(emitted, traits),
    )


def lane_ids(traits: Traits) -> int:
    """Ids that one thread takes at once."""
    return MOST_LANE_IDS if traits.weight_dtype is None else MOST_LANE_IDS // 2


def cells_bytes(emitted: Emitted, traits: Traits) -> int:
    """Shared memory for a cell per vertex of a partition, staged or folded, and a bit; whole vectors."""
    folded = folded_dtype(emitted.gathered_dtype, traits.combine).itemsize if traits.combine else 0
    cells = _whole_vectors(max(emitted.message_dtype.itemsize, folded) << traits.bits)
    return cells + _whole_vectors((1 << traits.bits) // 8 + 4)


def _whole_vectors(nbytes: int) -> int:
    return -(-nbytes // 16) * 16


def shared_bytes(emitted: Emitted, traits: Traits) -> int:
    """Dynamic shared memory of a block: the cells, and for ``combine`` a window of runs per warp.

    Where all gather by owners there are neither, and what is not taken is cache.
    """
    if traits.push == OWNER:
        return LEAST_SHARED
    buffers = (
        BLOCK_THREADS * lane_ids(traits) * folded_dtype(emitted.gathered_dtype, traits.combine).itemsize
        if traits.combine
        else 0
    )
    return max(LEAST_SHARED, cells_bytes(emitted, traits) + buffers)


def compile_kernel(source: str, cooperative: bool = True) -> Any:
    """Compile for the current device; CuPy keeps the result on disk, this process the loaded module.

    ``cooperative``: all blocks of a launch must be resident, so that they can wait for each other.
    """
    from gpop.gpu.device import cupy

    return _compiled(source, cooperative, cupy().cuda.Device().id)


@lru_cache(maxsize=256)
def _compiled(source: str, cooperative: bool, device: int) -> Any:
    from gpop.gpu.device import cupy

    with activity("loading kernels for the GPU, compiled once"):
        return cupy().RawModule(code=source, options=OPTIONS, enable_cooperative_groups=cooperative)
