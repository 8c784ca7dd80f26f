"""A share of a file of edges: what one of several processes reads of it, numbered as if one had read all.

The shares, one after the other, are the file. Formats that can be read so have ``read_share(path, others,
weighted=None, options=None) -> Share | None``; all processes call it together, and None, the same for all,
says that the file has to be read whole after all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Share(NamedTuple):
    """Edges in pieces: ``ends`` are source, destination, source ...; ids are 0 .. n-1.

    ``weights``: a piece for each pair of ends, None where the graph has none. Types of weights may differ
    between pieces and processes. ``read``: bytes of the file that were looked at.
    """

    n: int
    original_ids: np.ndarray | None
    ends: list[np.ndarray]
    weights: list[np.ndarray] | None
    read: int
