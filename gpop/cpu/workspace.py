"""Arrays that the engine works in, kept with the graph and left clean after every run.

`bins_table` and `blocks_table` describe them once; what is predicted and refused, and what is allocated,
follows from the tables (arrays.py).

Encodings
---------
``cursors[2*(p*k+d)]``, ``[... + 1]``  next free message slot and id position of bin (p, d); equal to the
    bin's start whenever the bin is empty, so nothing is cleared between iterations.
``frontier[list_of(p) : list_of(p) + frontier_size[p]]``  local ids of the active vertices of p, in
    order of activation (the same type as PNG sources); ``queue`` and ``touched`` likewise.
``later``, ``waiting``, ``buckets``  active vertices that wait for their priority (priority.py);
    ``tournament``  which partition has the lowest of them (tournament.py).
``bitmap``  bit v & 63 of word v >> 6: vertex v is in the frontier that is being pulled from.
``needy[2*d]``, ``[2*d + 1]``  vertices of d that wanted more messages after a pull, their in-edges.
``in_frontier[v]``  bit 0: v is in the frontier; bits 1 to 4: used by the interleaved step (interleave.py,
    owed.py).
``head[w*k+d]``, ``next_source[p*k+d]``  list of the source partitions whose bin for d is non-empty: the
    second level of the active list, threaded through the bins. In bulk-synchronous runs it is built at
    the barrier in ascending order (w = 0); in interleaved runs thread w pushes what it scattered.
``consumed[w*k+d]``  head at the time of the interleaved gather: the rest of that list is already consumed.
``claim``, ``team``  what threads tell each other (team.py).
``filling``  how the fields of a run are to be filled (filling.py).
``inside[p]``  1: half of the edges of p or more stay in it, and are applied directly (scatter_inside.py).
``exchanged``  what the loop and the exchange with other ranks tell each other (exchange.py).
``whole_edges[p]``  where there are other ranks, edges of active vertices to all of them;
    ``edges_here[p]``: how many of the edges of p end here, by all.
``streaming[0]``  1: messages are written past the caches.
``receivers[v]``  1: v has in-edges; found out for partition d when first wanted (``receivers_known[d]``).
``sums[w]``  a float64 for each vertex of the partition that thread w has (sums.py); zero between partitions.
``changes``  of each chunk of vertices, their sum (settling.py).
``heaviest``  all partitions by their in-edges, descending; ``gather_order``: those in ``gather_list``.
``scatter_list``, ``gather_list``  partitions with active vertices / with messages: the first level.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.cpu import filling, priority, team, tournament
from gpop.cpu.active import LIST_GAP
from gpop.cpu.arrays import Array, arrays_of
from gpop.cpu.settling import chunks_of
from gpop.graph.kept import Kind, Store
from gpop.layout.bins import Bins
from gpop.layout.edge_blocks import Blocks
from gpop.layout.partition import l2_cache_bytes, partitions

STREAMING_CACHES = 2
"""From how many times the private caches of the threads on messages are written past them."""

EXCHANGED = 15
"""Numbers that the loop and an exchange tell each other."""

NONE = -1
"""End of a list of source partitions."""

COUNTERS = (
    "edges_scattered",
    "messages_sc",
    "messages_pc",
    "ids_gathered",
    "messages_gathered",
    "bins_probed",
    "bins_filled",
    "ids_interleaved",
    "vertices_scattered",
    "intra_edges",
    "edges_pulled",
    "messages_pulled",
    "bucket_steps",
    "waiting_read",
)
"""Names of the instrumented counters, in the order of their columns."""


BYTE, FLAG = np.dtype(np.uint8), np.dtype(np.uint8)
NUMBER, WORD, FRACTION = np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.float64)
SHORT, ID = np.dtype(np.int32), np.dtype(np.uint32)


class Workspace(NamedTuple):
    """See the module's banner. ``values`` has the message type of the program."""

    values: np.ndarray
    streaming: np.ndarray
    own_values: np.ndarray
    sent: np.ndarray
    sc_ids: np.ndarray
    sc_weights: np.ndarray
    cursors: np.ndarray
    head: np.ndarray
    consumed: np.ndarray
    next_source: np.ndarray
    row_list: np.ndarray
    row_size: np.ndarray
    frontier: np.ndarray
    in_frontier: np.ndarray
    frontier_size: np.ndarray
    active_edges: np.ndarray
    whole_edges: np.ndarray
    edges_here: np.ndarray
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
    claim: np.ndarray
    team: np.ndarray
    filling: np.ndarray
    queue: np.ndarray
    later: np.ndarray
    waiting: np.ndarray
    buckets: np.ndarray
    tournament: np.ndarray
    bitmap: np.ndarray
    needy: np.ndarray
    ever: np.ndarray
    touched: np.ndarray
    touched_size: np.ndarray
    receivers: np.ndarray
    receivers_known: np.ndarray
    sums: np.ndarray
    changes: np.ndarray
    counters: np.ndarray


