"""One run on a GPU: what the loop is called with, slice after slice, and the fields on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.common.progress import IterationBar
from gpop.execution.run import UNLIMITED, Run
from gpop.gpu.device import cupy, current_device, is_device_array
from gpop.gpu.emit import Emitted
from gpop.gpu.kernel import (
    BLOCK_THREADS,
    OWNER,
    STEPPED,
    Traits,
    compile_kernel,
    make_source,
    shared_bytes,
)
from gpop.gpu.layout import DeviceGraph
from gpop.gpu.structs import CONTROL, GRAPH, TRACE_ROWS
from gpop.gpu.workspace import Workspace
from gpop.plan.trace import Trace
from gpop.program.lowering import Lowered
from gpop.program.program import Program

SLICE_NS = 100_000_000
"""The loop returns to Python after the iteration in which so many nanoseconds pass, for progress and Ctrl-C.

An iteration is not cut: its longest chain is a hub's, 20 ns per message (kernels/owner.cuh), so that it
takes a vertex of five million in-edges to be late by as much again."""


class Job:
    """One run: what the loop is called with, and the fields on the device."""

    def __init__(
        self,
        program: Program,
        lowered: Lowered,
        emitted: Emitted,
        traits: Traits,
        layout: DeviceGraph,
        space: Workspace,
        mode: str,
        interleave: bool,
    ) -> None:
        self.program, self.lowered, self.emitted, self.traits = program, lowered, emitted, traits
        self.layout, self.space = layout, space
        self.mode, self.interleave = mode, interleave
        self.module = compile_kernel(make_source(emitted, traits))
        self.loop, self.load = self.module.get_function("gpop_loop"), self.module.get_function("gpop_load")
        self.shared = shared_bytes(emitted, traits)
        self.loop.max_dynamic_shared_size_bytes = self.shared
        self.blocks = current_device().multiprocessors
        self.control = cupy().zeros(CONTROL.itemsize, np.uint8)
        self.hubs = layout.counts["hub_vertex"] if traits.push == OWNER else len(space.arrays["called"])
        self.fields: dict[str, Any] = {}
        self.halves: tuple[Any, Any] | None = None

    def run(
        self, sources, limit: int, ratio: float, callback: Any, progress: bool, prepare_seconds: float
    ) -> Run:
        """Iterate until the run is over; fields are in place afterwards."""
        graph = self.program.graph
        trace = Trace(
            {
                "program": self.lowered.name,
                "graph": self.program.graph.name,
                "mode": self.mode,
                "target": "gpu",
                "device": current_device().name,
            }
        )
        self.upload()
        control = np.zeros((), CONTROL)
        control["limit"], control["ratio"] = limit, ratio
        control["row_limit"], control["slice_ns"] = (1 if callback else TRACE_ROWS), SLICE_NS
        control["fresh"], control["heavy_size"] = 1, self.space.heavy_size
        empty = graph.n == 0 or (sources is not None and len(sources) == 0)
        if self.traits.all_active:
            control["next_frontier"] = graph.n
        begin, end = cupy().cuda.Event(), cupy().cuda.Event()
        milliseconds, over = 0.0, empty or limit == 0
        loaded = self.traits.all_active
        self.write_control(control)
        with IterationBar(progress, None if limit == UNLIMITED else limit) as bar:
            while not (over and loaded):
                begin.record()
                if not loaded:
                    self.load_frontier(sources)
                    loaded = True
                if not over:
                    self.iterate()
                end.record()
                control = self.read_control()
                milliseconds += cupy().cuda.get_elapsed_time(begin, end)
                if over:
                    break
                rows = int(control["rows"])
                trace.extend(control["trace"][:rows])
                over = bool(control["finished"]) or int(control["iteration"]) >= limit
                if callback and rows:
                    self.download()
                    over |= bool(callback(trace[-1]))
                    self.upload()
                bar.show(int(control["iteration"]), int(control["frontier"]))
                control["rows"] = 0
                self.write_control(control)
        self.download()
        return Run(
            iterations=int(control["iteration"]),
            trace=trace,
            seconds=milliseconds * 1e-3,
            frontier=np.empty(0, np.uint32)
            if self.traits.all_active
            else self.space.vertices_in("frontier_bits", graph.n),
            touched=self.space.vertices_in("touched_bits", graph.n) if self.traits.track else None,
            counters=None,
            converged=empty or bool(control["finished"]),
            mode=self.mode,
            interleave=self.interleave,
            threads=self.blocks * BLOCK_THREADS,
            target="gpu",
            partition_size=1 << self.traits.bits,
            partitions=int(self.layout.bins.k),
            prepare_seconds=prepare_seconds,
        )

    def read_control(self) -> np.ndarray:
        """``struct Control`` as the device has left it."""
        return np.frombuffer(self.control.get().tobytes(), CONTROL)[0].copy()

    def write_control(self, control: np.ndarray) -> None:
        """What the next launch begins with; nobody has arrived at its barriers."""
        control["arrived_blocks"] = control["released"] = 0
        self.control.set(np.frombuffer(control.tobytes(), np.uint8))

    def launch(self, kernel: Any) -> None:
        """One cooperative launch on the arrays of the run."""
        arguments = (self.state(), self.graph(), self.space.argument, self.control)
        kernel((self.blocks,), (BLOCK_THREADS,), arguments, shared_mem=self.shared)

    def iterate(self) -> None:
        """Iterate until the run is over or Python is due."""
        self.launch(self.loop)

    def scatter(self) -> bool:
        """The first half of an iteration; False, and nothing to gather, if the run is over.

        The control block must ask for one row of the trace. The kernels of the halves are compiled when they
        are first wanted, so that the loop is not burdened with them.
        """
        if self.halves is None:
            module = compile_kernel(make_source(self.emitted, self.traits, STEPPED))
            self.halves = module.get_function("gpop_scatter"), module.get_function("gpop_gather")
            for kernel in self.halves:
                kernel.max_dynamic_shared_size_bytes = self.shared
        self.launch(self.halves[0])
        control = self.read_control()
        self.write_control(control)
        return not control["stop"]

    def gather(self) -> None:
        """The second half; the record of the iteration is in the control block then."""
        self.launch(self.halves[1])

    def load_frontier(self, sources: np.ndarray | None) -> None:
        """Make the given vertices, or all, the frontier."""
        given = cupy().asarray(np.zeros(1, np.uint32) if sources is None else sources)
        size = -1 if sources is None else len(sources)
        arguments = (self.graph(), self.space.argument, self.control, given, np.int64(size))
        self.load((self.blocks,), (BLOCK_THREADS,), arguments)

    def upload(self) -> None:
        """Fields to the device; those that are there already (CuPy arrays) are used as they are."""
        for name in self.lowered.fields:
            field = self.program._fields[name]
            if is_device_array(field):
                self.fields[name] = field
            elif name in self.fields:
                self.fields[name].set(field)
            else:
                # Room behind the field: compare-and-swap of small fields takes the word around them.
                room = cupy().zeros(len(field) + 8, field.dtype)
                self.fields[name] = room[: len(field)]
                self.fields[name].set(field)

    def download(self) -> None:
        """Fields back to where the program has them."""
        for name in self.lowered.fields:
            field = self.program._fields[name]
            if not is_device_array(field):
                self.fields[name].get(out=field)

    def state(self) -> np.ndarray:
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

    def graph(self) -> np.ndarray:
        """``struct Graph``."""
        arrays, counts = self.layout.arrays, self.layout.counts
        graph = np.zeros(1, GRAPH)
        graph["n"], graph["m"], graph["k"] = self.program.graph.n, self.program.graph.m, self.layout.bins.k
        graph["column_pieces"], graph["row_pieces"] = (
            counts.get("column_piece", 0),
            counts.get("row_piece", 0),
        )
        graph["hubs"] = self.hubs
        for name in GRAPH.names[6:]:
            array = arrays.get(name)
            graph[name] = 0 if array is None else array.data.ptr
        return graph
