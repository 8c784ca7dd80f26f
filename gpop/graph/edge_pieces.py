"""Edges that come in pieces, as threads parse them and tables hand them out -> CSR arrays.

A piece is two arrays of ids and perhaps one of weights, in pages of their own (`narrow`) that are given back
while the CSR grows (`csr_of`), so that the edges are hardly ever held twice.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gpop.common.memory import own_copy
from gpop.graph.build import Edges, array_edges, build_csr


def narrow(numbers: np.ndarray) -> np.ndarray:
    """A copy in pages of its own, as uint32 where that holds the numbers, else as they are."""
    fits = len(numbers) == 0 or (numbers.min() >= 0 and numbers.max() < 2**32)
    return own_copy(numbers, np.uint32 if fits else np.int64)


def integers_type(lowest: int, highest: int) -> type | None:
    """The type of 64 bits that holds integers of this range, signed rather than unsigned; None: none does.

    Examples
    --------
    >>> integers_type(-1, 2**63 - 1), integers_type(0, 2**63), integers_type(-1, 2**63)
    (<class 'numpy.int64'>, <class 'numpy.uint64'>, None)
    """
    if lowest >= -(2**63) and highest < 2**63:
        return np.int64
    return np.uint64 if lowest >= 0 and highest < 2**64 else None


def told_type(numbers: np.ndarray) -> tuple[np.dtype, bool]:
    """Their type, and whether there are negative integers among them."""
    return numbers.dtype, numbers.dtype.kind == "i" and bool(numbers.min(initial=0) < 0)


def common_type(told: Iterable[tuple[np.dtype, bool]]) -> np.dtype:
    """The type that holds the numbers of all pieces (`told_type`).

    For int64 and uint64 together NumPy knows floats only; where nothing is negative, uint64 holds them all.

    Examples
    --------
    >>> signed, unsigned = np.dtype(np.int64), np.dtype(np.uint64)
    >>> [common_type([(signed, negative), (unsigned, False)]).name for negative in (False, True)]
    ['uint64', 'float64']
    """
    told = set(told)
    types = {dtype for dtype, _ in told}
    unsigned = np.dtype(np.uint64)
    if unsigned in types and all(dtype.kind in "iu" and not negative for dtype, negative in told):
        return unsigned
    return np.result_type(*types or {np.uint32})


def csr_of(
    n: int,
    ends: list[np.ndarray],
    weights: list[np.ndarray | None],
    weighted: bool,
    progress: bool = False,
    *,
    opposite: int = 0,
    duplicates: str = "keep",
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """CSR arrays of pieces: ``ends`` holds source, destination, source, ...; both lists are emptied.

    ``opposite``, when not 0, adds every edge but loops turned round, its weight times ``opposite`` (1 or -1).
    """
    dtype = None
    if weighted:
        dtype = common_type(map(told_type, weights))
        if opposite < 0 and dtype.kind == "u":
            dtype = np.dtype(np.int64 if dtype == np.uint32 else np.float64)
        weights[:] = [array.astype(dtype, copy=False) for array in weights]
    sources: list[Edges] = []
    for u, v, w in zip(ends[::2], ends[1::2], weights, strict=True):
        sources.append(array_edges(u, v, w))
        if opposite:
            sources.append(_opposite_edges(u, v, w, opposite))
    ends.clear()
    weights.clear()
    u = v = w = None  # the sources alone hold the pieces now, and give them back
    return build_csr(n, sources, dtype, duplicates, progress=progress)


def _opposite_edges(u: np.ndarray, v: np.ndarray, w: np.ndarray | None, factor: int) -> Edges:
    """The edges of three arrays turned round, without loops, their weights times ``factor``."""

    def chunk(first, last):
        other = np.flatnonzero(u != v)[first:last]
        return v[other], u[other], None if w is None else w[other] * w.dtype.type(factor)

    return Edges(int(np.count_nonzero(u != v)), chunk)
