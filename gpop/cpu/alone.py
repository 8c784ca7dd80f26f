"""Whether the others are of help: what an iteration takes all threads, and what the main thread alone.

Two cores of a virtual machine may be far from each other for seconds. Where all are active each iteration is
like the others, so it is found out. Elsewhere a long wait may say that somebody else wants the cores, or that
one of the others has the partition with most edges, which is no reason to do without: so an iteration is
compared with what its edges would take the main thread alone, at the pace of the last one that it did alone.
See `gpop.cpu.sharing` for the numbers, `gpop.cpu.loop_state` for slots.
"""

from __future__ import annotations

import numpy as np

from gpop.common.inlined import inline
from gpop.cpu.loop_state import ALONE_UNTIL, LEAST_ALONE, PACE, PATIENCE, RESTED, SHARED
from gpop.cpu.sharing import ALONE, HELD_UP, LATE_NS, LATE_RESTED_NS, MOST_ALONE, PACE_EDGES, RECENT


@inline
def compare(progress, sharers, took, now):
    """Note what an iteration of so many ``sharers`` took that ended ``now``, and what follows from it.

    The first one alone is not compared with: it has to fetch what others have written. Nor is the first one
    that is shared again. It is the mean of the last ones that says so: one may have been held up.
    """
    least, rested = progress[LEAST_ALONE], progress[RESTED]
    if sharers == 1:
        if rested == 1 or (rested > 1 and (least == 0 or took < least)):
            progress[LEAST_ALONE] = took
    elif rested == 0 and least > 0:
        mean, patience = progress[SHARED], max(ALONE, progress[PATIENCE])
        mean = took if mean == 0 else mean + (min(took, HELD_UP * least) - mean) // RECENT
        if mean > least:
            progress[ALONE_UNTIL] = now + patience * mean
            progress[PATIENCE], mean = min(2 * patience, MOST_ALONE), 0
        elif took <= least:
            progress[PATIENCE] = ALONE
        progress[SHARED] = mean


@inline
def rest_after(progress, threads, worked, waited, now):
    """Until when the main thread would go on alone. It has ``worked`` so long in a phase, and then ``waited``
    for the others from ``now`` on; 0 if that was not long."""
    late = LATE_RESTED_NS if progress[RESTED] > 0 else LATE_NS
    return now + ALONE * waited if waited > late + threads * worked else np.int64(0)


@inline
def end_iteration(progress, pushed, crew, edges, took, until):
    """What follows from an iteration of so many active edges.

    The main thread had it alone (a ``crew`` of one), and sets the pace; or it took longer than at that pace,
    and there is reason to go on alone ``until`` then.
    """
    if pushed and crew == 1:
        if edges >= PACE_EDGES:
            progress[PACE] = took * 1000 // edges
    elif until > 0:
        if not pushed or took * 1000 > progress[PACE] * edges:
            progress[ALONE_UNTIL] = until
