"""Small graphs that every part of the library is tested on, and where the real ones are."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gpop.generate import generate
from gpop.graph.graph import Graph

REAL = Path(__file__).resolve().parents[2] / "shared" / "graphs"


@cache
def small_graphs() -> dict[str, Graph]:
    """Name -> graph; the same objects for every caller, so do not change them."""
    rng = np.random.default_rng(7)
    uniform = rng.integers(0, 300, (2, 1500))
    graphs = {
        "chain": generate("chain", vertices=100),
        "directed chain": Graph.from_edges(np.arange(99), np.arange(1, 100)),
        "star": generate("star", vertices=65),
        "grid": generate("grid", width=13, height=9),
        "rmat": generate("rmat", scale=8, degree=8, seed=1),
        "rmat symmetric": generate("rmat", scale=8, degree=4, seed=2, symmetrize=True),
        "rmat weighted": generate("rmat", scale=8, degree=8, seed=3, weights=(1, 255)),
        "road": generate("road", width=12, height=11, seed=4),
        "odd n": Graph.from_edges(*uniform, n=301),  # vertex 300 is isolated
        "odd n weighted": Graph.from_edges(*uniform, rng.integers(1, 1000, 1500).astype(np.uint32), n=301),
        "self-loops": Graph.from_edges([0, 0, 1, 2, 2, 3], [0, 1, 1, 2, 0, 3]),
        "duplicate edges": Graph.from_edges([0, 0, 0, 1, 1, 2, 2], [1, 1, 2, 2, 2, 0, 0]),
        "isolated vertices": Graph.from_edges([3, 9, 3], [9, 3, 17], n=40),
        "two components": Graph.from_edges([0, 1, 2, 5, 6], [1, 2, 0, 6, 5], n=8),
        "one vertex": Graph.from_edges([], [], n=1),
        "one self-loop": Graph.from_edges([0], [0]),
        "no edges": Graph.from_edges([], [], n=10),
    }
    for name, graph in graphs.items():
        graph.name = name
    return graphs


def real_graph(name: str) -> Path:
    """Path of a real graph outside the repository; the test is skipped where it is missing."""
    path = REAL / name
    if not path.exists():
        pytest.skip(f"real graph {name} is not on this machine (expected in {REAL})")
    return path


def same(a: Graph, b: Graph) -> bool:
    """Whether two graphs have equal arrays, weights and their dtype included."""
    if not (np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)):
        return False
    if a.weights is None or b.weights is None:
        return a.weights is b.weights
    return a.weights.dtype == b.weights.dtype and np.array_equal(a.weights, b.weights)
