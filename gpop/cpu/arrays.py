"""Tables of the arrays of a run: from one description it is predicted what they take, refused, and allocated.

An `Array` of length 0 is one that a run has no use for. Arrays are kept with the graph under their name and
type, and a longer one serves for a shorter. On every run, what is missing is added up and asked for before
any of it is made, so that a run which would not fit changes nothing.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from gpop.common import spill
from gpop.common.memory import own_pages
from gpop.graph.kept import Kind, Store

_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


class Array(NamedTuple):
    """One array: what it first holds is ``fill``, what ``start`` writes into it, or anything.

    ``small_pages`` is for arrays of which few pages are touched (NumPy asks for large ones); ``by_edge`` for
    those that grow with the edges: while a spill is open (`gpop.common.spill`), they lie in a file.
    """

    length: int
    dtype: np.dtype
    fill: int | None = None
    start: Callable[[np.ndarray], None] | None = None
    small_pages: bool = False
    by_edge: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return self.length * self.dtype.itemsize

    def make(self) -> np.ndarray:
        """Allocate it."""
        if self.by_edge and spill.active():
            return own_pages(self.length, self.dtype)
        if self.small_pages:
            return np.frombuffer(mmap.mmap(-1, self.nbytes, **_PRIVATE), self.dtype)
        if self.fill == 0:
            return np.zeros(self.length, self.dtype)
        made = np.empty(self.length, self.dtype)
        if self.fill is not None:
            made.fill(self.fill)
        if self.start is not None:
            self.start(made)
        return made


def table_bytes(table: dict[str, Array]) -> int:
    """Bytes of all arrays together.

    Examples
    --------
    >>> table_bytes({"ids": Array(3, np.dtype(np.uint32)), "sent": Array(0, np.dtype(np.uint8))})
    12
    """
    return sum(each.nbytes for each in table.values())


class Arrays(dict[tuple[str, np.dtype], np.ndarray]):
    """Arrays by name and type. ``last``: what the latest run made of them, and what it had asked for."""

    last: tuple[Any, Any] = (None, None)


def arrays_of(
    store: Store, table: dict[str, Array], key: Hashable, about: str, what: str
) -> tuple[dict[str, np.ndarray], Arrays]:
    """The arrays of a table, as far as possible those that are kept as the workspace ``key``; and these.

    Raises
    ------
    NotEnoughMemory
        If ``what`` is missing would not fit.
    """
    kept = store.get(Kind.WORKSPACE, key)
    if kept is None:
        kept = Arrays()
    arrays, missing = {}, {}
    for name, each in table.items():
        found = kept.get((name, each.dtype))
        if each.length == 0:
            arrays[name] = np.empty(0, each.dtype)
        elif found is None or found.size < each.length:
            missing[name] = each
        else:
            arrays[name] = found[: each.length]
    if missing:
        store.require(table_bytes(missing), what)
        kept.last = (None, None)  # it may hold arrays that longer ones replace
        for name, each in missing.items():
            arrays[name] = kept[name, each.dtype] = each.make()
        store.put(Kind.WORKSPACE, kept, key, about=about)
    return arrays, kept
