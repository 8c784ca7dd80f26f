"""Centralities by shortest paths: betweenness, exact or from a sample of the nodes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gpop
from gpop.networkx.converted import Converted
from gpop.networkx.kernels.breadth_first import breadth_first, limit_of
from gpop.networkx.refusing import refusing


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
