"""HYB: a sparse matrix whose rows are cut after K entries, ELL before the cut and COO behind it.

Row r holds the edges that are listed at vertex r, in ascending order. Its first K entries lie in ELL, entry j
of all rows side by side, so that neighbouring threads of a GPU, whose rows are neighbours, read neighbours:
``ell[j * pitch + r]``, `NO_ENTRY` behind the last one of a row. What a row has beyond K lies in COO, by row:
entry e is ``(rows[e], columns[e])``. Of the graph of in-edges row r are the sources of r's messages.

K is the largest number such that at least one third of the rows have K entries or more (`width_of`); so at
most two of three words of ELL are empty, and it takes at most 12 bytes per entry that it holds.

Bytes: ``4 * K * pitch`` for ELL, ``8`` per entry of COO, ``8 * (n + 1)`` for where the entries of a row begin
there; weights beside both. Papers: HPGraph (section 3.3), after N. Bell, M. Garland, "Implementing sparse
matrix-vector multiplication on throughput-oriented processors" (SC 2009), which has the rule for K.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.atomics import fetch_add
from gpop.common.cached import cached
from gpop.common.inlined import KERNEL
from gpop.common.parallel import for_each
from gpop.common.progress import activity
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind

NO_ENTRY = 2**32 - 1
"""In ELL behind the last entry of a row."""

PITCH = 32
"""Columns of ELL begin at multiples of so many words: 128 bytes, what a warp reads at once."""

ROWS = 4096
"""Rows that a thread fills at once."""


class Shape(NamedTuple):
    """Sizes of the layout, from the degrees alone; ``entries`` are those of COO."""

    width: int
    pitch: int
    entries: int

    def nbytes(self, n: int, weight_bytes: int) -> int:
        """Bytes of all arrays.

        Examples
        --------
        >>> Shape(width=2, pitch=32, entries=3).nbytes(n=5, weight_bytes=0)       # 2*32*4 + 3*8 + 6*8
        328
        """
        slots = self.width * self.pitch
        return slots * (4 + weight_bytes) + self.entries * (8 + weight_bytes) + 8 * (n + 1)


class Hyb(NamedTuple):
    """Arrays of the layout; see the banner. ``first[r]``: where the entries of row r begin in COO."""

    width: int
    pitch: int
    ell: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    first: np.ndarray
    ell_weights: np.ndarray
    weights: np.ndarray


def width_of(degrees: np.ndarray) -> int:
    """K: the largest k such that at least one third of the rows have k entries or more; 0 without rows.

    Examples
    --------
    >>> width_of(np.array([5, 2, 0])), width_of(np.array([1, 0, 0, 0]))
    (5, 0)
    """
    if len(degrees) == 0:
        return 0
    with_at_least = np.cumsum(np.bincount(degrees)[::-1])[::-1]  # rows with k entries or more, of each k
    return int(np.flatnonzero(3 * with_at_least >= len(degrees))[-1])


def shape_of(listed: Graph) -> Shape:
    """Sizes of the layout of this graph.

    Examples
    --------
    >>> shape_of(Graph.from_edges([0, 0, 0, 1], [0, 1, 2, 2], n=6))
    Shape(width=1, pitch=32, entries=2)
    """
    degrees = listed.out_degree
    width = width_of(degrees)
    beyond = np.maximum(degrees.astype(np.int64) - width, 0)
    return Shape(width, -(-listed.n // PITCH) * PITCH, int(beyond.sum()))


@cached(**KERNEL)
def _fill(
    claim, share, indptr, indices, weights, width, pitch, first, ell, rows, columns, ell_weights, coo_weights
):
    """One thread's share: `share` rows at once. Reads 4 bytes [+ weight] per entry."""
    n = indptr.size - 1
    weighted = weights.size > 0
    begin = fetch_add(claim, 0, share)
    while begin < n:
        for r in range(begin, min(n, begin + share)):
            here = indptr[r]
            inside = min(width, indptr[r + 1] - here)
            for j in range(inside):
                ell[j * pitch + r] = indices[here + j]
                if weighted:
                    ell_weights[j * pitch + r] = weights[here + j]
            for j in range(inside, width):
                ell[j * pitch + r] = np.uint32(NO_ENTRY)
            at = first[r] - here - inside
            for e in range(here + inside, indptr[r + 1]):
                rows[at + e] = r
                columns[at + e] = indices[e]
                if weighted:
                    coo_weights[at + e] = weights[e]
        begin = fetch_add(claim, 0, share)


def build_hyb(listed: Graph, threads: int, weighted: bool = True) -> Hyb:
    """The layout of the edges as ``listed`` has them, in parallel; weights go along if there are some.

    Raises
    ------
    NotEnoughMemory
        If the layout would not fit; found out before it is allocated.

    Examples
    --------
    >>> hyb = build_hyb(Graph.from_edges([0, 0, 0, 1], [0, 1, 2, 2], n=4), threads=1)
    >>> hyb.width, hyb.ell[:4].tolist(), list(zip(hyb.rows.tolist(), hyb.columns.tolist()))
    (1, [0, 2, 4294967295, 4294967295], [(0, 1), (0, 2)])
    """
    n, shape = listed.n, shape_of(listed)
    weighted = weighted and listed.weights is not None
    weights = listed.weights if weighted else np.empty(0, np.uint32)
    weight_bytes = weights.itemsize if weighted else 0
    listed.store.require(shape.nbytes(n, weight_bytes), f"{listed!r}: as HYB of {shape.width} columns")
    first = np.zeros(n + 1, np.int64)
    np.cumsum(np.maximum(listed.out_degree.astype(np.int64) - shape.width, 0), out=first[1:])
    slots = shape.width * shape.pitch
    hyb = Hyb(
        shape.width, shape.pitch, np.empty(slots, np.uint32),
        np.empty(shape.entries, np.uint32), np.empty(shape.entries, np.uint32), first,
        np.zeros(slots if weighted else 0, weights.dtype),
        np.empty(shape.entries if weighted else 0, weights.dtype),
    )  # fmt: skip
    hyb.ell.reshape(shape.width, shape.pitch)[:, n:] = NO_ENTRY
    claim = np.zeros(1, np.int64)
    given = (claim, ROWS, listed.indptr, listed.indices, weights, shape.width, shape.pitch, first)
    filled = (hyb.ell, hyb.rows, hyb.columns, hyb.ell_weights, hyb.weights)
    for_each(threads, lambda _: _fill(*given, *filled), threads)
    return hyb


def hyb_of(listed: Graph, weighted: bool, threads: int) -> Hyb:
    """The layout kept with the graph, built on first use.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> hyb_of(ring, weighted=False, threads=1) is hyb_of(ring, weighted=False, threads=1)
    True
    """
    kept = listed.store.get(Kind.HYB, weighted)
    if kept is None:
        with activity("building HYB"):
            kept = build_hyb(listed, threads, weighted)
        about = f"{kept.width} columns of ELL" + ", weights" * weighted
        listed.store.put(Kind.HYB, kept, weighted, about=about)
    return kept
