"""The bitmap of active vertices (`Workspace.bitmap`), partition by partition."""

from __future__ import annotations

import numpy as np

from gpop.common.atomics import popcount
from gpop.common.inlined import inline
from gpop.cpu.active import WORD_BITS, list_of

ONE = np.uint64(1)


@inline
def lowest_bit(word):
    """Number of the lowest bit that is set."""
    return popcount((word & (~word + ONE)) - ONE)


@inline
def mark(p, layout, space):
    """Make the bits of partition ``p`` those of the vertices on its list."""
    bitmap = space.bitmap
    base, start = np.uint64(p) << np.uint64(layout.bits), list_of(p, layout)
    size = min(np.uint64(layout.n) - base, ONE << np.uint64(layout.bits))
    word = base >> np.uint64(WORD_BITS)
    if layout.bits < WORD_BITS:
        own = (ONE << (ONE << np.uint64(layout.bits))) - ONE
        bitmap[word] &= ~(own << (base & np.uint64(63)))
    else:
        for i in range(word, (base + size + np.uint64(63)) >> np.uint64(WORD_BITS)):
            bitmap[i] = np.uint64(0)
    for i in range(np.uint64(space.frontier_size[p])):
        v = base + np.uint64(space.frontier[start + i])
        bitmap[v >> np.uint64(WORD_BITS)] |= ONE << (v & np.uint64(63))
