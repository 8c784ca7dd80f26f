"""GPUs as a target on several ranks: a device for each, messages of mirrors from one to the other.

An iteration is what it is alone (one cooperative launch) over the rank's part (gpop/ranks/part.py), of which
fields, layout and mirrors lie on its device; before it, messages are exchanged (gpop/ranks/gpu_wire.py). The
host reads one row of counts in between; where devices reach each other's memory it launches many iterations
one behind the other (gpop/ranks/peers.py). Nothing is computed while messages travel: there is one frontier,
which mirrors belong to; NVLink has moved them in a tenth of the time of an iteration.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from gpop.common.errors import UsageError
from gpop.cpu import exchange_wire
from gpop.cpu.engine import SLICE_NS
from gpop.gpu import limits
from gpop.gpu.choices import bits_of
from gpop.gpu.device import cupy, current_stream
from gpop.gpu.emitted import Emitted
from gpop.gpu.engine import GpuEngine
from gpop.gpu.kernel import RANKED
from gpop.gpu.prepared import Prepared
from gpop.gpu.ranked import RankedEmitter
from gpop.gpu.traits import Traits
from gpop.gpu.workspace import Shapes
from gpop.plan.engine import Finished
from gpop.plan.plan import Plan
from gpop.plan.trace import COLUMNS, FRONTIER_AT
from gpop.program.program import Program
from gpop.program.values import Fields
from gpop.ranks.gpu_wire import ACTIVE, GpuWire
from gpop.ranks.link import local_device
from gpop.ranks.part import Part, part_of
from gpop.ranks.peers import PeerWire, wire_of
from gpop.ranks.program import hidden_on_ranks
from gpop.ranks.together import Together, agreed_bits
from gpop.ranks.world import World

FIRST = 8
"""Iterations before all look at how long they took: on a device some milliseconds each."""

MODES = "auto", "sc", "pc", "pull"
NOBODY = int(np.iinfo(np.int64).max)
"""In place of the lowest priority where nobody waits (kernels/buckets.cuh)."""

_emitted: dict[tuple[str, Any], Emitted] = {}


class GpuRankEngine(Together, GpuEngine):
    """One rank's side of a run; see `gpop.plan.engine.Engine`."""

    launched = RANKED
    begin = None  # what is noted is of runs alone

    def __init__(self, plan: Plan, world: World, gather: bool) -> None:
        self.world, self.whole_plan, self.gathers = world, plan, gather
        where = f"{type(plan.program).__name__} on {world.size} ranks"
        if plan.mode not in MODES:
            raise UsageError(f"{where}: target 'gpu', mode {plan.mode!r}: expected one of {', '.join(MODES)}")
        cupy().cuda.Device(local_device(world)).use()
        super().__init__(plan)

    # --- before the run ------------------------------------------------------------------------

    def prepare(self) -> dict[str, Any]:
        """The part, the program on it, and what a run alone needs."""
        plan, world = self.whole_plan, self.world
        graph = plan.program.graph
        bits = agreed_bits(bits_of(plan, ()), graph, world, plan.partition_size)
        self.part = part_of(graph, bits, world, everywhere=0.0)  # a device's memory is short
        super().__init__(self._plan_of_part(plan, bits))
        said = super().prepare() | {"ranks": world.size}
        message = self.plan.types.message
        prioritised = "priorityFunc" in self.ready.emitted.defined
        self.wire = wire_of(self.part, message, world, prioritised)
        self.fields["gpop_message"] = self.wire.message
        return said | {"exchange": self.wire.name}

    def _plan_of_part(self, plan: Plan, bits: int) -> Plan:
        degrees = ("out_degree",) if "out_degree" in plan.lowered.built_in else ()
        built_in = tuple(name for name in plan.lowered.built_in if name not in degrees)
        return replace(
            plan,
            program=own_part(plan.program, self.part),
            lowered=plan.lowered._replace(fields=(*plan.lowered.fields, *degrees), built_in=built_in),
            hidden=hidden_on_ranks(plan),
            partition_size=1 << bits,
            alike=None,
            tree=None,
        )

    def _emitted(self) -> Emitted:
        plan = self.whole_plan
        key = (plan.lowered.key, plan.types.weight)
        if key not in _emitted:
            _emitted[key] = RankedEmitter(type(plan.program), plan.lowered).run(plan.types.weight)
        return _emitted[key]

    def _traits(self, emitted: Emitted) -> Traits:
        """Without what takes several iterations at once."""
        traits = super()._traits(emitted)
        return traits._replace(strategies=tuple(each for each in traits.strategies if not each.few))

    def _needs(self, *given: Any) -> tuple[tuple[str, ...], Shapes, int, int]:
        parts, shapes, own, needed = super()._needs(*given)
        wire = self._beside()
        return parts, shapes, own + wire, needed + wire

    def _beside(self) -> int:
        """What the exchange takes of the budget."""
        return GpuWire.bytes_of(self.part, self.plan.types.message)

    def _compiled(self, *made: Any) -> Prepared:
        """On rank 0 first: the others find there what it has compiled."""
        compiled, found = super()._compiled, []
        self.world.first_alone(lambda: found.append(compiled(*made)))
        return found[0]

    # --- the run -------------------------------------------------------------------------------

    def load(self, sources: np.ndarray | None, rows: int) -> None:
        """Fields to the device; the own ones of these vertices, or of all, become the frontier."""
        self.rows, self.pace, self.milliseconds = rows, FIRST, 0.0
        super().load(None if self.traits.all_active else self.own_of(sources), rows)
        self.progress = np.zeros(1, np.int64)
        self.world.progress = self.progress
        if self.wire.prioritised:
            self.wire.launch(self, "gpop_let_wait", self.part.graph.n, self.ready.arguments[1:])
            for name in ("next_frontier", "next_edges", "next_list", "next_heavy"):
                self.control[name] = 0
            self._send(current_stream())
        self._find_active()
        self.whole_active = self.wire.active
        self.milliseconds = 1e3 * (time.perf_counter() - self.refreshed)

    def refresh(self) -> None:
        """As alone; a run's seconds begin when fields are there, on all ranks."""
        super().refresh()
        self.world.barrier()
        self.refreshed = time.perf_counter()

    def iterate(self) -> np.ndarray:
        """Iterate as often as the slowest rank's time of before says; records of all ranks together."""
        begin, most = time.perf_counter(), min(self.rows, self.pace)
        if isinstance(self.wire, PeerWire):
            records = self._rounds(min(most, self.plan.limit - self.iteration))
        elif self.traits.all_active and not self.lowered.filters:
            records = self._iterations(min(most, self.plan.limit - self.iteration))
        else:
            records = []
            while len(records) < most and self.wire.active and self.iteration < self.plan.limit:
                records.append(self._iteration())
        seconds = time.perf_counter() - begin
        self.milliseconds += 1e3 * seconds
        self.progress[0] = self.iteration
        found = np.array(records).reshape(len(records), len(COLUMNS) - 1)
        whole = self.agree(found, seconds, self._active_here)
        if self.slowest * 1e9 < SLICE_NS / 2:
            self.pace = min(2 * self.pace, self.most_rows)
        elif self.slowest * 1e9 > SLICE_NS:
            self.pace = max(self.pace // 2, 1)
        return whole

    @property
    def _active_here(self) -> int:
        return int(self.wire.counts[self.world.rank, ACTIVE])

    def _iteration(self) -> np.ndarray:
        """Exchange, one iteration, and what is active after it; its record."""
        record, all_active = np.zeros(len(COLUMNS) - 1), self.traits.all_active
        active, incoming = self._active_here, self.wire.incoming
        works = all_active or active + incoming > 0
        self._reopen(incoming, works)
        begin, end = self.ready.events
        begin.record()
        self.wire.exchange(self)
        end.record()
        if works:
            self._start(self.ready.loop, current_stream())
        self._find_active()
        for row in self._records():
            record += row
        record[FRONTIER_AT] = self.part.last - self.part.first if all_active else active
        self._note_exchange(begin, end)
        return record

    def _rounds(self, count: int) -> np.ndarray:
        """So many iterations, or as many as there are, one behind the other on the device."""
        all_active = self.traits.all_active
        self.control["rows"] = 0
        self._send(current_stream())
        exchanges = self.wire.rounds(self, count, not all_active or self.lowered.filters)
        self.exchange.receive(current_stream())
        records = self._records().copy()
        own = self.wire.found(count, len(records))[:, self.world.rank, ACTIVE]
        records[:, FRONTIER_AT] = self.part.last - self.part.first if all_active else own
        for begin, end in exchanges[: len(records)]:
            self._note_exchange(begin, end)
        return records

    def _iterations(self, count: int) -> np.ndarray:
        """So many of a program whose vertices all stay active, one behind the other on the device."""
        self._reopen(0, True)
        exchanges = []
        for turn in range(count):
            if turn:
                self.wire.launch(self, "gpop_again", 1, (self.exchange.device_control,))
            exchanges.append([cupy().cuda.Event(), cupy().cuda.Event()])
            exchanges[-1][0].record()
            self.wire.exchange(self)
            exchanges[-1][1].record()
            self._start(self.ready.loop, current_stream())
        self.exchange.receive(current_stream())
        records = self._records().copy()
        records[:, FRONTIER_AT] = self.part.last - self.part.first
        for begin, end in exchanges:
            self._note_exchange(begin, end)
        return records

    def _note_exchange(self, begin: Any, end: Any) -> None:
        self.wire.traffic[exchange_wire.WAITED] += int(1e6 * cupy().cuda.get_elapsed_time(begin, end))

    def _find_active(self) -> None:
        """What is active anywhere, now that an iteration is over; where nothing is, of the next bucket."""
        self.wire.choose(self)
        self.exchange.receive(current_stream())
        least = self.wire.least
        if self.wire.active or least == NOBODY:
            return
        rows = int(self.control["rows"])
        self._reopen(0, True)
        self.control["bucket"], self.control["list_valid"], self.control["rows"] = least, 0, rows
        self._send(current_stream())
        self.wire.launch(self, "gpop_join", self.part.graph.n, self.ready.arguments)
        self.wire.choose(self)
        self.exchange.receive(current_stream())

    def _reopen(self, incoming: int, works: bool) -> None:
        """Put what is active where the exchange adds to it, as if it had been loaded.

        Many that come are not listed: the list is made of bits where one is wanted.
        """
        control = self.control
        if not control["fresh"]:
            control["needy"] += control["frontier"]
            control["needy_edges"] += control["edges"]
            control["next_frontier"], control["next_edges"] = control["frontier"], control["edges"]
            control["next_list"], control["next_heavy"] = control["list_size"], control["heavy_size"]
            control["fresh"] = 1
        if incoming > limits.MOST_LISTED:
            control["list_valid"] = control["next_list"] = control["next_heavy"] = 0
        control["rows"], control["row_limit"] = 0, 1
        control["iteration"] += not works
        self._send(current_stream())

    def _state(self) -> list[Any]:
        """``struct State``: fields begin with the first own vertex, and are reached by global ids."""
        values, names = super()._state(), self.ready.emitted.state_dtype.names
        for name in self.lowered.fields:
            if name in names:
                before = self.part.own.start * self.program._fields.kind(name)[1].itemsize
                values[names.index(name)] = (values[names.index(name)] - before) % (1 << 64)
        return values

    # --- the end -------------------------------------------------------------------------------

    def finish(self) -> Finished:
        """As alone, of all ranks."""
        return self.finished_by_all(super().finish(), self.wire.traffic)


def own_part(program: Program, part: Part) -> Program:
    """The program with its own vertices' fields, which are those of the user's program."""
    local = object.__new__(type(program))
    local.graph = part.graph
    fields = {**program._fields, "out_degree": program.graph.out_degree}
    local._fields = Fields({name: field[part.own] for name, field in fields.items()}, {})
    local._parameters = {
        **program._parameters,
        "gpop_shift": np.uint32(part.shift),
        "gpop_first": np.uint32(part.first),
        "gpop_last": np.uint32(part.last),
    }
    return local
