"""GPUs as a target on several ranks: a device for each, messages of mirrors from one to the other.

An iteration is what it is alone (one cooperative launch) over the rank's part (gpop/ranks/part.py), of which
fields, layout and mirrors lie on its device; before it, messages are exchanged (gpop/ranks/gpu_wire.py). The
host reads one row of counts in between (gpop/ranks/host_rounds.py); where devices reach each other's memory
one launch has many rounds of both (gpop/ranks/peers.py). There a search, whose messages every rank can tell,
sends the bits of its active vertices and has no mirrors: local ids are global ones. Nothing is computed while
messages travel: there is one frontier, which mirrors belong to; NVLink has moved them in a tenth of the time
of an iteration.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from gpop.common.errors import UsageError
from gpop.cpu.engine import SLICE_NS
from gpop.gpu.choices import bits_of
from gpop.gpu.device import cupy, current_stream
from gpop.gpu.emitted import Emitted
from gpop.gpu.engine import GpuEngine
from gpop.gpu.kernel import PEERS, RANKED
from gpop.gpu.prepared import Prepared
from gpop.gpu.ranked import RankedEmitter
from gpop.gpu.traits import Traits
from gpop.gpu.workspace import Shapes
from gpop.graph.kept import Kind
from gpop.plan.engine import Finished
from gpop.plan.plan import Plan
from gpop.plan.trace import COLUMNS, EDGES_AT, FRONTIER_AT
from gpop.ranks.gpu_program import own_part
from gpop.ranks.gpu_wire import ACTIVE, LEAST, GpuWire
from gpop.ranks.host_rounds import HostRounds
from gpop.ranks.link import local_device
from gpop.ranks.part import EVERYWHERE, part_of
from gpop.ranks.peer_blocks import reached
from gpop.ranks.peers import COUNTED, PeerWire, ToldWire, wire_of
from gpop.ranks.program import hidden_on_ranks
from gpop.ranks.together import Together, agreed_bits
from gpop.ranks.world import World

FIRST = 8
"""Iterations before all look at how long they took: on a device some milliseconds each."""

WORD_BITS = 5
"""Bits of the place of a vertex in a word."""

MODES = "auto", "sc", "pc", "pull"

_emitted: dict[tuple[str, Any, bool], Emitted] = {}


class GpuRankEngine(HostRounds, Together, GpuEngine):
    """One rank's side of a run; see `gpop.plan.engine.Engine`."""

    launched = RANKED

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
        same = not plan.lowered.sent and not plan.program.all_active  # what a vertex says, on every rank
        self.part = part_of(graph, bits, world, EVERYWHERE if same else 0.0)  # a device's memory is short
        self.says = same and self.part.everywhere
        message, prioritised = plan.types.message, "priorityFunc" in plan.lowered.functions
        sizes = [kind.block_bytes(self.part, message) for kind in (PeerWire, ToldWire)]
        # A program with priorities asks the host for its next bucket, and so exchanges in steps of the host.
        self.blocks = [] if prioritised else reached(world, max(sizes))
        self.launched = PEERS if self.blocks else RANKED
        super().__init__(self._plan_of_part(plan, bits))
        said = super().prepare() | {"ranks": world.size}
        told = graph.m if self.traits.told else None
        self.wire = wire_of(self.part, message, world, prioritised, self.blocks, told)
        self.fields["gpop_message"], self.fields["gpop_degrees"] = self.wire.message, self._own_degrees()
        return said | {"exchange": self.wire.name}

    def _own_degrees(self) -> Any:
        """Edges of own vertices to all ranks, on the device; where nobody asks for them, none."""
        if not self.traits.told:
            return cupy().zeros(1, np.uint32)
        store, key = self.part.graph.store, ("degrees", cupy().cuda.Device().id)
        kept = store.get(Kind.DEVICE, key)
        if kept is None:
            degrees = self.whole_plan.program.graph.out_degree[self.part.own]
            with self.layout.allocating():
                kept = cupy().asarray(np.append(degrees, 0).astype(np.uint32))
            store.put(Kind.DEVICE, kept, key)
        return kept

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
        key = (plan.lowered.key, plan.types.weight, self.says)
        if key not in _emitted:
            emitter = RankedEmitter(type(plan.program), plan.lowered, self.says)
            _emitted[key] = emitter.run(plan.types.weight)
        return _emitted[key]

    def _traits(self, emitted: Emitted) -> Traits:
        """Without what takes several iterations at once."""
        traits = super()._traits(emitted)
        traits = traits._replace(strategies=tuple(each for each in traits.strategies if not each.few))
        return traits._replace(told=self._is_told(traits))

    def _is_told(self, traits: Traits) -> bool:
        """Whether a rank is told who is active and no more; partitions that send together count edges."""
        pushes = traits.sparse is not None and traits.sparse.name == "push" and traits.dense is None
        return bool(self.blocks) and self.says and pushes and traits.bits >= WORD_BITS

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
        here = None if self.traits.all_active else self.own_of(sources)
        edges = self._edges_of(here) if self.traits.told else COUNTED
        self.progress = np.zeros(1, np.int64)
        self.world.progress = self.progress
        if isinstance(self.wire, PeerWire):
            self.wire.lay_out(self.ready, edges)
        super().load(here, rows)
        if isinstance(self.wire, PeerWire):
            self.whole_active = self.whole_plan.program.graph.n if sources is None else len(sources)
            return
        if self.wire.prioritised:
            self.wire.launch(self, "gpop_let_wait", self.part.graph.n, self.ready.arguments[1:])
            for name in ("next_frontier", "next_edges", "next_list", "next_heavy"):
                self.control[name] = 0
            self._send(current_stream())
        self._find_active()
        self.whole_active = self.wire.active
        self.milliseconds = 1e3 * (time.perf_counter() - self.refreshed)

    def _edges_of(self, here: np.ndarray) -> int:
        """Of own vertices, to all ranks."""
        degrees = self.whole_plan.program.graph.out_degree
        return int(degrees[here + np.int64(self.part.shift)].sum(dtype=np.int64))

    def refresh(self) -> None:
        """As alone; a run's seconds begin when fields are there, on all ranks."""
        super().refresh()
        cupy().cuda.runtime.streamSynchronize(current_stream())
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

    def _rounds(self, count: int) -> np.ndarray:
        """So many rounds of exchange and iteration, or as many as there are, in one launch."""
        all_active, stream = self.traits.all_active, current_stream()
        if not self.fresh:  # else the device has counted what was loaded into Control
            self.control["rows"] = 0
            self._send(stream)
        self.fresh = False
        self.wire.rounds(stream, count)
        self.exchange.receive(stream)
        records = self._records().copy()
        own = self.wire.found(len(records))[:, self.world.rank]
        records[:, FRONTIER_AT] = self.part.last - self.part.first if all_active else own[:, ACTIVE]
        if self.traits.told:
            records[:, EDGES_AT] = own[:, LEAST]
        return records

    def _state(self) -> list[Any]:
        """``struct State``: fields begin with the first own vertex, and are reached by global ids."""
        values, names = super()._state(), self.ready.emitted.state_dtype.names
        sizes = {name: self.program._fields.kind(name)[1].itemsize for name in self.lowered.fields}
        for name, size in (sizes | {"gpop_degrees": 4} if self.traits.told else sizes).items():
            if name in names:
                before = self.part.own.start * size
                values[names.index(name)] = (values[names.index(name)] - before) % (1 << 64)
        return values

    # --- the end -------------------------------------------------------------------------------

    def finish(self) -> Finished:
        """As alone, of all ranks."""
        return self.finished_by_all(super().finish(), self.wire.add_up())
