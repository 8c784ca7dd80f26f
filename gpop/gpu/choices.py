"""What is compiled into a GPU's loop for a plan, and which arrays the run needs on the device."""

from __future__ import annotations

import numpy as np

from gpop.common.errors import UsageError
from gpop.gpu import limits
from gpop.gpu.device import current_device
from gpop.gpu.device_graph import HUBS, arrays_of
from gpop.gpu.emitted import Emitted
from gpop.gpu.strategies import strategies_of
from gpop.gpu.traits import OWNER, SWAP, Traits, combine_of, push_of, queues
from gpop.graph.degrees import share_in_long_lists, unevenness
from gpop.graph.graph import Graph
from gpop.layout.partition import SMALL_ID_BITS, mostly_near, partition_bits, share_inside
from gpop.model.asked import WARP, asked_on, code_of, policies, split
from gpop.model.choosers import (
    MOST_OF_MANY_LEVELS,
    prefers_cluster,
    prefers_few_rows,
    prefers_few_ways,
    prefers_only_pushes,
    prefers_pushes_of_many_levels,
    prefers_rows,
    prefers_sweeps,
)
from gpop.model.strategies import PULL, SC, Strategy
from gpop.plan.chosen import asked_once
from gpop.plan.plan import Plan

BY_NAME = tuple(each for each in asked_on("gpu") if each not in asked_on("cpu"))
"""Strategies that this target alone has, each for whoever asks for it."""

LEAST_SIZE = 1 << 11
"""Vertices of a partition, where that leaves four of them or more."""

UNBINNED_BITS = 12
"""Local bits where no message waits in a bin: partitions only say where active vertices are. On an H200
searches of a uniform graph of 4 million vertices took .8 of the time with 15, of others .95 to 1."""


FIRST_WITH_CLUSTERS = 90
"""Compute capability of the first devices whose blocks may be clusters."""


def traits_of(
    plan: Plan, emitted: Emitted, push: int | None, streamed: bool = False, budgeted: bool = False
) -> Traits:
    """The traits, but for the type of weights in bins, which the layout decides.

    ``push`` (`gpop.gpu.traits`): deliver by compare-and-swap or by owners whatever the program declares.
    ``streamed``: edges are read over the link, where they do not fit the device; ``budgeted``: they may be.
    """
    cls = type(plan.program)
    fields = cls.vertex_fields()
    asked = _asked(plan, streamed or budgeted)
    name, parameters = split(asked)
    masked, aggregation = policies(asked)
    written = [fields[name].dtype for name in emitted.written]
    combine = combine_of(cls.combine, emitted.gathered_dtype, written)
    rows = push is None and combine is not None and not streamed and _takes_rows(plan, emitted, asked)
    pulls = rows or code_of(asked) == PULL
    if pulls:
        push = OWNER
    way = push_of(emitted, combine) if push is None else push
    has_init = "initFunc" in emitted.defined
    live = (plan.lowered.steady or plan.interleave) and not (has_init or cls.all_active) and way != OWNER
    # An owner gathers one by one whatever is declared, but for sums (inbox.cuh); lanes that share one do not.
    whole = rows or name in ("vertex-pull-warp", "hyb")
    if push is not None and not (pulls and (combine == "add" or whole)):
        combine = None
    levels = live and way == SWAP and plan.lowered.filters_early
    pulls_too = plan.may(PULL) and plan.model.pulls and not cls.all_active
    swept = levels and not streamed and _is_swept(plan)
    asks = pulls_too and swept and asked == "auto" and _asks_in_levels(plan, emitted)
    pulls_too &= streamed or not levels or not (swept or _only_pushes(plan, emitted))
    strategies = strategies_of(
        mode_of(plan, streamed or budgeted),
        way == OWNER,
        combine is not None,
        pulls_too,
        levels,
        streamed,
        rows,
        streamed or not levels or not (swept or _leaves_bins(plan, emitted, pulls_too)),
    )
    return Traits(
        bits=bits_of(plan, strategies),
        weight_dtype=plan.types.weight,
        bin_weight_dtype=None,
        all_active=cls.all_active,
        mask=plan.hidden.mask,
        inactive=plan.hidden.value,
        combine=combine,
        push=way,
        track=cls.track_touched,
        live=live,
        strategies=strategies,
        parameters=parameters,
        masked=masked,
        aggregation=aggregation,
        streamed=streamed,
        tree=plan.tree is not None and not cls.all_active,
        swept=swept and any(each.few for each in strategies),
        asks=asks and any(each.few for each in strategies),
        clustered=any(each.few for each in strategies) and _is_for_a_cluster(plan),
    )


def named_for(plan: Plan, budgeted: bool = False) -> tuple[str, ...]:
    """Strategies by name that a tree may say: to a run that asks once, whose edges are all on the device."""
    return BY_NAME if type(plan.program).all_active and not budgeted else ()


def _asked(plan: Plan, budgeted: bool = False) -> str:
    """The mode that is asked for: auto, too, where a tree chooses in the loop, or the model once for all."""
    if plan.tree is None:
        return plan.mode
    if type(plan.program).all_active:
        named = named_for(plan, budgeted)
        return asked_once(plan.tree, plan.program.graph, plan.of_run, plan.may, named)
    return "auto"


def mode_of(plan: Plan, budgeted: bool = False) -> str:
    """The mode that an engine is made for."""
    mode = _asked(plan, budgeted)
    return "pc" if mode == "auto" and (type(plan.program).all_active or not plan.may(SC)) else mode


