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
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gpop.common.parallel import for_each, worker_count
from gpop.common.progress import progress_bar
from gpop.common.spill import Spill, copied
from gpop.common.write_arrays import save_array, write_array
from gpop.graph.build import array_edges, build_csr
from gpop.graph.build_outside import cut
from gpop.graph.graph import Graph
from gpop.layout.bins import count_bins, fill_bins, id_dtype, source_dtype
from gpop.layout.edge_block_kernels import FIRST, FOURS, WINDOW
from gpop.layout.edge_block_plan import VALUE_BYTES, plan_blocks
from gpop.layout.edge_blocks import block_sizes, build_blocks
from gpop.layout.edge_ranges import Found, Ranges, put
from gpop.layout.mapped_file import NAMES, write_header
from gpop.layout.partition import partition_bits, partition_count

EDGE_BYTES = 64
"""Of an edge that is at work: in CSR, in bins or blocks, and as a key in between."""

WEIGHT_BYTES = 8
"""The same in bytes of its weight."""

UNIT_EDGES = 1 << 21
"""Most in-edges of a unit: what is read ahead at a time."""


def fixed_bytes(graph: Graph) -> int:
    """What building takes whatever the number of edges."""
    k = partition_count(graph.n, _bits(graph))
    return 40 * graph.n + 56 * k * k


def _bits(graph: Graph, partition_size: int | None = None) -> int:
    return partition_bits(
        graph.n, worker_count(), edges=graph.m, vertex_bytes=8, partition_size=partition_size
    )


class _Builder:
    """One build: what is known of the graph so far, and the folder that is written to."""

    def __init__(self, graph: Graph, folder: Path, room: Spill, bits: int, bar: Any) -> None:
        self.graph, self.folder, self.room, self.bits, self.bar = graph, folder, room, bits, bar
        self.k, self.threads = partition_count(graph.n, bits), worker_count()
        weight = 0 if graph.weights is None else graph.weights.itemsize
        self.most = room.edges_at_once(EDGE_BYTES + WEIGHT_BYTES * weight)
        self.types: dict[str, np.dtype] = {}
        self.facts: dict[str, Any] = {}
        self.sorted = True
        self.ranges = Ranges(graph, bits, self.most)

    def store(self, name: str, array: np.ndarray) -> None:
        """Write an array; one that has a file of its own in the folder of the spill is not written again."""
        path = self.room.path_of(array)
        if path is not None and path.parent.stat().st_dev == self.folder.stat().st_dev:
            os.link(path, self.folder / name)
        else:
            with open(self.folder / name, "wb") as file:
                for first in range(0, array.size, self.most):
                    write_array(copied(array, first, first + self.most), file)
        self.types[name] = array.dtype

    def count(self) -> None:
        """Pass 1."""
        k, found = self.k, Found(self.graph)
        self.id_counts, self.message_counts = np.zeros((2, k, k), np.int64)
        for p, rows, indptr, indices, weights in self.ranges:
            counts, ascending = self._counted(rows, indptr, indices)
            self.id_counts[p : p + rows] += counts[0].reshape(rows, k)
            self.message_counts[p : p + rows] += counts[1].reshape(rows, k)
            self.sorted &= ascending
            found.look_at(indptr, indices, weights)
            self.bar.update(indices.size)
        self.facts = found.facts()

    def _counted(self, rows: int, indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, bool]:
        """Edges and messages of the bins of some rows, and whether lists ascend by partition."""
        counts, ascending = np.zeros((2, rows * self.k), np.int64), np.ones(rows, np.bool_)
        claim, shape = np.zeros(1, np.int64), self._shape(indptr)
        for_each(self.threads, lambda _: count_bins(claim, rows, *shape, indptr, indices, *counts, ascending))
        return counts, bool(ascending.all())

    def _shape(self, indptr: np.ndarray) -> tuple[np.int64, np.uint32, np.int64]:
        return np.int64(len(indptr) - 1), np.uint32(self.bits), np.int64(self.k)

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
        if weight is not None and weight != graph.weights.dtype:
            self.types["narrow"] = weight
            names.append("narrow")
        with self._open(names) as files:
            for p, rows, indptr, indices, weights in self.ranges:
                if "narrow" in files:
                    write_array(weights.astype(weight), files["narrow"])
                self._fill_range(p, rows, indptr, indices, weights, weight, slot_at, id_at, files)
                self.bar.update(indices.size)

    @contextmanager
    def _open(self, names: list[str]) -> Iterator[dict[str, BinaryIO]]:
        """Files of these arrays to write to."""
        with ExitStack() as files:
            yield {name: files.enter_context(open(self.folder / name, "wb", buffering=0)) for name in names}

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
        k, shape, claim = self.k, self._shape(indptr), np.zeros(1, np.int64)
        counts, _ = self._counted(rows, indptr, indices)
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
            cursors, written = (
                np.empty((2, k), np.uint64),
                (slots, sources, id_offsets.ravel(), ids, id_weights),
            )
            fill_bins(claim, rows, cursors, *shape, indptr, indices, given, *written)

        for_each(self.threads, fill)
        if rows > 1:  # whole partitions: their rows follow each other
            put(files["sources"], sources, 0, len(sources), slot_at[p, 0])
        else:
            for d in np.flatnonzero(of_messages[0]).tolist():
                put(files["sources"], sources, slots[d], slots[d + 1], slot_at[p, d])
        for d in np.flatnonzero(of_ids.any(axis=0)).tolist():
            begin, end = by_column[d * rows], by_column[(d + 1) * rows]
            put(files["ids"], ids, begin, end, id_at[p, d])
            if weights is not None:
                put(files["id_weights"], id_weights, begin, end, id_at[p, d])
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
        turned = self.turned
        unit_bits, source_bits, most = block_sizes(self.graph, self.threads, VALUE_BYTES, VALUE_BYTES)
        most = min(UNIT_EDGES, max(1, most))
        weight = self._narrow()
        bounds, firsts, tables = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], []
        edges = blocks_so_far = values_read = 0
        with self._open(["refs", "targets", "block_weights"]) as files:
            borders = cut(turned.indptr, self.most)
            for first, last in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
                part = self._outward(first, last)
                plan = plan_blocks(part, unit_bits, source_bits, most, self.threads, last - first)
                made = build_blocks(part, plan, self.threads)
                table = made.blocks
                table[:, WINDOW] += first
                table[:, FIRST] += edges
                tables.append(table)
                bounds.append(first + np.minimum(made.bounds[1:], last - first))
                firsts.append(blocks_so_far + made.first_block[1:])
                write_array(made.refs, files["refs"])
                write_array(made.targets, files["targets"])
                if weight is not None:
                    write_array(made.weights.astype(weight, copy=False), files["block_weights"])
                edges, blocks_so_far = edges + part.m, blocks_so_far + len(table)
                values_read += plan.values_read
                self.bar.update(part.m)
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
        with open(folder / NAMES, "wb") as file:
            save_array(ids.astype(str) if ids.dtype == object else ids, file)
    said = {
        "name": graph.name, "vertices": n, "edges": graph.m, "bits": bits, "sorted": builder.sorted,
        "unit_bits": builder.unit_bits, "pieces": builder.pieces, "values_read": builder.values_read,
        "facts": builder.facts,
    }  # fmt: skip
    shutil.rmtree(room.folder, ignore_errors=True)
    write_header(folder, said, builder.types)
