"""Centralities from the links of the neighbours: PageRank, Katz, HITS.

PageRank and Katz are iterations of `gpop.networkx.spreading`; they do as many as NetworkX. Its HITS is a
singular vector, found by SciPy (ARPACK); it is here the same call on the converted graph.
"""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np

from gpop.networkx.converted import Converted
from gpop.networkx.refusing import refusing
from gpop.networkx.spreading import spread


def pagerank(
    G: Converted,
    alpha: float = 0.85,
    personalization: dict | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: dict | None = None,
    weight: Any = "weight",
    dangling: dict | None = None,
) -> dict[Any, float]:
    """`networkx.pagerank`."""
    if G.n == 0:
        return {}
    even = np.full(G.n, 1.0 / G.n)
    total = G.kept(("totals", weight), lambda: _totals(G, weight))
    value = even if nstart is None else _shares(G, nstart)
    wanted = even
    if personalization is not None:
        wanted = _vector(G, personalization)
        if wanted.sum() == 0:
            raise ZeroDivisionError
        wanted /= wanted.sum()
    found = spread(
        G.engine(weight, "sum"),
        value,
        (1 - alpha) * wanted,
        alpha,
        1 / np.where(total != 0, total, 1),
        np.flatnonzero(total == 0),
        wanted if dangling is None else _shares(G, dangling),
        G.n * tol,
        max_iter,
    )
    return G.named(found)


def _totals(G: Converted, weight: Any) -> np.ndarray:
    """Sum of the weights of every vertex's edges, float64."""
    degrees, weights = np.diff(G.lists.indptr), G.weights(weight, "sum")
    if weights is None:
        return degrees.astype(np.float64)
    return np.bincount(G.tails(), weights, G.n)


def _vector(G: Converted, values: dict) -> np.ndarray:
    """Values of the nodes in their order, 0 where there is none."""
    return np.array([values.get(node, 0) for node in G.nodes], dtype=float)


def _shares(G: Converted, values: dict) -> np.ndarray:
    found = _vector(G, values)
    return found / found.sum()


@refusing(
    lambda G, nstart: (
        "nstart has not the nodes of the graph" if nstart is not None and set(nstart) != set(G) else None
    )
)
def katz_centrality(
    G: Converted,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: dict | None = None,
    normalized: bool = True,
    weight: Any = None,
) -> dict[Any, float]:
    """`networkx.katz_centrality`."""
    if G.n == 0:
        return {}
    try:
        start = np.full(G.n, float(beta))
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        start = _vector(G, beta)
    zero = np.zeros(G.n)
    value = zero if nstart is None else _vector(G, nstart)
    silent = np.empty(0, np.int64)
    graph, ones = G.engine(weight, "sum"), np.ones(G.n)
    found = G.named(spread(graph, value, start, alpha, ones, silent, zero, G.n * tol, max_iter))
    if normalized:
        length = math.hypot(*found.values())
        scale = 1.0 / length if length else 1.0
        found = {node: value * scale for node, value in found.items()}
    return found if nstart is None else {node: found[node] for node in nstart}


def hits(
    G: Converted,
    max_iter: int = 100,
    tol: float = 1.0e-8,
    nstart: dict | None = None,
    normalized: bool = True,
) -> tuple[dict[Any, float], dict[Any, float]]:
    """`networkx.hits`."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import ArpackNoConvergence, svds

    if G.n == 0:
        return {}, {}
    weights = G.weights("weight", "sum")
    weights = np.ones(len(G.lists.indices)) if weights is None else weights.astype(np.float64)
    matrix = csr_array((weights, G.lists.indices.astype(np.int32), G.lists.indptr), shape=(G.n, G.n))
    v0 = None if nstart is None else np.array(list(nstart.values()))
    if max_iter <= 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    try:
        _, _, rows = svds(matrix, k=1, v0=v0, maxiter=max_iter, tol=tol)
    except ArpackNoConvergence as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error
    authorities = rows.flatten().real
    hubs = matrix @ authorities
    if normalized:
        hubs /= hubs.sum()
        authorities /= authorities.sum()
    return G.named(hubs), G.named(authorities)