def _takes_rows(plan: Plan, emitted: Emitted, asked: str) -> bool:
    """Whether owners that combine are what is asked for, or better than bins."""
    if not type(plan.program).all_active or "needsFunc" in emitted.defined:
        return False
    if asked != "auto" or not plan.model.pulls:
        return asked == "pull"
    graph = plan.program.graph
    inside = share_inside(graph, SMALL_ID_BITS)
    few = plan.partition_size is None and prefers_few_rows(graph.n, graph.m, inside)  # a size is one of bins
    return few or prefers_rows(graph.n, graph.m, inside, share_in_long_lists(graph, WARP))


def _leaves_bins(plan: Plan, emitted: Emitted, pulls: bool) -> bool:
    """Whether messages that need not wait go without bins: a smaller engine, in which every level is faster.

    Vertices of a search that ask soon want no more, so that asking is better wherever many are active; else
    `prefers_few_ways`. Who says how large partitions are to be speaks of bins.
    """
    searches = pulls and "needsFunc" in emitted.defined
    graph = plan.program.graph
    few = plan.partition_size is None and (prefers_few_ways(graph.m) or _has_many_levels(graph))
    return plan.tree is None and (searches or few)


def _only_pushes(plan: Plan, emitted: Emitted) -> bool:
    """Whether nobody is to ask in a search whose levels are one phase (`prefers_only_pushes`).

    Nor has it bins, which are left to who says how large partitions are to be; so is asking.
    """
    searches = plan.tree is None and plan.partition_size is None and "needsFunc" in emitted.defined
    graph = plan.program.graph
    return searches and (prefers_only_pushes(graph.m) or _has_many_levels(graph))


def _has_many_levels(graph: Graph) -> bool:
    """The degrees of larger graphs are looked at by nobody else in a first search."""
    near = graph.m <= MOST_OF_MANY_LEVELS and mostly_near(graph)
    return near and prefers_pushes_of_many_levels(graph.n, graph.m, unevenness(graph))


def _is_swept(plan: Plan) -> bool:
    """Whether a run has levels alone: on small graphs, unless one block does it or a cluster begins it, or
    somebody is asked before each of them, or says how large partitions are to be."""
    graph, asked = plan.program.graph, plan.tree is not None or "priorityFunc" in plan.lowered.functions
    return (
        plan.partition_size is None
        and not asked
        and not limits.fit_one_block(graph)
        and not _is_for_a_cluster(plan)
        and prefers_sweeps(graph.n, graph.m)
    )


def _asks_in_levels(plan: Plan, emitted: Emitted) -> bool:
    """Whether vertices that want messages still may ask for them in a run that has levels alone."""
    graph = plan.program.graph
    return (
        "needsFunc" in emitted.defined
        and graph.m >= max(limits.ASK_LEAST, limits.ASK_DEGREE * graph.n)
        and share_in_long_lists(graph, limits.MOST_ASKED) == 0
    )


def _is_for_a_cluster(plan: Plan) -> bool:
    """Whether a cluster of blocks has iterations of its own: where the device has clusters, frontiers may be
    small for long, and nothing but their vertices is looked at."""
    clusters = int(current_device().compute_capability) >= FIRST_WITH_CLUSTERS
    alone = plan.tree is None and "priorityFunc" not in plan.lowered.functions
    return clusters and alone and prefers_cluster(plan.program.graph.n, plan.program.graph.m)


def bits_of(plan: Plan, strategies: tuple[Strategy, ...]) -> int:
    """Local bits: the cells of a partition fit the shared memory of a block, and ids fit 15 bits.

    As large as that, bins are fewest; but a third of the multiprocessors or more have a partition to work on.
    On an H200 PageRank by bins took .61 of the time with 4,096 instead of 32,768 vertices on roads of NY,
    .60 on a web graph, 1.1 on RMAT 20, and 2 on RMAT 22.
    Strategies by name do not read bins: theirs are the same for all graphs, so that one kernel serves all.
    """
    cell = max(plan.types.message.itemsize, plan.types.gathered.itemsize, np.dtype(np.uint32).itemsize)
    room = (
        (current_device().shared_bytes - 2048 - limits.MOST_LANE_IDS * limits.BLOCK_THREADS * cell)
        * 8
        // (8 * cell + 1)
    )
    best = most = min(SMALL_ID_BITS, room.bit_length() - 1)
    n = plan.program.graph.n
    least = max(4, min(current_device().multiprocessors // 3, n // LEAST_SIZE))
    if any(each.by_name for each in strategies):
        least = 1
    elif strategies and strategies[0].name == "push" and not any(map(_binned, strategies)):
        best, least = min(most, UNBINNED_BITS), 4
    bits = partition_bits(
        n, 1, cache_bytes=cell << best, vertex_bytes=cell, partition_size=plan.partition_size, least=least
    )
    if bits > most:
        raise UsageError(
            f"partition size {plan.partition_size} on the GPU: expected at most {1 << most} "
            f"({cell} bytes per vertex in the shared memory of a block)"
        )
    return bits


def _binned(strategy: Strategy) -> bool:
    return any("bins" in layout for layout in strategy.layouts)


def parts_of(plan: Plan, emitted: Emitted, traits: Traits) -> tuple[str, ...]:
    """Names of the graph's and the layout's arrays that a run reads (`gpop.gpu.device_graph.DeviceGraph`)."""
    weighted = traits.weight_dtype is not None
    parts = ["indptr"]
    for strategy in traits.strategies:
        parts += arrays_of(strategy.layouts, weighted)
    if traits.swept:
        parts.append("edge_source")
    if traits.asks:
        parts += arrays_of(("csc",), weighted)
    if queues(emitted, traits):
        parts += HUBS
    asks = "in_indptr" in parts and "needsFunc" in emitted.defined and not traits.asks
    if asks or (traits.all_active and traits.combine and traits.push != OWNER):
        parts.append("has_in")
    if "out_degree" in plan.lowered.built_in:
        parts.append("out_degree")
    return tuple(parts)
