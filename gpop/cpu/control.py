"""What the loop over iterations looks at itself: what there is per partition, and the kind of run.

All of it is of the same types for every graph, program and layout. So a loop is compiled once on a machine,
and what is compiled for a program is what it does to partitions (work.py).
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from gpop.common.by_reference import Reference, opener
from gpop.common.inlined import inline
from gpop.cpu.tree import NO_TREE
from gpop.model.bytes import Sizes


class Control(NamedTuple):
    """First what kind of run it is, then fields of the layout and of the workspace (see there)."""

    interleaved: np.bool_
    pulls: np.bool_
    counting: np.bool_
    settles: np.bool_
    pulled_bytes: np.float64
    sizes: Any
    tree: Any
    n: np.int64
    k: np.int64
    bits: np.uint32
    indptr: np.ndarray
    slots: np.ndarray
    id_offsets: np.ndarray
    row_offsets: np.ndarray
    row_bins: np.ndarray
    row_list: np.ndarray
    row_size: np.ndarray
    head: np.ndarray
    next_source: np.ndarray
    frontier_size: np.ndarray
    active_edges: np.ndarray
    sent_messages: np.ndarray
    predicted: np.ndarray
    mode: np.ndarray
    listed: np.ndarray
    inside: np.ndarray
    exchanged: np.ndarray
    scatter_list: np.ndarray
    gather_list: np.ndarray
    gather_order: np.ndarray
    heaviest: np.ndarray
    needy: np.ndarray
    buckets: np.ndarray
    tournament: np.ndarray
    claim: np.ndarray
    team: np.ndarray
    filling: np.ndarray
    counters: np.ndarray


TYPES = {
    "row_bins": np.uint32, "row_list": np.uint32, "next_source": np.int32,
    "predicted": np.float64, "mode": np.uint8, "listed": np.uint8,
    "inside": np.uint8,
}  # fmt: skip
"""Elements of the arrays; int64 of the others."""

NOTHING = {dtype: np.empty(0, dtype) for dtype in (np.int64, *TYPES.values())}

KINDS = Control._fields.index("pulled_bytes")

LAYOUT = Control._fields.index("n")
"""The first field of a layout or workspace; those before say what kind of run it is."""


def control_of(
    layout: Any, space: Any, kind: tuple[bool, ...], pulled_bytes: float, sizes: Sizes | Reference,
    tree: Reference = NO_TREE,
) -> Control:  # fmt: skip
    """Control of a run of this kind; no array for what a layout lacks because no phase needs it."""
    fields = (_field(name, layout, space) for name in Control._fields[LAYOUT:])
    return Control(*map(np.bool_, kind), np.float64(pulled_bytes), sizes, tree, *fields)


@cache
def sizes_reference(sizes: Sizes) -> Reference:
    """There are few."""
    return Reference(sizes)


def _field(name: str, layout: Any, space: Any) -> Any:
    found = getattr(layout if hasattr(layout, name) else space, name, None)
    if isinstance(found, np.ndarray | None):
        dtype = TYPES.get(name, np.int64)
        return found if found is not None and found.dtype == dtype else NOTHING[dtype]
    return found


def _types() -> Any:
    """Numba's type of a control, which is that of any."""
    nobody, nothing = np.bool_(False), np.float64(0)
    sizes = Reference(Sizes(*(0,) * len(Sizes._fields)))
    numbers = {"n": np.int64(0), "k": np.int64(0), "bits": np.uint32(0)}
    arrays = {name: np.empty(0, TYPES.get(name, np.int64)) for name in Control._fields[LAYOUT:]}
    arrays["counters"] = np.empty((0, 0), np.int64)
    return Reference(Control(*[nobody] * KINDS, nothing, sizes, NO_TREE, **(arrays | numbers))).kind


CONTROL = _types()

_open = opener(CONTROL)


@inline
def open_control(address):
    """The `Control` whose reference has this address."""
    return _open(address)
