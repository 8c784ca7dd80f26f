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
from gpop.gpu import calibrate
from gpop.gpu.choices import parts_of, traits_of
from gpop.gpu.device import cupy, current_device, free_bytes, is_device_array, require_device_memory
from gpop.gpu.device_graph import device_graph
from gpop.gpu.edge_arrays import STRUCTS
from gpop.gpu.emit import emit
from gpop.gpu.emitted import Emitted
from gpop.gpu.kernel import (
    BLOCK_THREADS,
    FUSED,
    OWNER,
    STEPPED,
    Traits,
    compile_kernel,
    make_source,
    shared_bytes,
)
from gpop.gpu.streaming import Link, stream
from gpop.gpu.structs import CONTROL, FETCHED_AT, GRAPH, TRACE_AT, TRACE_ROW_BYTES, TRACE_ROWS
from gpop.gpu.workspace import Workspace, queue_shapes, workspace_shapes
from gpop.model.strategies import SC
from gpop.plan.engine import Finished
from gpop.plan.plan import Plan

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

    ``push`` (`gpop.gpu.kernel`) gathers without the program's ``combine``, by compare-and-swap or by one
    owner per vertex: for comparing the ways.
    """

    most_rows = TRACE_ROWS
    launched = FUSED

    def __init__(self, plan: Plan, push: int | None = None) -> None:
        cupy()
        self.plan, self.program, self.lowered, self.push = plan, plan.program, plan.lowered, push
        self.mode = "pc" if plan.mode == "auto" and not plan.may(SC) else plan.mode
        self.fields: dict[str, Any] = {}
        self.halves: tuple[Any, Any] | None = None
        self.arguments: tuple[Any, ...] | None = None
        self.milliseconds = 0.0
        self.link: Link | None = None
        self.link_cost = 0.0

    # --- before the run ------------------------------------------------------------------------

    def prepare(self) -> dict[str, Any]:
        """Layout and workspace to the device, the kernels compiled; refuses what does not fit."""
        plan, graph = self.plan, self.program.graph
        self.emitted = emitted = self._emitted()
        traits = self._traits()
        turned = traits.combine is not None and traits.push != OWNER
        self.layout, self.prepare_seconds = device_graph(graph, traits.bits, turned, worker_count())
        if plan.types.weight is not None:
            traits = traits._replace(bin_weight_dtype=self.layout.bins.id_weights.dtype)
        if plan.residency.name == "stream":
            return self._stream()
        parts, shapes, own, needed = self._needs(traits)
        graph.store.make_room(lambda: needed <= free_bytes(), device=True)
        if traits.pulling and needed > free_bytes():  # a run that may choose does without in-edges
            others = tuple(strategy for strategy in traits.strategies if strategy is not traits.pulling)
            traits = traits._replace(strategies=others)
            parts, shapes, own, needed = self._needs(traits)
        if self._is_too_much(needed, parts, own):
            return self._stream()
        require_device_memory(needed, f"{self.lowered.name} on {graph!r}")
        self.traits = traits
        before = time.perf_counter()
        self.layout.load(parts)
        self.prepare_seconds += time.perf_counter() - before
        shapes |= queue_shapes(self.layout, emitted, traits, (free_bytes() - own) // 2)
        return self._ready(shapes)

    def _emitted(self) -> Emitted:
        return emitted_of(self.plan)

    def _traits(self) -> Traits:
        return traits_of(self.plan, self.emitted, self.push)

    def _is_too_much(self, needed: int, parts: tuple[str, ...], own: int) -> bool:
        """Whether a run that may stream has to; one that may not is refused where its budget is too small."""
        name, budget = self.plan.residency
        taken = own + self.layout.bytes_of(parts)
        if budget is not None and taken > budget and name == "device":
            raise NotEnoughMemory(
                f"{self.lowered.name} on {self.program.graph!r} needs {readable(taken)} of device memory, "
                f"{readable(budget)} are given"
            )
        return name == "auto" and (needed > free_bytes() or (budget is not None and taken > budget))

    def _stream(self) -> dict[str, Any]:
        """The same with a part of the edges on the device."""
        before = time.perf_counter()
        self.layout, self.traits, shapes = stream(self.plan, self.emitted, self.layout, self.push)
        self.prepare_seconds += time.perf_counter() - before
        self.link = Link(self.layout)
        if self.mode == "auto":
            self.link_cost = calibrate.link_cost(GpuEngine)
        return self._ready(shapes) | {"residency": "stream"}

    def _ready(self, shapes: dict[str, tuple[int, np.dtype]]) -> dict[str, Any]:
        """Workspace and kernels."""
        with self.layout.allocating():
            self.space = Workspace(self.program.graph, shapes, self.traits)
            self._compile()
        self.ratio = self.plan.ratio
        if self.ratio is None:
            self.ratio = calibrate.device_ratio(GpuEngine) if self.mode == "auto" else 1.0
        return {"target": "gpu", "device": current_device().name}

    def _needs(self, traits: Traits) -> tuple[tuple[str, ...], dict, int, int]:
        """Arrays of the graph, those of the workspace, bytes of these and of fields, all that is missing."""
        parts = parts_of(self.plan, self.emitted, traits)
        shapes = workspace_shapes(self.layout, self.emitted, traits)
        own = sum(length * dtype.itemsize for length, dtype in shapes.values())
        own += sum(self.program._fields[name].nbytes for name in self.lowered.fields)
        return parts, shapes, own, self.layout.missing_bytes(parts) + own

    def _compile(self) -> None:
        self.module = module = compile_kernel(make_source(self.emitted, self.traits, self.launched))
        self.loop, self.loader = module.get_function("gpop_loop"), module.get_function("gpop_load")
        self.shared = shared_bytes(self.emitted, self.traits)
        self.loop.max_dynamic_shared_size_bytes = self.shared
        self.blocks = current_device().multiprocessors
        self.device_control = cupy().zeros(CONTROL.itemsize, np.uint8)
        self.begin, self.end = cupy().cuda.Event(), cupy().cuda.Event()

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
        graph, control = self.program.graph, np.zeros((), CONTROL)
        control["limit"], control["ratio"] = self.plan.limit, self.ratio
        control["link_cost"] = self.link_cost
        control["row_limit"], control["slice_ns"], control["fresh"] = rows, SLICE_NS, 1
        control["heavy_size"] = self.space.heavy_size
        control["frontier"] = graph.n if sources is None else len(sources)
        control["needy"], control["needy_edges"] = graph.n, graph.m
        control["least"] = np.iinfo(np.int64).max  # NOBODY of kernels/buckets.cuh
        if self.traits.all_active:
            control["next_frontier"] = graph.n
        self.control = control
        self._send()
        self.begin.record()
        self.fresh = True
        if not self.traits.all_active:
            with self.layout.allocating():
                given = cupy().asarray(np.zeros(1, np.uint32) if sources is None else sources)
            size = np.int64(-1 if sources is None else len(sources))
            arguments = (self._graph(), self.space.argument, self.device_control, given, size)
            self.loader((self.blocks,), (BLOCK_THREADS,), arguments)

    def iterate(self) -> np.ndarray:
        """Let the device iterate until the host is due; the records of the trace."""
        self._launch(self.loop)
        return self._records()

    def scatter(self) -> None:
        """The first half of an iteration. Its kernels are compiled when they are first wanted."""
        if self.halves is None:
            module = compile_kernel(make_source(self.emitted, self.traits, STEPPED))
            self.halves = module.get_function("gpop_scatter"), module.get_function("gpop_gather")
            for kernel in self.halves:
                kernel.max_dynamic_shared_size_bytes = self.shared
        if self.fresh:  # one record at a time, which the loader knows nothing of
            self.control = self._received()
            self.fresh = False
        self.control["row_limit"] = 1
        self._launch(self.halves[0])

    def gather(self) -> np.ndarray:
        """The second half; the record of the iteration."""
        self._launch(self.halves[1], goes_on=True)
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
        if not self.fresh:  # else the device has counted what was loaded into Control
            if not goes_on:
                self.control["rows"] = 0
            self._send()
            self.begin.record()
        self.fresh = False
        self._start(kernel)
        self.end.record()
        self.control = self._received()
        self.milliseconds += cupy().cuda.get_elapsed_time(self.begin, self.end)

    def _start(self, kernel: Any) -> None:
        kernel((self.blocks,), (BLOCK_THREADS,), self._arguments(), shared_mem=self.shared)

    def _arguments(self) -> tuple[Any, ...]:
        """What kernels get; filling the structs takes longer than a launch, so once until `refresh`."""
        if self.arguments is None:
            self.arguments = self._state(), self._graph(), self.space.argument, self.device_control
        return self.arguments

    def _received(self, rows: int = TRACE_ROWS) -> np.ndarray:
        """``struct Control`` as the device has left it, with so many rows of the trace."""
        known = TRACE_AT + rows * TRACE_ROW_BYTES
        control = np.zeros((), CONTROL)
        control.reshape(1).view(np.uint8)[:known] = self.device_control[:known].get()
        return control

    def _send(self) -> None:
        """What the next launch begins with; nobody has arrived at its barriers."""
        self.control["arrived_blocks"] = self.control["released"] = self.control["levels_arrived"] = 0
        before = np.frombuffer(self.control.tobytes(), np.uint8)[:TRACE_AT]
        self.device_control[:TRACE_AT].set(before)

    def refresh(self) -> None:
        """Fields to the device; those that are there already (CuPy arrays) are used as they are."""
        self.arguments = None
        for name in self.lowered.fields:
            field = self.program._fields[name]
            if is_device_array(field):
                self.fields[name] = field
            elif name in self.fields:
                self.fields[name].set(field)
            else:
                # Room behind the field: compare-and-swap of small fields takes the word around them.
                with self.layout.allocating():
                    room = cupy().zeros(len(field) + 8, field.dtype)
                self.fields[name] = room[: len(field)]
                self.fields[name].set(field)

    def publish(self) -> None:
        """Have fields where the program has them."""
        self._fetch_fields()

    def _fetch_fields(self) -> None:
        """Fields that the program writes back to where it has them."""
        for name in self.lowered.written:
            field = self.program._fields[name]
            if not is_device_array(field):
                self.fields[name].get(out=field)

    def _state(self) -> np.ndarray:
        """``struct State`` as the program is now."""
        state = np.zeros(1, self.emitted.state_dtype)
        for name in self.emitted.state_dtype.names:
            if name in self.fields:
                state[name] = self.fields[name].data.ptr
            elif name == "out_degree":
                state[name] = self.layout["out_degree"].data.ptr
            elif name not in ("iteration", "nothing"):
                state[name] = self.program._parameters[name]
        return state

    def _graph(self) -> np.ndarray:
        """``struct Graph``."""
        arrays, counts = self.layout.arrays, self.layout.counts
        graph = np.zeros(1, GRAPH)
        graph["n"], graph["m"], graph["k"] = self.program.graph.n, self.program.graph.m, self.layout.bins.k
        graph["column_pieces"] = counts.get("column_piece", 0)
        graph["row_pieces"] = counts.get("row_piece", 0)
        graph["hubs"], graph["queues"] = counts.get("hub_vertex", 0), len(self.space.arrays["called"])
        if "coo_first" in arrays:
            shape = self.layout.hyb_shape
            graph["ell_width"], graph["ell_pitch"], graph["coo_entries"] = shape
        for name in GRAPH.names[GRAPH.names.index("indptr") :]:
            weighted = self.plan.types.weight is not None and name in STRUCTS
            array = arrays.get(f"weighted_{name}" if weighted else name)
            graph[name] = 0 if array is None else array.data.ptr
        return graph

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
            threads=self.blocks * BLOCK_THREADS,
            partition_size=1 << traits.bits,
            partitions=int(self.layout.bins.k),
            link=None if self.link is None else self.link.said(),
        )
        if self.link is not None:  # what others may want of the device
            self.space.arrays.clear()
            self.fields.clear()
            self.layout.pool.free_all_blocks()
        return finished

    def _left(self) -> np.ndarray:
        """Who is active, or waits."""
        n, space = self.program.graph.n, self.space
        if self.traits.all_active:
            return np.empty(0, np.uint32)
        active = space.vertices_in("frontier_bits", n)
        if not len(space.arrays["waiting_bits"]):
            return active
        return np.union1d(active, space.vertices_in("waiting_bits", n))

    def abandon(self) -> None:
        """Arrays are made anew for each run."""
