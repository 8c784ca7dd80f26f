"""Arrays of one value, as a run begins with them.

Where there are many they lie in pages of an earlier array (`gpop.common.used_pages`), and are written by
several threads. Zeros in new pages are not written: the system clears a page for the thread that touches it.
"""

from __future__ import annotations

from math import copysign
from typing import Any

import numpy as np

from gpop.common import spill
from gpop.common.parallel import for_each, ranges
from gpop.common.used_pages import LEAST, in_used_pages

PIECE = 1 << 20
"""Bytes that a thread fills at once."""


def unset(length: int, dtype: np.dtype) -> np.ndarray:
    """An array of anything."""
    if length * dtype.itemsize < LEAST or spill.active():
        return np.empty(length, dtype)
    return in_used_pages(length, dtype)[0]


def filled(length: int, dtype: np.dtype, value: Any) -> np.ndarray:
    """An array of this length with the same value everywhere.

    Examples
    --------
    >>> filled(3, np.dtype(np.int32), -1), filled(2, np.dtype(bool), False)
    (array([-1, -1, -1], dtype=int32), array([False, False]))
    """
    is_zero = value == 0 and copysign(1, value) > 0  # of -0.0 a bit is set
    if length * dtype.itemsize < LEAST or spill.active():
        made, used = np.zeros(length, dtype) if is_zero else np.empty(length, dtype), False
    else:
        made, used = in_used_pages(length, dtype)
    if is_zero and not used:
        return made
    if made.nbytes <= 2 * PIECE:
        made.fill(value)
    else:
        pieces = ranges(length, PIECE // dtype.itemsize)
        for_each(len(pieces), lambda i: made[slice(*pieces[i])].fill(value))
    return made
