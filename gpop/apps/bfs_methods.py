"""Which method searches breadth first, and a run of the one that sends no messages.

On a small graph and on roads adjacency lists, with which one thread begins (`gpop.direct.breadth_first`), on
others the program.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gpop
from gpop.apps.on_ranks import several
from gpop.apps.without_messages import are_for_messages, no_messages, only_for_messages, told_later
from gpop.common.errors import UsageError
from gpop.common.on_demand import Retold
from gpop.common.parallel import use_threads
from gpop.direct.breadth_first import PHASES, SearchTree, is_kept, search
from gpop.direct.breadth_first_alone import FEW
from gpop.layout.partition import mostly_near
from gpop.model.crew_trial import crew_trial
from gpop.model.sharing import MANY_THREADS, SHARED_ROAD, in_parts, least_rest

METHODS = ("auto", "messages", "direct")

MOST_VERTICES, MOST_EDGES, MOST_OF_BOTH = 1 << 17, 1 << 21, 1 << 20
"""Of a graph on which auto is direct: so many of each, or of both together. Measured on 2 threads, of the
time of messages: .3 to .6 on social, mail and random graphs within bounds, .9 to 1.0 on grids and roads.
Beyond, 1.3 on a web graph and a grid of 262,144 vertices, 1.5 on one of 490,000: what a level leads to is in
no private cache, and two threads wait for two lines at a time."""

MOST_OF_MANY = 1 << 22
"""With `MANY_THREADS`, of so many of both: a search is shared from a large level on."""

MOST_OF_ROAD = 1 << 23
"""Vertices of a graph whose neighbours are few (`FEW`) and near each other. On 2 threads of an AMD machine
direct takes .5 to .74 of the time of messages on grids of 2**18 to 2**23 vertices, .57 and .7 on roads; on
one .6. On 4, 8 and 16 of two Intel ones .7 to .9, .4 to .6 and .33 to .38 on a grid and roads of 2**20.
Larger ones were not looked at."""

LEAST_MESH = 1 << 15
"""Vertices of a mesh from which on it is tried whether two threads, who have halves of each level, are faster
than one. On points of a plane they took .7 of its time on two AMD cores, and 1.2 on Intel ones."""

PULLED = 16
"""A search of most of a graph that is pulled looks at one in so many edges, at least."""


def choose(graph: gpop.Graph, method: str, options: dict[str, Any]) -> tuple[str, str]:
    """The method for a graph and what is asked for, and the reason.

    Raises
    ------
    UsageError
        For an unknown method, or one that is not possible.
    """
    if method not in METHODS:
        raise UsageError(f"method {method!r}: expected one of {', '.join(METHODS)}")
    if method == "messages":
        return method, "as asked"
    if method == "direct":
        no_messages(method, options, "partition_size")
        if several(options) or graph.n > 1 << 31:
            raise UsageError("method 'direct' is for one process and 2**31 vertices: expected 'messages'")
        return method, "as asked"
    spoken = only_for_messages(options, "partition_size")
    if spoken or several(options):
        return "messages", are_for_messages(spoken) if spoken else "several ranks"
    if graph.facts.mapped is not None:
        return "messages", "the graph is on disk, with its bins"
    if _is_small(graph, options):
        return "direct", "a small graph, and no option speaks of messages"
    if _is_road(graph, options):
        return "direct", "neighbours are few and near each other, and no option speaks of messages"
    return "messages", "not a small graph"


def _is_small(graph: gpop.Graph, options: dict[str, Any]) -> bool:
    """Whether lists are the fastest: `MOST_VERTICES` and the others. To count cores takes 2 us."""
    both = graph.n + graph.m
    if (graph.n <= MOST_VERTICES and graph.m <= MOST_EDGES) or both <= MOST_OF_BOTH:
        return True
    return both <= MOST_OF_MANY and use_threads(options.get("threads")) >= MANY_THREADS


def _is_road(graph: gpop.Graph, options: dict[str, Any]) -> bool:
    """Whether levels are many and small, and each thread pushes from a part of them."""
    fits = graph.n <= MOST_OF_ROAD and in_parts(use_threads(options.get("threads")), graph.n)
    return fits and _is_thin(graph)


def _is_thin(graph: gpop.Graph) -> bool:
    """Whether neighbours are few and near each other."""
    return graph.m <= FEW * graph.n and mostly_near(graph)


def without_messages(
    graph: gpop.Graph, source: int, reason: str, threads: int
) -> tuple[np.ndarray, np.ndarray, Retold]:
    """Parents and levels, -1 where there is none, and the run."""
    found = _searched(graph, source, threads)
    run = told_later(
        PHASES,
        found,
        seconds=found.seconds,
        prepare_seconds=found.prepare_seconds,
        threads=found.threads,
        partition_size=max(graph.n, 1),
        partitions=1,
        program="BreadthFirst",
        method="direct",
        reason=reason,
    )
    return found.parent, found.level, run


def _searched(graph: gpop.Graph, source: int, threads: int) -> SearchTree:
    """By one thread, or by all where it may be shared and they were not slower so far."""
    if graph.n < SHARED_ROAD and _is_thin(graph):
        return search(graph, source)
    usual, other, few = threads, 1, least_rest(threads, graph.n) >= graph.n
    if few:
        if not (1 < threads < MANY_THREADS and graph.n >= LEAST_MESH and graph.facts.mesh):
            return search(graph, source)
        usual, other = 1, threads
    trial = crew_trial(graph, "breadth-first search", usual, other)
    if trial is None:
        return search(graph, source, usual)
    trial.wait_until(is_kept)
    crew = trial.threads
    found = search(graph, source, crew, few)
    if PULLED * int(found.edges.sum()) >= graph.m:
        trial.note(crew, found.seconds)
    return found
