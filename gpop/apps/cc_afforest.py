"""Connected components by afforest: on the threads of this process, on a GPU, on several ranks.

How it works: `gpop.direct.afforest`, `gpop.gpu.direct.components`, `gpop.ranks.components`. Here is what each
is prepared with, and what its run says.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import gpop
from gpop.apps.without_messages import direct_run, on_device, one_process, phases_of
from gpop.common.on_demand import OnDemand, Retold
from gpop.common.parallel import use_threads
from gpop.layout.partition import partition_bits, partition_count
from gpop.ranks.world import World, threads_of

if TYPE_CHECKING:
    from gpop.direct.afforest import Forest

Grown = tuple[dict[str, OnDemand], dict[str, Any]]
"""Attributes of a `gpop.apps.cc.ComponentsResult`: those that wait for who looks at them, and the others."""

Grow = Callable[[gpop.Graph], Grown]

SMALLEST_BITS = 10
"""Smaller partitions would not be worth claiming."""


class OnDevice:
    """Afforest on a GPU."""

    def __init__(self, graph: gpop.Graph, method: str, options: dict[str, Any]) -> None:
        from gpop.gpu.direct.components import grow

        one_process("connected_components", options)
        if options.get("threads") is not None:
            use_threads(options["threads"])  # they mean nothing here, but are numbers all the same
        start = time.perf_counter()
        self.directed, self.method, self.forest = not graph.is_symmetric(), method, grow
        self.prepare_seconds = time.perf_counter() - start

    def grow(self, graph: gpop.Graph) -> Grown:
        """The components, and their run when somebody asks for it."""
        forest = self.forest(graph, self.directed)
        seconds, self.prepare_seconds = self.prepare_seconds, 0.0
        waiting = {"label": forest.parent, "run": Retold(partial(self._run, graph.n, forest, seconds))}
        return waiting, {"count": forest.count, "symmetrized": self.directed}

    def _run(self, n: int, forest: Any, prepare_seconds: float) -> gpop.Run:
        from gpop.gpu.direct.components import PHASES, SAMPLES

        return direct_run(
            **on_device(PHASES, forest, prepare_seconds),
            partition_size=max(n, 1),
            partitions=1,
            target="gpu",
            **_said(self.method, forest.sampled, SAMPLES),
        )


class Links:
    """Afforest on the threads of this process, into partitions that follow from the graph and the options."""

    def __init__(self, graph: gpop.Graph, method: str, options: dict[str, Any]) -> None:
        partition_size = options.get("partition_size")
        self.threads, self.method = use_threads(options.get("threads")), method
        bits = partition_bits(graph.n, self.threads, edges=graph.m, partition_size=partition_size)
        least = 8 * self.threads**2
        # Where ids say who has many edges, the heaviest partition shrinks slower than their number grows.
        while partition_size is None and bits > SMALLEST_BITS and partition_count(graph.n, bits) < least:
            bits -= 1
        start = time.perf_counter()
        self.directed, self.bits = not graph.is_symmetric(), bits
        self.prepare_seconds = time.perf_counter() - start

    def grow(self, graph: gpop.Graph) -> Grown:
        """The components, and their run when somebody asks for it."""
        from gpop.direct.afforest import grow

        forest = grow(graph, self.directed, self.bits, self.threads)
        seconds, self.prepare_seconds = self.prepare_seconds, 0.0
        told = {"label": forest.parent, "count": forest.count, "symmetrized": self.directed}
        return {"run": Retold(partial(self._run, graph.n, forest, seconds))}, told

    def _run(self, n: int, forest: Forest, prepare_seconds: float) -> gpop.Run:
        from gpop.direct.afforest import PHASES, SAMPLES

        return direct_run(
            phases_of(PHASES, forest),
            seconds=forest.seconds,
            prepare_seconds=prepare_seconds,
            threads=self.threads,
            partition_size=1 << self.bits,
            partitions=partition_count(n, self.bits),
            **_said(self.method, forest.sampled, SAMPLES),
        )


def grow_on_ranks(method: str, world: World, options: dict[str, Any], graph: gpop.Graph) -> Grown:
    """The components of the whole graph, of which each rank has a part."""
    from gpop.direct.afforest import PHASES
    from gpop.ranks.components import components
    from gpop.ranks.engine import rank_bits

    threads = use_threads(threads_of(options.get("threads"), world))
    start = time.perf_counter()
    bits = rank_bits(graph, world, threads, options.get("partition_size"))
    found = components(graph, bits, threads, world)
    if options.get("gather"):
        world.fill(found.label, found.part.bounds)
    own, forest = found.part.own, found.forest
    run = direct_run(
        phases_of(PHASES, forest),
        seconds=time.perf_counter() - start,
        prepare_seconds=0.0,
        threads=threads,
        partition_size=1 << bits,
        partitions=partition_count(graph.n, bits),
        **_said(method),
    )
    run = replace(run, part=(own.start, own.stop))
    told = {"label": found.label, "count": found.count, "symmetrized": not found.symmetric, "run": run}
    return {}, told


def _said(method: str, sampled: int = 0, samples: int = 0) -> dict[str, str]:
    """What the trace tells of afforest, and of its sample if there was one in this process alone."""
    reason = "as asked" if method == "afforest" else "no option speaks of messages"
    if samples:
        reason += f"; {sampled} of {samples} sampled vertices were in one tree after first links"
    return {"program": "Afforest", "method": "afforest", "reason": reason}
