"""How much one thing takes of another's time when both take turns on a machine that is not always as fast.

What is compared is what both took in the same turn, and the median of that is the ratio. A machine that is
1.4 times as slow every now and then made 1.09 of two medians for one and the same loop, and 1.00 of turns.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np


def ratio_in_turns(ours: Sequence[float], theirs: Sequence[float], turns: int) -> float:
    """Median over the turns of the median of ours in one over the median of theirs in it.

    Each turn has as many of all times as the others, one after the other. Where there are not enough of some,
    all count for one turn. Infinite where no time is seen of theirs.

    >>> ratio_in_turns([1.0, 9.0, 2.0], [1.0, 9.0, 1.0], 3), ratio_in_turns([1.0, 2.0, 9.0], [8.0], 3)
    (1.0, 0.25)
    """
    if len(ours) % turns or len(theirs) % turns:
        turns = 1
    pairs = zip(np.array_split(ours, turns), np.array_split(theirs, turns), strict=True)
    medians = [(statistics.median(a.tolist()), statistics.median(b.tolist())) for a, b in pairs]
    return statistics.median(mine / other if other else math.inf for mine, other in medians)
