"""The CPU as a target on several ranks: each runs its part of the graph in its own compiled loop.

All ranks do the same steps in the same order. The loop returns to Python on all of them after the same
iteration; how many iterations it takes at a time follows from the slowest rank's time, so that progress is
shown and callbacks are called as they are in a run alone.

Fields are as long as the whole graph on every rank; a run reads and writes the rank's own range of them.
Callbacks see them whole, and so does who asks for ``gather``.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from gpop.common.errors import UsageError
from gpop.cpu import exchange, loop, specialise
from gpop.cpu.active import load_frontier
from gpop.cpu.engine import SLICE_NS, CpuEngine
from gpop.cpu.workspace import own_edges
from gpop.graph.graph import Graph
from gpop.layout.bins import Bins
from gpop.layout.partition import partition_bits
from gpop.plan.engine import Finished
from gpop.plan.plan import Plan
from gpop.plan.trace import COLUMNS, GATHER_AT, SCATTER_AT
from gpop.ranks.part import part_of
from gpop.ranks.program import hidden_on_ranks, is_told, local_program, ranked, tell_messages
from gpop.ranks.wire import wire_of
from gpop.ranks.world import World


class RankEngine(CpuEngine):
    """One rank's side of a run; see `gpop.plan.engine.Engine`."""

    alone = settles = False

    def __init__(self, plan: Plan, world: World, gather: bool) -> None:
        self.world, self.whole_plan, self.gathers = world, plan, gather
        super().__init__(plan)

    # --- before the run ------------------------------------------------------------------------

    def prepare(self) -> dict[str, Any]:
        """The part, the program on it, and what a run alone needs."""
        plan, graph = self.whole_plan, self.whole_plan.program.graph
        bits = rank_bits(graph, self.world, plan.threads, plan.partition_size, self._vertex_bytes())
        self.part = part_of(graph, bits, self.world)
        program = local_program(plan.program, self.part, plan.types.message)
        self.told = is_told(plan.lowered)
        if self.told:
            tell_messages(plan.lowered, program, self.part)
        super().__init__(
            replace(
                plan,
                program=program,
                lowered=ranked(plan.lowered),
                hidden=hidden_on_ranks(plan),
                alike=None,
            )
        )
        said = super().prepare()
        return said | {"ranks": self.world.size}

    def _compile(self) -> None:
        """The same as alone, on rank 0 first: the others find there what it has compiled."""
        if self.traits.pull == specialise.MAYBE:  # no rank may come back for them while others iterate
            self._find_in_edges()
        if isinstance(self.layout, Bins):
            self.space.inside[:] = self._inside()
        self.wire = wire_of(self.part, self.plan.types.message, self.told, self.world)
        self.world.first_alone(self._compile_all)

    def _compile_all(self) -> None:
        super()._compile()
        if not self.traits.all_active:
            self._loader(whole=False)

    def _bits(self) -> int:
        return self.part.bits

    def _vertex_bytes(self) -> int:
        """As alone: what is kept of mirrors is no vertex data of own partitions."""
        fields = self.whole_plan.lowered.fields
        return 1 + sum(self.program._fields[name].itemsize for name in fields)

    def _inside(self) -> np.ndarray:
        """Which partitions keep at least half of their edges, those to other ranks included."""
        inside = np.zeros(int(self.layout.k), np.uint8)
        first, edges = self.part.first >> self.part.bits, self.part.out_edges
        inside[first : first + edges.size] = 2 * own_edges(self.layout)[first : first + edges.size] >= edges
        return inside

    # --- the run -------------------------------------------------------------------------------

    @property
    def active(self) -> int:
        return self.whole_active

    @property
    def range(self) -> tuple[int, int]:
        return self.part.own.start, self.part.own.stop

    def active_now(self) -> np.ndarray:
        return super().active_now() + np.uint32(self.part.shift)

    def load(self, sources: np.ndarray | None, rows: int, iteration: int = 0) -> None:
        """Make the own ones of these vertices the frontier."""
        part, own = self.part, self.part.own
        self.rows = rows
        self.pace = 1
        if sources is None:
            here = np.arange(part.first, part.last, dtype=np.uint32)
        else:
            here = sources[(sources >= own.start) & (sources < own.stop)] - np.uint32(part.shift)
        self.begin = self.end = time.perf_counter()
        self.found = self.incoming_seconds
        edges, vertices = int(self.layout.indptr[-1]), part.last - part.first
        if self.traits.all_active:
            started = (int(self.layout.k), vertices, edges)
        else:
            started = load_frontier(here, self.lists)
        self._begin(started, vertices, edges, iteration)
        self.world.progress = self.progress
        self._agree(np.empty((0, len(COLUMNS) - 1)), 0.0)

    def iterate(self) -> np.ndarray:
        """Iterate as often as all have agreed on; the records of the trace, of all ranks together."""
        rows = min(self.rows, self.pace)
        records = np.empty((rows, len(COLUMNS) - 1))
        begin = time.perf_counter()
        self._enter(self.plan.limit, records)
        self.end = time.perf_counter()
        return self._agree(records[: self.progress[loop.ROWS]], self.end - begin)

    def _agree(self, records: np.ndarray, seconds: float) -> np.ndarray:
        """Records of all ranks: counts added up, times of the slowest; what is active; the next pace."""
        counts = np.append(records, float(self.progress[loop.FRONTIER]))
        times = np.append(records[:, [SCATTER_AT, GATHER_AT]], seconds)
        counts, times = self.world.sum(counts), self.world.most(times)
        self.whole_active = int(counts[-1])
        if times[-1] * 1e9 < SLICE_NS / 2:
            self.pace = min(2 * self.pace, self.most_rows)
        elif times[-1] * 1e9 > SLICE_NS:
            self.pace = max(self.pace // 2, 1)
        whole = counts[:-1].reshape(records.shape)
        whole[:, [SCATTER_AT, GATHER_AT]] = times[:-1].reshape(-1, 2)
        return whole

    def publish(self) -> None:
        """Callbacks see whole fields."""
        super().publish()
        self._fill_fields()

    def refresh(self) -> None:
        """Callbacks set parameters; fields are in place."""
        super().refresh()
        self.program._parameters.update(self.whole_plan.program._parameters)

    def _fill_fields(self, touched: np.ndarray | None = None) -> None:
        """Make the fields that the program writes whole; only those of ``touched`` vertices where given."""
        for name in self.plan.lowered.written:
            field = self.whole_plan.program._fields[name]
            if touched is None:
                self.world.fill(field, self.part.bounds)
            else:
                own = self.part.own
                here = touched[(touched >= own.start) & (touched < own.stop)]
                field[touched] = self.world.joined(field[here])

    # --- the end -------------------------------------------------------------------------------

    def finish(self) -> Finished:
        """The frontier of all ranks, in their order; fields whole where that was asked for."""
        finished, shift = super().finish(), np.uint32(self.part.shift)
        counters = finished.counters
        if counters is not None:
            total = self.world.sum(np.array(list(counters.values())))
            counters = dict(zip(counters, total.tolist(), strict=True))
        touched = finished.touched
        if self.traits.track:
            touched = self.world.joined(touched + shift)
        if self.gathers:
            self._fill_fields(touched)
        return finished._replace(
            frontier=self.world.joined(finished.frontier + shift),
            touched=touched,
            counters=counters,
            partitions=-(-self.whole_plan.program.graph.n >> self.part.bits),
            part=self.range,
            traffic=self._traffic(),
        )

    def _traffic(self) -> list[dict[str, float]]:
        """What each rank has sent and waited."""
        sent = self.world.everyones(self.wire.traffic.tolist())
        return [
            {
                "bytes": each[exchange.BYTES],
                "values": each[exchange.VALUES],
                "exchanges": each[exchange.EXCHANGES],
                "waited_seconds": each[exchange.WAITED] * 1e-9,
            }
            for each in sent
        ]

    def _take_touched(self) -> np.ndarray:
        if self.traits.all_active:
            return np.arange(self.part.first, self.part.last, dtype=np.uint32)
        return super()._take_touched()


def rank_bits(
    graph: Graph, world: World, threads: int, partition_size: int | None, vertex_bytes: int = 4
) -> int:
    """Bits of a local id, the same on all ranks; a graph in parts is cut at borders of its own.

    Raises
    ------
    UsageError
        If partitions larger than those are asked for.
    """
    bits = partition_bits(
        graph.n, threads * world.size, edges=graph.m, vertex_bytes=vertex_bytes, partition_size=partition_size
    )
    most = getattr(graph, "bits", None)
    if most is not None and bits > most:
        if partition_size is not None:
            raise UsageError(
                f"partition size {partition_size}: {graph!r} was loaded in parts of whole partitions of "
                f"{1 << most}: expected at most that"
            )
        bits = most
    return world.first_ones(bits)
