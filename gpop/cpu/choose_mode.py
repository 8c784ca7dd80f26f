"""Which way messages travel: the model (model/bytes.py) applied to the engine's lists, and the trace.

Pull is decided for an iteration as a whole, before it starts: then no message can arrive twice, and
scatter needs no check of where it sends. Where ids say nothing about neighbourhood the destinations of an
iteration are alike, and to decide for each of them would save nothing.
"""

from __future__ import annotations

import numpy as np

from gpop.common.inlined import inline
from gpop.cpu import team
from gpop.cpu.interleave import is_local
from gpop.model.choosers import AUTO, AUTO_PUSH, VISIT_BYTES
from gpop.model.compiled import (
    edges_looked_at,
    may_pull,
    pc_bytes,
    prefers_pc,
    prefers_pull,
    pull_bytes,
    sc_bytes,
)
from gpop.model.strategies import PC, PULL
from gpop.plan.trace import BYTES_AT, MESSAGES_AT, MODES_AT

BY_TREE = AUTO_PUSH - 1
"""What it becomes where a decision tree chooses for each iteration: the loop asks it (tree.py)."""


@inline
def choose_mode(p, forced, ratio, all_active, direct, sizes, layout, space):
    """Whether ``p`` scatters partition-centric, by eq. (1); notes the bytes the model predicts.

    ``direct``: SC would deliver the edges inside ``p`` without bins, which a model may not know.
    """
    if forced == BY_TREE:
        forced = space.team[team.WAY]
    k = layout.k
    first = np.int64(np.uint64(p) << np.uint64(layout.bits))
    last = min(layout.n, first + (np.int64(1) << np.int64(layout.bits)))
    edges = layout.indptr[last] - layout.indptr[first]
    messages = layout.slots[(p + 1) * k] - layout.slots[p * k]
    direct_edges = direct_messages = np.int64(0)
    if direct and sizes.direct:
        own = p * k + p
        direct_edges = layout.id_offsets[own + 1] - layout.id_offsets[own]
        direct_messages = layout.slots[own + 1] - layout.slots[own]
    if all_active:
        vertices, active_edges = last - first, edges
    else:
        vertices, active_edges = space.frontier_size[p], space.active_edges[p]
    dense = forced == PC
    if forced <= AUTO:
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
def choose_pull(
    forced, ratio, size, vertices, frontier, edges, needy_vertices, needy_edges, sizes, layout, space
):  # fmt: skip
    """Whether this iteration pulls, and the bytes that are predicted for that; ``vertices`` are asked.

    0 bytes where it is known without them that it does not: they take as long as a dozen edges (a power),
    and a road has a thousand iterations of a few hundred.
    """
    if forced != PULL and (forced != AUTO or not may_pull(edges, needy_edges)):
        return False, 0.0
    looked_at = edges_looked_at(edges, needy_vertices, needy_edges)
    pulled = pull_bytes(vertices, frontier, looked_at, sizes)
    if forced == PULL:
        return True, pulled
    pushed = 0.0
    for i in range(size):
        p = space.scatter_list[i]
        local = is_local(p, space)
        dense = choose_mode(p, forced, ratio, False, local, sizes, layout, space)
        pushed += space.predicted[p] / ratio if dense else space.predicted[p]
        if not (dense or local):
            pushed += space.frontier_size[p] * VISIT_BYTES
    return prefers_pull(pushed, pulled, ratio), pulled


@inline
def write_trace(trace, row, scattered, all_active, space):
    """Modes, messages and predicted bytes of the partitions that were scattered."""
    for i in range(scattered):
        p = i if all_active else space.scatter_list[i]
        trace[row, MODES_AT + np.int64(space.mode[p])] += 1
        trace[row, MESSAGES_AT] += space.sent_messages[p]
        trace[row, BYTES_AT] += space.predicted[p]


@inline
def write_pull_trace(trace, row, predicted, layout, space):
    """The same for an iteration that pulled; returns the vertices that want messages still, their edges."""
    trace[row, BYTES_AT] = predicted
    vertices = np.int64(0)
    edges = np.int64(0)
    for d in range(layout.k):
        trace[row, MODES_AT + PULL] += space.mode[d] == PULL
        trace[row, MESSAGES_AT] += space.sent_messages[d]
        vertices += space.needy[2 * d]
        edges += space.needy[2 * d + 1]
    return vertices, edges
