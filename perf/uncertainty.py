"""How sure a number is: relative standard errors (RSE) and how they propagate.

The RSE of a sum is at most the largest of its summands; that of a quotient of independent numbers is
``sqrt(RSE(x)^2 + RSE(y)^2)``. Measurements with more than 5 % are to be flagged (M. Verstraaten's thesis,
section 4.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

LARGE = 0.05


def rse_of_mean(mean: float, deviation: float, count: int) -> float:
    """RSE of the mean of ``count`` measurements with this standard deviation.

    >>> rse_of_mean(10.0, 2.0, 4)
    0.1
    """
    return deviation / math.sqrt(count) / mean if mean else 0.0


def rse_of_sum(parts: Iterable[tuple[float, float]]) -> float:
    """RSE of a sum of independent (value, RSE).

    Never more than the largest RSE among them, which is the bound that the thesis uses.

    >>> round(rse_of_sum([(3.0, 0.1), (4.0, 0.1)]), 4)
    0.0714
    """
    parts = list(parts)
    total = sum(value for value, _ in parts)
    return math.sqrt(sum((value * rse) ** 2 for value, rse in parts)) / total if total else 0.0


def rse_of_ratio(above: float, below: float) -> float:
    """RSE of a quotient from those of its two parts.

    >>> round(rse_of_ratio(0.03, 0.04), 3)
    0.05
    """
    return math.hypot(above, below)


def flag(rse: float) -> str:
    """``!`` beside numbers whose RSE is large.

    >>> flag(0.051), flag(0.05)
    ('!', '')
    """
    return "!" if rse > LARGE else ""
