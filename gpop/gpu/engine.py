"""The GPU as a target: layout and fields to the device, slices of the device's loop, and the end of a run.

The loop (kernels/engine.cuh) is one cooperative launch that iterates until it is over, its trace buffer is
full or its time slice has passed; the host reads one small block (Control) then.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gpop.common.errors import NotEnoughMemory
from gpop.common.memory import readable
from gpop.common.parallel import worker_count
from gpop.gpu import calibrate, limits, staging
from gpop.gpu.choices import mode_of, parts_of, traits_of
from gpop.gpu.device import cupy, free_bytes, is_device_array, require_device_memory
from gpop.gpu.device_graph import DeviceGraph, device_graph
from gpop.gpu.emit import emit
from gpop.gpu.emitted import Emitted
from gpop.gpu.exchange import FEW, ROOM
from gpop.gpu.kernel import FUSED
from gpop.gpu.left import OnDevice, make_room
from gpop.gpu.prepared import Prepared, note, noted
from gpop.gpu.streaming import Link, stream
from gpop.gpu.structs import FETCHED_AT, TRACE_ROWS, argument
from gpop.gpu.traits import OWNER, Traits
from gpop.gpu.tree import load_tree
from gpop.gpu.workspace import Shapes, queue_shapes, workspace_shapes
from gpop.graph.kept import Kind
from gpop.model.choosers import AUTO_PUSH
from gpop.model.strategies import TREE
from gpop.plan.engine import Finished
from gpop.plan.plan import Plan
from gpop.program.values import Recipe

SLICE_NS = 100_000_000
"""The loop returns to Python after the iteration in which so many nanoseconds pass, for progress and Ctrl-C.

