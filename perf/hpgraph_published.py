"""What HPGraph's paper measured (its table 2, on a K40m), and both means of ratios.

Milliseconds of BFS and SSSP, of one iteration of PageRank. The paper calls its averages of ratios geometric
means; the numbers that it prints (2.4, 2.8 and 1.8 over MapGraph, 1.3, 1.1 and 6.4 over Gunrock) are
arithmetic ones, which are larger. Both are computed here from the same table, and of what is measured here
both are told.
"""

from __future__ import annotations

import math
import statistics
from typing import NamedTuple

GRAPHS = (
    "LiveJournal", "Youtube", "Pokec", "sx-stackoverflow", "Orkut", "kron_g500-logn21", "roadNet-CA",
)  # fmt: skip

MILLISECONDS = {
    "bfs": {
        "MapGraph": (111, 28, 35, 170, 165, 133, 180),
        "Gunrock": (63, 18, 32, 115, 216, 18, 69),
        "HPGraph": (68, 13, 30, 34, 120, 27, 173),
    },
    "sssp": {
        "MapGraph": (280, 40, 128, 280, 540, 38, 110),
        "Gunrock": (71, 16, 39, 131, 230, 19, 64),
        "HPGraph": (122, 13, 45, 58, 135, 26, 186),
        "nvGRAPH": (348, 59, 165, 180, 920, 201, 351),
    },
    "pagerank": {
        "MapGraph": (52, 4, 34, 63, 29, 61, 5),
        "Gunrock": (55, 50, 60, 63, 174, 165, 7),
        "HPGraph": (28, 2, 13, 23, 42, 34, 4),
        "nvGRAPH": (20, 4, 14, 18, 30, 20, 5),
    },
}
"""Of `GRAPHS`, in this order."""

OWN = "HPGraph"


class Means(NamedTuple):
    """Of some ratios."""

    arithmetic: float
    geometric: float


def means(ratios: list[float]) -> Means:
    """Both.

    Examples
    --------
    >>> means([1.0, 4.0])
    Means(arithmetic=2.5, geometric=2.0)
    """
    return Means(statistics.fmean(ratios), math.exp(statistics.fmean(map(math.log, ratios))))


def published_gain(app: str, over: str) -> Means:
    """How many times as fast as another system the paper's is, over its graphs.

    Examples
    --------
    >>> [f"{each:.2f}" for each in published_gain("bfs", "MapGraph")]
    ['2.47', '2.04']
    """
    table = MILLISECONDS[app]
    return means([theirs / own for theirs, own in zip(table[over], table[OWN], strict=True)])


def sentences(app: str, gains: list[float]) -> list[str]:
    """Means of what HYB gains here, of one ratio per graph, and of what the paper's table comes to."""
    here = means(gains)
    lines = [
        f"{app}: HYB over CSR, a thread per row, {len(gains)} graphs: "
        f"arithmetic mean {here.arithmetic:.2f}, geometric {here.geometric:.2f}"
    ]
    told = []
    for other in MILLISECONDS[app]:
        if other != OWN:
            gain = published_gain(app, other)
            told.append(f"{other} {gain.arithmetic:.2f} and {gain.geometric:.2f}")
    return [*lines, f"{app}: the paper's HPGraph over {'; '.join(told)} (the same two means of its table 2)"]
