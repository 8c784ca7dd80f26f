"""Arrays that the engine works in, kept with the graph and left clean after every run.

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
``in_frontier[v]``  bit 0: v is in the frontier; bits 1, 2: used by the interleaved step (interleave.py).
``head[w*k+d]``, ``next_source[p*k+d]``  list of the source partitions whose bin for d is non-empty: the
    second level of the active list, threaded through the bins. In bulk-synchronous runs it is built at
    the barrier in ascending order (w = 0); in interleaved runs thread w pushes what it scattered.
``consumed[w*k+d]``  head at the time of the interleaved gather: the rest of that list is already consumed.
``claim``, ``team``  what threads tell each other (team.py).
``streaming[0]``  1: messages are written past the caches.
``receivers[v]``  1: v has in-edges; found out for partition d when first wanted (``receivers_known[d]``).
``sums[w]``  a float64 for each vertex of the partition that thread w has (sums.py); zero between partitions.
``heaviest``  all partitions by their in-edges, descending; ``gather_order``: those in ``gather_list``.
``scatter_list``, ``gather_list``  partitions with active vertices / with messages: the first level.
"""

from __future__ import annotations

import mmap
from typing import NamedTuple

import numpy as np

from gpop.common.memory import require_memory
from gpop.cpu import priority, team, tournament
from gpop.cpu.active import LIST_GAP
from gpop.layout.bins import Bins
from gpop.layout.edge_blocks import Blocks
from gpop.layout.partition import l2_cache_bytes

SERIAL_EDGES = 512
"""Below so many active edges the calling thread does an iteration alone."""

STREAMING_CACHES = 2
"""From how many times the private caches of the threads on messages are written past them."""

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


_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


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
    sent_messages: np.ndarray
    predicted: np.ndarray
    mode: np.ndarray
    listed: np.ndarray
    scatter_list: np.ndarray
    gather_list: np.ndarray
    gather_order: np.ndarray
    heaviest: np.ndarray
    claim: np.ndarray
    team: np.ndarray
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


