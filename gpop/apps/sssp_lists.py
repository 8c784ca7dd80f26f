"""Shortest paths without messages: when that is the way, and a run of it (`gpop.direct.shortest_paths`)."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpop
from gpop.apps.on_ranks import several
from gpop.apps.without_messages import asked_of_messages, direct_run, no_messages, phases_of
from gpop.common.errors import UsageError
from gpop.common.memory import available_bytes
from gpop.common.parallel import use_threads
from gpop.direct.shortest_paths import FARTHEST, PHASES, VERTEX_BYTES, search
from gpop.graph.degrees import unevenness
from gpop.graph.kept import Kind
from gpop.layout.by_weight import LINE_BYTES
from gpop.layout.partition import SMALL_EDGES, share_inside

METHODS = ("auto", "messages", "lists")

LEAST_EDGES, LEAST_DEGREE = 1 << 17, 8
"""Edges, and edges per vertex, from which auto is lists. Measured on 2 threads, of the time of messages: RMAT
and Kronecker graphs .2 to .4, social graphs .3 to .7, random graphs .6 to .9, roads more than 1. A degree of
12 would lose email-Enron (10) and soc-Slashdot0902 (11.5), both about .7."""

MOST_NEAR, PARTS_BITS = 0.5, 6
"""Share of the edges that stay in one of 64 parts of the ids, up to which auto is lists: of the time of
messages a web graph (cnr-2000, .68) takes 1.6 to 1.9, since those then find their vertices in the cache and
lists do not; friends on Twitter (.40) take .8, others have less than .2."""

HUBS = 8
"""`unevenness` from which a small graph (`SMALL_EDGES`), too, is better off with lists: of the time of
messages a graph of mails takes .9 (14), citations 2.7 (2.6); below `LEAST_EDGES` votes take 2.5 (9)."""


def choose(
    graph: gpop.Graph, method: str, heaviest: int | float, delta: float | None, options: dict[str, Any]
) -> tuple[str, str]:
    """The method for a graph and what is asked for, and the reason.

    Raises
    ------
    UsageError
        For an unknown method, or lists that are not possible.
    """
    if method not in METHODS:
        raise UsageError(f"method {method!r}: expected one of {', '.join(METHODS)}")
    if method == "messages":
        return method, "as asked"
    fits = graph.weights.dtype.kind in "iu" and heaviest < FARTHEST
    if method == "lists":
        no_messages("lists", options, "partition_size")
        if delta is not None:
            raise UsageError("delta means nothing to lists, which have a rule of their own")
        if not fits or several(options):
            raise UsageError(
                f"lists are for whole-number weights below {FARTHEST} and one process: expected "
                "method='messages'"
            )
        return method, "as asked"
    spoken = asked_of_messages(options)
    spoken += [
        name
        for name, value in (("delta", delta), ("partition_size", options.get("partition_size")))
        if value is not None
    ]
    if spoken:
        return "messages", f"{', '.join(spoken)} is for messages"
    if several(options) or not fits:
        return "messages", "weights are fractions or large" if not fits else "several ranks"
    if graph.m < max(LEAST_EDGES, LEAST_DEGREE * graph.n):
        return "messages", "few edges, or few of each vertex"
    if share_inside(graph, max(0, graph.n.bit_length() - PARTS_BITS)) > MOST_NEAR:
        return "messages", "neighbours are near each other"
    if graph.m <= SMALL_EDGES and unevenness(graph) < HUBS:
        return "messages", "a small graph without hubs"
    if graph.facts.mapped is not None or not _there_is_room(graph):
        return "messages", "no memory for the edges by weight"
    return "lists", "many edges of each vertex, and no option speaks of messages"


def _there_is_room(graph: gpop.Graph) -> bool:
    """Whether the edges by weight, those of the reverse and the reverse itself are there or will fit."""
    if graph.store.has(Kind.BY_WEIGHT):
        return True
    edge_bytes = 3 * LINE_BYTES + graph.weights.itemsize
    return edge_bytes * graph.m + VERTEX_BYTES * graph.n <= available_bytes() / 2


def by_lists(
    graph: gpop.Graph, source: int, unit: float, reason: str, threads: int | None
) -> tuple[np.ndarray, gpop.Run]:
    """Distances, `FARTHEST` where that is not less, and the run."""
    threads = use_threads(threads)
    found = search(graph, source, unit, threads)
    run = direct_run(
        phases_of(PHASES, found),
        seconds=found.seconds,
        prepare_seconds=found.prepare_seconds,
        threads=threads,
        partition_size=graph.n,
        partitions=1,
        program="LightFirst",
        method="lists",
        reason=reason,
    )
    return found.distance, run
