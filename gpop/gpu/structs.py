"""NumPy mirrors of the structs in ``kernels/layout.cuh``; the engine's source asserts that sizes agree.

NumPy takes long for one scalar of a struct, as long as Python for a call. `Numbers` are the scalars of one
that host and device share, and a packer writes all of one that is made anew for each run.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

import numpy as np

from gpop.plan import trace

FETCHED_AT, WANTED_AT = len(trace.COLUMNS) - 1, len(trace.COLUMNS)
TRACE_ROWS, TRACE_COLUMNS = 512, WANTED_AT + 1
"""The trace buffer: records, and what each holds from ``frontier`` on. Behind that stand, of streamed
arrays, the bytes that came over the link and those that were read."""

_POINTERS = "u8"
GRAPH = np.dtype(
    [("n", "i8"), ("m", "i8")]
    + [(name, "i4") for name in ("k", "column_pieces", "row_pieces")]
    + [(name, "u4") for name in ("hubs", "queues", "longest")]
    + [(name, "i8") for name in ("ell_width", "ell_pitch", "coo_entries", "longs")]
    + [
        (name, _POINTERS)
        for name in (
            "indptr", "indices", "weights", "edge_source", "edge_target", "edge", "reverse_edge",
            "messages", "segments", "sources", "ids",
            "id_weights", "segment", "column_piece", "row_piece",
            "ell_source", "ell_weight", "coo_row", "coo_source", "coo_weight", "coo_first",
            "has_in", "in_indptr", "in_indices",
            "in_weights", "hub_vertex", "long_vertex", "hub_first", "hub_of",
            "away_edges", "away_bins", "all_bins",
        )
    ]
)  # fmt: skip
SPACE = np.dtype(
    [
        (name, _POINTERS)
        for name in (
            "values", "partials", "sent", "vertex_value", "folded", "arrived", "frontier_bits", "active_bits",
            "level_bits", "level_marks", "listed_bits", "touched_bits", "list", "candidates",
            "waiting_bits", "entries", "heavy", "mode",
            "active_vertices", "active_edges", "waiting", "waiting_count", "called",
            "tree", "changes",
        )
    ]
)  # fmt: skip
CONTROL = np.dtype(
    [
        (name, "i8")
        for name in (
            "iteration", "limit", "rows", "row_limit", "slice_ns", "started", "frontier", "edges",
            "needy", "needy_edges", "left", "left_edges", "own_vertices",
            "next_frontier", "next_edges", "next_list", "next_heavy", "list_size", "heavy_size",
            "candidates", "partitions_sparse", "partitions_dense", "messages",
            "bucket", "least", "waiting", "visited", "loads", "sources", "vertex",
        )
    ]
    + [("bytes", "f8"), ("fetched", "f8"), ("wanted", "f8"), ("begin_ns", "i8"), ("middle_ns", "i8")]
    + [("ratio", "f8"), ("link_cost", "f8")]
    + [(name, "i4") for name in ("fresh", "list_valid", "alone", "stop", "finished")]
    + [(name, "i4") for name in ("few", "way", "dense", "pulled")]
    + [(name, "u4") for name in ("scatter_claim", "gather_claim", "hubs_called")]
    + [("decision", "i4", 2), ("arrived_blocks", "u4"), ("released", "u4")]
    + [("level_found", "u8", 3), ("level_told", "u8", 3), ("level_leave", "u4", 3), ("level_heard", "u4", 4)]
    + [("levels_arrived", "u4"), ("level_reached", "i8")]
    + [("trace", "f8", (TRACE_ROWS, TRACE_COLUMNS))]
)  # fmt: skip


def word_of(name: str) -> int:
    """Which 8-byte word of ``struct Control`` a number is."""
    return CONTROL.fields[name][1] // 8


def argument(struct: np.ndarray) -> np.ndarray:
    """A struct as kernels are given it: one item without fields. CuPy has arrays describe themselves, which
    fields make slow, and takes arrays of one item only.

    Examples
    --------
    >>> argument(np.zeros(1, GRAPH)).shape, argument(np.zeros(1, GRAPH)).dtype.names
    ((1,), None)
    """
    return struct.view(np.dtype((np.void, struct.dtype.itemsize)))


class Numbers:
    """Scalars of a struct in memory, by name; arrays in it have none.

    Examples
    --------
    >>> memory = np.zeros(GRAPH.itemsize, np.uint8)
    >>> numbers = Numbers(memory, GRAPH)
    >>> numbers["n"], numbers["hubs"] = 34, 2
    >>> numbers["n"], memory.view(GRAPH)[0]["hubs"]
    (34, np.uint32(2))
    """

    def __init__(self, memory: np.ndarray, dtype: np.dtype) -> None:
        whole, scalars = memoryview(memory), [name for name in dtype.names if not dtype[name].shape]
        self._places = {name: self._place(whole, dtype, name) for name in scalars}

    @staticmethod
    def _place(whole: memoryview, dtype: np.dtype, name: str) -> tuple[memoryview, int]:
        size, at = dtype[name].itemsize, dtype.fields[name][1]
        last = len(whole) // size * size
        return whole[:last].cast(letter_of(dtype[name])), at // size

    def place(self, name: str) -> tuple[memoryview, int]:
        """Where a number is, for who looks at it often."""
        return self._places[name]

    def __getitem__(self, name: str) -> Any:
        view, at = self._places[name]
        return view[at]

    def __setitem__(self, name: str, value: Any) -> None:
        view, at = self._places[name]
        view[at] = value


def letter_of(dtype: np.dtype) -> str:
    """The letter of a scalar type for `struct` and memory views."""
    letters = {"b": "?", "i": "bhiq", "u": "BHIQ", "f": " efd"}[dtype.kind]
    return letters[dtype.itemsize.bit_length() - 1]


def packer(dtype: np.dtype) -> Struct:
    """What writes the scalars of a struct, in the order of its fields.

    Examples
    --------
    >>> packer(np.dtype([("pointer", "u8"), ("flag", "?"), ("step", "f4")], align=True)).format
    '=Q?3xf'
    """
    text, end = "=", 0
    for name in dtype.names:
        kind, at = dtype.fields[name][:2]
        text += (f"{at - end}x" if at > end else "") + letter_of(kind)
        end = at + kind.itemsize
    return Struct(text + (f"{dtype.itemsize - end}x" if dtype.itemsize > end else ""))
