"""Histograms of values per vertex, as they are shown: few bins with short names, and no value left out.

Whole numbers that span little (levels) have a bin each; what is positive and spans much (degrees, ranks) has
bins of powers of two, all else twenty of equal width.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MOST_BINS = 32
WIDE = 64
"""Values whose largest is so many times the least get bins of powers of two."""


class Histogram(NamedTuple):
    """``counts[i]`` values lie in the bin that ``labels[i]`` names; ``powers``: bins are of powers of two."""

    counts: np.ndarray
    labels: list[str]
    powers: bool = False


def histogram(values: np.ndarray) -> Histogram:
    """Bins of finite numbers.

    Parameters
    ----------
    values : ndarray
        Numbers; those that are not finite are left out.

    Examples
    --------
    >>> histogram(np.array([0, 2, 2], np.int32))
    Histogram(counts=array([1, 0, 2]), labels=['0', '1', '2'], powers=False)
    >>> histogram(np.array([0, 1, 3, 2, 900]))
    Histogram(counts=array([1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 1]), labels=['0', '1', '2', '4', '8', '16', '32', \
'64', '128', '256', '512'], powers=True)
    """
    values = np.asarray(values)
    if values.dtype.kind == "f":
        values = values[np.isfinite(values)]
    if values.size == 0:
        return Histogram(np.empty(0, np.int64), [])
    whole, low, high = values.dtype.kind != "f", values.min().item(), values.max().item()
    if whole and high - low < MOST_BINS:
        counts = np.bincount((values - values.dtype.type(low)).astype(np.int64), minlength=high - low + 1)
        return Histogram(counts, [str(low + i) for i in range(len(counts))])
    if low >= 0 and high > WIDE * max(low, 1 if whole else 0):
        return _powers(values, whole)
    counts, edges = np.histogram(values.astype(np.float64), 20, (low, high))
    return Histogram(counts, [f"{edge:.3g}" for edge in edges[:-1]])


def _powers(values: np.ndarray, whole: bool) -> Histogram:
    """A bin for 0, where there is one, then one for each power of two; the least ones go into the first."""
    zeros = int(np.count_nonzero(values == 0))
    exponents = np.frexp(values[values > 0].astype(np.float64))[1] - 1
    first = max(int(exponents.min()), int(exponents.max()) - MOST_BINS * 2 + 1)
    counts = np.bincount(np.maximum(exponents - first, 0))
    labels = [f"{2.0 ** (first + i):.3g}" if not whole else str(2 ** (first + i)) for i in range(len(counts))]
    if zeros:
        counts, labels = np.concatenate([[zeros], counts]), ["0", *labels]
    return Histogram(counts, labels, powers=True)
