"""The six kernels of the GAP benchmark suite as calls of gpop: trials, sources, and what proves a result.

Paper: S. Beamer, K. Asanovic, D. Patterson, "The GAP benchmark suite", 2015.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

import gpop
from gpop.apps import betweenness, bfs, cc, pagerank, sssp, triangles

ROOTS = 4
TOLERANCE = 1e-4


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A kernel of the suite.

    ``call(graph, roots, options)`` makes a trial; ``fault(graph, result, roots)`` is None or what is wrong;
    ``answer`` is what every trial from the same roots must come to; it is looked at before the time is over,
    as results are made then. ``roots``: how many sources a trial has.
    ``words``: further arguments of the suite's program.
    """

    trials: int
    call: Callable[[gpop.Graph, list[int], dict[str, Any]], Any]
    fault: Callable[[gpop.Graph, Any, list[int]], str | None]
    answer: Callable[[Any], Any]
    roots: int = 0
    words: tuple[str, ...] = ()
    suffix: str = ".sg"


def wrong_distances(graph: gpop.Graph, result: Any, source: int) -> str | None:
    """None, or what is wrong: no edge is too short for its ends, and an edge leads to each reached vertex.

    With weights above 0 this proves the distances; where there is a 0, SciPy's Dijkstra does.
    """
    if graph.m and graph.weights.min() == 0:
        return sssp.verify(graph, result, source)
    far, reached, heads = result.distance, result.reached, graph.indices
    tails = np.repeat(np.arange(graph.n, dtype=np.uint32), graph.out_degree)
    used = reached[tails]
    tails, heads, weights = tails[used], heads[used], graph.weights[used]
    if not reached[heads].all():
        return "an edge leaves what was reached"
    over = far[tails] + weights.astype(far.dtype)
    if np.any(far[heads] > over):
        return "an edge would make a path shorter"
    led_to = np.zeros(graph.n, bool)
    led_to[heads[far[heads] == over]] = True
    led_to[source] = far[source] == 0
    return None if led_to[reached].all() else "no edge leads to a vertex at its distance"


KERNELS = {
    "bfs": Kernel(
        trials=64,
        roots=1,
        call=lambda graph, roots, options: gpop.bfs(graph, roots[0], **options),
        fault=lambda graph, result, roots: bfs.verify(graph, result, roots[0]),
        answer=attrgetter("level"),
    ),
    "sssp": Kernel(
        trials=64,
        roots=1,
        suffix=".wsg",
        call=lambda graph, roots, options: gpop.sssp(graph, roots[0], **options),
        fault=lambda graph, result, roots: wrong_distances(graph, result, roots[0]),
        answer=attrgetter("distance"),
    ),
    "pr": Kernel(
        trials=16,
        call=lambda graph, roots, options: gpop.pagerank(graph, tolerance=TOLERANCE, **options),
        fault=lambda graph, result, roots: pagerank.verify(graph, result),
        answer=attrgetter("rank"),
        words=("-i", "1000", "-t", str(TOLERANCE)),
    ),
    "cc": Kernel(
        trials=16,
        call=lambda graph, roots, options: gpop.connected_components(graph, **options),
        fault=lambda graph, result, roots: cc.verify(graph, result),
        answer=attrgetter("label"),
    ),
    "bc": Kernel(
        trials=16,
        roots=ROOTS,
        call=lambda graph, roots, options: gpop.betweenness(graph, roots, normalized=False, **options),
        fault=lambda graph, result, roots: betweenness.verify(graph, result, normalized=False),
        answer=attrgetter("score"),
        words=("-i", str(ROOTS)),
    ),
    "tc": Kernel(
        trials=16,
        call=lambda graph, roots, options: gpop.triangle_count(graph, **options),
        fault=lambda graph, result, roots: triangles.verify(graph, result),
        answer=attrgetter("count"),
    ),
}
