"""Parameters that have a value for each iteration: what the loop writes into the table of a program's state.

A table of words, so that the loop is the same for all programs: row 0 says which slots (by_reference.py), row
i + 1 what they hold in iteration i, and the last row in all that follow.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

NO_SCHEDULE = np.empty((0, 0), np.uint64)
"""Of a program whose parameters stay as they are."""


def schedule_of(series: Mapping[str, np.ndarray], places: Mapping[str, int]) -> np.ndarray:
    """The table of these values, by parameter; ``places`` are the slots of those that functions read.

    Examples
    --------
    >>> schedule_of({"step": np.array([5, 6]), "far": np.array([True])}, {"level": 0, "step": 2, "far": 3})
    array([[2, 3],
           [5, 1],
           [6, 1]], dtype=uint64)
    """
    used = {places[name]: values for name, values in series.items() if name in places}
    made = np.empty((1 + max(map(len, used.values()), default=-1), len(used)), np.uint64)
    for column, (place, values) in enumerate(used.items()):
        words = values.view(f"u{values.itemsize}")
        made[0, column] = place
        made[1 : 1 + words.size, column] = words
        made[1 + words.size :, column] = words[-1]
    return made
