"""Answers obtained another way: NetworkX, and dense NumPy in float64."""

from __future__ import annotations

import networkx as nx
import numpy as np

from gpop.graph.graph import Graph


def with_weights(graph: Graph, weights: np.ndarray) -> Graph:
    """The same edges with other weights."""
    return Graph.from_csr(graph.indptr, graph.indices, weights, name=graph.name)


def weighted(graph: Graph) -> Graph:
    """The graph itself if it has weights, else with random ones from 0 to 20."""
    if graph.weights is not None:
        return graph
    return with_weights(graph, np.random.default_rng(5).integers(0, 21, graph.m).astype(np.uint32))


def start_vertices(graph: Graph) -> list[int]:
    """A vertex with out-edges (if there is one) and the last vertex."""
    return sorted({int(np.argmax(graph.out_degree > 0)), graph.n - 1})


def levels(graph: Graph, source: int) -> np.ndarray:
    """Hops from the source, -1 where not reached."""
    level = np.full(graph.n, -1)
    for vertex, hops in nx.single_source_shortest_path_length(graph.to_networkx(), source).items():
        level[vertex] = hops
    return level


def distances(graph: Graph, source: int) -> np.ndarray:
    """Lengths of shortest paths, inf where not reached."""
    distance = np.full(graph.n, np.inf)
    for vertex, length in nx.single_source_dijkstra_path_length(graph.to_networkx(), source).items():
        distance[vertex] = length
    return distance


def smallest_labels(graph: Graph) -> np.ndarray:
    """Smallest vertex of the weakly connected component of each vertex."""
    label = np.arange(graph.n)
    for component in nx.weakly_connected_components(graph.to_networkx()):
        label[list(component)] = min(component)
    return label


def walk_matrix(graph: Graph, *, stay: bool) -> np.ndarray:
    """Dense P: column u says where a walk goes from u; without out-edges it stays or is lost."""
    matrix = np.zeros((graph.n, graph.n))
    tails = np.repeat(np.arange(graph.n), graph.out_degree)
    np.add.at(matrix, (graph.indices, tails), 1 / graph.out_degree[tails])
    if stay:
        sinks = np.flatnonzero(graph.out_degree == 0)
        matrix[sinks, sinks] = 1
    return matrix


def pagerank(graph: Graph, iterations: int, damping: float = 0.85, dangling: str = "none") -> np.ndarray:
    """Power iteration with the dense walk matrix."""
    walk = walk_matrix(graph, stay=False)
    if dangling == "uniform":
        walk[:, graph.out_degree == 0] = 1 / graph.n
    rank = np.full(graph.n, 1 / graph.n)
    for _ in range(iterations):
        rank = (1 - damping) / graph.n + damping * walk @ rank
    return rank


def nibble(graph: Graph, seed: int, threshold: float, iterations: int) -> np.ndarray:
    """Truncated lazy walk over dense vectors."""
    walk, degree = walk_matrix(graph, stay=True), graph.out_degree
    mass = np.zeros(graph.n)
    mass[seed] = 1
    active = mass > 0
    for _ in range(iterations):
        moving = np.where(active, mass / 2, 0)
        arrived = walk @ moving
        mass = mass - moving + arrived
        active = (active | (arrived > 0)) & (degree > 0) & (mass >= threshold * degree)
    return mass


def heat_kernel(graph: Graph, seed: int, t: float) -> np.ndarray:
    """Column of the dense matrix exponential."""
    from scipy.linalg import expm

    return expm(t * (walk_matrix(graph, stay=True) - np.eye(graph.n)))[:, seed]


def personalised_pagerank(graph: Graph, seed: int, alpha: float) -> np.ndarray:
    """Solution of the dense linear system."""
    keep = 2 * alpha / (1 + alpha)
    start = np.zeros(graph.n)
    start[seed] = keep
    return np.linalg.solve(np.eye(graph.n) - (1 - keep) * walk_matrix(graph, stay=True), start)
