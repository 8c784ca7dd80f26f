"""How wide the buckets of shortest paths are, and whether a run is interleaved, where nobody says (`sssp`).

Interleaved, messages are gathered as soon as they are there, and a partition most of whose edges stay inside
finishes a bucket by itself before it tells the others. That is the default on large graphs (`LARGE`), where
it saves passes through memory; where partitions are nearly closed (`CLOSED`): fewer iterations; and on small
graphs (`SMALL_EDGES`), which are one partition then: a thread is through before others would have come.
The default delta is `STEPS` mean weights over the mean degree: the smaller the degree, the more vertices a
bucket must hold to be worth an iteration; the larger, the more edges are saved by not following a distance
that will be improved. Interleaved, a wide bucket costs less, because most of those stay in the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gpop
from gpop.apps.inputs import as_number
from gpop.apps.on_ranks import several
from gpop.apps.sssp_programs import SSSP
from gpop.common.errors import UsageError
from gpop.common.parallel import worker_count
from gpop.graph.degrees import UNEVEN, unevenness
from gpop.layout.partition import SMALL_EDGES, SMALL_ID_BITS, partition_bits, share_inside

STEPS, STEPS_ON_GPU = {False: 3, True: 20}, 400
"""Default delta in mean weights over the mean degree, for bulk-synchronous and for interleaved runs; the best
is 2 to 5 and 10 to 40 on road, grid, web, social and random graphs. On a GPU a bucket must hold more
vertices to be worth its barriers: 320 and 640 take as long on a grid and on a road, 80 half as long again."""

STEPS_AMONG_HUBS = 5
"""The same of small graphs that are `UNEVEN`. Of fifteen, those below are roads and meshes, best
at 7 to 20 steps; the others mail, votes, citations, words and the like: 20 take up to half as long again as
5."""

STEPS_OVER_LINK = 1.2
"""The same where edges are read over the link, which takes so much longer than a barrier that a bucket
should hold only who is hardly improved any more."""

FEW_EDGES, NEAR = 8, 0.5
"""On a GPU there are buckets where paths are long: where vertices have fewer edges than this in the mean, or
where at least such a share of the edges leads to vertices with near ids. Elsewhere, on RMAT and random
graphs, a bucket as wide as that would hold all, and looking at it costs a tenth of a run; unless edges come
over the link."""

MOST_WITHOUT_BUCKETS = 7 << 19
"""Edges up to which a GPU's levels cost so little that buckets save nothing, however long paths are. On an
H200 buckets took 1.11 to 1.46 of the time without on four roads, a mesh and a web graph of .24 to 3.2 million
edges, .87 on a grid and a road of 4.2 million, .43 of 17."""

LARGE, CLOSED = 1 << 22, 0.9
"""Edges, and share of the edges that stay in their partition, from which runs are interleaved by default.
Measured: RMAT, Kronecker and random graphs of 4 to 268 M edges take .6 to .9 of the time, road, grid and web
graphs .5 to .8; but social, citation and word graphs of .2 to 2.7 M edges 1.2 to 1.7 times as long."""


def default_delta(
    graph: gpop.Graph, interleave: bool = True, target: str = "cpu", linked: bool = False
) -> float:
    """Width of the buckets for this graph: the rule in the banner (1 where all weights are 0).

    ``linked``: edges are read over a GPU's link.

    Examples
    --------
    >>> ring = gpop.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=np.array([2, 3, 4]))
    >>> default_delta(ring), default_delta(ring, interleave=False)
    (60.0, 9.0)
    """
    if target == "gpu" and not linked and _is_small(graph):
        return np.inf
    if target == "gpu" and not _has_long_paths(graph):
        return (STEPS_OVER_LINK * mean_step(graph) or 1.0) if linked else np.inf
    steps = STEPS_ON_GPU if target == "gpu" else STEPS[interleave]
    if target != "gpu" and interleave and graph.m <= SMALL_EDGES and unevenness(graph) >= UNEVEN:
        steps = STEPS_AMONG_HUBS
    return steps * mean_step(graph) or 1.0


def mean_step(graph: gpop.Graph) -> float:
    """The mean weight over the mean degree: what `STEPS` count.

    Examples
    --------
    >>> mean_step(gpop.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=np.array([2, 3, 4])))
    3.0
    """
    facts = graph.facts
    if facts.mean_weight is None:
        with np.errstate(over="ignore"):  # of an infinite one: one bucket
            facts.mean_weight = graph.weights.mean(dtype=np.float64).item() if graph.m else 0.0
    return facts.mean_weight * graph.n / max(graph.m, 1)


def _is_small(graph: gpop.Graph) -> bool:
    """`MOST_WITHOUT_BUCKETS`. Of graphs in parts nothing is measured."""
    return graph.m <= MOST_WITHOUT_BUCKETS and not hasattr(graph, "in_edges")


def _has_long_paths(graph: gpop.Graph) -> bool:
    """`FEW_EDGES`, `NEAR`: near is a sixteenth of all, or a partition. No rank knows what is near."""
    bits = min(SMALL_ID_BITS, max(0, graph.n.bit_length() - 5))
    in_parts = hasattr(graph, "in_edges")
    return graph.m < FEW_EDGES * graph.n or (not in_parts and share_inside(graph, bits) >= NEAR)


def interleaves(graph: gpop.Graph, options: dict[str, Any]) -> bool:
    """Whether a run with these options is interleaved by default."""
    if options.get("target") == "gpu" or graph.m >= LARGE:
        return True
    size = options.get("partition_size")
    if size is None and graph.m <= SMALL_EDGES:
        return True
    if hasattr(graph, "in_edges"):  # in parts, and no rank knows what is near
        return False
    vertex_bytes = 1 + SSSP.distance.dtype.itemsize
    threads = options.get("threads") or worker_count()
    bits = partition_bits(graph.n, threads, edges=graph.m, vertex_bytes=vertex_bytes, partition_size=size)
    return share_inside(graph, bits) >= CLOSED


def reads_over_link(graph: gpop.Graph, options: dict[str, Any]) -> bool:
    """Whether a run with these options is expected to leave edges with the host of its GPU."""
    if options.get("target") != "gpu" or several(options):
        return False
    from gpop.gpu.streaming import expects_pages

    return expects_pages(graph, options.get("residency") or "auto", options.get("device_memory"))


def bucket_width(graph: gpop.Graph, delta: float | None, interleave: bool, options: dict[str, Any]) -> float:
    """The given delta, checked, or the default; at least 1 where distances are whole numbers."""
    fractions = graph.weights.dtype.kind == "f"
    if delta is None:
        target = options.get("target") or "cpu"
        delta = default_delta(graph, interleave, target, reads_over_link(graph, options))
        return delta if fractions else max(1.0, delta)
    width = as_number(delta)
    if not (width > 0 if fractions else width >= 1):
        raise UsageError(f"delta = {delta!r}: expected a number {'above 0' if fractions else 'from 1 on'}")
    return width
