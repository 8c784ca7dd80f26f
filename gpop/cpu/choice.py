"""Which way messages travel: the model (model/bytes.py) applied to the engine's lists, and the trace.

Pull is decided for an iteration as a whole, before it starts: then no message can arrive twice, and
scatter needs no check of where it sends. Where ids say nothing about neighbourhood the destinations of an
iteration are alike, and to decide for each of them would save nothing.
"""

from __future__ import annotations

import numpy as np

from gpop.cpu.interleave import is_local
from gpop.model.bytes import (
    PC,
    PULL,
    edges_looked_at,
    pc_bytes,
    prefers_pc,
    pull_all_bytes,
    pull_bytes,
    sc_bytes,
)
from gpop.program.published import inline

AUTO, FORCE_SC, FORCE_PC, FORCE_PULL, AUTO_PUSH = range(5)
"""Codes of the modes a run is asked for; the last is auto where there is no memory for in-edges."""

MODES = {"auto": AUTO, "sc": FORCE_SC, "pc": FORCE_PC, "pull": FORCE_PULL}

FEW_EDGES = 64
"""Pull is not considered while fewer than one in so many of the edges to needy vertices may be active."""

for _function in (sc_bytes, pc_bytes, prefers_pc, edges_looked_at, pull_bytes, pull_all_bytes):
    inline(_function)


@inline
def choose_mode(p, forced, ratio, all_active, direct, sizes, layout, space):
    """Whether ``p`` scatters partition-centric, by eq. (1); notes the bytes the model predicts.

    ``direct``: SC would deliver the edges inside ``p`` without bins.
    """
    k = layout.k
    first = np.int64(np.uint64(p) << np.uint64(layout.bits))
    last = min(layout.n, first + (np.int64(1) << np.int64(layout.bits)))
    edges = layout.indptr[last] - layout.indptr[first]
    messages = layout.slots[(p + 1) * k] - layout.slots[p * k]
    direct_edges = direct_messages = np.int64(0)
    if direct:
        own = p * k + p
        direct_edges = layout.id_offsets[own + 1] - layout.id_offsets[own]
        direct_messages = layout.slots[own + 1] - layout.slots[own]
    if all_active:
        vertices, active_edges = last - first, edges
    else:
        vertices, active_edges = space.frontier_size[p], space.active_edges[p]
    dense = forced == FORCE_PC
    if forced in (AUTO, AUTO_PUSH):
        dense = prefers_pc(
            vertices, active_edges, edges, messages, k, sizes, ratio, direct_edges, direct_messages
        )
    if dense:
        space.predicted[p] = pc_bytes(edges, messages, k, sizes)
    else:
        active = active_edges / max(edges, 1)
        space.predicted[p] = sc_bytes(
            vertices, active_edges, active * (messages - direct_messages), sizes, active * direct_edges
        )
    return dense


@inline
def choose_pull(forced, ratio, size, frontier, edges, needy_vertices, needy_edges, sizes, layout, space):
    """Whether this iteration pulls, and the bytes the model predicts for that."""
    looked_at = edges_looked_at(edges, needy_vertices, needy_edges)
    pulled = pull_bytes(layout.n, frontier, looked_at, sizes)
    if forced != AUTO or edges * FEW_EDGES < needy_edges:
        return forced == FORCE_PULL, pulled
    pushed = 0.0
    for i in range(size):
        p = space.scatter_list[i]
        dense = choose_mode(p, forced, ratio, False, is_local(p, layout), sizes, layout, space)
        pushed += space.predicted[p] / ratio if dense else space.predicted[p]
    return pulled <= ratio * pushed, pulled


@inline
def write_trace(trace, row, scattered, all_active, layout, space):
    """Modes, messages and predicted bytes of the partitions that were scattered."""
    for i in range(scattered):
        p = i if all_active else space.scatter_list[i]
        if space.mode[p] == PC:
            trace[row, 3] += 1
        else:
            trace[row, 2] += 1
        trace[row, 5] += space.sent_messages[p]
        trace[row, 6] += space.predicted[p]


@inline
def write_pull_trace(trace, row, predicted, layout, space):
    """The same for an iteration that pulled; returns the vertices that want messages still, their edges."""
    trace[row, 6] = predicted
    vertices = np.int64(0)
    edges = np.int64(0)
    for d in range(layout.k):
        trace[row, 4] += space.mode[d] == PULL
        trace[row, 5] += space.sent_messages[d]
        vertices += space.needy[2 * d]
        edges += space.needy[2 * d + 1]
    return vertices, edges
