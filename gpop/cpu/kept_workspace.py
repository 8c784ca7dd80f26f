"""Workspaces as they are kept with a graph: taken from its store, or made of tables, and left there.

Arrays are kept one by one (arrays.py), so that runs of other programs and threads share those that they have
in common; the tuple of the latest run is kept with them.
"""

from __future__ import annotations

import numpy as np

from gpop.cpu import team
from gpop.cpu.arrays import arrays_of
from gpop.cpu.counters import COUNTERS
from gpop.cpu.workspace import Workspace
from gpop.cpu.workspace_tables import Needs, bins_table, blocks_table, claim_slots, team_slots
from gpop.graph.kept import Kind, Store
from gpop.layout.bins import Bins
from gpop.layout.edge_blocks import Blocks
from gpop.layout.partition import l2_cache_bytes, partitions

STREAMING_CACHES = 2
"""From how many times the private caches of the threads on messages are written past them."""


def workspace_of(store: Store, bins: Bins, needs: Needs, message_dtype: np.dtype, threads: int) -> Workspace:
    """The workspace for this layout, its arrays taken from the graph's store where they exist.

    Large arrays are not written here: the system maps their pages when a run first touches them.

    Raises
    ------
    NotEnoughMemory
        If what is missing would not fit; found out before any of it is allocated.
    """
    bits, n, k = int(bins.bits), int(bins.n), int(bins.k)
    asked = (needs, message_dtype, threads, bins.id_weights.size)
    kept = store.get(Kind.WORKSPACE, bits)
    if kept is not None and kept.last[0] == asked:
        space = kept.last[1]
    else:
        table = bins_table(bins, needs, message_dtype, threads)
        what = f"messages and frontier of a run on {n} vertices in {k} partitions"
        arrays, kept = arrays_of(store, table, bits, partitions(bits), what)
        space = _space(arrays, threads, max(bins.messages, n if needs.pull else 0), message_dtype)
        kept.last = (asked, space)
    past_caches = space.values.nbytes > STREAMING_CACHES * threads * l2_cache_bytes()
    # Where bins are gathered as soon as they are published, each would need a fence.
    space.streaming[0] = past_caches and not needs.interleave
    space.counters[:] = 0
    return space


def unit_workspace(
    store: Store, blocks: Blocks, message_dtype: np.dtype, threads: int, sums: bool, settles: bool
) -> Workspace:
    """The workspace for a layout of blocks; see `workspace_of`."""
    key, n, k = "blocks", int(blocks.n), int(blocks.k)
    kept = store.get(Kind.WORKSPACE, key)
    widest = int(np.diff(blocks.bounds).max(initial=0)) if sums else 0
    asked = (message_dtype, threads, widest, settles, k)
    if kept is not None and kept.last[0] == asked:
        space = kept.last[1]
    else:
        table = blocks_table(blocks, message_dtype, threads, widest, settles)
        what = f"values of a run on {n} vertices in {k} units"
        arrays, kept = arrays_of(store, table, key, "blocks", what)
        unused = dict.fromkeys(Workspace._fields, np.empty(0, np.int64))
        space = _space(unused | arrays, threads, 2 * n, message_dtype)
        kept.last = (asked, space)
    space.counters[:] = 0
    return space


def forget_workspaces(store: Store) -> None:
    """Let go of every workspace of a graph, since one of them may not be clean."""
    store.discard(Kind.WORKSPACE)


def _space(arrays: dict[str, np.ndarray], threads: int, values: int, message: np.dtype) -> Workspace:
    """The arrays as kernels see them: so many values of the message's type, slots that begin at lines."""
    arrays["values"] = arrays["values"].view(np.uint8)[: values * message.itemsize].view(message)
    arrays["claim"] = _from_line(arrays["claim"], claim_slots(threads))
    arrays["team"] = _from_line(arrays["team"], team_slots(threads))
    arrays["sums"] = arrays["sums"].reshape(threads, -1)
    arrays["streaming"] = np.zeros(1, np.uint8)
    arrays["counters"] = np.zeros((threads, len(COUNTERS)), np.int64)
    return Workspace(**arrays)


def _from_line(room: np.ndarray, size: int) -> np.ndarray:
    """The part of ``room`` that starts where a cache line does."""
    first = -(room.ctypes.data // room.itemsize) % team.LINE_SLOTS
    return room[first : first + size]
