"""Device copies of a graph and of THE layout (gpop/layout/bins.py), kept with the graph until dropped.

The arrays are those of the CPU. Programs that declare ``combine`` use the layout of the reversed graph
(kernels/combined.cuh), which is the same where a graph equals its reverse. Beside the arrays lie tables
that say who does what on a GPU: segments of columns and hubs (device_tables.py), and pieces of both
(pieces.py).
"""

from __future__ import annotations

import weakref
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gpop.gpu import edge_arrays, hyb_arrays, limits
from gpop.gpu.device import cupy, current_device
from gpop.gpu.device_tables import SEGMENT, cut_bins, hub_tables, messages_by_source, most_segments
from gpop.gpu.edge_arrays import STRUCTS
from gpop.gpu.pieces import PIECE, STARTED, column_pieces, row_pieces, share_of
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.layout.bins import Bins
from gpop.layout.hyb import Shape, shape_of
from gpop.layout.kept_bins import bins_of
from gpop.layout.partition import partitions

PADDING = 16
"""Elements behind ids, sources and weights, so that whole vectors can be loaded."""

HUBS = ("hub_vertex", "hub_first", "hub_of")
"""Tables of the vertices with many in-edges, which are gathered by warps of their own (kernels/owner.cuh)."""

COUNTED_EDGES = 1 << 24
"""Edges that are copied at once to count in-edges, where they are not on the device already."""

BINS = ("ids", "sources", "messages", "segment", "segments", "column_piece", "row_piece")
ARRAYS = {
    "csr": (("indices",), ("weights",)),
    "edges": (("edge_source", "indices"), ("weights",)),
    "reverse edges": (("in_indices", "edge_target"), ("in_weights",)),
    "edge structs": (("edge",), ("weighted_edge",)),
    "reverse edge structs": (("reverse_edge",), ("weighted_reverse_edge",)),
    "csc": (("in_indptr", "in_indices", "hub_vertex"), ("in_weights",)),
    "long rows": (("long_vertex",), ()),
    "hyb": (hyb_arrays.ALWAYS, hyb_arrays.WEIGHTS),
    "bins": (BINS, ("id_weights",)),
    "reversed bins": (BINS, ("id_weights",)),
}
"""Arrays of the layouts that strategies name, and those that weights add (of structs: put in their place)."""

SEGMENTS = ("segment", "segments", "column_piece")
"""Arrays that are made together: segments, how many each source partition has, and the pieces of columns."""


def arrays_of(layouts: tuple[str, ...], weighted: bool) -> list[str]:
    """Names of the arrays that a strategy with these layouts needs.

    Examples
    --------
    >>> arrays_of(("csr",), True), arrays_of(("csr",), False)
    (['indices', 'weights'], ['indices'])
    """
    found: list[str] = []
    for layout in layouts:
        always, with_weights = ARRAYS[layout]
        replaced = weighted and always[0] in STRUCTS
        found += (() if replaced else always) + (with_weights if weighted else ())
    return found


_CUPYS = nullcontext()


