"""Which method finds shortest paths, and a run of those that send no messages.

On a small graph, and by several threads where neighbours are near and few, a calendar of buckets
(`gpop.direct.calendar`); on others lists in the order of weights (`gpop.direct.shortest_paths`,
`gpop.gpu.direct.shortest_paths`), or messages.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

import gpop
from gpop.apps.on_ranks import several
from gpop.apps.without_messages import (
    are_for_messages,
    direct_run,
    no_messages,
    on_device,
    only_for_messages,
    told_later,
)
from gpop.common.errors import UsageError
from gpop.common.memory import available_bytes
from gpop.common.on_demand import OnDemand, Retold
from gpop.common.parallel import use_threads
from gpop.direct import calendar, calendar_owned
from gpop.direct.shortest_paths import VERTEX_BYTES, Distances, search
from gpop.graph.degrees import UNEVEN, unevenness
from gpop.graph.kept import Kind
from gpop.layout.by_weight import LINE_BYTES
from gpop.layout.partition import mostly_near
from gpop.model.crew_trial import crew_trial
from gpop.model.light_first import FARTHEST, PHASES
from gpop.model.sharing import PATHS_NEAR, have_own, least_rest, shares_paths

METHODS = ("auto", "messages", "lists", "calendar")

LEAST_DEGREE = 8
"""Edges per vertex from which auto is lists on what is not small. Measured on 2 threads, of the time of
messages: RMAT and Kronecker graphs .2 to .4, social graphs .3 to .7, random ones .6 to .9, roads more than 1.
A degree of 12 would lose soc-Slashdot0902 (11.5), about .7. On a GPU also others with hubs (`UNEVEN`) whose
edges lead both ways: .8 to .9 on friends and peers, .7 on RMAT."""

MOST_VERTICES, MOST_EDGES = 3 << 17, 1 << 21
"""Of a graph on which auto is the calendar. One thread takes .36 to .96 there of the least that messages and
lists take on two, on seven real, uniform and RMAT graphs; 1.04 on a grid of 490,000."""

SURE_EDGES, MOST_DEGREE = 1 << 20, 32
"""On graphs of more edges than this it is not where vertices have as many edges as that, which lists need not
look at (friends with 85 each take .44 of the time), nor where neighbours are near each other: the web graph
below takes 2.4 times as long as by messages."""

MOST_OF_MANY = 1 << 22
"""Vertices and edges together up to which it is the calendar where threads share it (`shares_paths`). (A web
graph takes 16 threads 12 ms by messages, GAPBS 6; two take 12.5 by messages, GAPBS 12, and 9.3.)"""

SMALL_ON_GPU, SMALL_AMONG_HUBS, SMALL_ONE_WAY = 1 << 18, 1 << 21, 1 << 20
"""On a GPU auto is messages up to so many edges: where a graph equals its reverse, where such a graph has
hubs (`UNEVEN`), and where edges lead one way. On small graphs most of a search by lists is the barrier of
each step, and where edges lead one way there are many steps at the end.

