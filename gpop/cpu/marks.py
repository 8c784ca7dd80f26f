"""Vertices that a run leaves marked, a byte each, where they are many: kept as bits until somebody looks.

Nobody looks at the last frontier of most runs. To list a frontier or the touched takes as long as to walk as
many edges, and memory that the system has to clear first; as bits they are 1/8 byte of a vertex.
"""

from __future__ import annotations

import numpy as np

from gpop.common.on_demand import OnDemand

MANY = 4
"""They are kept so where they are more than one in so many."""


class Marked(OnDemand):
    """The marked ones of all vertices, ascending; ``size``: how many they are. The marks are cleared.

    Examples
    --------
    >>> marks = np.array([0, 1, 0, 2], np.uint8)
    >>> found = Marked(marks, 2)
    >>> marks.tolist(), found.size, found.value
    ([0, 0, 0, 0], 2, array([1, 3], dtype=uint32))
    """

    def __init__(self, marks: np.ndarray, size: int) -> None:
        bits, self.size = np.packbits(marks), size
        super().__init__(lambda: np.flatnonzero(np.unpackbits(bits)).astype(np.uint32))
        marks[:] = 0
