"""A device graph whose edges do not fit: arrays that grow with them are cut into pages, some on the device.

Whole arrays lie in pinned memory of the host, which a device reads in place. As many pages as fit are
copied to the device, once: those first that take most reads over the link, which are weights, and edges, of
vertices with few of them, and the bins with what is left. A table of addresses says where each page is
(kernels/stored.cuh), so that no round waits for a copy and the loop stays on the device. A fixed choice
serves rounds that read everything as well as any buffers would: a cyclic scan hits as often as pages are
kept, whatever is replaced.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.common.memory import require_memory
from gpop.gpu import limits
from gpop.gpu.budgeted_graph import BINS, CSR, IN_EDGES, PAGED, BudgetedGraph, rounded
from gpop.gpu.device import cupy, pinned_copy
from gpop.gpu.device_graph import HUBS, PADDING, SEGMENTS
from gpop.gpu.device_tables import SEGMENT, SEGMENT_IDS
from gpop.gpu.pieces import PIECE
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.layout.bins import Bins

LINE = 128
"""Bytes that a read over the link brings at most."""

SMALL_READS = 0.5
"""Heat of pages of sources, of which a warp reads little at once: they come before ids, behind all others."""


def heat_of_pages(graph: Graph, page: int, size: int) -> np.ndarray:
    """Reads that it takes to have each page, of so many edges of ``size`` bytes, vertex by vertex.

    A vertex with few edges takes a read over the link for a few bytes, one with many for a whole line.

    Examples
    --------
    >>> heat_of_pages(Graph.from_edges([0, 0, 0, 1, 2], [1, 2, 3, 0, 0], n=4), 2, 4).round(2).tolist()
    [0.67, 1.33, 1.0]
    """
    degree = graph.out_degree.astype(np.int64)
    before = np.concatenate([[0.0], np.cumsum(-(-degree * size // LINE))])
    cuts = np.append(np.arange(0, graph.m, page), graph.m)
    vertex = np.searchsorted(graph.indptr, cuts, side="right") - 1
    vertex = np.minimum(vertex, graph.n - 1)
    share = (cuts - graph.indptr[vertex]) / np.maximum(degree[vertex], 1)
    return np.diff(before[vertex] + share * (before[vertex + 1] - before[vertex]))


def away_between(away: np.ndarray, page: int, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Elements of each range that lie on pages, of so many elements, that are away.

    Examples
    --------
    >>> away_between(np.array([False, True, True]), 4, np.array([0, 3, 6]), np.array([5, 4, 9])).tolist()
    [1, 0, 3]
    """
    before = np.concatenate([[0], np.cumsum(away)]) * page
    last_page = len(away) - 1

    def upto(at: np.ndarray) -> np.ndarray:
        index = np.minimum(at // page, last_page)
        return before[index] + away[index] * (at - index * page)

    return upto(last) - upto(first)


class StreamedGraph(BudgetedGraph):
    """Fixed arrays as in a `BudgetedGraph`; of `PAGED` ones a table of pages.

    ``by_column``: a partition sends its column of the layout and not its row.
    """

    def __init__(self, graph: Graph, bins: Bins, turned: bool, budget: int, by_column: bool) -> None:
        super().__init__(graph, bins, turned, budget)
        self.by_column = by_column
        self.pinned: dict[str, np.ndarray] = {}
        self.away: dict[str, np.ndarray] = {}

    def needed_bytes(self, names: tuple[str, ...]) -> int:
        """Bytes that the arrays take if all pages stay with the host."""
        places = {*map(self._place, names)}
        fixed = sum(rounded(self._size(name)) for name in places if name not in PAGED)
        return fixed + self._tables_bytes([name for name in places if name in PAGED])

    def load(self, names: tuple[str, ...]) -> None:
        """The fixed arrays; `load_pages` follows."""
        for name in names:
            place = self._place(name)
            if place in PAGED and place not in self.pinned:
                self.pinned[place] = self._pin(place)
        super().load(tuple(name for name in names if self._place(name) not in PAGED))

    def load_pages(self, names: tuple[str, ...], room: int) -> None:
        """Copy as many pages as fit ``room`` bytes; tables and shares."""
        places = sorted({*map(self._place, names)} & {*PAGED})
        room -= self._tables_bytes(places)
        self._choose(places, max(room, 0) // limits.PAGE_BYTES)
        for name in places:
            self.arrays[name] = self._table(name)
        for name in names:
            if self._place(name) in PAGED:
                self.arrays[name] = self.arrays[self._place(name)]
        for name, share in self._shares(places).items():
            self.arrays[name] = cupy().asarray(share)

    @property
    def away_bytes(self) -> int:
        """Bytes of pages that are read over the link."""
        return sum(int(flags.sum()) for flags in self.away.values()) * limits.PAGE_BYTES

    @property
    def resident_bytes(self) -> int:
        """Bytes of pages on the device."""
        return sum(int((~flags).sum()) for flags in self.away.values()) * limits.PAGE_BYTES

    def _size(self, name: str) -> int:
        """Every segment is known here, with what it takes to make its table; degrees are the host's."""
        if name in HUBS:
            return 4 * self.graph.n if name == "hub_of" else 8 * (self.graph.m // limits.HUB + 1 + PADDING)
        if name not in SEGMENTS:
            return super()._size(name)
        segments = int((-(-np.diff(self.bins.id_offsets) // SEGMENT_IDS)).sum())
        share = PIECE.itemsize * segments if name == "column_piece" else 4 * int(self.bins.k)
        return (2 * SEGMENT.itemsize * segments if name == "segment" else share) + PADDING * SEGMENT.itemsize

    def _in_degree(self) -> np.ndarray:
        graph = self.graph
        if graph.equals_reverse():
            return graph.out_degree
        return np.bincount(graph.indices, minlength=graph.n)

    # --- pages ---------------------------------------------------------------------------------

    def _tables_bytes(self, places: list[str]) -> int:
        """Of the addresses of pages, and of the shares."""
        tables = sum(rounded(8 * self._pages(name)) for name in places)
        return tables + 3 * rounded(8 * (int(self.bins.k) + 2))

    def _page(self, name: str) -> int:
        return limits.PAGE_BYTES // self._host_type(name).itemsize

    def _host_type(self, name: str) -> np.dtype:
        """Of an element as it is streamed: weights are as small as in the bins."""
        if name in ("weights", "in_weights"):
            return self.bins.id_weights.dtype
        return self.pinned[name].dtype if name in self.pinned else self._host(name).dtype

    def _pages(self, name: str) -> int:
        length = self.graph.m if name in CSR + IN_EDGES else len(self._host(name))
        return -(-(length + PADDING) // self._page(name))

    def _pin(self, name: str) -> np.ndarray:
        """The array with its padding, whole pages, in pinned memory; kept with the graph."""
        bits = None if name in CSR + IN_EDGES else int(self.bins.bits)
        key = (bits, bits is not None and self.turned, name)
        kept = self.graph.store.get(Kind.PINNED, key)
        if kept is None:
            length, dtype = self._pages(name) * self._page(name), self._host_type(name)
            require_memory(length * dtype.itemsize, f"pinned {name} of {self.graph!r}")
            kept = pinned_copy(self._host(name), length, dtype)
            self.graph.store.put(Kind.PINNED, kept, key, about=name.replace("_", " "))
        return kept

    def _choose(self, names: list[str], count: int) -> None:
        """Say which pages stay away: all but the ``count`` hottest."""
        heat = {name: self._heat(name) for name in names}
        order = np.argsort(-np.concatenate([*heat.values(), np.zeros(0)]), kind="stable")
        here = np.zeros(len(order), bool)
        here[order[:count]] = True
        ends = np.cumsum([len(each) for each in heat.values()])
        self.away = (
            {name: ~flags for name, flags in zip(names, np.split(here, ends[:-1]), strict=True)}
            if names
            else {}
        )

    def _heat(self, name: str) -> np.ndarray:
        heat = np.full(self._pages(name), SMALL_READS if name == "sources" else 0.0)
        if name not in BINS and self.graph.m:
            graph = self.graph if name in CSR else self._in_graph()
            found = heat_of_pages(graph, self._page(name), self._host_type(name).itemsize)
            heat[: len(found)] = 1 + found
        return heat

    def _table(self, name: str) -> Any:
        """Addresses of the pages; those on the device lie in one array."""
        pages = self.pinned[name].view(np.uint8).reshape(-1, limits.PAGE_BYTES)
        addresses = pages.ctypes.data + np.arange(len(pages), dtype=np.uint64) * limits.PAGE_BYTES
        here = np.flatnonzero(~self.away[name])
        if len(here):
            copies = cupy().zeros(len(here) * limits.PAGE_BYTES, np.uint8)
            runs = np.split(np.arange(len(here)), np.flatnonzero(np.diff(here) != 1) + 1)
            for run in runs:  # pages that follow each other are one copy
                first, last = int(here[run[0]]), int(here[run[-1]]) + 1
                begin = int(run[0]) * limits.PAGE_BYTES
                block = pages[first:last].ravel()
                copies[begin : begin + len(block)].set(block)
            addresses[here] = copies.data.ptr + np.arange(len(here), dtype=np.uint64) * limits.PAGE_BYTES
            self.arrays[f"{name} here"] = copies
        return cupy().asarray(addresses)

    # --- shares --------------------------------------------------------------------------------

    def _shares(self, names: list[str]) -> dict[str, np.ndarray]:
        """What `gpop.model.link_bytes.Away` has of every source partition, and behind them of the whole."""
        k = int(self.bins.k)
        bounds = self.graph.indptr[np.minimum(np.arange(k + 1) << int(self.bins.bits), self.graph.n)]
        edges = np.zeros(k + 2)
        edges[:k] = self._share([name for name in CSR if name in names], bounds[:-1], bounds[1:])
        whole = np.zeros(1, np.int64), np.full(1, self.graph.m)
        for place, group in ((k, CSR), (k + 1, IN_EDGES)):
            found = {*map(self._place, group)} & {*names}
            edges[place] = self._share(sorted(found), *whole)[0]
        away, every = self._bins(names)
        return {"away_edges": edges, "away_bins": away, "all_bins": every}

    def _share(self, names: list[str], first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Share of the bytes of these arrays, in these ranges of edges, that is away."""
        away, every = np.zeros(len(first)), np.zeros(len(first))
        for name in names:
            size = self._host_type(name).itemsize
            away += size * away_between(self.away[name], self._page(name), first, last)
            every += size * (last - first)
        return away / np.maximum(every, 1)

    def _bins(self, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Bytes away, and all bytes, of the bins that each partition sends."""
        k, bins = int(self.bins.k), self.bins
        found = [np.zeros(k + 2), np.zeros(k + 2)]
        for name in BINS:
            if name not in names:
                continue
            offsets = bins.slots if name == "sources" else bins.id_offsets
            size, first, last = self._host_type(name).itemsize, offsets[:-1], offsets[1:]
            away = away_between(self.away[name], self._page(name), first, last)
            # Bins of ids lie by (destination, source), those of slots by (source, destination).
            axis = 1 if (name == "sources") != self.by_column else 0
            for sums, each in zip(found, (away, last - first), strict=True):
                sums[:k] += size * each.reshape(k, k).sum(axis=axis)
        return found[0], found[1]

    def _tables(self, kernel_name: str, first: Any, other: Any, segments: int, out: Any) -> None:
        ids = np.uint64(self.pinned["ids"].ctypes.data)
        self._call(kernel_name, ids, first, other, np.int64(segments), out)
