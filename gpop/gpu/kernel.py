"""The CUDA source of a program's engine: types and traits, the emitted functions, then the kernels.

`make_source` needs no GPU and no CuPy; `compile_kernel` does.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from gpop.common.progress import activity
from gpop.gpu import limits
from gpop.gpu.c_types import c_name
from gpop.gpu.emit import semantics
from gpop.gpu.emitted import Emitted
from gpop.gpu.hyb_arrays import COO_CHUNK, ELL_AHEAD
from gpop.gpu.kernel_files import kernel_text
from gpop.gpu.strategies import kernels_of, record_values, strategy_source
from gpop.gpu.structs import CONTROL, FETCHED_AT, GRAPH, SPACE, TRACE_COLUMNS, TRACE_ROWS, WANTED_AT
from gpop.gpu.traits import (
    COMBINES,
    FOLD,
    Traits,
    cells_bytes,
    device_sizes,
    folded_dtype,
    folds_rows,
    lane_ids,
    most_entries,
    nobody_waits,
    one_phase,
    queues,
    shared_bytes,
    total_dtype,
    whole_vectors,
)
from gpop.model.asked import AGGREGATIONS
from gpop.model.trees import LEAF
from gpop.plan.chosen import KEEP

COMMON = (
    "stored",
    "layout",
    "team",
    "reserve",
    "settling",
    "strip",
    "fold",
    "swap",
    "deliver",
    "inbox",
    "queue",
    "send",
)
"""Files of ``kernels/`` that all strategies build on, in the order in which they are compiled."""

ENGINE = ("lists", "buckets", "frontier", "tree", "engine")
"""Those that come after the strategies; then how an iteration is launched: `FUSED`, `STEPPED`, or on one of
several ranks (`ON_RANKS`): by a host that exchanges between two of them, or where all reach each other's
memory."""

CLUSTERED = "levels_loop"
"""The launch of a cluster of blocks, beside the fused one."""

SWEPT = "swept_loop"
"""The launch of a run that may look at all edges, beside the fused one."""

FUSED, STEPPED = ("load", "loop"), ("step",)
RANKED, PEERS = ("load", "loop", "exchange_steps"), ("load", "peer_loop")
ON_RANKS = RANKED, PEERS

OPTIONS = ("--std=c++17", "--fmad=false")  # the CPU does not contract a * b + c either
"""Of NVRTC."""

PARAMETERS = ("VIRTUAL_WARP", "CHUNK")
"""Names of `Traits.parameters` (virtual_warps.cuh)."""


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
    few = traits.few if launched is FUSED else None  # it ends no iteration in the middle
    clustered = few is not None and traits.clustered
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
        "RANKED": int(launched in ON_RANKS),
        "TOLD": int(traits.told),
        "MASKED": int(traits.masked and not traits.all_active),
        "ONE_PHASE": int(one_phase(traits)),
        "STEADY": int(one_phase(traits) and launched is FUSED),
        "SETTLES": int(emitted.settles and launched not in ON_RANKS),
        "AGGREGATE": (None, *AGGREGATIONS).index(traits.aggregation),
        "TRACK": int(traits.track),
        "LIVE": int(traits.live),
        "HAS_INIT": int("initFunc" in emitted.defined),
        "SWAPPABLE": int(len(emitted.written) == 1),
        "EXTREME": COMBINES[emitted.extreme],
        "BLOCK_THREADS": limits.BLOCK_THREADS,
        "HEAVY": limits.HEAVY,
        "LONG_LIST": limits.LONG_LIST,
        "LEVEL_EDGES": limits.LEVEL_EDGES,
        "LEVEL_DEGREE": limits.LEVEL_DEGREE,
        "MOST_ENTRIES": most_entries(traits),
        "CLUSTER": limits.CLUSTER if clustered else 0,
        "CLUSTER_EDGES": min(limits.CLUSTER_EDGES, limits.LEVEL_EDGES),
        "CLUSTER_THREADS": limits.CLUSTER_THREADS,
        "DIVIDES": int(traits.swept),
        "LEVELS_ASK": int(traits.asks),
        "ASK_EDGES": limits.ASK_EDGES,
        "ASK_SHARE": limits.ASK_SHARE,
        "PIECE": limits.PIECE,
        "SWEEP_THREADS": limits.SWEEP_THREADS,
        "MOST_LISTED": limits.MOST_LISTED,
        "HUB": limits.HUB,
        "LONG_ROW": limits.LONG_ROW,
        "MOST_BLOCKS": limits.MOST_BLOCKS,
        "QUEUES": int(queues(emitted, traits)),
        "NOBODY_WAITS": int(nobody_waits(emitted, traits)),
        "ENDS_EARLY": int("needsFunc" in emitted.defined),
        "FOLDS_ROWS": int(folds_rows(emitted, traits)),
        "ELL_AHEAD": ELL_AHEAD,
        "COO_CHUNK": COO_CHUNK,
        "LANE_IDS": lane_ids(traits),
        "STAGED_BITS_AT": whole_vectors(emitted.message_dtype.itemsize << traits.bits),
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
        "PAGE_BYTES": limits.PAGE_BYTES,
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
    chosen = traits.sparse, traits.dense, traits.pulling, few
    lines.append(strategy_source(*chosen, *sizes, traits.streamed))
    others = kernels_of(tuple(strategy for strategy in traits.strategies if not strategy.few))
    ends = [*(kernels_of((few,)) if few else []), *launched, *([CLUSTERED] if clustered else [])]
    ends += [SWEPT] if few is not None and traits.swept else []
    lines.append(kernel_text((*COMMON, *others, *ENGINE, *ends)))
    lines += [
        f'static_assert(sizeof({name}) == {dtype.itemsize}, "{name} and its mirror differ");'
        for name, dtype in (("Graph", GRAPH), ("Space", SPACE), ("Control", CONTROL))
    ]
    return "\n".join(lines) + "\n"


def compile_quickly(how: str | None) -> None:
    """Have kernels optimised less from now on: for tests, most of whose time is NVRTC's.

    ``how`` much time it is to save: "min", "mid", "max" (a fifth to a tenth of the time, on large kernels).
    """
    global OPTIONS
    if how:
        OPTIONS += (f"--Ofast-compile={how}",)


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
