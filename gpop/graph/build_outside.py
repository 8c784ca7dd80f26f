"""Edges -> CSR where the edges do not fit in memory: bucketed in files, each bucket sorted in memory.

1. All chunks are gone through once to count the edges of each vertex. Vertices are cut into ranges with as
   many edges as fit.
2. Chunks are gone through again; the edges of each range go to a file of its own, in the order they came in.
3. Each range is read and built as in memory, and its lists are appended to the result's files.

Bytes: 8 + w an edge written and read for the buckets, 4 + w written for the result (w: bytes of a weight).
In memory: 10 bytes a vertex, and what is sorted at a time. A vertex whose own edges are more than that is
sorted at once all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from gpop.common.errors import NotEnoughMemory
from gpop.common.memory import readable
from gpop.common.parallel import ranges
from gpop.common.progress import progress_bar
from gpop.common.spill import Spill, settled
from gpop.common.write_arrays import write_array

EDGE_BYTES = 56
"""Of an edge while a range is sorted: its record, key, place in the result, and as much again."""

WEIGHT_BYTES = 6
"""The same in bytes of its weight."""


MOST_FILES = 512
"""That are open at once."""


def cut(offsets: np.ndarray, most: int) -> np.ndarray:
    """Borders of ranges of vertices with at most so many edges each, or of one vertex.

    >>> cut(np.array([0, 2, 4, 9, 10]), 4).tolist()
    [0, 2, 3, 4]
    """
    borders, n = [0], len(offsets) - 1
    while borders[-1] < n:
        last = borders[-1]
        fits = int(np.searchsorted(offsets, offsets[last] + most, side="right")) - 1
        borders.append(min(n, max(last + 1, fits)))
    return np.array(borders)


def build_outside(
    room: Spill,
    n: int,
    sources: Sequence[Any],
    weight_dtype: np.dtype | None,
    build: Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray | None]],
    progress: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """CSR arrays of `gpop.graph.build.Edges`; ``build(n, tails, heads, weights)`` sorts what fits."""
    weight_bytes = 0 if weight_dtype is None else np.dtype(weight_dtype).itemsize
    most = room.edges_at_once(EDGE_BYTES + WEIGHT_BYTES * weight_bytes)
    count = sum(edges.count for edges in sources)
    size = max(1 << 12, min(1 << 20, most // 4))  # of a chunk
    indptr = np.zeros(n + 1, np.int64)
    with progress_bar(3 * count, "building", "edge", progress) as bar:
        for edges in sources:
            for first, last in ranges(edges.count, size):
                tails = edges.chunk(first, last)[0]
                np.add.at(indptr, tails.astype(np.int64) + 1, 1)
                settled(tails)
                bar.update(last - first)
        np.cumsum(indptr, out=indptr)
        borders = cut(indptr, most)
        if len(borders) > MOST_FILES:
            raise NotEnoughMemory(
                f"{readable(room.memory)} for {count} edges: expected at least "
                f"{readable(room.memory * len(borders) // MOST_FILES)}"
            )
        buckets = [room.new_path() for _ in borders[1:]]
        _fill(sources, size, borders, buckets, weight_dtype, bar)
        if isinstance(sources, list):
            sources.clear()
        paths = room.new_path(), room.new_path()
        with open(paths[0], "wb") as ids, open(paths[1], "wb") as weights, room.paused():
            for path, first, last in zip(buckets, borders[:-1].tolist(), borders[1:].tolist(), strict=True):
                edges = _taken(path, weight_dtype)
                bar.update(edges.size)
                tails = edges["tail"] - np.uint32(first)
                heads, values = (None if name not in edges.dtype.names else np.ascontiguousarray(edges[name])
                                 for name in ("head", "weight"))  # fmt: skip
                edges = None
                built = _built(build, n, last - first, tails, heads, values)
                np.subtract(built[0][1:], built[0][:-1], out=indptr[first + 1 : last + 1])
                write_array(built[1], ids)
                if weight_bytes:
                    write_array(built[2], weights)
    indptr[0] = 0
    np.cumsum(indptr, out=indptr)
    indices = room.written(paths[0], np.uint32)
    return indptr, indices, None if weight_dtype is None else room.written(paths[1], weight_dtype)


def _built(build, n, width, tails, heads, values):
    """CSR of a range of vertices; ids of heads may be larger than it is wide."""
    indptr, indices, weights = build(n, tails, heads, values)
    return indptr[: width + 1], indices, weights


def _record(weight_dtype: np.dtype | None) -> np.dtype:
    fields = [("tail", np.uint32), ("head", np.uint32)]
    return np.dtype(fields if weight_dtype is None else [*fields, ("weight", weight_dtype)])


def _fill(sources, size, borders, buckets, weight_dtype, bar) -> None:
    """Step 2: every edge goes to the file of the range that its tail is in."""
    bucket_of = np.repeat(np.arange(len(buckets), dtype=np.uint16), np.diff(borders))
    with ExitStack() as open_files:
        files = [open_files.enter_context(open(path, "wb", buffering=0)) for path in buckets]
        for edges in sources:
            for first, last in ranges(edges.count, size):
                tails, heads, weights = edges.chunk(first, last)
                records = np.empty(len(tails), _record(weight_dtype))
                records["tail"], records["head"] = tails, heads
                if weights is not None:
                    records["weight"] = weights
                for array in (tails, heads, weights):
                    if array is not None:
                        settled(array)
                into = bucket_of[records["tail"]]
                order = np.argsort(into, kind="stable")
                ends = np.cumsum(np.bincount(into, minlength=len(files)))
                records = records[order]
                for bucket, end in enumerate(ends.tolist()):
                    begin = int(ends[bucket - 1]) if bucket else 0
                    if end > begin:
                        write_array(records[begin:end], files[bucket])
                bar.update(last - first)


def _taken(path: Path, weight_dtype: np.dtype | None) -> np.ndarray:
    """The edges of a file, which is removed."""
    edges = np.fromfile(path, _record(weight_dtype))
    path.unlink()
    return edges