class Needs(NamedTuple):
    """Which of the large arrays a run uses; the others are empty."""

    sent: bool
    sc: bool
    frontier: bool
    interleave: bool
    touched: bool
    pull: bool
    own_values: bool
    priorities: bool
    receivers: bool
    sums: bool
    settles: bool
    ranked: bool


def _message_words(messages: int, message: np.dtype) -> int:
    return -(-messages * message.itemsize // WORD.itemsize)


def own_edges(bins: Bins) -> np.ndarray:
    """Edges of each partition that stay in it."""
    own = np.arange(int(bins.k)) * (int(bins.k) + 1)
    return bins.id_offsets[own + 1] - bins.id_offsets[own]


def bins_table(bins: Bins, needs: Needs, message: np.dtype, threads: int) -> dict[str, Array]:
    """What a run over bins works in.

    One buffer of words holds the messages of every type, so that programs of different types share its
    memory. A pulled iteration keeps one value a vertex there.
    """
    n, k = int(bins.n), int(bins.k)
    lists = n + k * LIST_GAP
    local = bins.sources.dtype
    frontier, priorities, touched = needs.frontier, needs.priorities, needs.touched

    def empty_bins(cursors: np.ndarray) -> None:
        cursors[::2] = bins.slots[:-1]
        cursors[1::2] = bins.id_offsets[:-1].reshape(k, k).T.ravel()

    def most_in_edges_first(heaviest: np.ndarray) -> None:
        heaviest[:] = np.argsort(-np.diff(bins.id_offsets[:: max(k, 1)]), kind="stable")

    def mostly_inside(inside: np.ndarray) -> None:
        starts = bins.indptr[np.minimum(np.arange(k + 1) << int(bins.bits), n)]
        inside[:] = 2 * own_edges(bins) >= np.diff(starts)

    def nobody_waits(buckets: np.ndarray) -> None:
        buckets[:] = 0
        buckets[priority.LEAST :: priority.SLOTS] = tournament.HIGHEST
        buckets[priority.KEY :: priority.SLOTS] = tournament.HIGHEST

    return {
        "values": Array(
            _message_words(max(bins.messages, n if needs.pull else 0), message), WORD, by_edge=True
        ),
        "own_values": Array(n * needs.own_values, message),
        "sent": Array(bins.messages * needs.sent, FLAG, by_edge=True),
        # touched at the starts of bins only
        "sc_ids": Array(bins.ids.size * needs.sc, bins.ids.dtype, small_pages=True, by_edge=True),
        "sc_weights": Array(
            bins.id_weights.size * needs.sc, bins.id_weights.dtype, small_pages=True, by_edge=True
        ),
        "cursors": Array(2 * k * k, NUMBER, start=empty_bins),
        "head": Array(threads * k, NUMBER, NONE),
        "consumed": Array(threads * k, NUMBER, NONE),
        "next_source": Array(k * k, SHORT),
        "row_list": Array(bins.row_bins.size, ID),
        "row_size": Array(k, NUMBER, 0),
        "frontier": Array(lists * frontier, local),
        "in_frontier": Array(n * frontier, FLAG, 0),
        "frontier_size": Array(k, NUMBER, 0),
        "active_edges": Array(k, NUMBER, 0),
        "whole_edges": Array(k * needs.ranked, NUMBER, 0),
        "edges_here": Array(k * needs.ranked, FRACTION, 0),
        "sent_messages": Array(k, NUMBER, 0),
        "predicted": Array(k, FRACTION, 0),
        "mode": Array(k, BYTE, 0),
        "listed": Array(k, FLAG, 0),
        "inside": Array(k, FLAG, start=mostly_inside),
        "exchanged": Array(EXCHANGED, NUMBER, 0),
        "scatter_list": Array(k, NUMBER),
        "gather_list": Array(k, NUMBER),
        "gather_order": Array(k, NUMBER),
        "heaviest": Array(k, NUMBER, start=most_in_edges_first),
        "claim": Array(_room(_claim_slots(threads)), NUMBER, 0),
        "team": Array(_room(_team_slots(threads)), NUMBER, 0),
        "filling": Array(filling.SLOTS, NUMBER, 0),
        "bitmap": Array((n + 63) // 64 * (needs.pull or needs.ranked), WORD, 0),
        "needy": Array(2 * k * needs.pull, NUMBER),
        "queue": Array(lists * (frontier or needs.pull), local),
        "later": Array(lists * priorities, local),
        "waiting": Array(n * priorities, FLAG, 0),
        "buckets": Array(priority.SLOTS * (k + 1) * priorities, NUMBER, start=nobody_waits),
        "tournament": Array(tournament.tree_size(k) * priorities, NUMBER, tournament.HIGHEST),
        "ever": Array(n * touched, FLAG, 0),
        "touched": Array(lists * touched, local),
        "touched_size": Array(k, NUMBER, 0),
        "receivers": Array(n * needs.receivers, FLAG, 0),
        "receivers_known": Array(k * needs.receivers, FLAG, 0),
        "sums": Array((threads << int(bins.bits)) * needs.sums, FRACTION, 0),
        "changes": Array(chunks_of(n) * needs.settles, FRACTION),
    }


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


def blocks_table(
    blocks: Blocks, message: np.dtype, threads: int, widest: int, settles: bool
) -> dict[str, Array]:
    """What a run over blocks works in: two values per vertex (pull_all.py), and what is counted per unit.

    ``widest``: vertices of the widest unit, where messages are added up in float64 (sums.py), else 0.
    """
    k = int(blocks.k)
    return {
        "values": Array(_message_words(2 * int(blocks.n), message), WORD),
        "frontier_size": Array(k, NUMBER, 0),
        "sent_messages": Array(k, NUMBER, 0),
        "mode": Array(k, BYTE, 0),
        "exchanged": Array(EXCHANGED, NUMBER, 0),
        "needy": Array(2 * k, NUMBER, 0),
        "sums": Array(threads * widest, FRACTION, 0),
        "changes": Array(chunks_of(int(blocks.n)) * settles, FRACTION),
        "claim": Array(_room(_claim_slots(threads)), NUMBER, 0),
        "team": Array(_room(_team_slots(threads)), NUMBER, 0),
        "filling": Array(filling.SLOTS, NUMBER, 0),
    }


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
    arrays["claim"] = _from_line(arrays["claim"], _claim_slots(threads))
    arrays["team"] = _from_line(arrays["team"], _team_slots(threads))
    arrays["sums"] = arrays["sums"].reshape(threads, -1)
    arrays["streaming"] = np.zeros(1, np.uint8)
    arrays["counters"] = np.zeros((threads, len(COUNTERS)), np.int64)
    return Workspace(**arrays)


def _claim_slots(threads: int) -> int:
    return team.LINE_SLOTS * threads


def _team_slots(threads: int) -> int:
    return team.SHARES + 2 * threads


def _room(slots: int) -> int:
    """Slots of an array in which so many can begin at a cache line."""
    return slots + team.LINE_SLOTS


def _from_line(room: np.ndarray, size: int) -> np.ndarray:
    """The part of ``room`` that starts where a cache line does."""
    first = -(room.ctypes.data // room.itemsize) % team.LINE_SLOTS
    return room[first : first + size]
