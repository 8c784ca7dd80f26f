"""Centralities by shortest paths: betweenness, exact or from a sample of the nodes, and closeness."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np

import gpop
from gpop.networkx.converted import Converted
from gpop.networkx.kernels.breadth_first import breadth_first, limit_of
from gpop.networkx.kernels.dijkstra import dijkstra
from gpop.networkx.refusing import refusing
from gpop.networkx.weighted_paths import lengths_of


@refusing(lambda weight: "paths are weighted" if weight is not None else None)
def betweenness_centrality(
    G: Converted,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    """`networkx.betweenness_centrality`; a sample is drawn as NetworkX draws it."""
    sampled = None if k is None or k == G.n else [G.numbers[node] for node in seed.sample(G.nodes, k)]
    sources = list(range(G.n)) if sampled is None else sampled
    score = np.zeros(G.n)
    if sources:
        score += gpop.betweenness(G.engine(), sources, normalized=False).score
    if endpoints:
        for source in sources:
            reached = breadth_first(G.lists, [source], limit_of(None)).order[1:]
            score[source] += reached.size
            score[reached] += 1
    return G.named(_rescale(score, G, sampled, normalized, endpoints))


def _rescale(
    score: np.ndarray, G: Converted, sampled: list[int] | None, normalized: bool, endpoints: bool
) -> np.ndarray:
    """Sums over ordered pairs, from the sources -> what NetworkX makes of them.

    They stand for all pairs that could have a path through a vertex; without end points, a source is in one
    less of those that were sampled.
    """
    others = G.n if endpoints else G.n - 1
    if others < 2:
        return score
    count = others if sampled is None else len(sampled)
    pairs = 1 / (others - 1) if normalized else others / (1 if G.is_directed() else 2)
    if sampled is None or endpoints:
        return score * (pairs / count)
    of_sources = score[sampled] * (pairs / (count - 1) if count > 1 else math.nan)
    score = score * (pairs / count)
    score[sampled] = of_sources
    return score


@refusing(lambda distance: "distances are a function" if callable(distance) else None)
def closeness_centrality(
    G: Converted, u: Any = None, distance: Any = None, wf_improved: bool = True
) -> dict[Any, float] | float:
    """`networkx.closeness_centrality`: by distances to a node, of one or of all."""
    if u is None and distance is None:
        return G.named(gpop.closeness(G.engine(), wf_improved=wf_improved).score)
    if u is not None and u not in G:
        what = f"Source {u} is not in G" if distance is None else f"Node {u} not found in graph"
        raise nx.NodeNotFound(what)
    back = G.turned
    vertices = range(G.n) if u is None else [G.numbers[u]]
    found = [_closeness(back, vertex, distance, wf_improved) for vertex in vertices]
    return dict(zip(G.nodes, found, strict=True)) if u is None else found[0]


def _closeness(back: Converted, vertex: int, distance: Any, wf_improved: bool) -> float:
    if distance is None:
        away = breadth_first(back.lists, [vertex], limit_of(None)).level
    else:
        away = dijkstra(back.lists, lengths_of(back, distance).edges, [vertex]).distance
    others, total = len(away) - 1.0, sum(away.tolist())
    if total <= 0:
        return 0.0
    return others / total * (others / (back.n - 1) if wf_improved else 1)
