"""Arrays of one value, as a run begins with them.

Zeros are pages that the system gives when they are first touched, by the thread that touches them. Other
values are written by several threads where there are many: most of that time is the system's, for new pages.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.common.parallel import for_each, ranges

PIECE = 1 << 20
"""Bytes that a thread fills at once."""


def filled(length: int, dtype: np.dtype, value: Any) -> np.ndarray:
    """An array of this length with the same value everywhere.

    Examples
    --------
    >>> filled(3, np.dtype(np.int32), -1), filled(2, np.dtype(bool), False)
    (array([-1, -1, -1], dtype=int32), array([False, False]))
    """
    if value == 0:
        return np.zeros(length, dtype)
    made = np.empty(length, dtype)
    if made.nbytes <= 2 * PIECE:
        made.fill(value)
    else:
        pieces = ranges(length, PIECE // dtype.itemsize)
        for_each(len(pieces), lambda i: made[slice(*pieces[i])].fill(value))
    return made
