"""A run whose edges are streamed: what it does without, how its budget is divided, what came over the link.

The budget has, in this order, what the run cannot do without (fields, offsets, frontier, tables of the
layout, the arrays that its strategies work in), room for messages that wait at hubs, and pages of edges with
the rest. A run that may choose gives up strategies whose arrays would not fit: asking first, then bins.
With room for all edges nothing is cut into pages, and a run is that in memory, within its budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from gpop.common.byte_sizes import as_bytes
from gpop.common.errors import NotEnoughMemory, UsageError
from gpop.common.memory import readable
from gpop.common.parallel import worker_count
from gpop.gpu import limits
from gpop.gpu.budgeted_graph import BudgetedGraph, rounded
from gpop.gpu.choices import mode_of, parts_of, traits_of
from gpop.gpu.device import cupy, current_device
from gpop.gpu.device_graph import device_graph
from gpop.gpu.emitted import Emitted
from gpop.gpu.streamed_graph import StreamedGraph
from gpop.gpu.structs import CONTROL, FETCHED_AT, WANTED_AT
from gpop.gpu.traits import OWNER, Traits, queues
from gpop.gpu.workspace import Shapes, queue_shapes, workspace_shapes
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.layout.partition import partitions
from gpop.plan.plan import Plan

WALKED = ("csr", "csc", "bins", "reversed bins")
"""Layouts whose arrays may be streamed."""

PER_VERTEX = 80
"""Bytes that a run takes for a vertex, about: fields, offsets, lists, messages that wait at hubs."""

EVERYTHING = "everything"
"""Key, with a device's number, of the budget there of a layout that was given none: the next run on it, when
less is free, has the same."""

SLACK = 1 << 16
"""Bytes for what is small: the frontier that is loaded, rounding."""


def stream(
    plan: Plan, emitted: Emitted, push: int | None, beside: int = 0
) -> tuple[BudgetedGraph, Traits, Shapes]:
    """The layout within the budget, the traits, and the workspace that is to be made.

    What layouts without a budget have on the device is dropped. ``beside``: bytes of the budget that are
    not for this.

    Raises
    ------
    UsageError
        For a strategy whose layout cannot be streamed.
    NotEnoughMemory
        If the budget has no room for what a run cannot do without.
    """
    graph = plan.program.graph
    traits = traits_of(plan, emitted, push, streamed=True)
    if traits.masked or any(not {*strategy.layouts} <= {*WALKED} for strategy in traits.strategies):
        raise UsageError(
            f"mode {plan.mode!r} wants all edges on the device: expected residency 'device', not 'stream'"
        )
    budget = max((plan.residency.budget or _everything(graph)) - beside, 1)
    for chosen in (
        traits_of(plan, emitted, push, budgeted=True),
        *_with_fewer(traits, mode_of(plan, budgeted=True)),
    ):
        by_column = chosen.combine is not None and chosen.push != OWNER
        resident, _ = device_graph(graph, chosen.bits, by_column, worker_count())
        if resident.arrays:
            resident.arrays.clear()
            graph.store.forget()  # runs in memory were prepared with them
        if plan.types.weight is not None:
            chosen = chosen._replace(bin_weight_dtype=resident.bins.id_weights.dtype)
        shape = graph, resident.bins, resident.turned, budget
        pages = partial(StreamedGraph, by_column=by_column)
        make = partial(pages if chosen.streamed else BudgetedGraph, *shape)
        parts, shapes = parts_of(plan, emitted, chosen), workspace_shapes(resident, emitted, chosen)
        own = _bytes(shapes) + _fields(plan) + rounded(CONTROL.itemsize) + SLACK + budget // 64
        needed = own + make().needed_bytes(parts)
        if needed <= budget:
            break
    else:
        raise NotEnoughMemory(
            f"{plan.lowered.name} on {graph!r} needs {readable(needed)} of device memory without its edges, "
            f"{readable(budget)} are given"
        )
    waits = emitted.gathered_dtype.str if queues(emitted, chosen) else ""
    on = cupy().cuda.Device().id
    key = on, chosen.streamed, chosen.bits, *shape[2:], by_column, parts, own, waits
    layout = graph.store.get(Kind.DEVICE, key)
    if layout is None:
        graph.store.discard(Kind.DEVICE)  # a streamed run has the device for itself
        layout = make()
        with layout.allocating():
            layout.load(parts)
        room = budget - layout.pool.used_bytes() - own
        layout.queues = queue_shapes(layout, emitted, chosen, room // 4)
        if isinstance(layout, StreamedGraph):
            with layout.allocating():
                layout.load_pages(parts, room - _bytes(layout.queues))
        about = f"{partitions(chosen.bits)}, streamed"
        graph.store.put(Kind.DEVICE, layout, key, about=about, holds=(layout.arrays, resident.bins))
        if plan.residency.budget is None:
            everything = EVERYTHING, on
            graph.store.put(Kind.DEVICE, budget + beside, everything, about="what was free", holds=())
    return layout, chosen, shapes | layout.queues


def expects_pages(graph: Graph, residency: str, device_memory: Any) -> bool:
    """Whether a run that may choose is expected to leave edges with the host: before anything is prepared.

    Takes the edges in CSR and in bins, and a vertex's share of what a run works in.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> [expects_pages(ring, "stream", memory) for memory in ("1MB", 100)], expects_pages(ring, "device", 100)
    ([False, True], False)
    """
    if residency == "device":
        return False
    budget = as_bytes("device_memory", device_memory)
    weight = 0 if graph.weights is None else graph.weights.itemsize
    whole = graph.m * (2 * limits.VERTEX_BYTES + weight) + graph.n * PER_VERTEX
    return whole > (current_device().memory // 16 * 15 if budget is None else budget)


def _with_fewer(traits: Traits, mode: str) -> Iterator[Traits]:
    yield traits
    if mode != "auto":
        return
    for given_up in ("pulling", "dense"):
        strategy = getattr(traits, given_up)
        if strategy is not None and len(traits.strategies) > 1:
            others = tuple(each for each in traits.strategies if each is not strategy)
            traits = traits._replace(strategies=others)
            yield traits


def _everything(graph: Graph) -> int:
    """What is free without what this graph has on the device, but for what the driver may want."""
    kept = graph.store.get(Kind.DEVICE, (EVERYTHING, cupy().cuda.Device().id))
    if kept is None:
        graph.store.discard(Kind.DEVICE)
        cupy().get_default_memory_pool().free_all_blocks()
        kept = cupy().cuda.runtime.memGetInfo()[0] // 16 * 15
    return kept


def _bytes(shapes: Shapes) -> int:
    return sum(rounded(length * dtype.itemsize) for length, dtype in shapes.values())


def _fields(plan: Plan) -> int:
    fields = plan.program._fields
    here = (name for name in plan.lowered.fields if name not in fields.away)
    return sum(rounded(fields.nbytes(name) + 64) for name in here)


class Link:
    """What came over the link in each iteration of a run."""

    def __init__(self, layout: BudgetedGraph) -> None:
        self.layout, self.rows = layout, np.zeros((0, 2))

    def take(self, records: np.ndarray) -> None:
        """Note the columns of the trace buffer that the trace has not."""
        self.rows = np.concatenate([self.rows, records[:, [FETCHED_AT, WANTED_AT]]])

    def said(self) -> dict[str, Any]:
        """For the trace: bytes over the link in each iteration, and the share that the device had."""
        fetched, wanted = self.rows.T
        hits = 1 - fetched / np.maximum(wanted, 1)
        return {
            "bytes": fetched.astype(np.int64).tolist(),
            "hits": np.where(wanted > 0, hits, 1.0).round(4).tolist(),
            "budget": self.layout.budget,
            "peak_bytes": int(self.layout.pool.total_bytes()),
            "resident_bytes": self.layout.resident_bytes,
            "away_bytes": self.layout.away_bytes,
        }