An iteration is not cut: its longest chain is a hub's, 20 ns per message (kernels/owner.cuh), so that it
takes a vertex of five million in-edges to be late by as much again."""

_emitted_programs: dict[tuple[str, Any], Emitted] = {}


def emitted_of(plan: Plan) -> Emitted:
    """The CUDA functions of a program, kept by its content."""
    key = (plan.lowered.key, plan.types.weight)
    if key not in _emitted_programs:
        _emitted_programs[key] = emit(type(plan.program), plan.lowered, plan.types.weight)
    return _emitted_programs[key]


class GpuEngine:
    """One run on the current device; see `gpop.plan.engine.Engine`.

    ``push`` (`gpop.gpu.traits`) gathers without the program's ``combine``, by compare-and-swap or by one
    owner per vertex: for comparing the ways.
    """

    most_rows = TRACE_ROWS
    settles = True
    launched = FUSED

    def __init__(self, plan: Plan, push: int | None = None) -> None:
        cupy()
        self.plan, self.program, self.lowered, self.push = plan, plan.program, plan.lowered, push
        self.mode = TREE if plan.tree is not None and not self.program.all_active else mode_of(plan)
        self.fields: dict[str, Any] = {}
        self.arguments: tuple[Any, ...] | None = None
        self.milliseconds = self.prepare_seconds = 0.0
        self.link: Link | None = None

    # --- before the run ------------------------------------------------------------------------

    def prepare(self) -> dict[str, Any]:
        """Layout and workspace to the device, the kernels compiled; refuses what does not fit."""
        kept = noted(self.plan) if self.push is None else None
        ready = kept or self._made_ready()
        self.ready, self.layout, self.traits = ready, ready.layout, ready.traits
        with self.layout.allocating():
            self.exchange = ready.exchange_for(self.program, () if self.link else self.lowered.fields)
            self.space = ready.take_space(self.program.graph)
        if kept is None:
            self.prepare_seconds = ready.seconds
            for name in filter(self._is_constant, self.lowered.fields):  # what is kept later undoes notes
                self._copy_of(self.program._fields[name])
            if self.push is None and self.link is None:
                note(self.plan, ready)
        self.module = ready.module
        said = {"target": "gpu", "device": ready.device.name}
        return said | {"residency": "stream"} if self.link else said

    def _made_ready(self) -> Prepared:
        """Prepared anew, the arrays of the layout on the device."""
        plan, graph = self.plan, self.program.graph
        emitted = self._emitted()
        traits = self._traits(emitted)
        turned = traits.combine is not None and traits.push != OWNER
        layout, seconds = device_graph(graph, traits.bits, turned, worker_count())
        if plan.types.weight is not None:
            traits = traits._replace(bin_weight_dtype=layout.bins.id_weights.dtype)
        if plan.residency.name == "stream":
            return self._stream(emitted, seconds)
        parts, shapes, own, needed = self._needs(layout, emitted, traits)
        make_room(graph, needed)
        if traits.pulling and needed > free_bytes():  # a run that may choose does without in-edges
            others = tuple(strategy for strategy in traits.strategies if strategy is not traits.pulling)
            traits = traits._replace(strategies=others)
            parts, shapes, own, needed = self._needs(layout, emitted, traits)
        if self._is_too_much(needed, own + layout.bytes_of(parts)):
            return self._stream(emitted, seconds)
        require_device_memory(needed, f"{self.lowered.name} on {graph!r}")
        before = time.perf_counter()
        layout.load(parts)
        seconds += time.perf_counter() - before
        shapes |= queue_shapes(layout, emitted, traits, (free_bytes() - own) // 2)
        return self._with_constants(self._compiled(layout, emitted, traits, shapes, seconds))

    def _emitted(self) -> Emitted:
        return emitted_of(self.plan)

    def _traits(self, emitted: Emitted) -> Traits:
        return traits_of(self.plan, emitted, self.push)

    def _is_too_much(self, needed: int, taken: int) -> bool:
        """Whether a run that may stream has to; one that may not is refused where its budget is too small."""
        name, budget = self.plan.residency
        if budget is not None and taken > budget and name == "device":
            raise NotEnoughMemory(
                f"{self.lowered.name} on {self.program.graph!r} needs {readable(taken)} of device memory, "
                f"{readable(budget)} are given"
            )
        return name == "auto" and (needed > free_bytes() or (budget is not None and taken > budget))

    def _stream(self, emitted: Emitted, seconds: float) -> Prepared:
        """The same with a part of the edges on the device."""
        before = time.perf_counter()
        streamed, traits, shapes = stream(self.plan, emitted, self.push, self._beside())
        if self.program.all_active:  # a tree may have said what wants all edges on the device
            self.mode = mode_of(self.plan, budgeted=True)
        self.link = Link(streamed)
        seconds += time.perf_counter() - before
        return self._with_constants(self._compiled(streamed, emitted, traits, shapes, seconds))

    def _beside(self) -> int:
        """Bytes of the device that a run takes beside what it is given by its layout."""
        return 0

    def _compiled(self, *made: Any) -> Prepared:
        return Prepared(*made, launched=self.launched)

    def _with_constants(self, ready: Prepared) -> Prepared:
        """What the model goes by, measured where it was not yet, and the tree in its place."""
        ratio, auto = self.plan.ratio, self.mode in ("auto", TREE)
        if ratio is None:
            ratio = calibrate.device_ratio(GpuEngine) if auto else 1.0
        ready.ratio = ratio
        ready.link_cost = calibrate.link_cost(GpuEngine) if auto and self.link else 0.0
        if self.plan.tree is not None:
            with ready.layout.allocating():
                ready.fixed = load_tree(self.plan, ready.traits, self.link is not None)
        return ready

    def _needs(
        self, layout: DeviceGraph, emitted: Emitted, traits: Traits
    ) -> tuple[tuple[str, ...], Shapes, int, int]:
        """Arrays of the graph, those of the workspace, bytes of these and of fields, all that is missing."""
        parts = parts_of(self.plan, emitted, traits)
        shapes = workspace_shapes(layout, emitted, traits)
        own = sum(length * dtype.itemsize for length, dtype in shapes.values())
        own += sum(self.program._fields.nbytes(name) for name in self.lowered.fields)
        return parts, shapes, own, layout.missing_bytes(parts) + own

    # --- the run -------------------------------------------------------------------------------

    @property
    def iteration(self) -> int:
        return int(self.control["iteration"])

    @property
    def active(self) -> int:
        return 0 if self.control["finished"] else int(self.control["frontier"])

    def load(self, sources: np.ndarray | None, rows: int) -> None:
        """Fields to the device; these vertices, or all, become the frontier."""
        self.refresh()
        graph, ready, control = self.program.graph, self.ready, self.exchange.clear()
        control["limit"], control["ratio"] = self.plan.limit, ready.ratio
        control["link_cost"] = ready.link_cost
        control["row_limit"], control["slice_ns"], control["fresh"] = rows, SLICE_NS, 1
        control["heavy_size"] = self.space.heavy_size
        control["frontier"] = graph.n if sources is None else len(sources)
        control["needy"], control["needy_edges"] = graph.n, graph.m
        control["way"] = AUTO_PUSH
        control["least"] = np.iinfo(np.int64).max  # NOBODY of kernels/buckets.cuh
        if self.traits.all_active:
            control["next_frontier"] = graph.n
        self.control, self.fresh = control, True
        given = None if self.traits.all_active else self._given(sources)
        self._send()
        ready.events[0].record()
        if given is not None:
            size = np.int64(-1 if sources is None else len(sources))
            arguments = (ready.graph, self.space.argument, self.exchange.device_control, given, size)
            ready.loader((ready.device.multiprocessors,), (limits.BLOCK_THREADS,), arguments)

    def _given(self, sources: np.ndarray | None) -> Any:
        """Where these vertices lie on the device when the next copy has been made."""
        if sources is None or len(sources) <= FEW:
            return self.exchange.take_frontier(np.zeros(1, np.uint32) if sources is None else sources)
        with self.layout.allocating():
            return cupy().asarray(sources)

    def iterate(self) -> np.ndarray:
        """Let the device iterate until the host is due; the records of the trace."""
        self._launch(self.ready.levels if self._is_for_the_cluster() else self.ready.loop)
        return self._records()

    def _is_for_the_cluster(self) -> bool:
        """Whether few are active, as far as is known: a run begins so, where the graph has it."""
        if self.ready.levels is None:
            return False
        return self.fresh or bool(self.control["few"])

    def scatter(self) -> None:
        """The first half of an iteration. Its kernels are compiled when they are first wanted."""
        if self.fresh:  # one record at a time, which the loader knows nothing of
            self.exchange.receive()
            self.fresh = False
        self.control["row_limit"] = 1
        self._launch(self.ready.get_halves()[0])

    def gather(self) -> np.ndarray:
        """The second half; the record of the iteration."""
        self._launch(self.ready.get_halves()[1], goes_on=True)
        return self._records()

    def _records(self) -> np.ndarray:
        records = self.control["trace"][: int(self.control["rows"])]
        if self.link is not None:
            self.link.take(records)
        return records[:, :FETCHED_AT]

    def _launch(self, kernel: Any, goes_on: bool = False) -> None:
        """One cooperative launch on the arrays of the run, timed; Control is read back.

        ``goes_on``: with the record that the launch before has begun.
        """
        ready, exchange = self.ready, self.exchange
        if not self.fresh:  # else the device has counted what was loaded into Control
            if not goes_on:
                self.control["rows"] = 0
            self._send()
            ready.events[0].record()
        self.fresh = False
        self._start(kernel)
        ready.events[1].record()
        exchange.receive()
        self.milliseconds += cupy().cuda.get_elapsed_time(*ready.events)

    def _start(self, kernel: Any) -> None:
        if kernel is self.ready.levels:
            blocks, threads = limits.CLUSTER, min(limits.CLUSTER_THREADS, limits.BLOCK_THREADS)
        else:
            blocks, threads = self.ready.device.multiprocessors, limits.BLOCK_THREADS
        kernel((blocks,), (threads,), self._arguments(), shared_mem=self.ready.shared)

    def _arguments(self) -> tuple[Any, ...]:
        """What kernels get; filling the structs takes longer than a launch, so once until `refresh`."""
        if self.arguments is None:
            control = self.exchange.device_control
            self.arguments = self._state(), self.ready.graph, self.space.argument, control
        return self.arguments

    def _send(self) -> None:
        """What the next launch begins with; nobody has arrived at its barriers."""
        self.control["arrived_blocks"] = self.control["released"] = self.control["levels_arrived"] = 0
        self.exchange.send()

    def refresh(self) -> None:
        """Fields to the device; those that are there already (CuPy arrays) are used as they are."""
        self.arguments = None
        fields = self.program._fields
        # What is made first: others may be made of it.
        for name in sorted(self.lowered.fields, key=fields.recipes.__contains__):
            if name in self.exchange.fields:
                self.fields[name] = self.exchange.fields[name]
                self.exchange.take(name, fields[name])
            elif name in fields.recipes:
                self._make(name, fields.recipes[name])
            elif is_device_array(fields[name]):
                self.fields[name] = fields[name]
            elif self._is_constant(name):
                self.fields[name] = self._copy_of(fields[name])
            else:
                if name not in self.fields:
                    self.fields[name] = self._room(*fields.kind(name))
                staging.send(fields[name], self.fields[name])

    def _make(self, name: str, recipe: Recipe) -> None:
        """A field that nobody has looked at, where it is not there already."""
        if name in self.fields:
            return
        left = recipe.here() if isinstance(recipe, OnDevice) else None
        if left is not None:
            self.fields[name] = left
            return
        self.fields[name] = self._room(recipe.length, recipe.dtype)
        recipe.on_device(self.fields[name], self.fields)

    def _room(self, length: int, dtype: np.dtype) -> Any:
        """For a field, and some behind it: compare-and-swap of small types takes the word around them."""
        with self.layout.allocating():
            return cupy().zeros(length + ROOM, dtype)[:length]

    def _is_constant(self, name: str) -> bool:
        """Whether nobody may write a field, and it travels alone."""
        field = self.program._fields.made.get(name)
        if field is None or is_device_array(field) or name in self.exchange.fields or self.link is not None:
            return False
        return not field.flags.writeable

    def _copy_of(self, field: np.ndarray) -> Any:
        """A field that nobody may write is sent once, and kept with the graph."""
        store, key = self.program.graph.store, ("field", id(field))
        kept = store.get(Kind.DEVICE, key)
        if kept is None:
            kept = field, self._room(len(field), field.dtype)
            staging.send(*kept)
            store.put(Kind.DEVICE, kept, key, about="field")
        return kept[1]

    def publish(self) -> None:
        """Have fields where the program has them."""
        self._fetch_fields()

    def _fetch_fields(self) -> None:
        """Fields that the program writes back to where it has them; what nobody has looked at stays."""
        fields = self.program._fields
        for name in self.lowered.written:
            if name in self.exchange.fields:
                np.copyto(fields[name], self.exchange.brought(name))
            elif name in fields.recipes:
                fields.recipes[name] = OnDevice(self.fields[name])
                if self.link is not None:  # which gives back all that it has of the device
                    fields[name]
            elif not is_device_array(fields[name]):
                staging.fetch(self.fields[name], fields[name])

    def _state(self) -> np.ndarray:
        """``struct State`` as the program is now."""
        state = np.zeros(1, self.ready.emitted.state_dtype)
        for name in state.dtype.names:
            if name in self.fields:
                state[name] = self.fields[name].data.ptr
            elif name == "out_degree":
                state[name] = self.layout["out_degree"].data.ptr
            elif name not in ("iteration", "nothing"):
                state[name] = self.program._parameters[name]
        return argument(state)

    # --- the end -------------------------------------------------------------------------------

    def finish(self) -> Finished:
        """Fields back, and the vertices that are still active."""
        self._fetch_fields()
        n, traits = self.program.graph.n, self.traits
        finished = Finished(
            seconds=self.milliseconds * 1e-3,
            prepare_seconds=self.prepare_seconds,
            frontier=self._left(),
            touched=self.space.vertices_in("touched_bits", n) if traits.track else None,
            counters=None,
            mode=self.mode,
            threads=self.ready.device.multiprocessors * limits.BLOCK_THREADS,
            partition_size=1 << traits.bits,
            partitions=int(self.layout.bins.k),
            link=None if self.link is None else self.link.said(),
        )
        if self.link is not None:  # what others may want of the device
            del self.space
            self.fields.clear()
            self.layout.pool.free_all_blocks()
        elif traits.all_active or not self.active:
            self.ready.keep_space(self.space)
        return finished

    def _left(self) -> np.ndarray:
        """Who is active, or waits."""
        n, space = self.program.graph.n, self.space
        if self.traits.all_active or not self.active:
            return np.empty(0, np.uint32)
        active = space.vertices_in("frontier_bits", n)
        if not space.shapes["waiting_bits"][0]:
            return active
        return np.union1d(active, space.vertices_in("waiting_bits", n))

    def abandon(self) -> None:
        """The workspace was not given back."""