Measured on an H200, of the time of messages, before the warps of a block shared their long lists
(kernels/long_lists.cuh). With more edges than that lists took .15 to .35 on random graphs, .45 to .8 on RMAT,
.7 to .9 on social, mail and citation graphs; with fewer 1.8 on 176,000 friendships, and 2 and 4 on 422,000
citations and 791,000 friendships that lead one way. Since then 1.9 on 368,000 mails; on an H100 1.2 to 1.3 on
symmetric graphs of .8 to 1.6 million edges with hubs (citations, friends, RMAT), 1.15 and 1.03 on RMAT of
1.8 and 1.9, .95 of 3.7."""

# Neighbours that are near each other (`mostly_near`): of the time of messages lists take 1.6 to 1.9 on a CPU
# on a web graph (cnr-2000, .68 of whose edges are), since messages then find their vertices in the cache and
# lists do not; .8 on friends on Twitter (.40); others have less than .2. On a GPU they take 1.2 of it there,
# and .3 to .6 on a mesh of cubes. (A ring of 200,000 takes 2.0: how long paths are nobody knows beforehand.)

NO_ROOM = "no memory for the edges by weight"
"""Why auto is messages where lists would be faster."""

TARGETS_OF = {"lists": ("gpu",), "calendar": ()}
"""Beside the CPU."""

LEAST_TRIED = 1 << 15
"""Vertices from which on times may say how many threads have a calendar. On 7,115 votes two take 1.25 of the
time of one where that is .79 on 82,000 people, and on 34,546 papers 1.0 to 1.3."""

DAY_STEPS, DAY_STEPS_EVEN, DAY_STEPS_CHAINS, CHAINS = 1, 2, 20, 2.5
"""Width of a calendar's days in mean weights over the mean degree: among hubs (`UNEVEN`), where vertices have
about as many edges as each other, and where most have one ahead and one behind, with fewer than `CHAINS` in
the mean. The best are .2 to 1 for votes, mails and friends, .4 to 3 for citations, 1 to 2 for meshes and
roads, for which 20 take up to 1.7 times as long, and 20 to 80 for roads with all their bends, for which 2
take 1.3 times as long: they are as long as they are narrow, and a day should hold some hundred vertices."""


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
    fits, on_gpu = graph.weights.dtype.kind in "iu" and heaviest < FARTHEST, options.get("target") == "gpu"
    if method != "auto":
        no_messages(method, options, "partition_size", targets=TARGETS_OF[method])
        if delta is not None:
            raise UsageError(f"delta means nothing to {method}: it has a rule of its own")
        if not fits or several(options):
            raise UsageError(
                f"method {method!r} is for whole-number weights below {FARTHEST} and one process: expected "
                "'messages'"
            )
        return method, "as asked"
    spoken = only_for_messages(options, "partition_size", targets=TARGETS_OF["lists"])
    spoken += ["delta"] if delta is not None else []
    if spoken:
        return "messages", are_for_messages(spoken)
    if several(options) or not fits:
        return "messages", "weights are fractions or large" if not fits else "several ranks"
    if not on_gpu and _is_small(graph, use_threads(options.get("threads"))) and graph.facts.mapped is None:
        return "calendar", "a small graph, and no option speaks of messages"
    if on_gpu and graph.m <= SMALL_ON_GPU:  # whatever its shape: the least of the three
        return "messages", "a small graph"
    hubs, mapped = on_gpu and unevenness(graph) >= UNEVEN, graph.facts.mapped is not None
    both_ways = on_gpu and not mapped and graph.equals_reverse()
    small = (SMALL_AMONG_HUBS if hubs else SMALL_ON_GPU) if both_ways else SMALL_ONE_WAY
    if on_gpu and graph.m <= small:
        return "messages", "a small graph"
    if graph.m < LEAST_DEGREE * graph.n and not (both_ways and hubs):
        if not on_gpu and not mapped and _is_owned(graph, use_threads(options.get("threads"))):
            return "calendar", "few edges of each vertex, and neighbours are near"
        return "messages", "few edges of each vertex"
    if mostly_near(graph) and (not on_gpu or hubs):
        return "messages", "neighbours are near each other"
    if mapped:
        return "messages", NO_ROOM
    return "lists", "many edges of each vertex, and no option speaks of messages"


def _is_small(graph: gpop.Graph, threads: int) -> bool:
    """Whether a calendar is the fastest: `MOST_VERTICES` and the others."""
    few_of_each = graph.m < MOST_DEGREE * graph.n
    if graph.n + graph.m <= MOST_OF_MANY and _is_shared(graph, threads):
        return few_of_each or graph.m <= SURE_EDGES
    if graph.n > MOST_VERTICES or graph.m > MOST_EDGES:
        return False
    return graph.m <= SURE_EDGES or (few_of_each and not mostly_near(graph))


def _is_shared(graph: gpop.Graph, threads: int) -> bool:
    """Whether threads share a calendar."""
    if least_rest(threads, graph.n) >= graph.n:
        return False
    return shares_paths(threads, graph.n, mostly_near(graph), graph.m >= PATHS_NEAR * graph.n)


def _is_owned(graph: gpop.Graph, threads: int) -> bool:
    """Whether threads that share a calendar have vertices of their own, on a graph that is not small."""
    if graph.n + graph.m <= MOST_OF_MANY or _day_steps(graph) == DAY_STEPS_CHAINS:
        return False
    return have_own(threads, graph.n, mostly_near(graph))


def _day_steps(graph: gpop.Graph) -> int:
    """How wide a day is: `DAY_STEPS` and the others."""
    if unevenness(graph) >= UNEVEN:
        return DAY_STEPS
    return DAY_STEPS_CHAINS if graph.m < CHAINS * graph.n else DAY_STEPS_EVEN


def there_is_room(graph: gpop.Graph, options: dict[str, Any]) -> bool:
    """Whether the edges by weight, those of the reverse and the reverse itself are there or will fit.

    That may be otherwise in the next call. A GPU says so itself.
    """
    if options.get("target") == "gpu" or graph.store.get(Kind.BY_WEIGHT) is not None:
        return True
    edge_bytes = 3 * LINE_BYTES + graph.weights.itemsize
    return edge_bytes * graph.m + VERTEX_BYTES * graph.n <= available_bytes() / 2


def without_messages(
    graph: gpop.Graph, source: int, unit: float, method: str, reason: str, options: dict[str, Any]
) -> tuple[np.ndarray | OnDemand, int, OnDemand]:
    """Distances (uint32), `FARTHEST` where that is not less; what all others are less than, and the run."""
    threads = use_threads(options.get("threads"))
    if options.get("target") == "gpu":
        return _on_gpu(graph, source, unit, reason)
    if method == "calendar":
        found, name, phases = _by_calendar(graph, source, unit, threads), "Calendar", calendar.PHASES
    else:
        found, name, phases = search(graph, source, unit, threads), "LightFirst", PHASES
    run = told_later(
        phases,
        found,
        seconds=found.seconds,
        prepare_seconds=found.prepare_seconds,
        threads=found.threads,
        partition_size=graph.n,
        partitions=1,
        program=name,
        method=method,
        reason=reason,
    )
    return found.distance, found.below, run


def _by_calendar(graph: gpop.Graph, source: int, unit: float, threads: int) -> Distances:
    """By one thread, by all, or by whichever was faster so far."""
    steps = _day_steps(graph)
    width, chains = steps * unit, steps == DAY_STEPS_CHAINS
    if _is_owned(graph, threads):
        return calendar_owned.search(graph, source, width, threads)
    shared = not chains and _is_shared(graph, threads)
    if threads == 1 or chains or not (shared or graph.n >= LEAST_TRIED):
        return calendar.search(graph, source, width)
    usual, other = (threads, 1) if shared else (1, threads)
    trial = crew_trial(graph, "shortest paths", usual, other)
    if trial is None:
        return calendar.search(graph, source, width, usual)
    trial.wait_until(calendar.is_kept)
    crew = trial.threads
    found = calendar.search(graph, source, width, crew)
    if 2 * int(found.edges[0]) >= graph.m:
        trial.note(crew, found.seconds)
    return found


def _on_gpu(graph: gpop.Graph, source: int, unit: float, reason: str) -> tuple[OnDemand, int, OnDemand]:
    from gpop.gpu.direct import shortest_paths

    start = time.perf_counter()
    graph.equals_reverse()
    prepare_seconds = time.perf_counter() - start
    found = shortest_paths.search(graph, source, unit)
    run = partial(
        direct_run,
        **on_device(PHASES, found, prepare_seconds) | {"seconds": found.seconds},
        partition_size=graph.n,
        partitions=1,
        target="gpu",
        program="LightFirst",
        method="lists",
        reason=reason,
    )
    return found.distance, found.below, Retold(run)
