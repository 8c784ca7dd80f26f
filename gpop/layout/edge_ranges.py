"""The edges of a graph that may lie in files, range of vertices by range; what is found out on the way.

Used where a graph is written to disk with its layouts (`gpop.layout.mapped_build`).
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from gpop.common.spill import copied
from gpop.graph.build_outside import cut
from gpop.graph.graph import Graph
from gpop.graph.symmetry import rows_sorted
from gpop.layout.partition import partition_count


class Ranges:
    """The edges of a graph, range of vertices by range, in memory one at a time."""

    def __init__(self, graph: Graph, bits: int, most: int) -> None:
        self.graph, self.bits = graph, bits
        # A range lies in one partition, or is made of whole ones.
        k, size = partition_count(graph.n, bits), 1 << bits
        whole = cut(graph.indptr[np.minimum(np.arange(k + 1) * size, graph.n)], most)
        borders = []
        for first, last in itertools.pairwise(whole.tolist()):
            begin, end = first * size, min(last * size, graph.n)
            borders += (
                (begin + cut(graph.indptr[begin : end + 1], most)[:-1]).tolist()
                if last == first + 1
                else [begin]
            )
        self.borders = [*borders, graph.n]

    def __iter__(self) -> Iterator[tuple[int, int, np.ndarray, np.ndarray, np.ndarray | None]]:
        """First partition, how many, and their CSR; vertices before the range have no edges there."""
        graph, bits = self.graph, self.bits
        for begin, end in itertools.pairwise(self.borders):
            p, last = begin >> bits, (end - 1) >> bits
            first_edge, end_edge = int(graph.indptr[begin]), int(graph.indptr[end])
            indptr = np.maximum(graph.indptr[p << bits : end + 1] - first_edge, 0)
            weights = None if graph.weights is None else copied(graph.weights, first_edge, end_edge)
            yield p, last + 1 - p, indptr, copied(graph.indices, first_edge, end_edge), weights


class Found:
    """What is known of a graph when all its edges have been looked at: see `gpop.graph.facts`."""

    def __init__(self, graph: Graph) -> None:
        self._m, self._heard, self._ascending = graph.m, np.zeros(graph.n, np.uint32), True
        self._weights: list[tuple[Any, Any, int | None]] = []

    def look_at(self, indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> None:
        """Take a range into account."""
        self._ascending = self._ascending and rows_sorted(indptr, indices)
        np.add.at(self._heard, indices, 1)
        if weights is not None and weights.size:
            exact = weights.dtype.kind in "iu" and weights.itemsize <= 4
            total = int(weights.sum(dtype=np.int64)) if exact else None
            self._weights.append((weights.min().item(), weights.max().item(), total))

    def facts(self) -> dict[str, Any]:
        """All of it, as a header can say it."""
        said: dict[str, Any] = {
            "ascending": self._ascending,
            "most_in_edges": int(self._heard.max(initial=0)),
        }
        if self._weights:
            lightest, heaviest, totals = zip(*self._weights, strict=True)
            said |= {"lightest": min(lightest), "heaviest": max(heaviest)}
            if None not in totals:
                said["mean_weight"] = sum(totals) / self._m
        return said


def put(file: BinaryIO, array: np.ndarray, begin: int, end: int, at: int) -> None:
    """Write ``array[begin:end]`` where value number ``at`` of the file is."""
    if end > begin:
        data = memoryview(array[begin:end]).cast("B")
        position = int(at) * array.itemsize
        while len(data):
            count = os.pwrite(file.fileno(), data, position)
            data, position = data[count:], position + count
