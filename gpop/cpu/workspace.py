"""Arrays that the engine works in, kept with the graph and left clean after every run.

How long each is: workspace_tables.py; how they are kept: kept_workspace.py.

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

NONE = -1
"""End of a list of source partitions."""


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
