"""In-edges cut into blocks: the layout for programs whose every vertex asks all its neighbours.

Where everything is active no message needs to be written: a destination can read the value of a source
where it lies, as long as the sources that are read together fit the private cache. Destinations are cut
into *units* (vertex ranges of about equal work, at most as wide as the cache allows), sources
into blocks of ``2**source_bits``. A *block* of edges is what leads from one source block into one *window*
(a unit, or ``2**16`` vertices of it), so both ends of an edge fit 16 bits.

Inside a block the edges are ordered by destination, and the run of edges into one destination is cut into
*pieces* of 4, 2 and 1 edges: first all pieces of 4, then those of 2, then those of 1. A loop over pieces of
one length has no branch to mispredict and touches its destination once for the whole piece. A destination's
edges keep the ascending order of their sources, which is the order of PC: results are bitwise the same; but
not where hubs go first (hubs_first.py), for who adds up in float64.
The pieces of 4 of long runs are dealt out in turns, so that neighbouring pieces do not wait for each other.

``refs``      local source ids, block after block in the order in which a unit is walked: by source block.
``targets``   local destination id of every piece; those of a block begin where its refs begin.
``blocks[b]`` see the columns in edge_block_kernels.py.

Bytes: ``2*m`` for refs and up to ``2*m`` for targets (+ weights). Read by one iteration per edge: 2 and
``2*pieces/m``, and every source value once per unit that it has an edge into. Where the edges between many
vertices are few and scattered, that is a cache line per edge, and messages in bins are better: the layout is
planned from counts (edge_block_plan.py), built if that is expected to pay (`Plan.gain`, `pay_from`). Papers:
Zhang et al., "Making caches work for graph analytics" (Big Data 2017) for segments of sources; GPOP section
3.1 for the sizes.
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np

from gpop.common.parallel import for_each
from gpop.common.progress import activity
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.layout.edge_block_kernels import FIRST, FOURS, SOURCE, WINDOW, WINDOW_BITS, fill_blocks, room_for
from gpop.layout.edge_block_plan import BY_ID, COSTS, FAR_BYTES, VERTEX_WORK, Costs, Plan, plan_blocks
from gpop.layout.hubs_first import hubs_first, places_of, slots_of
from gpop.layout.narrow_weights import narrow_dtype
from gpop.layout.partition import SMALL_ID_BITS, l2_cache_bytes, partition_bits

WIDEST_UNIT = 17
"""Two windows: where a unit is wider, more of it falls out of the cache than is gained."""

WIDEST_HUBS_FIRST, HUBS_CACHE = 19, 16
"""The same where hubs go first, in bits, and one in how many of the bytes of the private cache is for the
values of a source block: what is added to most lies together, and so do the values that are read most."""

BLOCKS_BUILD, BINS_BUILD = 11.0, 7.0
"""What `Costs` are, for building the layouts, after the edges have been counted."""

ITERATIONS = 40
"""What is expected of a graph at most: two runs of the 10 to 20 iterations that PageRank mostly takes."""

SMALL_EDGES = 1 << 16
"""With fewer edges either way takes no time to speak of."""


class Blocks(NamedTuple):
    """Arrays of the layout; passed to kernels as it is.

    Unit ``u`` owns the vertices ``bounds[u]:bounds[u + 1]`` and the blocks
    ``first_block[u]:first_block[u + 1]``. ``pieces``: of all lengths. ``values_read``: see `Plan`.
    ``place``, ``slot``: see hubs_first.py; empty where all are in the order of ids. ``heaviest``: the units,
    those of most work first, as they are taken; empty where a thread has the same ones in each iteration,
    which its cache may hold.
    """

    n: np.int64
    bits: np.uint32
    k: np.int64
    indptr: np.ndarray
    bounds: np.ndarray
    first_block: np.ndarray
    blocks: np.ndarray
    refs: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    pieces: np.int64
    values_read: np.int64
    place: np.ndarray
    slot: np.ndarray
    heaviest: np.ndarray


def build_blocks(graph: Graph, plan: Plan, threads: int, weighted: bool = True) -> Blocks:
    """Cut the in-edges of ``graph`` into blocks, in parallel; the result does not depend on ``threads``.

    Weights go with their edges if the graph has some and ``weighted``.

    Raises
    ------
    NotEnoughMemory
        If the layout would not fit; found out before it is allocated.

    Examples
    --------
    >>> star = Graph.from_edges([1, 2, 3, 4, 5], [0, 0, 0, 0, 0], n=6)
    >>> plan = plan_blocks(star, unit_bits=3, source_bits=3, most_work=100, threads=1)
    >>> blocks = build_blocks(star, plan, threads=1)
    >>> blocks.refs.tolist(), blocks.blocks[0, FOURS:].tolist()        # a piece of 4 and one of 1
    ([1, 2, 3, 4, 5], [1, 0, 1])
    """
    n, m = graph.n, graph.m
    weights = graph.weights if weighted and graph.weights is not None else np.empty(0, np.uint32)
    weight_dtype = narrow_dtype(weights)
    key_dtype = np.dtype(np.uint64 if weights.size else np.uint32)
    most_keys, most_spare = int(plan.edges.sum(axis=1).max()) + 2, int(plan.edges.max()) + 2
    of_a_thread = most_keys * key_dtype.itemsize + most_spare * (10 + key_dtype.itemsize)
    grouped = plan.old.size > 0
    graph.store.require(
        4 * m + 10 * n * grouped + weights.size * weight_dtype.itemsize + threads * of_a_thread,
        f"{graph!r}: in-edges in blocks",
    )
    s, w = np.nonzero(plan.edges)
    unit = np.searchsorted(plan.units, plan.windows[w], side="right") - 1
    order = np.lexsort((w, s, unit))
    s, w, unit = s[order], w[order], unit[order]
    edges = plan.edges[s, w]
    blocks = np.zeros((s.size, 6), np.int64)
    blocks[:, SOURCE] = s << plan.source_bits
    blocks[:, WINDOW] = plan.windows[w] << plan.cell_bits
    blocks[1:, FIRST] = np.cumsum(edges)[:-1]
    block_of = np.zeros(plan.edges.shape, np.int64)
    block_of[s, w] = np.arange(s.size)
    begins = np.zeros((plan.edges.shape[0], plan.windows.size + 1), np.uint64)
    np.cumsum(plan.edges, axis=1, out=begins[:, 1:])
    cells = plan.units[-1]
    window_of = np.repeat(np.arange(plan.windows.size), np.diff(plan.windows, append=cells)).astype(np.uint32)
    windows = (plan.windows << plan.cell_bits).astype(np.uint32)
    refs, targets = np.empty(m, np.uint16), np.empty(m, np.uint16)
    piece_weights, claim = np.empty(weights.size, weight_dtype), np.zeros(1, np.int64)
    slot = slots_of(graph, windows, threads) if grouped else np.empty(0, np.uint16)
    given = (graph.indptr, graph.indices, weights, plan.old, slot, window_of, windows, begins, block_of)
    written = (blocks, refs, targets, piece_weights)

    def fill(_: int) -> None:
        room = room_for(most_keys, most_spare, plan.windows.size, key_dtype)
        fill_blocks(claim, *room, plan.source_bits, plan.cell_bits, *given, *written)

    for_each(threads, fill, threads)
    return Blocks(
        np.int64(n), np.uint32(plan.unit_bits), np.int64(plan.units.size - 1), graph.indptr,
        np.minimum(plan.units << plan.cell_bits, n), np.searchsorted(unit, np.arange(plan.units.size)),
        blocks, refs, targets, piece_weights, blocks[:, FOURS:].sum(), np.int64(plan.values_read),
        places_of(plan.old), slot, plan.by_work,
    )  # fmt: skip


def block_sizes(
    graph: Graph, threads: int, vertex_bytes: int, value_bytes: int, partition_size: int | None = None,
    grouped: bool = False,
) -> tuple[int, int, int]:  # fmt: skip
    """Bits of a unit and of a source block, and most work of a unit: what a plan is kept under.

    ``vertex_bytes``: what a message touches of its destination. What only `filterFunc` looks at passes
    through the cache once for a unit, and every unit reads the values of all sources: with the widest that
    fit, PageRank until it settles took .7 of its time on a random graph of 4 M vertices. A quarter of the
    cache is for a source block, or for two where the next one is on its way (`FAR_BYTES`). With twice as wide
    ones an iteration then took 88 ms on RMAT 22 where these take 69, and 64 and 65 in other processes; 12.4
    to 14.5 and 12.2 on RMAT 20; 13.5 and 14.7 on a random graph of 1 M vertices. ``grouped``: hubs first.
    """
    if partition_size is not None:
        unit_bits = partition_bits(graph.n, threads, partition_size=partition_size)
        return unit_bits, min(unit_bits, WINDOW_BITS), graph.m + VERTEX_WORK * graph.n
    cache, most_work = l2_cache_bytes(), -(-(graph.m + VERTEX_WORK * graph.n) // (4 * threads))
    if grouped:
        source_bits = min(WINDOW_BITS, max(1, cache // (HUBS_CACHE * value_bytes)).bit_length() - 1)
        return WIDEST_HUBS_FIRST, source_bits, most_work
    blocks = 2 if graph.n * value_bytes >= FAR_BYTES else 1
    source_bits = min(WINDOW_BITS, max(1, cache // (4 * blocks * value_bytes)).bit_length() - 1)
    rest = cache - (blocks * value_bytes << source_bits)
    unit_bits = min(WIDEST_UNIT, max(1, rest // vertex_bytes).bit_length() - 1)
    return unit_bits, source_bits, most_work


def blocks_of(
    graph: Graph,
    threads: int,
    vertex_bytes: int,
    value_bytes: int,
    partition_size: int | None,
    *,
    weighted: bool,
    forced: bool,
    grouped: bool = False,
    iterations: int = ITERATIONS,
    costs: Costs = COSTS,
) -> tuple[Blocks | None, float]:
    """The layout kept with the graph, and the seconds that building it took (0 if kept).

    A unit's vertex data and the values of a source block share the private cache; there are at least 4
    units per thread. With ``partition_size`` units and source blocks are that wide. None where the layout is
    not expected to pay within two runs of ``iterations`` and is neither ``forced`` nor ``grouped``, hubs
    first: sums may then have other last digits than in PC, so that no later run may be the first to have it.
    """
    if not forced and is_small(graph):
        return None, 0.0
    if graph.facts.mapped is not None and partition_size is None:
        return graph.facts.mapped.blocks[weighted], 0.0
    start = time.perf_counter()
    store = graph.store
    sizes = block_sizes(graph, threads, vertex_bytes, value_bytes, partition_size, grouped)
    about = f"units of {1 << sizes[0]}" + ", hubs first" * grouped
    plan = store.get(Kind.PLAN, (*sizes, grouped))
    if plan is None:
        for kind in (Kind.PLAN, Kind.BLOCKS):  # what is for another number of threads stays
            store.discard(kind, lambda key: key[:2] != sizes[:2])
        bits = partition_bits(graph.n, threads, edges=graph.m, partition_size=partition_size)
        old = hubs_first(graph.out_degree) if grouped else BY_ID
        plan = plan_blocks(graph, *sizes, threads, bin_bits=min(bits, SMALL_ID_BITS), old=old)
        store.put(Kind.PLAN, plan, (*sizes, grouped), about=about)
    blocks = store.get(Kind.BLOCKS, (*sizes, grouped, weighted))
    pays = grouped or asked_for(graph, iterations) >= _pay_from(
        graph, plan.gain(threads, costs), blocks is not None
    )
    if not (forced or pays):
        return None, time.perf_counter() - start
    if blocks is not None:
        return blocks, 0.0
    with activity("building blocks of in-edges"):
        blocks = build_blocks(graph, plan, threads, weighted)
    store.put(Kind.BLOCKS, blocks, (*sizes, grouped, weighted), about=about + ", weights" * weighted)
    return blocks, time.perf_counter() - start


def pay_from(graph: Graph, threads: int, *sizes: Any, costs: Costs = COSTS) -> float:
    """How many iterations have to be asked for (`asked_for`) before blocks of these sizes, which are not
    there, are expected to pay; infinite where they save nothing however often, 0 where nobody knows."""
    plan = plan_of(graph, threads, *sizes)
    return 0.0 if plan is None else _pay_from(graph, plan.gain(threads, costs), False)


def plan_of(graph: Graph, threads: int, *sizes: Any) -> Plan | None:
    """The plan of blocks of these sizes in the order of ids; None where nobody has thought about them, or has
    thought about others since, as of hubs first."""
    return graph.store.get(Kind.PLAN, (*block_sizes(graph, threads, *sizes), False))


def is_small(graph: Graph) -> bool:
    """Whether blocks are not thought about, unless they are asked for."""
    return graph.m < SMALL_EDGES


def asked_for(graph: Graph, iterations: int) -> int:
    """Iterations that are to be expected where a run of so many is asked for.

    Those that PC was asked for so far count like those to come: once pull would have saved the price of
    its layout, more is likely to be asked for, and no more than twice the least time can be lost. So do those
    that an app knows of (`note_ahead`).
    """
    return min(2 * iterations, ITERATIONS) + graph.facts.iterations_without_blocks


def _pay_from(graph: Graph, gain: float, kept: bool) -> float:
    """After how many iterations what pull is expected to save is the price of its layout."""
    build = 0 if kept else BLOCKS_BUILD - (0 if graph.store.has(Kind.BINS) else BINS_BUILD)
    return build / gain if gain > 0 else math.inf


def note_without(graph: Graph, iterations: int) -> None:
    """Remember that PC took so many iterations where pull might have been chosen."""
    graph.facts.iterations_without_blocks += iterations


def note_ahead(graph: Graph, iterations: int) -> None:
    """Remember that up to so many iterations are to come, in runs of fewer: to these, blocks are worth it."""
    facts = graph.facts
    facts.iterations_without_blocks = max(facts.iterations_without_blocks, min(2 * iterations, ITERATIONS))
