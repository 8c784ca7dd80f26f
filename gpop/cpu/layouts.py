"""Which layout a run on the CPU has: blocks of in-edges, or bins of partitions of a size, with in-edges.

Bytes of what lies in it are told to the model as they are (`sizes_of`).
"""

from __future__ import annotations

import time
from typing import Any

from gpop.common.errors import NotEnoughMemory
from gpop.cpu.sharing import SERIAL_EDGES
from gpop.cpu.sums import SUM_BYTES
from gpop.cpu.traits import Traits
from gpop.cpu.workspace import Workspace
from gpop.graph.graph import Graph
from gpop.layout.bins import Bins
from gpop.layout.edge_blocks import Blocks, blocks_of, pay_from
from gpop.layout.hubs_first import go_first
from gpop.layout.in_edges import NO_WEIGHTS, in_edges
from gpop.layout.kept_bins import bins_of
from gpop.layout.narrow_weights import narrow_weights
from gpop.layout.partition import SMALL_EDGES, partition_bits
from gpop.model.bytes import Sizes
from gpop.model.choosers import AUTO_PUSH
from gpop.model.constants import SHIPPED, Constants
from gpop.model.strategies import PULL
from gpop.plan.hidden import MASK_SENT
from gpop.plan.plan import Plan
from gpop.program.program import Program

FEW_PARTITIONS = {False: 1, True: 4}
"""Fewest partitions of a small graph (`SMALL_EDGES`), whatever the threads, and where messages are added up.
A search is over before others would have come, and takes .6 to .9 of the time that it takes with two. To add
up takes longer, and is shared. Of two partitions, whose width is a power of two, one may have nearly all:
with five, nibble on email-Enron took two threads .69 of the time that it took with two, on citations 1.1."""

PARTITIONS_OF_FOUR = 3
"""For so many of four threads a partition each, where messages are added up: of five, one has .68 of the
edges of email-Enron. Nibble took 16 threads .7 of the time there with 18, and with 14 on 7,115 votes."""


def sizes_of(
    layout: Bins | Blocks, space: Workspace, traits: Traits, constants: Constants = SHIPPED
) -> Sizes:
    """Bytes of what the model counts, as they are in the layout at hand."""
    value, weighted = space.values.itemsize, traits.weight_dtype is not None
    if isinstance(layout, Blocks):
        id, weight = layout.refs.itemsize, layout.weights.itemsize if weighted else 0
        return Sizes(offset=8, edge=0, id=id, source=id, value=value, weight=weight)
    return Sizes(
        offset=8,
        edge=layout.indices.itemsize + (layout.weights.itemsize if weighted else 0),
        id=layout.ids.itemsize,
        source=layout.sources.itemsize,
        value=value,
        weight=layout.id_weights.itemsize if weighted else 0,
        mark=space.sent.itemsize if traits.mask == MASK_SENT else 0,
        probe=constants.probe,
        cursor=constants.cursor,
    )


class Layouts:
    """The part of `gpop.cpu.preparation.Preparation` that finds or makes layouts of the graph."""

    plan: Plan
    program: Program
    graph: Graph
    lowered: Any
    constants: Constants
    disk: Any
    alone: bool
    mode: str
    threads: int
    forced: int
    incoming: Any
    incoming_seconds: float

    def _find_blocks(self, sums: bool) -> tuple[Blocks | None, float]:
        """In-edges in blocks, and the seconds they took; None where messages are expected to be faster."""
        plan, forced = self.plan, self.mode == "pull" or (self.disk is not None and self.disk.stays)
        in_memory = self.alone and self.graph.facts.mapped is None
        grouped = sums and in_memory and plan.partition_size is None and go_first(self.graph)
        sizes = self._block_sizes(sums)
        weighted = plan.types.weight is not None
        try:
            return blocks_of(
                self.graph, self.threads, *sizes, weighted=weighted, forced=forced, grouped=grouped,
                iterations=plan.limit, costs=self.constants.costs,
            )  # fmt: skip
        except NotEnoughMemory:
            if forced:
                raise
            return None, 0.0

    def _block_sizes(self, sums: bool) -> tuple[int, int, int | None]:
        return self._delivered_bytes(sums), self.plan.types.message.itemsize, self.plan.partition_size

    def _blocks_pay_from(self, sums: bool) -> float:
        """After how many iterations they are chosen, which they were not."""
        return pay_from(self.graph, self.threads, *self._block_sizes(sums), costs=self.constants.costs)

    def _find_bins(self) -> tuple:
        """Bins, with weights only if the program uses some, and the seconds to build them."""
        graph, plan = self.graph, self.plan
        layout, seconds = bins_of(graph, self._bits(), self.threads)
        if plan.types.weight is None:  # kernels are compiled per type: without weights one is enough
            return layout._replace(weights=NO_WEIGHTS, id_weights=NO_WEIGHTS), seconds
        weights, more = narrow_weights(graph, layout.id_weights.dtype)
        return layout._replace(weights=weights), seconds + more

    def _bits(self) -> int:
        """Bits of a local id."""
        if self.graph.facts.mapped is not None and self.plan.partition_size is None:
            return self.graph.facts.mapped.bits
        fewest = self._fewest()
        if fewest == 1:
            return (self.graph.n - 1).bit_length()
        return partition_bits(
            self.graph.n, self.threads, edges=self.graph.m, vertex_bytes=self._vertex_bytes(),
            partition_size=self.plan.partition_size, least=fewest,
        )  # fmt: skip

    def _fewest(self) -> int | None:
        """The fewest partitions; None: as many as the threads want.

        Where few vertices are active, what an iteration takes is to look at partitions and at messages
        between them. Where all are, or iterations run into each other without priorities, partitions are
        what threads share; but nobody shares an iteration of fewer than `SERIAL_EDGES`.
        """
        plan, cls, n, m = self.plan, type(self.program), self.graph.n, self.graph.m
        shared = plan.interleave and "priorityFunc" not in self.lowered.functions
        if plan.partition_size is not None or n == 0 or max(n, m) > SMALL_EDGES or shared:
            return None
        if cls.all_active:
            return 1 if max(n, m) < SERIAL_EDGES else None
        adds = cls.combine == "add"
        return max(FEW_PARTITIONS[adds], adds * self.threads * PARTITIONS_OF_FOUR // 4)

    def _vertex_bytes(self) -> int:
        """Bytes of a vertex that a partition keeps in the cache: the fields in use and the frontier flag."""
        return 1 + sum(self.program._fields.kind(name)[1].itemsize for name in self.lowered.fields)

    def _delivered_bytes(self, sums: bool) -> int:
        """Bytes of a vertex that a message touches: the fields that it changes, or their sum in float64."""
        changed = (self.program._fields.kind(name)[1].itemsize for name in self.lowered.gathered)
        return SUM_BYTES if sums else max(1, sum(changed))

    def _find_in_edges(self) -> None:
        """Have the in-edges ready; where memory does not allow it, a run that may choose does not pull."""
        begin = time.perf_counter()
        try:
            self.incoming = in_edges(self.graph, self.plan.types.weight is not None)
        except NotEnoughMemory:
            if self.forced == PULL:
                raise
            self.forced = AUTO_PUSH
        self.incoming_seconds += time.perf_counter() - begin
