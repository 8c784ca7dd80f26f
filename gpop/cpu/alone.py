"""Whether the others are of help: what an iteration takes all threads, and what the main thread alone.

Two cores of a virtual machine may be far from each other for seconds. Where all are active each iteration is
like the others, so it is found out: see `gpop.cpu.sharing` for the numbers, `gpop.cpu.loop_state` for slots.
"""

from __future__ import annotations

from gpop.common.inlined import inline
from gpop.cpu.loop_state import ALONE_UNTIL, DOUBTED, LEAST_ALONE, PATIENCE, RESTED
from gpop.cpu.sharing import ALONE, MOST_ALONE


@inline
def compare(progress, sharers, took, now):
    """Note what an iteration of so many ``sharers`` took that ended ``now``, and what follows from it.

    The first one alone is not compared with: it has to fetch what others have written. Nor is the first one
    that is shared again. Two in a row say that the others are no help; one may have been held up.
    """
    least, rested = progress[LEAST_ALONE], progress[RESTED]
    if sharers == 1:
        if rested == 1 or (rested > 1 and (least == 0 or took < least)):
            progress[LEAST_ALONE] = took
    elif rested == 0 and least > 0:
        patience = max(ALONE, progress[PATIENCE])
        if took <= least:
            progress[PATIENCE], progress[DOUBTED] = ALONE, 0
        elif progress[DOUBTED] == 0:
            progress[DOUBTED] = 1
        else:
            progress[ALONE_UNTIL] = now + patience * took
            progress[PATIENCE], progress[DOUBTED] = min(2 * patience, MOST_ALONE), 0
