"""How a graph on disk is written (`gpop.layout.mapped_file`): in passes, with memory for a part of the edges.

The graph's own arrays may lie in files already (`gpop.common.spill`). Then

1. ``count``: edges and messages of each bin, range of vertices after range;
2. ``fill``: the same ranges again; sources and ids of their bins. A bin (p, d) holds its vertices in
   ascending order, so what a range adds to it is one piece, at a place that is known from 1;
3. ``in-edges``: the graph turned round, sorted outside memory, and compared with the graph;
4. ``blocks``: ranges of in-edges are turned again, and cut into units and blocks.

Bytes on disk: 4 + w an edge read twice for bins, 8 + w written and read to turn it, and the result.
In memory: 40 bytes a vertex, 56 bytes a pair of partitions, and ``memory`` for what grows with the edges.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gpop.common.parallel import for_each, worker_count
from gpop.common.progress import progress_bar
from gpop.common.spill import Spill, copied
from gpop.graph.build import array_edges, build_csr
from gpop.graph.build_outside import cut
from gpop.graph.graph import Graph
from gpop.graph.symmetry import rows_sorted
from gpop.layout.bins import count_bins, fill_bins, id_dtype, source_dtype
from gpop.layout.edge_block_kernels import FIRST, FOURS, WINDOW, WINDOW_BITS
from gpop.layout.edge_blocks import WIDEST_UNIT, build_blocks, plan_blocks
from gpop.layout.mapped_file import write_header
from gpop.layout.partition import l2_cache_bytes, partition_bits, partition_count

EDGE_BYTES = 64
"""Of an edge that is at work: in CSR, in bins or blocks, and as a key in between."""

WEIGHT_BYTES = 8
"""The same in bytes of its weight."""

UNIT_EDGES = 1 << 22
"""Most in-edges of a unit: what is read ahead at a time."""


def fixed_bytes(graph: Graph) -> int:
    """What building takes whatever the number of edges."""
    k = partition_count(graph.n, _bits(graph))
    return 40 * graph.n + 56 * k * k


def _bits(graph: Graph, partition_size: int | None = None) -> int:
    return partition_bits(
        graph.n, worker_count(), edges=graph.m, vertex_bytes=8, partition_size=partition_size
    )


class _Ranges:
    """The edges of a graph, range of vertices by range, in memory one at a time."""

    def __init__(self, graph: Graph, bits: int, most: int) -> None:
        self.graph, self.bits = graph, bits
        # A range lies in one partition, or is made of whole ones.
        k, size = partition_count(graph.n, bits), 1 << bits
        whole = cut(graph.indptr[np.minimum(np.arange(k + 1) * size, graph.n)], most)
        borders = []
        for first, last in zip(whole[:-1].tolist(), whole[1:].tolist(), strict=True):
            begin, end = first * size, min(last * size, graph.n)
            borders += (begin + cut(graph.indptr[begin : end + 1], most)[:-1]).tolist() if last == first + 1 else [begin]
        self.borders = [*borders, graph.n]

    def __iter__(self) -> Iterator[tuple[int, int, np.ndarray, np.ndarray, np.ndarray | None]]:
        """First partition, number of partitions, their CSR without the vertices that are outside the range."""
        graph, bits = self.graph, self.bits
        for begin, end in zip(self.borders[:-1], self.borders[1:], strict=True):
            p, last = begin >> bits, (end - 1) >> bits
            first_edge, end_edge = int(graph.indptr[begin]), int(graph.indptr[end])
            indptr = np.maximum(graph.indptr[p << bits : end + 1] - first_edge, 0)
            weights = None if graph.weights is None else copied(graph.weights, first_edge, end_edge)
            yield p, last + 1 - p, indptr, copied(graph.indices, first_edge, end_edge), weights


class _Builder:
    """One build: what is known of the graph so far, and the folder that is written to."""

    def __init__(self, graph: Graph, folder: Path, room: Spill, bits: int, bar: Any) -> None:
        self.graph, self.folder, self.room, self.bits, self.bar = graph, folder, room, bits, bar
        self.k, self.threads = partition_count(graph.n, bits), worker_count()
        weight = 0 if graph.weights is None else graph.weights.itemsize
        self.most = room.edges_at_once(EDGE_BYTES + WEIGHT_BYTES * weight)
        self.sums = bool(weight) and weight <= 4 and graph.weights.dtype.kind in "iu"  # exactly
        self.types: dict[str, np.dtype] = {}
        self.facts: dict[str, Any] = {"ascending": True}
        self.ranges = _Ranges(graph, bits, self.most)

    def store(self, name: str, array: np.ndarray) -> None:
        """Write an array; one that has a file of its own in the folder of the spill is not written again."""
        path = self.room.path_of(array)
        if path is not None and path.parent.stat().st_dev == self.folder.stat().st_dev:
            os.link(path, self.folder / name)
        else:
            with open(self.folder / name, "wb") as file:
                for first in range(0, array.size, self.most):
                    copied(array, first, first + self.most).tofile(file)
        self.types[name] = array.dtype

    def count(self) -> None:
        """Pass 1."""
        k, graph = self.k, self.graph
        self.id_counts, self.message_counts = np.zeros((2, k, k), np.int64)
        heard = np.zeros(graph.n, np.uint32)
        sum_of_weights, lightest, heaviest = 0, None, None
        ascending = True
        for p, rows, indptr, indices, weights in self.ranges:
            counts, by_partition = np.zeros((2, rows * k), np.int64), np.ones(rows, np.bool_)
            claim = np.zeros(1, np.int64)
            shape = rows, np.int64(len(indptr) - 1), np.uint32(self.bits), np.int64(k)
            for_each(
                self.threads, lambda _: count_bins(claim, *shape, indptr, indices, *counts, by_partition)
            )  # fmt: skip
            self.id_counts[p : p + rows] += counts[0].reshape(rows, k)
            self.message_counts[p : p + rows] += counts[1].reshape(rows, k)
            ascending = bool(ascending and by_partition.all())
            self.facts["ascending"] &= rows_sorted(indptr, indices)
            np.add.at(heard, indices, 1)
            if weights is not None and weights.size:
                low, high = weights.min(), weights.max()
                lightest = low if lightest is None else min(lightest, low)
                heaviest = high if heaviest is None else max(heaviest, high)
                if self.sums:
                    sum_of_weights += int(weights.sum(dtype=np.int64))
            self.bar.update(indices.size)
        self.sorted, self.heard = ascending, heard
        if lightest is not None:
            self.facts["lightest"], self.facts["heaviest"] = lightest.item(), heaviest.item()
            if self.sums:
                self.facts["mean_weight"] = sum_of_weights / graph.m
        self.facts["most_in_edges"] = int(heard.max(initial=0))

    def fill(self) -> None:
        """Pass 2."""
        graph, k, bits = self.graph, self.k, self.bits
        slots, id_offsets = np.zeros((2, k * k + 1), np.int64)
        np.cumsum(self.message_counts.ravel(), out=slots[1:])
        np.cumsum(self.id_counts.T.ravel(), out=id_offsets[1:])
        self.store("slots", slots)
        self.store("id_offsets", id_offsets)
        self.types |= {"sources": np.dtype(source_dtype(bits)), "ids": np.dtype(id_dtype(bits))}
        weight = self._narrow()
        names = ["sources", "ids"] + ["id_weights"] * (weight is not None)
        if weight is not None:
            self.types["id_weights"] = weight
        slot_at, id_at = slots[:-1].reshape(k, k).copy(), id_offsets[:-1].reshape(k, k).T.copy()
        files = {name: open(self.folder / name, "wb", buffering=0) for name in names}
        narrow = None
        if weight is not None and weight != graph.weights.dtype:
            self.types["narrow"] = weight
            narrow = open(self.folder / "narrow", "wb")
        try:
            for p, rows, indptr, indices, weights in self.ranges:
                if narrow is not None:
                    weights.astype(weight).tofile(narrow)
                self._fill_range(p, rows, indptr, indices, weights, weight, slot_at, id_at, files)
                self.bar.update(indices.size)
        finally:
            for file in [*files.values(), *([narrow] if narrow else [])]:
                file.close()

    def _narrow(self) -> np.dtype | None:
        """Type of the weights in bins; the rule is that of `gpop.layout.bins.narrow_dtype`."""
        weights = self.graph.weights
        if weights is None:
            return None
        low, high = self.facts.get("lightest"), self.facts.get("heaviest")
        if low is None or weights.dtype.kind not in "iu" or low < 0:
            return weights.dtype
        return min(np.min_scalar_type(high), weights.dtype, key=lambda dtype: dtype.itemsize)

    def _fill_range(self, p, rows, indptr, indices, weights, weight, slot_at, id_at, files) -> None:
        """Bins of a range, then its pieces of them to their places."""
        k, bits = self.k, self.bits
        shape = rows, np.int64(len(indptr) - 1), np.uint32(bits), np.int64(k)
        counts, by_partition, claim = np.zeros((2, rows * k), np.int64), np.ones(rows, np.bool_), np.zeros(2, np.int64)
        for_each(self.threads, lambda _: count_bins(claim[:1], *shape, indptr, indices, *counts, by_partition))
        of_ids, of_messages = counts.reshape(2, rows, k)
        slots = np.zeros(rows * k + 1, np.int64)
        np.cumsum(counts[1], out=slots[1:])
        by_column = np.zeros(rows * k + 1, np.int64)
        np.cumsum(of_ids.T.ravel(), out=by_column[1:])
        id_offsets = np.zeros((k, k), np.int64)
        id_offsets[:, :rows] = by_column[:-1].reshape(k, rows)
        sources, ids = np.empty(slots[-1], self.types["sources"]), np.empty(indices.size, self.types["ids"])
        given = np.empty(0, np.uint32) if weights is None else weights
        id_weights = np.empty(given.size, np.uint32 if weight is None else weight)

        def fill(_: int) -> None:
            cursors, written = np.empty((2, k), np.uint64), (slots, sources, id_offsets.ravel(), ids, id_weights)
            fill_bins(claim[1:], rows, cursors, *shape[1:], indptr, indices, given, *written)

        for_each(self.threads, fill)
        if rows > 1:  # whole partitions: their rows follow each other
            _put(files["sources"], sources, 0, len(sources), slot_at[p, 0])
        else:
            for d in np.flatnonzero(of_messages[0]).tolist():
                _put(files["sources"], sources, slots[d], slots[d + 1], slot_at[p, d])
        for d in np.flatnonzero(of_ids.any(axis=0)).tolist():
            begin, end = by_column[d * rows], by_column[(d + 1) * rows]
            _put(files["ids"], ids, begin, end, id_at[p, d])
            if weights is not None:
                _put(files["id_weights"], id_weights, begin, end, id_at[p, d])
        slot_at[p : p + rows] += of_messages
        id_at[p : p + rows] += of_ids

    def turn(self) -> None:
        """Pass 3."""
        turned = self.turned = self.graph.reverse()
        self.graph.drop("reverse")
        same = self._equal(self.graph, turned)
        self.facts["equals_reverse"] = same
        if not same:
            for name, array in (
                ("in_indptr", turned.indptr), ("in_indices", turned.indices), ("in_weights", turned.weights)
            ):  # fmt: skip
                if array is not None:
                    self.store(name, array)

    def _equal(self, one: Graph, other: Graph) -> bool:
        pairs = [(one.indptr, other.indptr), (one.indices, other.indices)]
        if one.weights is not None:
            pairs.append((one.weights, other.weights))
        return all(
            np.array_equal(copied(a, first, first + self.most), copied(b, first, first + self.most))
            for a, b in pairs
            for first in range(0, a.size, self.most)
        )

    def blocks(self) -> None:
        """Pass 4."""
        turned, n = self.turned, self.graph.n
        cache = l2_cache_bytes()
        unit_bits = min(WIDEST_UNIT, (cache // 8).bit_length() - 1)
        source_bits = min(WINDOW_BITS, (cache // 16).bit_length() - 1)
        most_edges = min(UNIT_EDGES, max(1, -(-self.graph.m // (4 * self.threads))))
        weight = self._narrow()
        bounds, firsts, tables = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], []
        edges = blocks_so_far = values_read = 0
        files = {name: open(self.folder / name, "wb") for name in ("refs", "targets", "block_weights")}
        try:
            borders = cut(turned.indptr, self.most)
            for first, last in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
                part = self._outward(first, last)
                plan = plan_blocks(part, unit_bits, source_bits, most_edges, self.threads, last - first)
                made = build_blocks(part, plan, self.threads)
                table = made.blocks
                table[:, WINDOW] += first
                table[:, FIRST] += edges
                tables.append(table)
                bounds.append(first + np.minimum(made.bounds[1:], last - first))
                firsts.append(blocks_so_far + made.first_block[1:])
                made.refs.tofile(files["refs"])
                made.targets.tofile(files["targets"])
                if weight is not None:
                    made.weights.astype(weight, copy=False).tofile(files["block_weights"])
                edges, blocks_so_far = edges + part.m, blocks_so_far + len(table)
                values_read += plan.values_read
                self.bar.update(part.m)
        finally:
            for file in files.values():
                file.close()
        table = np.concatenate(tables) if tables else np.zeros((0, 6), np.int64)
        self.store("bounds", np.concatenate(bounds))
        self.store("first_block", np.concatenate(firsts))
        self.store("blocks", table.ravel())
        self.types |= {"refs": np.dtype(np.uint16), "targets": np.dtype(np.uint16)}
        if weight is None:
            (self.folder / "block_weights").unlink()
        else:
            self.types["block_weights"] = weight
        self.unit_bits, self.pieces, self.values_read = unit_bits, int(table[:, FOURS:].sum()), values_read

    def _outward(self, first: int, last: int) -> Graph:
        """The edges into a range of vertices as lists of their sources; heads count from ``first``."""
        turned = self.turned
        begin, end = int(turned.indptr[first]), int(turned.indptr[last])
        sources = copied(turned.indices, begin, end)
        weights = None if turned.weights is None else copied(turned.weights, begin, end)
        degrees = np.diff(turned.indptr[first : last + 1])
        heads = np.repeat(np.arange(last - first, dtype=np.uint32), degrees)
        dtype = None if weights is None else weights.dtype
        edges = [array_edges(sources, heads, weights)]
        del sources, heads, weights
        with self.room.paused():
            return Graph(*build_csr(self.graph.n, edges, dtype, by_destination=False))


def _put(file: BinaryIO, array: np.ndarray, begin: int, end: int, at: int) -> None:
    """Write ``array[begin:end]`` where value number ``at`` of the file is."""
    if end > begin:
        data = memoryview(array[begin:end]).cast("B")
        position = int(at) * array.itemsize
        while len(data):
            count = os.pwrite(file.fileno(), data, position)
            data, position = data[count:], position + count


def build_mapped(
    graph: Graph, folder: Path, room: Spill, partition_size: int | None = None, progress: bool = False
) -> None:
    """Write a graph and its layouts to an empty folder; the header comes last.

    ``room`` is for what lies on disk in the meantime, and says how much memory there is for edges.
    """
    n = graph.n
    bits = _bits(graph, partition_size)
    with progress_bar(3 * graph.m, "building the layout", "edge", progress) as bar, room.begin():
        builder = _Builder(graph, folder, room, bits, bar)
        for name, array in (("indptr", graph.indptr), ("indices", graph.indices), ("weights", graph.weights)):
            if array is not None:
                builder.store(name, array)
        builder.count()
        builder.fill()
        builder.turn()
        builder.blocks()
    if graph.original_ids is not None:
        ids = graph.original_ids
        np.save(folder / "ids.npy", ids.astype(str) if ids.dtype == object else ids)
    said = {
        "name": graph.name, "vertices": n, "edges": graph.m, "bits": bits, "sorted": builder.sorted,
        "unit_bits": builder.unit_bits, "pieces": builder.pieces, "values_read": builder.values_read,
        "facts": builder.facts,
    }  # fmt: skip
    shutil.rmtree(room.folder, ignore_errors=True)
    write_header(folder, said, builder.types)
