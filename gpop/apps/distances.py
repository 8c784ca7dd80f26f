"""What an array of distances says: who is reached, and whether all of them are exact.

Who is not reached has infinity, the largest distance of the type (`gpop.apps.sssp_programs`), which is less
than the largest number of an unsigned type: an edge may be added to it.
"""

from __future__ import annotations

import numpy as np

from gpop.common.parallel import for_each, ranges

PIECE = 1 << 18
"""Vertices that a thread looks at."""


def reached_of(distance: np.ndarray, infinity: np.generic) -> np.ndarray:
    """Whose distance is finite."""
    reached, pieces = np.empty(distance.size, np.bool_), ranges(distance.size, PIECE)

    def look(i: int) -> None:
        part = slice(*pieces[i])
        np.less(distance[part], infinity, out=reached[part])

    for_each(len(pieces), look)
    return reached


def are_exact(distance: np.ndarray, infinity: np.unsignedinteger, heaviest: int | float) -> bool:
    """Whether no edge leads as far as infinity."""
    return _farthest(distance, infinity) + heaviest < infinity


def _farthest(distance: np.ndarray, infinity: np.unsignedinteger) -> int:
    """The largest distance below infinity: minus infinity, unsigned, is 0 there and ascends elsewhere."""
    return int((distance - infinity).max()) - (np.iinfo(distance.dtype).max + 1 - int(infinity))