class DeviceGraph:
    """Device arrays of one graph and layout; parts are copied when a run first needs them.

    ``bins`` are those of the reversed graph when ``turned``.
    """

    def __init__(self, graph: Graph, bins: Bins, turned: bool) -> None:
        # The graph keeps this, and both must not wait for a collector that sees no device.
        self._graph = weakref.ref(graph)
        self.bins, self.turned = bins, turned
        self.arrays: dict[str, Any] = {}
        self.counts: dict[str, int] = {}
        self.hub_first = np.zeros(1, np.int64)

    def __getitem__(self, name: str) -> Any:
        return self.arrays[name]

    @property
    def graph(self) -> Graph:
        """Whose copy this is."""
        return self._graph()

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        return sum({id(array): array.nbytes for array in self.arrays.values()}.values())

    def allocating(self) -> AbstractContextManager[None]:
        """Whose memory arrays take that are made meanwhile: CuPy's own."""
        return _CUPYS

    def missing_bytes(self, names: tuple[str, ...]) -> int:
        """Bytes that `load` would copy."""
        return sum(self._size(name) for name in {*map(self._place, names)} if name not in self.arrays)

    def bytes_of(self, names: tuple[str, ...]) -> int:
        """Bytes of these arrays on the device, loaded or not."""
        return sum(self._size(name) for name in {*map(self._place, names)})

    def load(self, names: tuple[str, ...]) -> None:
        """Copy what is missing."""
        for name in names:
            if name in self.arrays:
                continue
            place = self._place(name)
            if place != name:
                self.load((place,))
                self.arrays[name] = self.arrays[place]
                continue
            if name in SEGMENTS:
                self._make_segments()
            elif name in HUBS:
                self._make_hubs()
            elif name == "long_vertex":
                self._put(name, hub_tables(self._in_degree(), limits.LONG_ROW)["hub_vertex"])
            else:
                self._put(name, self._host(name))

    def _place(self, name: str) -> str:
        """The array that holds it: in-edges are edges where a graph equals its reverse."""
        return name.removeprefix("in_") if self.graph.equals_reverse() else name

    def _host(self, name: str) -> np.ndarray:
        graph, bins = self.graph, self.bins
        if name in ("sources", "ids", "id_weights"):
            return getattr(bins, name)
        if name == "messages":
            return messages_by_source(bins, self.turned)
        if name == "has_in":
            return np.packbits(self._in_graph().out_degree > 0, bitorder="little")
        if name == "edge_source":
            return edge_arrays.ends(graph)
        if name == "edge_target":
            return edge_arrays.ends(self._in_graph())
        if name.endswith(STRUCTS):
            return edge_arrays.structs(name, self._in_graph() if "reverse" in name else graph)
        if name in hyb_arrays.ARRAYS:
            return hyb_arrays.host(name, self._in_graph())
        if name == "row_piece":
            return row_pieces(bins, share_of(int(bins.messages) + STARTED * int(bins.k)), STARTED)
        if name.startswith("in_"):
            return getattr(self._in_graph(), name.removeprefix("in_"))
        return getattr(graph, name)

    @cached_property
    def hyb_shape(self) -> Shape:
        """Sizes of the in-edges as HYB."""
        return shape_of(self._in_graph())

    def _in_graph(self) -> Graph:
        return self.graph if self.graph.equals_reverse() else self.graph.reverse()

    def _size(self, name: str) -> int:
        """Bytes that an array will take; the reverse of the graph has the graph's sizes."""
        bins = self.bins
        if name in SEGMENTS:
            return 2 * most_segments(bins) * SEGMENT.itemsize
        if name in ("has_in", "row_piece"):
            return self.graph.n + PIECE.itemsize * int(bins.k)
        if name in HUBS:  # the degrees that they are made from included
            return 8 * self.graph.n + 4 * min(self.graph.m, COUNTED_EDGES) if name == "hub_of" else 0
        if name == "long_vertex":
            return 4 * (self.graph.m // limits.LONG_ROW + PADDING)
        if name in hyb_arrays.ARRAYS:
            return hyb_arrays.nbytes(name, self.graph, self.hyb_shape, PADDING)
        if name in ("edge_source", "edge_target"):
            return 4 * (self.graph.m + PADDING)
        if name.endswith(STRUCTS):
            return edge_arrays.struct_of(name, self.graph).itemsize * self.graph.m + PADDING
        host = self._host(name if not name.startswith("in_") else name.removeprefix("in_"))
        return host.nbytes + PADDING * host.itemsize

    def _put(self, name: str, host: np.ndarray) -> None:
        self.counts[name] = len(host)
        if host.dtype.names is not None:
            host = host.view(np.uint8)
        array = cupy().zeros(len(host) + PADDING, host.dtype)
        array[: len(host)].set(np.ascontiguousarray(host))
        self.arrays[name] = array

    def _make_segments(self) -> None:
        """Segments that begin where a message does, and the pieces of columns made of them."""
        bins, k = self.bins, int(self.bins.k)
        first, column, bin_start = cut_bins(bins)
        end = bins.id_offsets[column + 1]
        segments = np.zeros(len(first), SEGMENT)
        heads = cupy().zeros(len(first), np.int64)
        self._tables("gpop_find_heads", cupy().asarray(first), cupy().asarray(end), len(first), heads)
        first = heads.get()
        following = np.append(first[1:], 0)
        last_of_bin = np.append(bin_start[1:] != bin_start[:-1], True)[: len(first)]
        segments["first"] = first
        segments["count"] = np.where(last_of_bin, end, following) - first
        runs = cupy().zeros(len(first), np.int32)
        counts = cupy().asarray(segments["count"].copy())
        self._tables("gpop_count_flags", cupy().asarray(first), counts, len(first), runs)
        segments["runs"] = runs.get()
        before = np.cumsum(segments["runs"], dtype=np.int64) - segments["runs"]
        destination, source = column // k, column % k
        segments["slot"] = bins.slots[source * k + destination] - 1 + before - before[bin_start]
        segments["source"] = source
        self._put("segment", segments)
        sender = destination if self.turned else source
        self._put("segments", np.bincount(sender, minlength=k).astype(np.int32))
        cost = segments["count"].astype(np.int64) + segments["runs"]  # ids are read, runs are written
        share = share_of(int(cost.sum()) + STARTED * k)
        self._put("column_piece", column_pieces(cost, destination, share, STARTED))

    def _make_hubs(self) -> None:
        tables = hub_tables(self._in_degree(), limits.HUB)
        self.hub_first = tables["hub_first"]
        for name, table in tables.items():
            self._put(name, table)

    def _in_degree(self) -> np.ndarray:
        if "in_indptr" in self.arrays:
            return self._in_graph().out_degree
        heads, m = self.arrays.get("indices", self.graph.indices), self.graph.m
        degree = cupy().zeros(self.graph.n, np.uint32)
        for begin in range(0, m, COUNTED_EDGES):
            part = cupy().asarray(heads[begin : min(m, begin + COUNTED_EDGES)])
            self._call("gpop_count_heads", part, np.int64(len(part)), degree)
        return degree.get()

    def _tables(self, kernel: str, first: Any, other: Any, segments: int, out: Any) -> None:
        self._call(kernel, self["ids"], first, other, np.int64(segments), out)

    def _call(self, kernel: str, *arguments: Any) -> None:
        source = (Path(__file__).parent / "kernels" / "tables.cuh").read_text()
        function = cupy().RawKernel(source, kernel, options=("--std=c++17",))
        function((4 * current_device().multiprocessors,), (256,), arguments)


def device_graph(graph: Graph, bits: int, turned: bool, threads: int) -> tuple[DeviceGraph, float]:
    """The device copy kept with the graph, and the seconds that building its layout took."""
    turned = turned and not graph.equals_reverse()
    key = bits, turned, cupy().cuda.Device().id
    layout = graph.store.get(Kind.DEVICE, key)
    if layout is not None:
        return layout, 0.0
    bins, seconds = bins_of(graph.reverse() if turned else graph, bits, threads)
    layout = DeviceGraph(graph, bins, turned)
    about = partitions(bits) + ", turned" * turned
    graph.store.put(Kind.DEVICE, layout, key, about=about, holds=(layout.arrays, bins))
    return layout, seconds