def workspace_of(
    graph_cache: dict, bins: Bins, needs: Needs, message_dtype: np.dtype, threads: int
) -> Workspace:
    """The workspace for this layout, its arrays taken from the graph's cache where they exist.

    Large arrays are not written here: the system maps their pages when a run first touches them.
    """
    n, k = int(bins.n), int(bins.k)
    kept = graph_cache.setdefault(("workspace", int(bins.bits)), {})

    def array(name: str, size: int, dtype: type | np.dtype, fill: int | None = None) -> np.ndarray:
        found = kept.get((name, np.dtype(dtype)))
        if found is None or found.size < size:
            if fill is None:
                found = np.empty(size, dtype)
            elif fill == 0:
                found = np.zeros(size, dtype)
            else:
                found = np.full(size, fill, dtype)
            kept[name, np.dtype(dtype)] = found
        return found

    def if_needed(
        condition: bool, name: str, size: int, dtype: type | np.dtype, fill: int | None = None
    ) -> np.ndarray:
        return array(name, size, dtype, fill) if condition else np.empty(0, dtype)

    def aligned(name: str, size: int) -> np.ndarray:
        return _from_line(array(name, size + team.LINE_SLOTS, np.int64, 0), size)

    def scattered(name: str, size: int, dtype: np.dtype) -> np.ndarray:
        """An array touched at the starts of its bins only: in small pages (NumPy asks for large)."""
        if size and (name, dtype) not in kept:
            kept[name, dtype] = np.frombuffer(mmap.mmap(-1, size * dtype.itemsize, **_PRIVATE), dtype)
        return kept[name, dtype] if size else np.empty(0, dtype)

    bins_total = bins.row_bins.size
    listed = n + k * LIST_GAP
    if not kept:
        lists = (needs.frontier + needs.touched) * (bins.sources.itemsize + 1) + needs.receivers
        scattered_bytes = (bins.ids.nbytes + bins.id_weights.nbytes) if needs.sc else 0
        require_memory(
            bins.messages * message_dtype.itemsize + n * lists + scattered_bytes,
            f"messages and frontier of a run on {n} vertices in {k} partitions",
        )
    if ("cursors", np.dtype(np.int64)) not in kept:
        cursors = np.empty((k * k, 2), np.int64)
        cursors[:, 0] = bins.slots[:-1]
        cursors[:, 1] = bins.id_offsets[:-1].reshape(k, k).T.ravel()
        kept["cursors", np.dtype(np.int64)] = cursors.reshape(-1)
    if ("heaviest", np.dtype(np.int64)) not in kept:
        in_edges = np.diff(bins.id_offsets[:: max(k, 1)])
        kept["heaviest", np.dtype(np.int64)] = np.argsort(-in_edges, kind="stable")
    # One buffer serves every message type, so that programs of different types share its memory. A
    # pulled iteration keeps one value a vertex there.
    nbytes = max(bins.messages, n if needs.pull else 0) * message_dtype.itemsize
    values = array("values", -(-nbytes // 8), np.uint64).view(np.uint8)[:nbytes].view(message_dtype)
    # Where bins are gathered as soon as they are published, each would need a fence.
    streams = not needs.interleave and nbytes > STREAMING_CACHES * threads * l2_cache_bytes()
    if needs.priorities and ("buckets", np.dtype(np.int64)) not in kept:
        buckets = array("buckets", priority.SLOTS * (k + 1), np.int64, 0)
        buckets[priority.LEAST :: priority.SLOTS] = tournament.HIGHEST
        buckets[priority.KEY :: priority.SLOTS] = tournament.HIGHEST
    return Workspace(
        values=values,
        streaming=np.array([streams], np.uint8),
        own_values=if_needed(needs.own_values, "own_values", n, message_dtype),
        sent=if_needed(needs.sent, "sent", bins.messages, np.uint8),
        sc_ids=scattered("sc_ids", bins.ids.size if needs.sc else 0, bins.ids.dtype),
        sc_weights=scattered("sc_weights", bins.id_weights.size if needs.sc else 0, bins.id_weights.dtype),
        cursors=kept["cursors", np.dtype(np.int64)],
        head=array("head", threads * k, np.int64, NONE),
        consumed=array("consumed", threads * k, np.int64, NONE),
        next_source=array("next_source", k * k, np.int32),
        row_list=array("row_list", bins_total, np.uint32),
        row_size=array("row_size", k, np.int64, 0),
        frontier=if_needed(needs.frontier, "frontier", listed, bins.sources.dtype),
        in_frontier=if_needed(needs.frontier, "in_frontier", n, np.uint8, 0),
        frontier_size=array("frontier_size", k, np.int64, 0),
        active_edges=array("active_edges", k, np.int64, 0),
        sent_messages=array("sent_messages", k, np.int64, 0),
        predicted=array("predicted", k, np.float64, 0),
        mode=array("mode", k, np.uint8, 0),
        listed=array("listed", k, np.uint8, 0),
        scatter_list=array("scatter_list", k, np.int64),
        gather_list=array("gather_list", k, np.int64),
        gather_order=array("gather_order", k, np.int64),
        heaviest=kept["heaviest", np.dtype(np.int64)],
        claim=aligned("claim", team.LINE_SLOTS * threads),
        team=aligned("team", team.SHARES + 2 * threads),
        bitmap=if_needed(needs.pull, "bitmap", (n + 63) // 64, np.uint64, 0),
        needy=if_needed(needs.pull, "needy", 2 * k, np.int64),
        queue=if_needed(needs.frontier or needs.pull, "queue", listed, bins.sources.dtype),
        later=if_needed(needs.priorities, "later", listed, bins.sources.dtype),
        waiting=if_needed(needs.priorities, "waiting", n, np.uint8, 0),
        buckets=if_needed(needs.priorities, "buckets", priority.SLOTS * (k + 1), np.int64, 0),
        tournament=if_needed(
            needs.priorities, "tournament", tournament.tree_size(k), np.int64, tournament.HIGHEST
        ),
        ever=if_needed(needs.touched, "ever", n, np.uint8, 0),
        touched=if_needed(needs.touched, "touched", listed, bins.sources.dtype),
        touched_size=array("touched_size", k, np.int64, 0),
        receivers=if_needed(needs.receivers, "receivers", n, np.uint8, 0),
        receivers_known=if_needed(needs.receivers, "receivers_known", k, np.uint8, 0),
        sums=if_needed(needs.sums, "sums", threads << int(bins.bits), np.float64, 0).reshape(threads, -1),
        counters=np.zeros((threads, len(COUNTERS)), np.int64),
    )


def _from_line(room: np.ndarray, size: int) -> np.ndarray:
    """The part of ``room`` that starts where a cache line does."""
    first = -(room.ctypes.data // room.itemsize) % team.LINE_SLOTS
    return room[first : first + size]


def unit_workspace(
    graph_cache: dict, blocks: Blocks, message_dtype: np.dtype, threads: int, sums: bool
) -> Workspace:
    """The workspace for a layout of blocks: one value per vertex and what is counted per unit."""
    k, lines = int(blocks.k), team.LINE_SLOTS * threads
    key = ("workspace", "units", message_dtype)
    if key not in graph_cache or graph_cache[key].mode.size != k or graph_cache[key].claim.size != lines:
        require_memory(int(blocks.n) * message_dtype.itemsize, "values of a run")
        used = {
            "values": np.empty(blocks.n, message_dtype),
            "frontier_size": np.zeros(k, np.int64),
            "sent_messages": np.zeros(k, np.int64),
            "mode": np.zeros(k, np.uint8),
            "needy": np.zeros(2 * k, np.int64),
            "sums": np.empty((threads, 0)),
            "claim": _from_line(np.zeros(lines + team.LINE_SLOTS, np.int64), lines),
            "team": _from_line(np.zeros(team.SHARES + lines, np.int64), team.SHARES + 2 * threads),
        }
        unused = dict.fromkeys(Workspace._fields, np.empty(0, np.int64))
        graph_cache[key] = Workspace(**(unused | used))
    if sums and graph_cache[key].sums.size == 0:
        widest = int(np.diff(blocks.bounds).max(initial=0))
        graph_cache[key] = graph_cache[key]._replace(sums=np.zeros((threads, widest)))
    return graph_cache[key]._replace(counters=np.zeros((threads, len(COUNTERS)), np.int64))


def forget_workspaces(graph_cache: dict) -> None:
    """Let go of every workspace of a graph, since one of them may not be clean."""
    for key in [key for key in graph_cache if isinstance(key, tuple) and key[0] == "workspace"]:
        del graph_cache[key]
