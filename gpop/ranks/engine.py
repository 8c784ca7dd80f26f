"""The CPU as a target on several ranks: each runs its part of the graph in its own compiled loop.

What all targets have in common is in `gpop.ranks.together`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from gpop.cpu import loop_state
from gpop.cpu.active import load_frontier
from gpop.cpu.engine import CpuEngine
from gpop.cpu.exchange_wire import CLOCK, EXCHANGE_TURN
from gpop.cpu.follow import ANYWHERE
from gpop.cpu.traits import MAYBE
from gpop.cpu.workspace_tables import own_edges
from gpop.graph.graph import Graph
from gpop.layout.bins import Bins
from gpop.layout.partition import partition_bits
from gpop.plan.engine import Finished
from gpop.plan.plan import Plan
from gpop.plan.trace import COLUMNS
from gpop.ranks.cores import allowed_here, cores_of, kept_on, places_of
from gpop.ranks.part import EVERYWHERE, part_of
from gpop.ranks.program import hidden_on_ranks, is_told, local_program, ranked, tell_messages
from gpop.ranks.together import Together, agreed_bits
from gpop.ranks.wire import messages_of, wire_of
from gpop.ranks.world import World


class RankEngine(Together, CpuEngine):
    """One rank's side of a run; see `gpop.plan.engine.Engine`."""

    alone = False

    def __init__(self, plan: Plan, world: World, gather: bool) -> None:
        self.world, self.whole_plan, self.gathers = world, plan, gather
        super().__init__(plan)

    # --- before the run ------------------------------------------------------------------------

    def prepare(self) -> dict[str, Any]:
        """The part, the program on it, and what a run alone needs."""
        plan, graph = self.whole_plan, self.whole_plan.program.graph
        bits = rank_bits(graph, self.world, plan.threads, plan.partition_size, self._vertex_bytes())
        self.told, message = is_told(plan.lowered), plan.types.message
        self.part = part_of(graph, bits, self.world, EVERYWHERE if self.told else 0.0)
        messages = messages_of(self.part, message, self.told, self.world)
        program = local_program(plan.program, self.part, messages)
        if self.told and not self.part.everywhere:
            tell_messages(plan.lowered, program, self.part)
        super().__init__(
            replace(
                plan,
                program=program,
                lowered=ranked(plan.lowered, self.part.everywhere),
                hidden=hidden_on_ranks(plan),
                alike=None,
            )
        )
        said = super().prepare()
        return said | {"ranks": self.world.size}

    def _compile(self) -> None:
        """The same as alone, on rank 0 first: the others find there what it has compiled."""
        if self.traits.pull == MAYBE:  # no rank may come back for them while others iterate
            self._find_in_edges()
        if isinstance(self.layout, Bins):
            self.space.inside[:] = self._inside()
        if self.space.edges_here.size:
            self.space.edges_here[:] = self._edges_here()
        self.wire = wire_of(self.part, self.plan.types.message, self.told, self.world)
        self.world.first_alone(self._compile_all)

    def _compile_all(self) -> None:
        super()._compile()
        self._ready_loop()
        if not self.traits.all_active:
            self._loader(whole=False)

    def _bits(self) -> int:
        return self.part.bits

    def _vertex_bytes(self) -> int:
        """As alone: what is kept of mirrors is no vertex data of own partitions."""
        fields = self.whole_plan.lowered.fields
        return 1 + sum(self.program._fields.kind(name)[1].itemsize for name in fields)

    def _inside(self) -> np.ndarray:
        """Which partitions keep at least half of their edges, those to other ranks included."""
        inside = np.zeros(int(self.layout.k), np.uint8)
        first, edges = self.part.first >> self.part.bits, self.part.out_edges
        inside[first : first + edges.size] = 2 * own_edges(self.layout)[first : first + edges.size] >= edges
        return inside

    def _edges_here(self) -> np.ndarray:
        """How many of the edges of each own partition end here, by all of them."""
        found, bits = np.zeros(int(self.layout.k)), self.part.bits
        first, edges = self.part.first >> bits, self.part.out_edges
        borders = np.minimum((first + np.arange(edges.size + 1)) << bits, self.part.last)
        found[first : first + edges.size] = np.diff(self.layout.indptr[borders]) / np.maximum(edges, 1)
        return found

    # --- the run -------------------------------------------------------------------------------

    def active_now(self) -> np.ndarray:
        return super().active_now() + np.uint32(self.part.shift)

    def load(self, sources: np.ndarray | None, rows: int, iteration: int = 0) -> None:
        """Make the own ones of these vertices the frontier; a run's seconds begin when all ranks are here."""
        turn = self.wire.calls[EXCHANGE_TURN : EXCHANGE_TURN + 1]
        turn[:] = self.world.most(turn)  # where a run was given up, ranks may have come differently far
        part, here = self.part, self.own_of(sources)
        self.rows = rows
        self.begin = self.end = time.perf_counter()
        self.found = self.incoming_seconds
        edges, vertices = int(self.layout.indptr[-1]), part.last - part.first
        if self.traits.all_active:
            started = (int(self.layout.k), vertices, edges)
        else:
            started = load_frontier(here, self.lists)
            self._note_edges(here if sources is None else np.unique(here))
        self._begin(started, vertices, edges, iteration)
        self.world.progress = self.progress
        self._agreed(np.empty((0, len(COLUMNS) - 1)), 0.0)

    def _note_edges(self, here: np.ndarray) -> None:
        """All edges of the vertices of the frontier, by partition."""
        degrees = self.whole_plan.program.graph.out_degree[here + np.int64(self.part.shift)]
        self.space.whole_edges[:] = np.bincount(here >> self.part.bits, degrees, int(self.layout.k))

    def iterate(self) -> np.ndarray:
        """Iterate until all return; the records of the trace, of all ranks together."""
        records = np.empty((self.rows, len(COLUMNS) - 1))
        clock = int(self.wire.calls[CLOCK])
        begin = time.clock_gettime(clock)
        self._enter(self.plan.limit, records)
        inside, self.end = time.clock_gettime(clock) - begin, time.perf_counter()
        return self._agreed(records[: self.progress[loop_state.ROWS]], inside)

    def _cores(self) -> tuple[int, ...]:
        """A core for each thread; none where the system is to choose."""
        if allowed_here() != self.world.allowed[self.world.local_rank]:  # somebody else has chosen since
            return ()
        return cores_of(self.world.local_rank, self.threads, self.world.allowed)

    def _enter(self, *numbers: Any, **how: Any) -> bool:
        self._place()
        with kept_on(self.cores[:1]):
            return super()._enter(*numbers, **how)

    def _place(self) -> None:
        """Choose where threads are kept now."""
        self.cores, allowed = self._cores(), self.world.allowed[self.world.local_rank]
        self.places = places_of(self.cores, allowed) if self.cores else ANYWHERE

    def _agreed(self, records: np.ndarray, seconds: float) -> np.ndarray:
        return self.agree(records, seconds, int(self.progress[loop_state.FRONTIER]))

    # --- the end -------------------------------------------------------------------------------

    def finish(self) -> Finished:
        """As alone, of all ranks."""
        finished = super().finish()
        if finished.counters is not None:
            total = self.world.sum(np.array(list(finished.counters.values())))
            finished = finished._replace(counters=dict(zip(finished.counters, total.tolist(), strict=True)))
        return self.finished_by_all(finished, self.wire.traffic)

    def _take_touched(self) -> np.ndarray:
        if self.traits.all_active:
            return np.arange(self.part.first, self.part.last, dtype=np.uint32)
        return super()._take_touched()


def rank_bits(
    graph: Graph, world: World, threads: int, partition_size: int | None, vertex_bytes: int = 4
) -> int:
    """Bits of a local id on all ranks (`agreed_bits`)."""
    bits = partition_bits(
        graph.n, threads * world.size, edges=graph.m, vertex_bytes=vertex_bytes, partition_size=partition_size
    )
    return agreed_bits(bits, graph, world, partition_size)
