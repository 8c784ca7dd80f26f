"""Pieces of the columns and rows of bins, which blocks of a GPU claim, the largest first.

A piece lies in one partition. Columns, or rows, are cut as if they were one long line into shares of equal
size, one for each multiprocessor; a share that crosses into another partition is two pieces. Blocks that
claim the largest first then end at about the same time, however skewed the graph is.
"""

from __future__ import annotations

import numpy as np

from gpop.gpu.device import current_device
from gpop.layout.bins import Bins

PIECES = 1
"""Equal shares of a phase, for each multiprocessor. On an H200 PageRank on RMAT 22 took 1.06 of the time with
2, and 1.2 with three pieces of about one size that all began in their own column."""

STARTED = 1 << 15
"""What it takes to begin with a piece, in ids or messages: the values of a partition go to shared memory, or
its cells are emptied there and their sums brought home. Also the least that a share has."""

PIECE = np.dtype([("first", "i8"), ("last", "i8"), ("partition", "i4"), ("pad", "i4")])


def column_pieces(count: np.ndarray, destination: np.ndarray, most: int, started: int) -> np.ndarray:
    """Join consecutive segments of one column; the largest pieces first.

    All columns, one behind the other, are cut wherever a share of ``most`` is full, in which every column
    that is begun counts as ``started``. ``count``: what the segments cost.

    Examples
    --------
    >>> pieces = column_pieces(np.array([5, 5, 5, 1]), np.array([0, 0, 0, 1]), 10, 1)
    >>> pieces[["first", "last", "partition"]].tolist()
    [(0, 2, 0), (2, 3, 0), (3, 4, 1)]
    """
    if len(count) == 0:
        return np.empty(0, PIECE)
    starts = np.concatenate([[True], destination[1:] != destination[:-1]])
    part = (np.cumsum(count) - count + started * np.cumsum(starts)) // most
    begin = np.flatnonzero(starts | np.concatenate([[False], part[1:] != part[:-1]]))
    pieces = np.zeros(len(begin), PIECE)
    pieces["first"], pieces["last"] = begin, np.append(begin[1:], len(count))
    pieces["partition"] = destination[begin]
    return pieces[np.argsort(-np.add.reduceat(count, begin), kind="stable")]


def row_pieces(bins: Bins, most: int, started: int) -> np.ndarray:
    """The same of the slots of the rows, which can be cut anywhere."""
    k = int(bins.k)
    rows = bins.slots[:: max(k, 1)][: k + 1]
    begins = rows[:-1] + started * np.arange(1, k + 1)
    cuts = np.arange(most, rows[-1] + started * k, most)
    row = np.searchsorted(begins, cuts, "right") - 1
    at = rows[row] + cuts - begins[row]
    edges = np.unique(np.concatenate([rows, at[(row >= 0) & (at < rows[row + 1])]]))
    pieces = np.zeros(len(edges) - 1, PIECE)
    pieces["first"], pieces["last"] = edges[:-1], edges[1:]
    pieces["partition"] = np.searchsorted(rows, edges[:-1], "right") - 1
    return pieces[np.argsort(pieces["first"] - pieces["last"], kind="stable")]


def share_of(total: int) -> int:
    """How much of a phase, of ``total``, with what it takes to begin, goes to a block at once."""
    return max(STARTED, -(-total // (PIECES * current_device().multiprocessors)))
