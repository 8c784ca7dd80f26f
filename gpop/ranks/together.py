"""What one rank's side of a run is on every target: slices of equal length, whole fields, what all have sent.

All ranks do the same steps in the same order. An engine returns to Python on all of them after the same
iteration, about as often as in a run alone, so that progress is shown and callbacks are called as there.

Fields are as long as the whole graph on every rank; a run reads and writes the rank's own range of them.
Callbacks see them whole, and so does who asks for ``gather``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.common.errors import UsageError
from gpop.cpu import exchange_wire
from gpop.graph.graph import Graph
from gpop.plan.engine import Finished
from gpop.plan.plan import Plan
from gpop.plan.trace import GATHER_AT, SCATTER_AT
from gpop.ranks.part import Part
from gpop.ranks.world import World


class Together:
    """Base of a rank's engines, before the target's own; ``plan`` and ``program`` are those of its part."""

    world: World
    whole_plan: Plan
    plan: Plan
    program: Any
    part: Part
    traits: Any
    gathers: bool
    settles = schedules = False
    whole_active: int
    slowest: float
    """Seconds of the slowest rank in what was agreed on last."""
    inside = 0.0
    """Seconds in the loop, those included in which it waited for others."""

    @property
    def active(self) -> int:
        """Of all ranks."""
        return self.whole_active

    @property
    def range(self) -> tuple[int, int]:
        """The vertices whose fields this rank sets."""
        return self.part.own.start, self.part.own.stop

    def own_of(self, sources: np.ndarray | None) -> np.ndarray:
        """Local ids of the own ones of these vertices, or of all own ones."""
        part, own = self.part, self.part.own
        if sources is None:
            return np.arange(part.first, part.last, dtype=np.uint32)
        return sources[(sources >= own.start) & (sources < own.stop)] - np.uint32(part.shift)

    def agree(self, records: np.ndarray, seconds: float, active: int) -> np.ndarray:
        """Records of all ranks: counts added up, times of the slowest; what is active."""
        self.inside += seconds
        counts = np.append(records, float(active))
        times = np.append(records[:, [SCATTER_AT, GATHER_AT]], seconds)
        counts, times = self.world.sum(counts), self.world.most(times)
        self.whole_active = int(counts[-1])
        self.slowest = float(times[-1])
        whole = counts[:-1].reshape(records.shape)
        whole[:, [SCATTER_AT, GATHER_AT]] = times[:-1].reshape(-1, 2)
        return whole

    def publish(self) -> None:
        """Callbacks see whole fields."""
        super().publish()  # type: ignore[misc]
        self.fill_fields()

    def refresh(self) -> None:
        """Callbacks set parameters; fields are in place."""
        super().refresh()  # type: ignore[misc]
        self.program._parameters.update(self.whole_plan.program._parameters)

    def fill_fields(self, touched: np.ndarray | None = None) -> None:
        """Make the fields that the program writes whole; only those of ``touched`` vertices where given."""
        for name in self.plan.lowered.written:
            field = self.whole_plan.program._fields[name]
            if touched is None:
                self.world.fill(field, self.part.bounds)
            else:
                own = self.part.own
                here = touched[(touched >= own.start) & (touched < own.stop)]
                field[touched] = self.world.joined(field[here])

    def finished_by_all(self, finished: Finished, traffic: np.ndarray) -> Finished:
        """The frontier of all ranks, in their order; fields whole where that was asked for."""
        shift = np.uint32(self.part.shift)
        touched = finished.touched
        if self.traits.track:
            touched = self.world.joined(touched + shift)
        if self.gathers:
            self.fill_fields(touched)
        return finished._replace(
            frontier=self.world.joined(finished.frontier + shift),
            touched=touched,
            partitions=-(-self.whole_plan.program.graph.n >> self.part.bits),
            part=self.range,
            traffic=self._said(traffic),
        )

    def _said(self, traffic: np.ndarray) -> list[dict[str, float]]:
        """What each rank has sent and waited, from its counts (`gpop.cpu.exchange`)."""
        return [
            {
                "bytes": each[exchange_wire.BYTES],
                "values": each[exchange_wire.VALUES],
                "exchanges": each[exchange_wire.EXCHANGES],
                "waited_seconds": each[exchange_wire.WAITED] * 1e-9,
                "loop_seconds": each[-1],
            }
            for each in self.world.everyones([*traffic.tolist(), self.inside])
        ]


def agreed_bits(bits: int, graph: Graph, world: World, partition_size: int | None) -> int:
    """Bits of a local id, the same on all ranks; a graph in parts is cut at borders of its own.

    Raises
    ------
    UsageError
        If partitions larger than those are asked for.
    """
    most = getattr(graph, "bits", None)
    if most is not None and bits > most:
        if partition_size is not None:
            raise UsageError(
                f"partition size {partition_size}: {graph!r} was loaded in parts of whole partitions of "
                f"{1 << most}: expected at most that"
            )
        bits = most
    return world.first_ones(bits)
