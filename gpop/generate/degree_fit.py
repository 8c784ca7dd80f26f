"""How well the degrees of a graph fit a distribution, and how much of it hangs together.

A *target* is written ``uniform:LOW:HIGH``, ``exponential:RATE`` or ``normal:MEAN:DEVIATION``; the name alone
has the parameters of M. Verstraaten's thesis (chapter 5): 0 to 100, 0.1, 50 and 10. The degree of a vertex
counts its edges of both directions.

The distance of Kolmogorov and Smirnov is the largest one between the distribution function F of the target
and that of the degrees, G. G is a step function of whole numbers and F ascends, so the distance is largest
at an end of a step: at degree d, ``|G(d) - F(d)|``, or just before it, ``|G(d - 1) - F(d)|``. (The thesis
looks at the first only.) Its critical values are Massey's (The Kolmogorov-Smirnov test for goodness of fit,
JASA 1951), from `LEAST_SAMPLE` vertices on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.cached import cached
from gpop.common.errors import UsageError

DEFAULTS = {"uniform": (0.0, 100.0), "exponential": (0.1,), "normal": (50.0, 10.0)}
FORMS = "uniform:LOW:HIGH, exponential:RATE or normal:MEAN:DEVIATION"

CRITICAL = {0.20: 1.07, 0.15: 1.14, 0.10: 1.22, 0.05: 1.36, 0.01: 1.63}
"""Significance: critical distance times the root of the number of vertices."""

LEAST_SAMPLE = 36


class Target(NamedTuple):
    """A distribution of degrees."""

    kind: str
    parameters: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Expected degree (of a distribution without its part below 0, which has next to no mass)."""
        if self.kind == "uniform":
            return sum(self.parameters) / 2
        return 1 / self.parameters[0] if self.kind == "exponential" else self.parameters[0]

    def below(self, degrees: np.ndarray) -> np.ndarray:
        """F: the probability of at most each of these degrees."""
        degrees = np.asarray(degrees, float)
        if self.kind == "uniform":
            low, high = self.parameters
            return np.clip((degrees - low) / (high - low), 0, 1)
        if self.kind == "exponential":
            return -np.expm1(-self.parameters[0] * np.maximum(degrees, 0))
        from scipy.special import ndtr

        mean, deviation = self.parameters
        return ndtr((degrees - mean) / deviation)

    def table(self, vertices: int) -> np.ndarray:
        """F of 0 and every higher degree that a vertex can have."""
        return self.below(np.arange(2 * vertices - 1))


def target_of(text: str) -> Target:
    """The distribution that a text means.

    >>> target_of("normal"), target_of("uniform:0:50").mean
    (Target(kind='normal', parameters=(50.0, 10.0)), 25.0)
    """
    kind, *words = text.split(":")
    try:
        parameters = tuple(map(float, words)) or DEFAULTS[kind]
        good = len(parameters) == len(DEFAULTS[kind]) and np.isfinite(parameters).all()
    except (KeyError, ValueError):
        good = False
    if good:
        good = 0 <= parameters[0] < parameters[1] if kind == "uniform" else min(parameters) > 0
    if not good:
        raise UsageError(f"target {text!r} is not possible, expected {FORMS} with numbers above 0")
    return Target(kind, parameters)


def critical_distance(significance: float, vertices: int) -> float:
    """Distance above which degrees are said not to come from the target.

    >>> critical_distance(0.05, 100)
    0.136
    """
    return CRITICAL[significance] / vertices**0.5


@cached(inline="always")
def _root(parent, v):
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@cached
def fit(edges, n, table):
    """(distance, share of the vertices that are weakly connected with vertex 0) of n vertices.

    ``edges`` are ``source << 32 | destination``. Vertices are joined until one part is left: each part has
    its lowest vertex as its root.
    """
    degree = np.zeros(n, np.int64)
    parent = np.arange(n)
    parts = n
    for edge in edges:
        u = np.int64(edge >> np.uint64(32))
        v = np.int64(edge & np.uint64(0xFFFFFFFF))
        degree[u] += 1
        degree[v] += 1
        if parts > 1:
            u = _root(parent, u)
            v = _root(parent, v)
            if u != v:
                parent[max(u, v)] = min(u, v)
                parts -= 1
    vertices = np.zeros(len(table), np.int64)
    connected = 0
    for v in range(n):
        vertices[degree[v]] += 1
        if _root(parent, v) == 0:
            connected += 1
    distance = 0.0
    seen = 0
    for d in range(len(table)):
        distance = max(distance, abs(seen / n - table[d]))
        seen += vertices[d]
        distance = max(distance, abs(seen / n - table[d]))
    return distance, connected / n
