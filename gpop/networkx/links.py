"""Centralities from the links of the neighbours: PageRank, Katz, HITS.

PageRank and Katz are iterations of the program that gpop's own have (`gpop.apps.affine`), in float64, as many
as NetworkX does. NetworkX's HITS is a singular vector that SciPy finds (ARPACK), with that method's own
errors and tolerance; it is here the same call on the converted graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from gpop.apps.affine import Affine, program_for
from gpop.execution.run import run
from gpop.networkx.converted import Converted
from gpop.networkx.refusing import refusing


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
    """`networkx.pagerank`; lost is the rank of nodes that nothing goes out of."""
    if G.n == 0:
        return {}
    even = np.full(G.n, 1.0 / G.n)
    wanted = even
    if personalization is not None:
        wanted = _vector(G, personalization)
        if wanted.sum() == 0:
            raise ZeroDivisionError
        wanted /= wanted.sum()
    given = None if dangling is None else _shares(G, dangling)
    each = G.kept(("each", weight), lambda: _per_weight(G, weight))
    silent = np.flatnonzero(each == 0)
    program = _program(G, weight, even if nstart is None else _shares(G, nstart))
    program.per_edge = each
    program.share = program.rank * program.per_edge
    program.damping, program.start = alpha, wanted

    def give_back() -> None:
        lost = alpha * program.rank[silent].sum()
        if given is None:
            program.base = 1 - alpha + lost
        else:
            program.start = (1 - alpha) * wanted + lost * given

    program.base = 1
    give_back()
    _iterate(program, max_iter, G.n * tol, give_back)
    return G.named(program.rank)


def _program(G: Converted, weight: Any, rank: np.ndarray) -> Affine:
    """The program on the graph with these weights, beginning with these values."""
    graph = G.engine(weight, "sum")
    program = program_for(graph, np.float64, graph.weights is not None)
    program.rank = program.share = rank
    return program


def _iterate(program: Affine, most: int, below: float, after: Callable[[], None]) -> None:
    """Until the absolute changes sum to less than ``below``, which must be after ``most`` iterations."""
    converged = False
    if most > 0:
        program.tolerance = below
        converged = run(program, iterations=most, callback=lambda record: after()).converged
    if not (converged and np.isfinite(program.change.sum())):  # values may grow without end
        raise nx.PowerIterationFailedConvergence(most)


def _per_weight(G: Converted, weight: Any) -> np.ndarray:
    """1 / the sum of the weights of a vertex's edges, float64; 0 where these cancel out or are none.

    They are added as SciPy does it, by ascending neighbour: whether weights cancel out, rounding decides.
    """
    graph = G.engine(weight, "sum")
    total = graph.out_degree.astype(np.float64)
    if graph.weights is not None:
        if np.isinf(graph.weights).any():
            raise NotImplementedError(f"gpop: {weight!r} is infinite on some edge")
        total = np.bincount(np.repeat(np.arange(G.n), graph.out_degree), graph.weights, G.n)
    return np.divide(1, total, out=np.zeros(G.n), where=total != 0)


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
    """`networkx.katz_centrality`; it begins with 0 where gpop's own begins with beta."""
    if G.n == 0:
        return {}
    try:
        start = np.full(G.n, float(beta))
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        start = _vector(G, beta)
    program = _program(G, weight, np.zeros(G.n) if nstart is None else _vector(G, nstart))
    program.per_edge, program.base, program.damping, program.start = 1, 1, alpha, start
    _iterate(program, max_iter, G.n * tol, lambda: None)
    found = G.named(program.rank)
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
