"""A star with very many leaves, and what PageRank and Nibble are on it, in float64 and in closed form.

The hub hears as many messages as there are leaves, each of a millionth of the sum: float32 takes in the last
ones by rounding only.
"""

from __future__ import annotations

import numpy as np

import gpop

MODES = ("sc", "pc", "auto", "pull")
STEPS = 3


def star(leaves: int) -> gpop.Graph:
    """Vertex 0 to all leaves and back."""
    spokes, hub = np.arange(1, leaves + 1), np.zeros(leaves, np.int64)
    return gpop.Graph.from_edges(np.concatenate([hub, spokes]), np.concatenate([spokes, hub]), n=leaves + 1)


def ranks(leaves: int, damping: float = 0.85) -> np.ndarray:
    """Ranks after `STEPS` iterations: of the hub, then of the leaves."""
    n = leaves + 1
    hub = leaf = 1 / n
    for _ in range(STEPS):
        hub, leaf = (1 - damping) / n + damping * leaves * leaf, (1 - damping) / n + damping * hub / leaves
    return np.append(hub, np.full(leaves, leaf))


def walk(leaves: int) -> np.ndarray:
    """Where a lazy walk from the hub is after `STEPS`: every vertex keeps half and sends half."""
    hub, leaf = 1.0, 0.0
    for _ in range(STEPS):
        hub, leaf = hub / 2 + leaves * leaf / 2, leaf / 2 + hub / 2 / leaves
    return np.append(hub, np.full(leaves, leaf))


def check_hub(leaves: int, mode: str) -> None:
    """Every rank and every probability on the GPU is right to 1e-5 of itself."""
    graph, options = star(leaves), {"mode": mode, "target": "gpu", "ratio": 1.0}
    found = gpop.pagerank(graph, iterations=STEPS, **options).rank
    np.testing.assert_allclose(found, ranks(leaves), rtol=1e-5)
    found = gpop.nibble(graph, 0, threshold=1e-12, iterations=STEPS, **options).probability
    np.testing.assert_allclose(found, walk(leaves), rtol=1e-5)
