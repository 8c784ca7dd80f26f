"""What a run on a GPU needs beside its program, and what the next one that is decided alike finds ready.

To prepare takes longer than a small run: what may be chosen, the source of the kernels and their launches,
the structs that they are given. That is noted with the graph (`gpop.graph.kept`), until something that it is
made of comes or goes. Its workspace is noted, too: a run that ends by itself leaves it as it was, clean.

Launches read their arguments where these lie. A run writes there what may be another's: where workspace and
block are, and the struct of its fields and parameters; nothing has to be found out to know what has changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gpop.gpu import limits
from gpop.gpu.beginning import Beginning
from gpop.gpu.device import cupy, current_device
from gpop.gpu.device_graph import DeviceGraph
from gpop.gpu.edge_arrays import STRUCTS
from gpop.gpu.emitted import Emitted
from gpop.gpu.exchange import HEAD_BYTES, Exchange, on_device
from gpop.gpu.kernel import FUSED, STEPPED, compile_kernel, make_source
from gpop.gpu.launch import Launch
from gpop.gpu.left import giving_way
from gpop.gpu.mail import MAIL
from gpop.gpu.rooms import Rooms
from gpop.gpu.structs import CONTROL, GRAPH, SPACE, argument, packer
from gpop.gpu.traits import Traits, shared_bytes
from gpop.gpu.workspace import Shapes, Workspace
from gpop.graph.graph import Graph
from gpop.model.choosers import AUTO_PUSH
from gpop.plan.plan import Plan
from gpop.program.program import Program

LARGE_CLUSTERS = 14
"""The driver's number of the attribute of a kernel whose clusters may have more than eight blocks."""

KEPT_SHARE = 64
"""The workspace of a kind of run is kept up to this part of the device's memory, unless room is wanted: it is
hundreds of MB on large graphs, which take longer to allocate and clear than a search does to end."""


