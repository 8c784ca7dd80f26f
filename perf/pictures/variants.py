"""Which variants are worth a picture: M. Verstraaten's thesis, section 3.3.4.

A *variant* is a graph and where the run began. For every implementation those where it is best and worst,
relative to the optimum (which switches in every step) and to the best implementation that does not switch;
besides those where the times of the implementations differ least and most: the ratio of the largest to the
smallest, their spread (standard deviation over mean), skewness and kurtosis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Reason(NamedTuple):
    """Why a variant was chosen, its place, and the number that it is first in."""

    why: str
    variant: int
    value: float


def _moment(runs: np.ndarray, order: int) -> np.ndarray:
    """Standardised central moment over the implementations of every variant; 0 where all are equal."""
    off = runs - runs.mean(axis=0)
    deviation = np.sqrt(np.mean(off**2, axis=0))
    return np.mean((off / np.where(deviation > 0, deviation, 1)) ** order, axis=0)


STATISTICS: dict[str, tuple[int, Callable[[np.ndarray], np.ndarray]]] = {
    "max/min": (2, lambda runs: runs.max(axis=0) / runs.min(axis=0)),
    "spread": (2, lambda runs: runs.std(axis=0, ddof=1) / runs.mean(axis=0)),
    "skewness": (3, lambda runs: _moment(runs, 3)),
    "kurtosis": (4, lambda runs: _moment(runs, 4) - 3),
}
"""Name: how many implementations it takes to say something (the kurtosis of three numbers is always the
same), and its value for every variant."""


def reasons(names: list[str], runs: np.ndarray, optimum: np.ndarray, fixed: np.ndarray) -> list[Reason]:
    """What there is to choose variants by, and the first of each.

    Parameters
    ----------
    names : list of str
        Implementations.
    runs : array, [implementations, variants]
        Seconds of whole runs.
    optimum, fixed : array, [variants]
        Seconds of the optimum, and of the best implementation that does not switch.

    Examples
    --------
    >>> runs = np.array([[1.0, 4.0], [2.0, 2.0]])
    >>> for reason in reasons(["A", "B"], runs, runs.min(axis=0), runs.min(axis=0))[:2]:
    ...     print(*reason)
    A best to the optimum 0 1.0
    A worst to the optimum 1 2.0
    """
    found = []
    for base, times in (("the optimum", optimum), ("the best fixed", fixed)):
        for name, run in zip(names, runs, strict=True):
            found += _ends(f"{name} best to {base}", f"{name} worst to {base}", run / times)
    for name, (least, statistic) in STATISTICS.items():
        if len(names) >= least:
            found += _ends(f"smallest {name}", f"largest {name}", statistic(runs))
    return found


def _ends(smallest: str, largest: str, values: np.ndarray) -> list[Reason]:
    low, high = int(values.argmin()), int(values.argmax())
    return [Reason(smallest, low, float(values[low])), Reason(largest, high, float(values[high]))]


def most_named(found: list[Reason], most: int) -> list[int]:
    """The variants that most reasons name; of equals the first.

    >>> most_named([Reason("a", 3, 0.0), Reason("b", 1, 0.0), Reason("c", 1, 0.0)], 2)
    [1, 3]
    """
    counts = Counter(reason.variant for reason in found)
    return sorted(counts, key=lambda variant: (-counts[variant], variant))[:most]
