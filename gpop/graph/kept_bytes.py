"""The bytes of what is kept with a graph, and the list of it that a user sees.

Device arrays (CuPy's) count for the device, all others for the host. Bytes are those of the arrays
themselves, each memory counted once: what an entry shares with the graph, or with an entry listed before
it, is not its own. Mapped files count as if they were read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gpop.common.memory import readable


class Kept(NamedTuple):
    """One line of what is kept with a graph."""

    kind: str
    about: str
    host_bytes: int
    device_bytes: int


class Bytes(int):
    """In place of arrays: so many bytes on the host."""


class KeptList(list[Kept]):
    """What is kept with a graph; shown as a table.

    Examples
    --------
    >>> KeptList([Kept("bins", "2 partitions", 96, 0), Kept("device", "2 partitions", 0, 4000)])
    kind    what          host  device
    bins    2 partitions  96 B     0 B
    device  2 partitions   0 B  4.0 KB
    total                 96 B  4.0 KB
    """

    def __repr__(self) -> str:
        total = (sum(each.host_bytes for each in self), sum(each.device_bytes for each in self))
        rows = [(*each[:2], *map(readable, each[2:])) for each in (*self, Kept("total", "", *total))]
        rows.insert(0, ("kind", "what", "host", "device"))
        kind, about, host, device = (max(map(len, column)) for column in zip(*rows, strict=True))
        return "\n".join(
            f"{row[0]:{kind}}  {row[1]:{about}}  {row[2]:>{host}}  {row[3]:>{device}}" for row in rows
        )


def _arrays(holds: Any) -> Iterator[Any]:
    if isinstance(holds, np.ndarray) or hasattr(type(holds), "__cuda_array_interface__"):
        yield holds
    elif isinstance(holds, dict):
        for each in list(holds.values()):
            yield from _arrays(each)
    elif isinstance(holds, tuple | list):
        for each in holds:
            yield from _arrays(each)


def _on_device(array: Any) -> bool:
    return hasattr(type(array), "__cuda_array_interface__")


def _address(array: Any) -> tuple[bool, int]:
    if _on_device(array):
        return True, array.data.ptr
    return False, array.__array_interface__["data"][0]


def addresses(holds: Any) -> set[tuple[bool, int]]:
    """Where the arrays begin, on the device or not."""
    return {_address(array) for array in _arrays(holds) if array.nbytes}


def bytes_of(holds: Any, seen: set[tuple[bool, int]]) -> tuple[int, int]:
    """Bytes on host and device of the arrays that do not begin where one in ``seen`` does; adds them."""
    if isinstance(holds, Bytes):
        return int(holds), 0
    total = [0, 0]
    for array in _arrays(holds):
        if array.nbytes and (address := _address(array)) not in seen:
            seen.add(address)
            total[address[0]] += array.nbytes
    return total[0], total[1]
