"""Device arrays of fields that wait for the next run, once nobody has what the last one has left in them.

To have an array of CuPy and a slice of it takes 30 us where something else has used the host's caches since,
and a search on RMAT 24 1,300. So the arrays stay with what a run is prepared with, beside the workspace, and
go where room is wanted. Who has one, a view of it or its memory is counted: each of them holds a reference.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any

import numpy as np

from gpop.gpu.device import cupy
from gpop.gpu.exchange import ROOM


def new_room(length: int, dtype: np.dtype) -> Any:
    """An array of anything for a field, and some room behind it: compare-and-swap of small types takes the
    word around them, and leaves what else is in it as it is."""
    return cupy().empty(length + ROOM, dtype)[:length]


class Rooms:
    """Arrays by the name of a field; of runs one after the other, while another thread may `clear`."""

    def __init__(self) -> None:
        self._arrays: dict[str, tuple[list[Any], tuple[int, np.dtype], tuple[int, int]]] = {}
        """The array, what it is, and the references to it and to its memory when nobody else has it."""

    def room(self, name: str, length: int, dtype: np.dtype) -> Any:
        """The array of anything that waits for this field, or a new one."""
        kind, known = (length, dtype), self._arrays.get(name)
        if known is not None and known[1] == kind and _references(known[0]) == known[2]:
            return known[0][0]
        held = [new_room(length, dtype)]
        self._arrays[name] = held, kind, _references(held)
        return held[0]

    def clear(self) -> None:
        """Have none."""
        self._arrays.clear()


def _references(held: list[Any]) -> tuple[int, int]:
    """To an array, and to its memory: of the list and this, and of all others."""
    array = held[0]
    return getrefcount(array), getrefcount(array.data.mem)
