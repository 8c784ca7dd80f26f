"""Who is measured by ``python -m perf gpu``: gpop in its modes, baselines, cuSPARSE; and what is right.

Each contender is a function without arguments that does one run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gpop
from gpop.gpu.device import cupy
from perf import gpu_baselines
from perf.gpu_baselines import STRATEGIES, Baselines, timed
from perf.gpu_table import OWN

MODES = ("pc", "sc", "auto")
ITERATIONS = 20
TOLERANCE = 1e-5
"""By how much of itself a rank may differ from the CPU's."""


class Outcome(NamedTuple):
    """One run: seconds and bytes by the model (of an iteration for PageRank), iterations, and its answer."""

    seconds: float
    iterations: int = 0
    bytes: float = 0
    values: np.ndarray | None = None


def solve(graph: gpop.Graph, app: str, source: int, **options: Any) -> Outcome:
    """One run of gpop."""
    parts = 1
    if app == "pagerank":
        found = gpop.pagerank(graph, iterations=ITERATIONS, **options)
        values, parts = found.rank, ITERATIONS
    elif app == "bfs":
        found = gpop.bfs(graph, source, **options)
        values = found.level
    elif app == "sssp":
        found = gpop.sssp(graph, source, **options)
        values = found.distance
    elif app == "cc":
        found = gpop.connected_components(graph, **options)
        values = found.label
    else:
        found = gpop.triangle_count(graph, **options)
        values = np.array([found.count])
    moved = float(found.trace.column("bytes").sum()) / parts
    iterations = 0 if "phases" in found.trace.summary else found.run.iterations
    return Outcome(found.run.seconds / parts, iterations, moved, values)


def expected(graph: gpop.Graph, app: str, source: int) -> np.ndarray:
    """The CPU's answer."""
    options = {"dtype": np.float64} if app == "pagerank" else {}
    return solve(graph, app, source, **options).values


def deviation(values: np.ndarray, reference: np.ndarray) -> float:
    """Largest relative difference of a rank; of whole numbers 0 if all are equal, else infinity.

    Examples
    --------
    >>> deviation(np.array([1.0, 0.75]), np.array([1.0, 1.0])), deviation(np.array([1, 2]), np.array([1, 3]))
    (0.25, inf)
    """
    if values.shape != reference.shape:
        return np.inf
    if reference.dtype.kind != "f":
        return 0.0 if np.array_equal(values, reference) else np.inf
    found = float(np.max(np.abs(values - reference) / reference, initial=0.0))
    return found if np.isfinite(found) else np.inf


def contenders(graph: gpop.Graph, app: str, source: int, baselines: Baselines) -> dict[str, Callable]:
    """Name -> one run."""

    def baseline(strategy: str) -> Outcome:
        values, iterations, seconds = baselines.run(app, strategy, source=source, iterations=ITERATIONS)
        return Outcome(seconds / (ITERATIONS if app == "pagerank" else 1), iterations, 0, values)

    found: dict[str, Callable] = {
        f"{OWN}{mode}": lambda mode=mode: solve(graph, app, source, mode=mode, target="gpu")
        for mode in (MODES if app != "triangles" else MODES[-1:])
    }
    if app in gpu_baselines.APPS:
        found |= {strategy: lambda strategy=strategy: baseline(strategy) for strategy in STRATEGIES}
    return found


def spmv(graph: gpop.Graph) -> Callable[[], Outcome]:
    """Multiplies the graph's matrix, whose entries are 1, by a vector."""
    from cupyx.scipy.sparse import csr_matrix

    indices = cupy().asarray(graph.indices.view(np.int32))
    arrays = (cupy().ones(graph.m, np.float32), indices, cupy().asarray(graph.indptr.astype(np.int32)))
    matrix, vector = csr_matrix(arrays, shape=(graph.n, graph.n)), cupy().ones(graph.n, np.float32)

    def multiply() -> None:
        for _ in range(ITERATIONS):
            matrix @ vector

    return lambda: Outcome(timed(multiply) / ITERATIONS)
