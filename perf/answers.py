"""Right answers, obtained another way than by gpop, and the comparison with them.

Whole-number answers (levels, distances, labels) are compared by hash: every implementation must give the
same. Floating-point answers are compared pairwise: each value within a relative tolerance (or an absolute
one far below the average value), and the sum of absolute differences within the same share of the whole.

levels     SciPy's breadth_first_order (a queue), -1 where not reached
distances  SciPy's Dijkstra (a heap), -1 where not reached; floating-point weights: inf
labels     SciPy's traversal of the undirected graph; smallest vertex of the component
ranks      float64 power iteration, one `numpy.bincount` an iteration; sinks lose their rank
walk       truncated lazy walk over dense float64 vectors
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

import gpop
from perf.graphs import vertex

Flags = dict[str, Any]


def matrix(graph: gpop.Graph, values: np.ndarray | None = None) -> sparse.csr_array:
    """The graph as a SciPy matrix (ones where no values are given); duplicate edges stay apart."""
    values = np.ones(graph.m) if values is None else values
    small = graph.m < 2**31 and graph.n < 2**31
    index = np.int32 if small else np.int64
    parts = (values, graph.indices.astype(index), graph.indptr.astype(index))
    return sparse.csr_array(parts, shape=(graph.n, graph.n))


def levels(graph: gpop.Graph, flags: Flags) -> np.ndarray:
    """Hops from the source."""
    source = vertex(graph, flags["source"])
    order, parent = csgraph.breadth_first_order(matrix(graph), source)
    level = [-1] * graph.n
    level[source] = 0
    parent = parent.tolist()
    for reached in order[1:].tolist():
        level[reached] = level[parent[reached]] + 1
    return np.array(level, np.int64)


def distances(graph: gpop.Graph, flags: Flags) -> np.ndarray:
    """Lengths of shortest paths."""
    # A weight of 0 means no edge to SciPy's graph routines only in dense form: explicit zeros stay.
    weights = graph.weights.astype(np.float64)
    found = csgraph.dijkstra(matrix(graph, weights), indices=vertex(graph, flags["source"]))
    return as_distances(found, np.isfinite(found), graph)


def as_distances(found: np.ndarray, reached: np.ndarray, graph: gpop.Graph) -> np.ndarray:
    """Distances in the form that is compared: int64 and -1, or float64 and inf for such weights."""
    whole = graph.weights.dtype.kind in "iu"
    result = np.full(graph.n, -1 if whole else np.inf, np.int64 if whole else np.float64)
    result[reached] = found[reached]
    return result


def labels(graph: gpop.Graph, flags: Flags) -> np.ndarray:
    """Smallest vertex of each vertex's weak component."""
    return smallest_members(csgraph.connected_components(matrix(graph), connection="weak")[1])


def smallest_members(component: np.ndarray) -> np.ndarray:
    """Label every vertex with the smallest vertex of its component.

    >>> smallest_members(np.array([7, 2, 7])).tolist()
    [0, 1, 0]
    """
    _, first, inverse = np.unique(component, return_index=True, return_inverse=True)
    return first[inverse].astype(np.int64)


def ranks(graph: gpop.Graph, flags: Flags) -> np.ndarray:
    """PageRank after a number of iterations."""
    degree = np.diff(graph.indptr)
    rank = np.full(graph.n, 1 / max(graph.n, 1))
    for _ in range(flags["iterations"]):
        sent = np.repeat(rank / np.maximum(degree, 1), degree)
        rank = (1 - flags["damping"]) / graph.n + flags["damping"] * np.bincount(graph.indices, sent, graph.n)
    return rank


def walk(graph: gpop.Graph, flags: Flags) -> np.ndarray:
    """Where a truncated lazy walk is after a number of steps."""
    degree = np.diff(graph.indptr)
    spread = matrix(graph).T.tocsr()
    mass = np.zeros(graph.n)
    mass[vertex(graph, flags["source"])] = 1
    active = (mass > 0) & (degree > 0)
    for _ in range(flags["iterations"]):
        half = np.where(active, mass / 2, 0)
        arrived = spread @ (half / np.maximum(degree, 1))
        mass = mass - half + arrived
        active = (active | (arrived > 0)) & (degree > 0) & (mass >= flags["threshold"] * degree)
    return mass


def answer_hash(answer: np.ndarray) -> str | None:
    """Hash of a whole-number answer, whatever the width of its type; None for floating point.

    >>> answer_hash(np.array([1, 2], np.int32)) == answer_hash(np.array([1, 2], np.int64))
    True
    """
    if answer.dtype.kind not in "iu":
        return None
    return hashlib.sha256(np.ascontiguousarray(answer, "<i8")).hexdigest()[:32]


def compare(answer: np.ndarray, right: np.ndarray, tolerance: float, scaled: bool = False) -> dict[str, Any]:
    """``hash``, ``error`` (share of the whole by which the answer is off) and ``fault`` (None when right).

    ``scaled``: the answer is right up to a factor.

    >>> compare(np.array([0.5, 0.25]), np.array([0.5, 0.5]), 1e-3)["fault"]
    '1 of 2 values differ, by 25% of the whole'
    >>> compare(np.array([2.0, 2.0]), np.array([0.5, 0.5]), 1e-3, scaled=True)["fault"] is None
    True
    """
    found = {"hash": answer_hash(answer), "error": None, "fault": None}
    if answer.shape != right.shape or (answer.dtype.kind == "f") != (right.dtype.kind == "f"):
        return found | {"fault": f"{answer.dtype} {answer.shape}, expected {right.dtype} {right.shape}"}
    if found["hash"] is not None:
        wrong = int(np.count_nonzero(answer != right))
        return found | {"fault": f"{wrong} of {right.size} values are wrong" if wrong else None}
    answer = answer.astype(np.float64)
    if scaled and answer.sum() > 0:
        answer = answer * (right.sum() / answer.sum())
    finite = np.isfinite(right)
    whole = np.abs(right[finite]).sum()
    same = answer == right  # infinities are right only where both are
    difference = np.zeros(right.size)
    differs = finite & ~same
    difference[differs] = np.abs(answer[differs] - right[differs])
    error = float(difference.sum() / whole) if whole else float(difference.sum())
    least = 1e-3 * tolerance * whole / max(right.size, 1)
    wrong = np.count_nonzero(~(same | (finite & (difference <= tolerance * np.abs(right) + least))))
    found["error"] = error
    if wrong or not error <= tolerance:
        found["fault"] = f"{wrong} of {right.size} values differ, by {100 * error:.2g}% of the whole"
    return found
