"""Shell's sort of part of an array inside a kernel: in place, without memory of its own.

Gaps: 1, 4, 10, 23 ... 701 (Ciura), and on by a factor of 2.25. Unsigned numbers or others.
Paper: M. Ciura, "Best increments for the average case of Shellsort", 2001.
"""

from __future__ import annotations

import numpy as np

from gpop.common.inlined import inline

_ONE = np.uint64(1)


@inline
def shell_sort(list, first, last):
    """Sort ``list[first:last]``, ascending."""
    gap = np.uint64(701)
    while np.uint64(2) * gap < last - first:
        gap = np.uint64(2.25 * gap)
    while gap > np.uint64(0):
        for i in range(first + gap, last):
            item = list[i]
            j = i
            while j >= first + gap and list[j - gap] > item:
                list[j] = list[j - gap]
                j -= gap
            list[j] = item
        gap = np.uint64(0) if gap == _ONE else max(_ONE, np.uint64(gap / 2.25))