@dataclass(eq=False)
class Prepared:
    """Ready for a run: layout, traits, kernels, and the shapes of the workspace.

    Attributes
    ----------
    seconds : float
        That building the layout took.
    fixed : dict
        Arrays of the workspace that runs do not write.
    made_with : module
        CuPy.
    """

    layout: DeviceGraph
    emitted: Emitted
    traits: Traits
    shapes: Shapes
    seconds: float
    launched: tuple[str, ...] = FUSED
    mode: str = "auto"
    ratio: float = 1.0
    link_cost: float = 0.0
    fixed: dict[str, Any] = field(default_factory=dict)
    made_with: Any = field(default_factory=cupy)

    def __post_init__(self) -> None:
        self.module = compile_kernel(make_source(self.emitted, self.traits, self.launched))
        self.shared = shared_bytes(self.emitted, self.traits)
        self.device = current_device()
        self.in_one = self.launched is FUSED and limits.fit_one_block(self.layout.graph)
        self.blocks, self.block_threads = self.device.multiprocessors, limits.BLOCK_THREADS
        if self.in_one:
            self.blocks, self.block_threads = 1, min(limits.ONE_BLOCK_THREADS, limits.BLOCK_THREADS)
        self.threads = self.blocks * self.block_threads
        self.partitions = int(self.layout.bins.k)
        self.events = cupy().cuda.Event(), cupy().cuda.Event()
        self.space: Workspace | None = None
        self.rooms = Rooms()
        self.exchanges: dict[tuple[str, ...], Exchange] = {}
        state = np.zeros(1, self.emitted.state_dtype)
        self._state, self._packer = memoryview(state.view(np.uint8)), packer(state.dtype)
        space, control, mail = np.zeros(1, SPACE), np.zeros(1, np.uint64), np.zeros(1, MAIL)
        self._space, self._control = memoryview(space.view(np.uint8)), memoryview(control)
        self._mail = argument(mail)
        self.arguments = argument(state), self.graph, argument(space), control
        """Of the kernels of an iteration: `struct`s State, Graph and Space, and where Control is."""
        given = np.zeros(1, np.uint64), np.zeros(1, np.int64)
        self.given = memoryview(given[0]), memoryview(given[1])
        """Where the vertices of a frontier lie, and how many they are."""
        load, said = self.module.get_function("gpop_load"), (*self.arguments[1:], *given, self._mail)
        self.loader = Launch(load, self.blocks, self.block_threads, said)
        self.levels = self._levels() if self._has_cluster() else None
        has_swept = self.traits.swept and self.launched is FUSED and not self.shapes["called"][0]
        self.swept = self._swept() if has_swept else None
        giving_way.add(self)

    def _launch_of(self, module: Any, name: str) -> Launch:
        """A cooperative one, a block on every multiprocessor; or of one block."""
        kernel = module.get_function(name)
        kernel.max_dynamic_shared_size_bytes = self.shared
        said = (*self.arguments, self._mail)
        return Launch(kernel, self.blocks, self.block_threads, said, self.shared, together=not self.in_one)

    def _has_cluster(self) -> bool:
        return self.traits.clustered and self.launched is FUSED and not self.in_one

    def _levels(self) -> Launch:
        """The launch of a cluster, whose blocks are resident together without a cooperative one."""
        kernel = self.module.get_function("gpop_levels")
        kernel.max_dynamic_shared_size_bytes = self.shared
        cupy().cuda.driver.funcSetAttribute(kernel.kernel.ptr, LARGE_CLUSTERS, 1)
        threads = min(limits.CLUSTER_THREADS, limits.BLOCK_THREADS)
        return Launch(kernel, limits.CLUSTER, threads, self.arguments, self.shared)

    def _swept(self) -> Launch:
        """Of runs that begin with one vertex, on small graphs; cooperative."""
        kernel = self.module.get_function("gpop_swept")
        kernel.max_dynamic_shared_size_bytes = self.shared
        threads = min(limits.SWEEP_THREADS, limits.BLOCK_THREADS)
        return Launch(kernel, self.blocks, threads, self.arguments, self.shared, together=True)

    @cached_property
    def loop(self) -> Launch:
        """Of the whole run, or of an iteration; ranks that reach each other's memory have another one."""
        return self._launch_of(self.module, "gpop_loop")

    @cached_property
    def beginning(self) -> Beginning:
        """The launch that makes fields."""
        return Beginning()

    @cached_property
    def halves(self) -> tuple[Launch, Launch]:
        """Launches of the halves of an iteration, compiled when they are first wanted."""
        module = compile_kernel(make_source(self.emitted, self.traits, STEPPED))
        return self._launch_of(module, "gpop_scatter"), self._launch_of(module, "gpop_gather")

    @cached_property
    def head(self) -> bytes:
        """Control as a run begins with it, but for what the run says itself."""
        control, shown = np.zeros(1, CONTROL), self.layout.graph
        control["ratio"], control["link_cost"] = self.ratio, self.link_cost
        control["fresh"], control["way"] = 1, AUTO_PUSH
        control["needy"], control["needy_edges"] = shown.n, shown.m
        control["least"] = np.iinfo(np.int64).max  # NOBODY of kernels/buckets.cuh
        if self.traits.all_active:
            control["next_frontier"] = shown.n
        return control.tobytes()[:HEAD_BYTES]

    def give(self, space: Workspace, exchange: Exchange) -> None:
        """Have launches work in these."""
        self._space[:], self._control[0] = space.struct, exchange.control_at
        if exchange.mail is not None:
            self._mail[:] = exchange.mail.argument

    def give_state(self, values: list[Any]) -> None:
        """The values of ``struct State`` in the next launch."""
        self._packer.pack_into(self._state, 0, *values)

    @cached_property
    def said(self) -> dict[str, Any]:
        """What a trace says of the device."""
        return {"target": "gpu", "device": self.device.name}

    @cached_property
    def graph(self) -> np.ndarray:
        """``struct Graph``."""
        arrays, counts, shown = self.layout.arrays, self.layout.counts, self.layout.graph
        graph = np.zeros(1, GRAPH)
        graph["n"], graph["m"], graph["k"] = shown.n, shown.m, self.layout.bins.k
        graph["column_pieces"] = counts.get("column_piece", 0)
        graph["row_pieces"] = counts.get("row_piece", 0)
        graph["longs"] = counts.get("long_vertex", 0)
        graph["longest"] = shown.out_degree.max(initial=0)
        graph["hubs"], graph["queues"] = counts.get("hub_vertex", 0), self.shapes["called"][0]
        if "coo_first" in arrays:
            graph["ell_width"], graph["ell_pitch"], graph["coo_entries"] = self.layout.hyb_shape
        for name in GRAPH.names[GRAPH.names.index("indptr") :]:
            weighted = self.traits.weight_dtype is not None and name in STRUCTS
            array = arrays.get(f"weighted_{name}" if weighted else name)
            graph[name] = 0 if array is None else array.data.ptr
        return argument(graph)

    def take_space(self, graph: Graph) -> Workspace:
        """The workspace that is kept, or a new one; a run that fails does not bring it back."""
        space, self.space = self.space, None
        return Workspace(graph, self.shapes, self.traits, self.fixed) if space is None else space

    def keep_space(self, space: Workspace) -> None:
        """Keep a clean workspace, if it is small."""
        if self.keeps(space):
            self.space = space

    def keeps(self, space: Workspace) -> bool:
        """Whether a workspace of these shapes is kept."""
        return self.keeps_bytes(space.nbytes) and not self.traits.track

    def keeps_bytes(self, size: int) -> bool:
        """Whether an array of so many bytes is."""
        return size <= self.device.memory // KEPT_SHARE

    def give_way(self) -> None:
        """Let go of the workspace, and of arrays that nobody has."""
        self.space = None
        self.rooms.clear()

    def exchange_for(self, program: Program, names: tuple[str, ...]) -> Exchange:
        """The block that takes this program's small fields."""
        away = on_device(program, names)
        if away not in self.exchanges:
            self.exchanges[away] = Exchange(program, names, self.in_one)
        return self.exchanges[away]


def noted(plan: Plan) -> Prepared | None:
    """What an earlier run was prepared with that was decided alike, where it is as it was."""
    if plan.alike is None:
        return None
    ready = plan.program.graph.store.noted(_key(plan))
    return ready if ready is not None and ready.made_with is cupy() else None


def note(plan: Plan, ready: Prepared) -> None:
    """Have it for runs that are decided alike."""
    if plan.alike is not None:
        plan.program.graph.store.note(_key(plan), ready)


def _key(plan: Plan) -> tuple:
    return "gpu", cupy().cuda.Device().id, plan.alike
