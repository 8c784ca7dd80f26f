"""Interleaved runs on several ranks: vertices that are passed on in an iteration, and owed to the others.

Ranks are told before an iteration. A vertex that changes after that and before its partition scatters is
passed on here at once (interleave.py), and others have never heard of it, or know an older value. So where
some other rank mirrors it, it stays in the frontier for the next exchange, and leaves it before the next
scatter, unless it has changed again by then. A rank hears a vertex at most once in an iteration, as ever, and
what looks at the frontier, whether a run is over, what a checkpoint keeps, need not know of it.

Bits of ``in_frontier`` beside those of interleave.py: `CHANGED` since the others were told; `OWED` to them,
and to nobody else.
"""

from __future__ import annotations

import numpy as np

from gpop.common.inlined import inline
from gpop.cpu.active import list_of

IN, CHANGED, OWED = np.uint8(1), np.uint8(8), np.uint8(16)


@inline
def is_mirrored_elsewhere(v, wire, state):
    """Whether another rank mirrors own vertex ``v``."""
    own = np.uint64(v) - np.uint64(state.gpop_first)
    return wire.where_offsets[own] < wire.where_offsets[own + np.uint64(1)]


@inline
def drop_owed(p, layout, space):
    """All have been told: what was owed leaves the frontier of ``p``, and nothing has changed since."""
    base, start = np.uint64(p) << np.uint64(layout.bits), list_of(p, layout)
    kept = np.uint64(0)
    for i in range(np.uint64(space.frontier_size[p])):
        v = base + np.uint64(space.frontier[start + i])
        if space.in_frontier[v] & OWED:
            space.in_frontier[v] = 0
        else:
            space.in_frontier[v] = IN
            space.frontier[start + kept] = space.frontier[start + i]
            kept += np.uint64(1)
    space.frontier_size[p] = kept


def make_after_owing(initFunc):
    """Kernel: as `gpop.cpu.scatter.make_after_scatter`; who is owed stays in the frontier as well."""
    calls = initFunc is not None

    def after_owing(p, layout, space, state, wire):
        base, start = np.uint64(p) << np.uint64(layout.bits), list_of(p, layout)
        kept = np.uint64(0)
        for i in range(np.uint64(space.frontier_size[p])):
            v = base + np.uint64(space.frontier[start + i])
            stays = np.uint8(0)
            if calls:
                if initFunc(state, np.uint32(v)):
                    stays = IN
            if stays == 0 and space.in_frontier[v] & CHANGED:
                if is_mirrored_elsewhere(v, wire, state):
                    stays = IN | OWED
            space.in_frontier[v] = stays
            space.frontier[start + kept] = space.frontier[start + i]
            kept += np.uint64(stays != 0)
        space.frontier_size[p] = kept

    return after_owing
